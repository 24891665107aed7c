"""float16 and bfloat16: sums and squares that leave their range on the way, accumulated in float32."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from nanproof.fix.draft import Draft, NotHereError
from nanproof.fix.pattern import Found
from nanproof.fix.rewrite import Match, Rewrite
from nanproof.fix.sheet import Sheet, attribute

FLOAT, HALVES = 1, frozenset({10, 16})
DEPTH = 6
ROOTS = frozenset({"ReduceMean", "ReduceSum", "ReduceL2", "ReduceL1", "ReduceSumSquare", "ReduceLogSumExp", "Sqrt", "Log",
                   "Div", "Softmax", "LogSoftmax", "Reciprocal", "MatMul", "Gemm"})  # fmt: skip
INSIDE = frozenset({
    "Add", "Sub", "Mul", "Div", "Pow", "Sqrt", "Exp", "Log", "Neg", "Abs", "Reciprocal", "Max", "Min", "ReduceSum",
    "ReduceMean", "ReduceL2", "ReduceSumSquare", "ReduceLogSumExp", "ReduceMax", "Identity", "Square", "Softplus",
})  # fmt: skip
"""Operators that are taken along into float32."""


@dataclass(frozen=True, slots=True)
class _HalfResult:
    """An operator of ROOTS whose result is float16 or bfloat16."""

    def match(self, sheet: Sheet, value: str, found: Found) -> Iterator[Found]:
        index = sheet.makers.get(value)
        if index is not None and sheet.nodes[index].op_type in ROOTS and sheet.element(value) in HALVES:
            region = _region(sheet, index)
            for member in (index, *region):
                found = found.using(member)
            yield found


def _region(sheet: Sheet, root: int) -> list[int]:
    """The operators before a node that can be taken along, nearest first."""
    region: list[int] = []
    waiting = [(root, 0)]
    while waiting:
        index, depth = waiting.pop(0)
        if depth == DEPTH:
            continue
        for name in sheet.nodes[index].input:
            inner = sheet.makers.get(name)
            if inner is None or inner in region or inner == root:
                continue
            node = sheet.nodes[inner]
            if node.op_type in INSIDE and sheet.element(name) in HALVES:
                region.append(inner)
                waiting.append((inner, depth + 1))
    return region


def _in_float32(draft: Draft, match: Match) -> str:
    """The node and what leads to it once more in float32; only the result is rounded to the narrow type."""
    sheet = match.sheet
    done: dict[str, str] = {}

    def wide(name: str) -> str:
        if not name or sheet.element(name) not in HALVES:
            return name
        if name not in done:
            index = sheet.makers.get(name)
            inside = index is not None and index in match.found.used
            done[name] = again(index) if inside and index is not None else draft.op("Cast", name, to=FLOAT)
        return done[name]

    def again(index: int) -> str:
        node = sheet.nodes[index]
        attributes = {item.name: attribute(node, item.name, None) for item in node.attribute}
        return draft.op(node.op_type, *(wide(name) for name in node.input), **attributes)

    narrow = sheet.element(sheet.nodes[match.root].output[0])
    if not any(sheet.element(name) in HALVES for name in sheet.nodes[match.root].input):
        raise NotHereError("nothing narrow goes in")
    return draft.op("Cast", again(match.root), to=narrow)


REWRITES = (
    Rewrite(
        "in-float32",
        "float32 for what is summed up, and the narrow type for the result only",
        _HalfResult(),
        _in_float32,
        codes=("NP1", "NP2", "NP4"),
    ),
)
