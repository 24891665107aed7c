"""Writing at computed places: XLA's scatter in its general form, and updates of slices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from nanproof.frontends.jax.rules.indexing import FILL, Window, mode_of
from nanproof.frontends.jax.rules.shaping import transposed
from nanproof.frontends.jax.rules.slicing import clipped, sliced
from nanproof.frontends.jax.translating import Equation, Type, UnmappedError

if TYPE_CHECKING:
    from nanproof.frontends.jax.translating import Rule, Translator
    from nanproof.frontends.jax.writing import Block


def scattered(reduction: str) -> Rule:
    """ScatterND of tuples, with a way to put together what meets at one place."""

    def rule(_: Translator, block: Block, eqn: Equation) -> str:
        numbers = eqn.params["dimension_numbers"]
        operand, updates = eqn.operands[0], eqn.operands[2]
        batched = tuple(zip(numbers.operand_batching_dims, numbers.scatter_indices_batching_dims, strict=True))
        gone = frozenset((*numbers.inserted_window_dims, *numbers.operand_batching_dims))
        window_axes = [axis for axis in range(operand.rank) if axis not in gone]
        at = dict(zip(window_axes, numbers.update_window_dims, strict=True))
        sizes = tuple(updates.shape[at[axis]] if axis in at else 1 for axis in range(operand.rank))
        window = Window(operand, eqn.operands[1], tuple(numbers.scatter_dims_to_operand_dims), batched, gone, sizes)
        if any(sizes[axis] != operand.shape[axis] for axis in window.whole):
            raise UnmappedError("updates that are smaller than the operand along an axis without an index")
        batch = [axis for axis in range(updates.rank) if axis not in numbers.update_window_dims]
        order = [*batch, *(at[axis] for axis in window.inner), *(at[axis] for axis in window.whole)]
        values = transposed(block, eqn.inputs[2], order)
        return _written(block, eqn, window, (values, reduction))

    return rule


def _written(block: Block, eqn: Equation, window: Window, update: tuple[str, str]) -> str:
    values, reduction = update
    if not window.named:
        raise UnmappedError("an update without an index")
    mode = mode_of(eqn.params, promised=FILL)
    starts, inside = window.starts(block, eqn.inputs[1], mode)
    order = [*window.named, *window.whole]
    target = transposed(block, eqn.inputs[0], order)
    first = window.named[0]
    size = window.operand.shape[first]
    if mode == FILL and inside is not None:
        # what would fall outside falls onto one more row, which is cut off afterwards
        target = _one_more(block, target, window.operand)
        places = window.places(block, starts)
        inner = range(len(window.batch), len(window.batch) + len(window.inner))
        mask = block.add("Unsqueeze", inside, block.ints(inner)) if inner else inside
        places[first] = block.add("Where", mask, places[first], block.add("Squeeze", block.size(size)))
        tuples = window.together(block, places)
    else:
        tuples = window.together(block, window.places(block, starts))
    found = block.add("ScatterND", target, tuples, values, reduction=reduction)
    if mode == FILL and inside is not None:
        found = sliced(block, found, [0], [0], [size])
    back = [order.index(axis) for axis in range(len(order))]
    return transposed(block, found, back)


def _one_more(block: Block, x: str, kind: Type) -> str:
    """With a row of zeros at the end of the first axis."""
    widths = [0] * (2 * kind.rank)
    widths[kind.rank] = 1
    return block.add("Pad", x, block.ints(widths), block.constant(0, kind.dtype))


def _scatter_sub(translator: Translator, block: Block, eqn: Equation) -> str:
    negated = block.add("Neg", eqn.inputs[2])
    changed = Equation(eqn.name, (*eqn.inputs[:2], negated), eqn.operands, eqn.results, eqn.params)
    return str(scattered("add")(translator, block, changed))


def _scatter(translator: Translator, block: Block, eqn: Equation) -> str:
    if eqn.params.get("update_jaxpr") is not None and len(eqn.params["update_jaxpr"].eqns):
        raise UnmappedError("an update by a function of the program")
    return str(scattered("none")(translator, block, eqn))


def _dynamic_update_slice(_: Translator, block: Block, eqn: Equation) -> str:
    """A window at one place, which is moved so that it fits."""
    x, update, *starts = eqn.inputs
    operand, sizes = eqn.operands[0], eqn.operands[1].shape
    named = [axis for axis in range(operand.rank) if sizes[axis] != operand.shape[axis]]
    if not named:
        return block.add("Identity", update)
    window = Window(operand, Type(np.dtype(np.int64), (len(named),)), tuple(named), (), frozenset(), sizes)
    first = {
        axis: clipped(block, block.cast(starts[axis], np.int64), operand.shape[axis], sizes[axis]) for axis in named
    }
    order = [*window.named, *window.whole]
    found = block.add(
        "ScatterND",
        transposed(block, x, order),
        window.together(block, window.places(block, first)),
        transposed(block, update, order),
    )
    return transposed(block, found, [order.index(axis) for axis in range(operand.rank)])


_ADDED: dict[str, Any] = {"scatter-add": "add", "scatter-mul": "mul", "scatter-min": "min", "scatter-max": "max"}
RULES: dict[str, Rule] = {
    **{name: scattered(reduction) for name, reduction in _ADDED.items()},
    "scatter-sub": _scatter_sub,
    "scatter": _scatter,
    "dynamic_update_slice": _dynamic_update_slice,
}
