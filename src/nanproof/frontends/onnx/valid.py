"""What our own front ends leave in a file: what some inputs are by their nature, such as the moments that an optimiser keeps."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from onnx import ModelProto

KEY = "nanproof.valid"
"""The name of the model's metadata that holds it, as JSON: {input: [lowest, highest]}."""
LONGEST = 1 << 24


def written(ranges: Mapping[str, tuple[float, float]]) -> str:
    """The text of the metadata."""
    return json.dumps({name: list(ends) for name, ends in ranges.items()})


def read(proto: ModelProto, inputs: Iterable[str]) -> dict[str, tuple[float, float]]:
    """What the metadata says of these inputs; what makes no sense in a file of a stranger is left out."""
    text = next((entry.value for entry in proto.metadata_props if entry.key == KEY), "")
    if not text or len(text) > LONGEST:
        return {}
    try:
        said = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    names = set(inputs)
    return {n: (e[0], e[1]) for n, e in said.items() if n in names and _is_range(e)} if isinstance(said, dict) else {}


def _is_range(ends: object) -> bool:
    return (
        isinstance(ends, list)
        and len(ends) == 2
        and all(isinstance(end, (int, float)) and not isinstance(end, bool) and math.isfinite(end) for end in ends)
        and ends[0] <= ends[1]
    )
