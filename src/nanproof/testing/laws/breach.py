"""What is said when a law doesn't hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from nanproof.domain.box import Box

MOST = 6
"""Most elements that a message shows of a tensor."""


class LawError(AssertionError):
    """An operator's record breaks a law."""


@dataclass(frozen=True, slots=True)
class Breach:
    """One law, broken by one operator in one case and dtype."""

    law: str
    subject: str
    detail: str

    def __str__(self) -> str:
        return f"{self.law}: {self.subject}\n    {self.detail}"


def shown(operands: Sequence[Any], boxes: Sequence[Box | None] = ()) -> str:
    """Operands in a line each: a few elements, and the Box that they were drawn from."""
    lines = []
    for i, x in enumerate(operands):
        box = boxes[i] if i < len(boxes) else None
        lines.append(f"\n      operand {i}: {_brief(x)}" + ("" if box is None else f"  from {box!r}{_blocks(box)}"))
    return "".join(lines)


def _blocks(box: Box) -> str:
    if box.cuts is None or np.size(box.lo) > MOST:
        return ""
    return f" cuts={box.cuts} lo={np.ravel(box.lo).tolist()} hi={np.ravel(box.hi).tolist()} spots={np.ravel(box.block_flags()).tolist()}"


def _brief(x: Any) -> str:
    if x is None:
        return "absent"
    array = np.asarray(x)
    flat = [repr(v) for v in array.ravel()[:MOST].tolist()]
    more = f", ... {array.size} in all" if array.size > MOST else ""
    return f"{array.dtype.name}{list(array.shape)} {', '.join(flat)}{more}"
