"""Exporters leave the Python stack in a node's metadata or doc string: find the innermost line of the user's program in it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from nanproof.findings.finding import PHASES
from nanproof.findings.location import Location
from nanproof.model.graph import FORWARD, Part

if TYPE_CHECKING:
    from onnx import NodeProto

STACK_KEYS = frozenset({"pkg.torch.onnx.stack_trace", "stack_trace", "pkg.onnxscript.stack_trace"})

PLACE_KEY = "nanproof.location"
"""Metadata of our own front ends: 'file:line', already chosen."""
PART_KEYS = {"nanproof.phase": 0, "nanproof.derives": 1, "nanproof.pair": 2}
"""Metadata of nodes of a training graph: see ``model.graph.Part``."""

_FRAME = re.compile(r'File "([^"\n]{1,1000})", line (\d{1,9})')  # Python's own form, innermost last
_SCRIPT_FRAME = re.compile(
    r"^\s*(?:# )?([^\s():][^():\n]{0,1000}\.py)[(:](\d{1,9})\)?", re.MULTILINE
)  # TorchScript's form, innermost first
_LIBRARY = (
    "/site-packages/",
    "/dist-packages/",
    "\\site-packages\\",
    "/torch/nn/modules/",
    "/lib/python3",
    "<frozen ",
    "<eval_with_key>",
)


def locate(node: NodeProto, cache: dict[str, Location | None]) -> Location | None:
    """Return where the user's program makes this node, if the exporter left it."""
    for entry in node.metadata_props:
        if entry.key == PLACE_KEY and isinstance(entry.value, str):
            return _placed(entry.value)
        if entry.key in STACK_KEYS and isinstance(entry.value, str):
            return _cached(entry.value, cache)
    text = node.doc_string
    return _cached(text, cache) if text and isinstance(text, str) else None


def part(node: NodeProto) -> Part:
    """The part of a training step that a node belongs to."""
    found = ["forward", "", ""]
    for entry in node.metadata_props:
        place = PART_KEYS.get(entry.key)
        if place is not None and isinstance(entry.value, str):
            found[place] = entry.value
    return Part(*found) if found != ["forward", "", ""] and found[0] in PHASES else FORWARD


def _placed(text: str) -> Location | None:
    file, _, line = text.rpartition(":")
    return Location(file, int(line)) if file and line.isdecimal() and int(line[:9]) > 0 else None


def _cached(text: str, cache: dict[str, Location | None]) -> Location | None:
    if text not in cache:
        cache[text] = parse(text)
    return cache[text]


def parse(text: str) -> Location | None:
    """Return the innermost frame outside of libraries; None if the text holds no such frame."""
    frames = _FRAME.findall(text)[::-1] or _SCRIPT_FRAME.findall(text)
    for file, line in frames:
        if int(line) and not any(part in file for part in _LIBRARY):
            return Location(file, int(line))
    return None
