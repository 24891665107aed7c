"""The child's side of a program that is run in its own framework: load it once, then answer questions line by line."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from nanproof.findings.errors import InputError
from nanproof.frontends.leaves import live_of
from nanproof.frontends.live import CannotRunLiveError, Live, Training
from nanproof.frontends.programs.child import program_in
from nanproof.frontends.programs.remote import save
from nanproof.frontends.request import Request


def main() -> None:
    """Read questions from standard input; answers go to what was standard output, which programs print to otherwise."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    sys.argv[1:] = []
    service: _Service | None = None
    for line in sys.stdin:
        question = json.loads(line)
        try:
            if service is None:
                service = _Service(question)
                answer: dict[str, Any] = {"runtime": service.live.runtime, "plain": service.live.plain}
            else:
                answer = service.answers[question.pop("do")](**question)
        except (InputError, CannotRunLiveError) as error:
            answer = {"error": str(error)}
        except Exception as error:  # noqa: BLE001 - whatever the user's code raises is an answer
            answer = {"error": f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()
    os._exit(0)


class _Service:
    def __init__(self, question: dict[str, Any]) -> None:
        self.folder = Path(question["folder"])
        request, target = Request(**question["request"]), question["target"]
        self.live: Live = live_of(program_in(target, request), request, question["names"], target)
        self.count = 0
        self.answers: dict[str, Callable[..., dict[str, Any]]] = {
            "run": self.run, "hold": self.hold, "initial": self.initial, "trained": self.trained,
        }  # fmt: skip

    def run(self, values: str) -> dict[str, Any]:
        ran = self.live.run(self._read(values))
        births = [asdict(birth) for birth in ran.births]
        return {"bad": list(ran.bad), "births": births, "spoilt": list(ran.spoilt)}

    def hold(self, weights: str) -> dict[str, Any]:
        self.live.hold(self._read(weights))
        return {}

    def initial(self, seed: int) -> dict[str, Any]:
        return {"file": self._written(self.live.initial(seed))}

    def trained(self, weights: str, steps: list[list[str]], how: dict[str, Any]) -> dict[str, Any]:
        examples = [[self._read(name) for name in step] for step in steps]
        found = self.live.trained(self._read(weights), examples, Training(**how))
        return {"file": self._written(found.weights), "finite": found.finite, "loss": found.loss}

    def _read(self, name: str) -> dict[str, Any]:
        path = self.folder / name
        with np.load(path) as found:
            arrays = dict(found)
        path.unlink()
        return arrays

    def _written(self, values: Any) -> str:
        self.count += 1
        name = f"answer{self.count}.npz"
        save(self.folder / name, values)
        return name
