"""The model to fix, as a message: the same graph that is analysed, so that findings name nodes of the message."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nanproof.findings import InputError
from nanproof.frontends.opened import DEFAULT_RUNTIME, Opened

if TYPE_CHECKING:
    from onnx import ModelProto

    from nanproof.frontends.request import Request


@dataclass(frozen=True, slots=True)
class Target:
    """A message with its functions inlined, and what the front end says of it.

    folder  where its external data lie
    roles   of initial values, where the front end knows better than the graph
    opened  keeps the files of an exported program alive
    """

    proto: ModelProto
    label: str
    folder: Path | None = None
    runtime: str = "onnxruntime"
    notes: tuple[str, ...] = ()
    roles: Mapping[str, str] = field(default_factory=dict)
    opened: Opened | None = None
    is_program: bool = False
    """Whether it came out of a program, whose source may be changed, too."""


def open_message(target: Any, request: Request | None = None) -> Target:
    """Open any target. Raises InputError for a Model that came without the message that it was read from."""
    import onnx

    from nanproof.frontends.opening import open_target

    opened = open_target(target, request)
    source = opened.source
    if source is None:
        raise InputError(
            f"{opened.model.path}: fixing needs the ONNX model itself: give its file, its bytes or a ModelProto"
        )
    folder = None
    if isinstance(source, bytes):
        proto = onnx.load_model_from_string(source)
    elif isinstance(source, Path):
        proto, folder = onnx.load(source, load_external_data=False), source.parent
    else:
        proto = source
    roles = {name: str(role.value) for name, role in opened.model.roles.items()}
    return Target(
        proto=_plain(proto),
        label=opened.model.path,
        folder=folder,
        runtime=opened.runtime,
        notes=opened.model.notes,
        roles=roles,
        opened=opened,
        is_program=opened.runtime != DEFAULT_RUNTIME or opened.module is not None,
    )


def _plain(proto: ModelProto) -> ModelProto:
    """The same with the bodies of its functions in place: a rewrite has to see what is computed."""
    if not proto.functions:
        return proto
    from onnx import inliner

    return inliner.inline_local_functions(proto)
