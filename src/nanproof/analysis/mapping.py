"""SequenceMap: a body that is run for every tensor of a sequence."""

from __future__ import annotations

from nanproof.analysis.branching import RunLevel
from nanproof.analysis.loops import UNROLLED, UNROLLED_NODES, own_constants
from nanproof.analysis.state import State
from nanproof.dims import symbol
from nanproof.domain.box import Box
from nanproof.domain.lattice import join
from nanproof.domain.series import Series, listed, series_of
from nanproof.model.lower import Program, Step
from nanproof.numerics.dtypes import FLOAT32, DType


def run_sequence_map(state: State, step: Step, *, certain: bool, run: RunLevel) -> tuple[Box, ...]:
    """Tensor by tensor where the sequence is known, else once for any of them."""
    body = step.branches[0]
    operands = [_value(state, slot) for slot in step.inputs]
    walked = series_of(operands[0])
    operands[0] = walked
    constants = own_constants(state, body)
    counted = (state.total, state.nodes)

    def iterate(index: int | None, *, surely: bool) -> list[Box]:
        for slot, box in constants:
            state.boxes[slot] = box
        for place, (slot, operand) in enumerate(zip(body.inputs, operands, strict=True)):
            name = f"{step.node.outputs[0]}.{place}"
            state.boxes[slot] = state.hulls[slot] = _item(operand, index, name)
            found = state.origins.get(step.inputs[place])
            if found:
                state.origins[slot] = found
        run(state, body, certain=surely)
        return [_value(state, slot) for slot in body.outputs]

    limit = min(UNROLLED, max(1, UNROLLED_NODES // max(1, len(body.steps))))
    if walked.items is not None and len(walked.items) <= limit:
        rows = []
        for index in range(len(walked.items)):
            if index:
                state.total, state.nodes = counted  # sites and nodes of a body count once
            rows.append(iterate(index, surely=certain))
        results: tuple[Box, ...] = tuple(
            listed(_dtype(state, slot, [row[i] for row in rows]), [row[i] for row in rows], join)
            for i, slot in enumerate(body.outputs)
        )
    else:
        row = iterate(None, surely=certain and walked.least > 0)
        results = tuple(_anywhere(box, walked) for box in row)
    _carry(state, step, body)
    return results


def _item(operand: Box, index: int | None, name: str) -> Box:
    """What the body sees of an operand: a tensor of a sequence, or the operand itself."""
    if not isinstance(operand, Series):
        return operand
    if index is not None and operand.items is not None and index < len(operand.items):
        return operand.items[index]
    return operand.any(lambda what: symbol(f"{name}.{what}"))


def _anywhere(box: Box, walked: Series) -> Series:
    """A sequence of such results. A size with a name may be another one for each of them."""
    sizes = None if box.shape is None else tuple(n if isinstance(n, int) else None for n in box.shape)
    rest = box if sizes is not None and None not in sizes else Box(box.dtype, None, *box.hull(), box.flags)
    return Series(rest, sizes, (walked.least, walked.most), length=walked.length)


def _dtype(state: State, slot: int, found: list[Box]) -> DType:
    """The dtype of a result, from what the file says where there is no result."""
    if found:
        return found[0].dtype
    declared = state.declared.get(state.program.names[slot])
    return FLOAT32 if declared is None or declared.dtype is None else declared.dtype


def _carry(state: State, step: Step, body: Program) -> None:
    """What flows into the body's results flows into the node's."""
    for outer, inner in zip(step.outputs, body.outputs, strict=False):
        found = (*state.origins.get(outer, ()), *state.origins.get(inner, ()))
        if found:
            state.origins[outer] = tuple(dict.fromkeys(found))
        if inner in state.weak:
            state.weak.add(outer)


def _value(state: State, slot: int) -> Box:
    box = state.boxes[slot]
    assert box is not None
    return box
