"""The parent's side of a program that is run in its own framework: a child keeps it loaded and answers one question at a time."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from nanproof.frontends.live import Arrays, Birth, CannotRunLiveError, Ran, Trained, Training
from nanproof.frontends.request import Request

PATIENCE = 120.0
"""Seconds that one run may take."""

_CHILD = "import sys; sys.path[0] = sys.argv[1]; from nanproof.frontends.programs.serving import main; main()"


class RemoteLive:
    """A Live whose program runs in a child, which starts with the first question and ends with this object."""

    def __init__(self, target: str, request: Request, names: Sequence[str]) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="nanproof-live-"))
        root = str(Path(__file__).parents[3])
        with (self.folder / "log.txt").open("wb") as log:
            self.child = subprocess.Popen(  # noqa: S603 - our own program
                [sys.executable, "-c", _CHILD, root], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log,
                start_new_session=os.name == "posix", text=True,
            )  # fmt: skip
        self.close = weakref.finalize(self, _end, self.child, self.folder)
        self.count = 0
        self.answers: queue.Queue[str] = queue.Queue()
        threading.Thread(target=_read, args=(self.child.stdout, self.answers), daemon=True).start()
        question = {"target": target, "request": asdict(request), "names": list(names), "folder": str(self.folder)}
        about = self._asked(question, request.timeout)
        self.runtime: str = about["runtime"]
        self.plain: bool = about["plain"]

    def run(self, values: Arrays) -> Ran:
        """One call of the program."""
        answer = self._asked({"do": "run", "values": self._written(values)})
        return Ran(tuple(answer["bad"]), tuple(Birth(**birth) for birth in answer["births"]), tuple(answer["spoilt"]))

    def hold(self, weights: Arrays) -> None:
        """They are sent once."""
        self._asked({"do": "hold", "weights": self._written(weights)})

    def initial(self, seed: int) -> Arrays:
        """Fresh weights."""
        return self._read(self._asked({"do": "initial", "seed": seed})["file"])

    def trained(self, weights: Arrays, steps: Sequence[Sequence[Arrays]], how: Training) -> Trained:
        """Real steps."""
        files = [[self._written(example) for example in step] for step in steps]
        answer = self._asked({"do": "trained", "weights": self._written(weights), "steps": files, "how": asdict(how)})
        return Trained(self._read(answer["file"]), answer["finite"], answer["loss"])

    def _asked(self, question: Mapping[str, Any], patience: float = PATIENCE) -> dict[str, Any]:
        assert self.child.stdin is not None
        try:
            self.child.stdin.write(json.dumps(question) + "\n")
            self.child.stdin.flush()
            text = self.answers.get(timeout=patience)
        except queue.Empty:
            self.close()
            raise CannotRunLiveError(f"its process took more than {patience:g} s") from None
        except OSError:
            text = ""
        if not text:
            raise CannotRunLiveError("its process ended")
        answer: dict[str, Any] = json.loads(text)
        if "error" in answer:
            raise CannotRunLiveError(answer["error"])
        return answer

    def _written(self, values: Arrays) -> str:
        self.count += 1
        path = self.folder / f"{self.count}.npz"
        save(path, values)
        return path.name

    def _read(self, name: str) -> Arrays:
        path = self.folder / name
        with np.load(path) as found:
            arrays = dict(found)
        path.unlink()
        return arrays


def save(path: Path, values: Arrays) -> None:
    """NumPy's format has no bfloat16 and its kind: they are kept as float32, which holds them exactly."""
    plain = {k: v if v.dtype.kind in "fiub" and v.dtype.isbuiltin else v.astype(np.float32) for k, v in values.items()}
    with path.open("wb") as stream:
        np.savez(stream, **plain)


def _read(stream: Any, answers: queue.Queue[str]) -> None:
    for line in stream:
        answers.put(line)
    answers.put("")


def _end(child: subprocess.Popen[str], folder: Path) -> None:
    if child.poll() is None:
        if os.name == "posix":
            os.killpg(child.pid, signal.SIGKILL)
        else:
            child.kill()
        child.wait()
    for stream in (child.stdin, child.stdout):
        if stream is not None:
            with contextlib.suppress(OSError):
                stream.close()
    shutil.rmtree(folder, ignore_errors=True)
