"""Load a program in a process of its own: it runs the user's code, which may crash, hang, print or exit."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

from nanproof.findings.errors import InputError
from nanproof.frontends.request import Request

ANSWER, MODEL, LOG = "answer.json", "model.onnx", "log.txt"
SHOWN = 300
"""How much of the last line that a crashed child wrote is shown."""

_CHILD = "import sys; sys.path[0] = sys.argv[1]; from nanproof.frontends.programs.child import main; main()"


@dataclass(frozen=True, slots=True)
class Answer:
    """What the child says beside the ONNX file that it wrote."""

    path: Path
    notes: tuple[str, ...]
    roles: dict[str, str]
    runtime: str


def run(target: str, request: Request, folder: Path) -> Answer:
    """Let a child load the target and export it into the folder."""
    question = {"target": target, "request": asdict(request)}
    root = str(Path(__file__).parents[3])
    command = [sys.executable, "-c", _CHILD, root, str(folder)]
    with (folder / LOG).open("wb") as log:
        try:
            child = subprocess.Popen(  # noqa: S603 - our own program
                command, stdin=subprocess.PIPE, stdout=log, stderr=log, start_new_session=os.name == "posix"
            )
        except OSError as error:
            raise InputError(f"{target}: no process can be started to load it: {error.strerror or error}") from None
        try:
            child.communicate(json.dumps(question).encode(), timeout=request.timeout)
        except subprocess.TimeoutExpired:
            raise InputError(
                f"{target} took more than {request.timeout:g} s to load and export: give it more time, --load-timeout SECONDS"
            ) from None
        finally:
            _end(child)
    return _answer(target, folder, child.returncode)


def _end(child: subprocess.Popen[bytes]) -> None:
    """End the child and whatever it started, however we got here."""
    if child.poll() is None:
        if os.name == "posix":
            os.killpg(child.pid, signal.SIGKILL)
        else:
            child.kill()
        child.wait()


def _answer(target: str, folder: Path, code: int) -> Answer:
    try:
        said = json.loads((folder / ANSWER).read_text("utf-8"))
    except (OSError, ValueError):
        raise InputError(f"{target} can't be loaded: {_how(code)}{_last_line(folder / LOG)}") from None
    if "error" in said:
        raise InputError(said["error"])
    return Answer(folder / MODEL, tuple(said["notes"]), said["roles"], said["runtime"])


def _how(code: int) -> str:
    if code < 0:
        return f"its process ended by signal {-code}"
    return f"its process ended with exit code {code} before the model was there"


def _last_line(log: Path) -> str:
    try:
        text = log.read_text("utf-8", "replace").strip()
    except OSError:
        return ""
    return f"; it wrote: {text.splitlines()[-1][:SHOWN]}" if text else ""
