"""Run a command and watch its memory: peak of everything resident, and of anonymous memory alone.

Pages of a mapped weights file are resident while they are read, but the system can drop them at any time; anonymous
memory is what the process really claims. Where /proc is missing, only the first is known.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Watched:
    """What a run took. Memory in MiB."""

    exit_code: int
    seconds: float
    cpu_seconds: float
    peak_resident: float
    peak_anonymous: float | None
    peak_file: float | None
    output: str
    errors: str

    def figures(self) -> dict[str, Any]:
        return {name: value for name, value in asdict(self).items() if name not in {"output", "errors"}}


def watch(command: list[str], *, every: float = 0.02) -> Watched:
    """Run to the end, looking at the process's memory at short intervals."""
    started = time.perf_counter()
    with (
        _scratch() as output,
        _scratch() as errors,
        subprocess.Popen(command, stdout=output, stderr=errors) as process,
    ):
        anonymous: int | None = None
        mapped: int | None = None
        # the process's own high-water mark: what wait4 tells includes the parent's memory at the fork
        peak = 0
        while True:
            done, status, usage = os.wait4(process.pid, os.WNOHANG)
            if done:
                break
            now = memory_of(process.pid)
            peak = max(peak, now.get("VmHWM", 0))
            if "RssAnon" in now:
                anonymous = max(anonymous or 0, now["RssAnon"])
                mapped = max(mapped or 0, now.get("RssFile", 0))
            time.sleep(every)
        seconds = time.perf_counter() - started
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        errors.seek(0)
        unit = 1024 * 1024 if sys.platform == "darwin" else 1024
        return Watched(
            exit_code=process.returncode,
            seconds=seconds,
            cpu_seconds=usage.ru_utime + usage.ru_stime,
            peak_resident=peak / 1024 if peak else usage.ru_maxrss / unit,
            peak_anonymous=None if anonymous is None else anonymous / 1024,
            peak_file=None if mapped is None else mapped / 1024,
            output=output.read().decode(errors="replace"),
            errors=errors.read().decode(errors="replace"),
        )


def _scratch() -> Any:
    from tempfile import TemporaryFile

    return TemporaryFile()


def memory_of(pid: int | str) -> dict[str, int]:
    """The kB fields of /proc/PID/status."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return {}
    fields = (line.split() for line in lines if line.endswith(" kB"))
    return {name.rstrip(":"): int(value) for name, value, _unit in fields}
