"""How a target that isn't an ONNX file is to be opened: what front ends and commands hand on to each other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

TIMEOUT = 600.0
"""Seconds that a program may take to load and export."""


@dataclass(frozen=True, slots=True)
class Request:
    """What the user says of a program beside its name.

    inputs   example inputs of a live module: a tuple, a dict by name, or one tensor
    specs    example inputs by description: ``{"x": "float32[N,3,32,32]"}``; a size with a name stays open
    dynamic  sizes to keep open: "batch", "all", "x:0" or "x:0=N"
    mode     "eval", "train", or "keep" what the program chose; None is eval for the forward phase, else train
    phase    "forward"; "gradient" for the gradients of a loss too; "step" for one step of an optimiser as well
    loss     a function of the outputs and of the inputs left over; in text the name of one, or ``file.py:name``
    optimizer  the one that takes the step: text such as "adam(lr=1e-3)", the name of an object of the program, or an object
    clip_norm  the norm that all gradients together are cut to before the step
    trust    whether a file may run code when it is loaded (pickles)
    timeout  seconds that loading and exporting may take in the child process
    overlay  texts to run in the place of files of the program, by absolute path: a change that is tried
    """

    inputs: Any = None
    specs: Mapping[str, str] = field(default_factory=dict)
    dynamic: tuple[str, ...] = ()
    mode: str | None = None
    phase: str = "forward"
    loss: Any = None
    optimizer: Any = None
    clip_norm: float | None = None
    trust: bool = False
    timeout: float = TIMEOUT
    overlay: Mapping[str, str] = field(default_factory=dict)
