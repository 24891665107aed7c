"""The ONNX form of a case, kept in a cache, and the nodes of its sites by the lines that compute them."""

from __future__ import annotations

import hashlib
import inspect
import os
import re
from functools import cache
from pathlib import Path
from typing import Any

import onnx

from nanproof.frontends.opening import open_target
from nanproof.frontends.request import Request
from nanproof.frontends.torch.exporting import PLACE

from .case import Case, Site
from .examples import example

HERE = Path(__file__).parent
CACHE = HERE.parents[1] / ".cache" / "grist"
_MARK = re.compile(r"#\s*site:\s*(.+)$")


def exported(case: Case, *, repaired: bool = False) -> Path:
    """The path of the case's ONNX file. It is made when it isn't there yet, or when the program has changed."""
    path = CACHE / f"{case.id}-{'repaired-' if repaired else ''}{_content(case)}.onnx"
    if not path.exists():
        proto = to_onnx(case.make(repaired=repaired), example(case))
        path.parent.mkdir(parents=True, exist_ok=True)
        scratch = path.with_suffix(f".{os.getpid()}")
        onnx.save(proto, scratch)
        scratch.replace(path)
        for old in path.parent.glob(f"{case.id}-{'repaired-' if repaired else ''}{'[0-9a-f]' * 16}.onnx"):
            if old != path:
                old.unlink(missing_ok=True)
    return path


def to_onnx(module: Any, inputs: dict[str, Any], *, phase: str = "forward") -> onnx.ModelProto:
    """What nanproof's own front end makes of a live module; with "gradient", of the gradients of its loss too."""
    opened = open_target(module, Request(inputs=inputs, mode="eval", phase=phase))
    proto = opened.proto()
    assert proto is not None
    return proto


def nodes_of(site: Site, model: onnx.ModelProto) -> tuple[str, ...]:
    """The names of the nodes of the site's operator that its marked lines compute."""
    return tuple(
        node.name
        for node in model.graph.node
        if node.op_type == site.op and site.mark in marks().get(line_of(node), ())
    )


def line_of(node: onnx.NodeProto) -> tuple[str, int]:
    """The line of a benchmark program that made the node: the file below this folder, and the number."""
    place = next((item.value for item in node.metadata_props if item.key == PLACE), "")
    file, _, line = place.rpartition(":")
    parts = Path(file).parts
    if HERE.name not in parts or not line.isdigit():
        return "", 0
    return Path(*parts[parts.index(HERE.name) + 1 :]).as_posix(), int(line)


@cache
def marks() -> dict[tuple[str, int], tuple[str, ...]]:
    """The marks of every marked line of the programs."""
    found = {}
    for path in HERE.rglob("*.py"):
        for number, text in enumerate(path.read_text().splitlines(), 1):
            if mark := _MARK.search(text):
                found[path.relative_to(HERE).as_posix(), number] = tuple(part.strip() for part in mark[1].split(";"))
    return found


def _content(case: Case) -> str:
    """What the exported file depends on: the sources, where they lie, and the exporter."""
    import torch

    made = type(case.make())
    sources = [Path(inspect.getfile(made)), *(HERE / name for name in ("blocks.py", "examples.py", "export.py"))]
    told = hashlib.blake2b(digest_size=8)
    for part in (torch.__version__, str(HERE), case.id, *(path.read_text() for path in sources)):
        told.update(part.encode())
    return told.hexdigest()
