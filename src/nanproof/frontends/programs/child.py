"""The child's side: load the object, find the front end that it is for, export, and write the answer down.

The answer is a file, not standard output: programs print.
"""

from __future__ import annotations

import json
import os
import random
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from nanproof.findings.errors import InputError
from nanproof.frontends.keras import lines
from nanproof.frontends.leaves import leaf_of
from nanproof.frontends.programs.objects import Program, loaded, named, named_or_text, program_of
from nanproof.frontends.programs.overlay import imported_as
from nanproof.frontends.programs.process import ANSWER, MODEL
from nanproof.frontends.programs.seeding import seed_frameworks
from nanproof.frontends.programs.target import parse
from nanproof.frontends.request import Request
from nanproof.frontends.torch.update import lines as optimizers


def main() -> None:
    """Read the question from standard input, write model and answer into the folder that the command line names."""
    folder = Path(sys.argv[2])
    question = json.load(sys.stdin)
    sys.argv[1:] = []  # the program must not take our arguments for its own
    try:
        request = Request(**question["request"])
        with imported_as(request.overlay):
            answer = answered(question["target"], request, folder / MODEL)
    except InputError as error:
        answer = {"error": str(error)}
    except MemoryError:
        answer = {"error": f"{question['target']}: out of memory while it was loaded and exported"}
    temporary = folder / f"{ANSWER}.tmp"
    temporary.write_text(json.dumps(answer), "utf-8")
    temporary.replace(folder / ANSWER)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)  # threads and exit handlers of the program are none of our business


def answered(target: str, request: Request, path: Path) -> dict[str, Any]:
    """Export the target to a file and say what else is known of it."""
    lines.watch()
    optimizers.watch()
    program = program_in(target, request)
    exported = leaf_of(program, target).export(program, request, target)
    exported.save(path)
    return {"notes": exported.notes, "roles": exported.roles, "runtime": exported.runtime}


def _reader(path: Path) -> Callable[..., Program]:
    """The front end that reads a kind of file."""
    if path.suffix.lower() in {".keras", ".h5", ".hdf5"}:
        from nanproof.frontends.keras.files import read
    else:
        from nanproof.frontends.torch.files import read
    return read


def program_in(target: str, request: Request) -> Program:
    """The program that a target names, with the loss that the request names. Its random weights are the same every time."""
    random.seed(0)
    np.random.seed(0)  # noqa: NPY002 - what programs use
    seed_frameworks()
    place = parse(target)
    if place is None:
        program = _reader(Path(target))(Path(target), trust=request.trust)
    else:
        program = program_of(loaded(place), target, described=bool(request.specs))
    if isinstance(request.loss, str):
        program = replace(program, loss=named(request.loss, place))
    if isinstance(request.optimizer, str):
        program = replace(program, optimizer=named_or_text(request.optimizer, place))
    return program
