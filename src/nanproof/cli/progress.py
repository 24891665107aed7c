"""A line on the terminal that says what is going on, for anything that takes more than a second."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

AFTER = 1.0
EVERY = 0.2
SIGNS = "|/-\\"


@contextmanager
def progress(what: str, *, show: bool) -> Iterator[None]:
    """Show that ``what`` is under way, and for how long, on stderr if that is a terminal."""
    if not show or not sys.stderr.isatty():
        yield
        return
    done = threading.Event()
    thread = threading.Thread(target=_tick, args=(what, done), daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def _tick(what: str, done: threading.Event) -> None:
    start = time.monotonic()
    if done.wait(AFTER):
        return
    turn = 0
    while not done.wait(EVERY):
        sys.stderr.write(f"\r{SIGNS[turn % len(SIGNS)]} {what}, {time.monotonic() - start:.0f} s ")
        sys.stderr.flush()
        turn += 1
    sys.stderr.write("\r\x1b[K")
    sys.stderr.flush()
