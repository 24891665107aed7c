"""A line on the terminal that says what is going on, for anything that takes more than a second."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

AFTER = 1.0
EVERY = 0.2
SIGNS = "|/-\\"


@contextmanager
def progress(what: str, *, show: bool) -> Iterator[Callable[[str], None]]:
    """Show that ``what`` is under way, and for how long, on stderr if that is a terminal.

    What is yielded takes a text that is shown besides, such as how far the work has come.
    """
    news: list[str] = []

    def say(text: str) -> None:
        news[:] = [text]

    if not show or not sys.stderr.isatty():
        yield say
        return
    done = threading.Event()
    thread = threading.Thread(target=_tick, args=(what, done, news), daemon=True)
    thread.start()
    try:
        yield say
    finally:
        done.set()
        thread.join()


def _tick(what: str, done: threading.Event, news: list[str]) -> None:
    start = time.monotonic()
    if done.wait(AFTER):
        return
    turn = 0
    while not done.wait(EVERY):
        latest = f", {news[0]}" if news else ""
        sys.stderr.write(f"\r{SIGNS[turn % len(SIGNS)]} {what}, {time.monotonic() - start:.0f} s{latest} \x1b[K")
        sys.stderr.flush()
        turn += 1
    sys.stderr.write("\r\x1b[K")
    sys.stderr.flush()
