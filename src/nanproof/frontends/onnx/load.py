"""Open an ONNX model: from a path, from bytes, or from a ModelProto."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import TYPE_CHECKING

from nanproof.findings.errors import InputError
from nanproof.frontends.onnx import valid as valid_inputs
from nanproof.frontends.onnx.adapters import TARGET
from nanproof.frontends.onnx.container import Container, parse
from nanproof.frontends.onnx.external import DataFolder
from nanproof.frontends.onnx.read import Reader
from nanproof.frontends.onnx.types import check_nodes
from nanproof.model.graph import Model
from nanproof.model.order import arrange
from nanproof.model.roles import infer

if TYPE_CHECKING:
    from collections.abc import Mapping

    from onnx import ModelProto

    from nanproof.frontends.onnx.read import Known
    from nanproof.model.roles import Role


def load(
    target: str | Path | bytes | ModelProto,
    *,
    known: Known | None = None,
    roles: Mapping[str, Role] | None = None,
    folder: Path | None = None,
) -> Model:
    """Load a model and bring it to one form: opset 26 or newer, functions inlined, Constant nodes folded, nodes in order.

    `known(domain, op)` says which operators need no expansion from the function body of their schema: those with a record,
    unless told otherwise. `folder` is where the external data of bytes or a message lie. Raises InputError, which names the file, when anything about the model is wrong.
    """
    label = str(target) if isinstance(target, (str, Path)) else "the model"
    collecting = gc.isenabled()
    gc.disable()  # many small objects are made and none is garbage: collecting would double the time
    try:
        return _load(parse(target), label, known, roles, folder=folder)
    except InputError as error:
        message = str(error)
        raise InputError(message if message.startswith(label) else f"{label}: {message}") from None
    except RecursionError:
        raise InputError(
            f"{label}: graphs and functions are nested too deeply: the file is damaged or hostile"
        ) from None
    finally:
        if collecting:
            gc.enable()


def load_text(text: str, *, known: Known | None = None) -> Model:
    """Load a model from ONNX's text form (onnx.parser)."""
    import onnx.parser

    try:
        proto = onnx.parser.parse_model(text)
    except onnx.parser.ParseError as error:
        raise InputError(f"the model's text can't be read: {error}") from None
    return load(proto, known=known)


def _load(
    container: Container, label: str, known: Known | None, roles: Mapping[str, Role] | None, *, folder: Path | None
) -> Model:
    opsets = _opsets(container.proto)
    reader = Reader(DataFolder(container.folder or folder, container.file), known or _has_record, container.located)
    graph = reader.model(container.proto, opsets, container.left)
    valid = valid_inputs.read(container.proto, [item.name for item in graph.inputs])
    del container
    arrange(graph)
    opset = max(opsets.get("", 0), TARGET)
    check_nodes(graph, opset)
    return Model(graph, opset, label, tuple(reader.notes), infer(graph, roles), valid)


def _has_record(domain: str, op: str) -> bool:
    from nanproof.ops.registry import lookup

    return lookup(domain, op) is not None


def _opsets(proto: ModelProto) -> dict[str, int]:
    opsets: dict[str, int] = {}
    for entry in proto.opset_import:
        domain = "" if entry.domain == "ai.onnx" else entry.domain
        if entry.version < 1:
            raise InputError(
                f'the opset of domain "{domain}" is {entry.version}, versions count from 1: export the model again'
            )
        opsets[domain] = entry.version
    if not opsets and proto.ir_version < 3:
        opsets[""] = 1
    return opsets
