"""Lists of tensors: parts of unequal size, through a list and back."""

from __future__ import annotations

from typing import Any

import numpy as np

from nanproof.dims import symbol
from nanproof.domain.box import Box, finite, of_array
from nanproof.domain.lattice import join
from nanproof.numerics.dtypes import FLOAT32, INT64
from nanproof.ops.call import Call, Setting
from nanproof.ops.registry import lookup


def apply(name: str, *boxes: Box | None, **attrs: Any) -> Any:
    op = lookup("", name)
    assert op is not None, name
    return op.bound(Call(op, attrs, Setting(), label=name), *boxes)


def numbers(values: Any) -> Box:
    return of_array(INT64, np.array(values, np.int64))


def test_parts_keep_their_blocks() -> None:
    lo = np.array([[-1.0, 0.0, 5.0]])
    x = Box(FLOAT32, (2, 6), lo, lo + 1, cuts=(None, (0, 2, 3, 6)))
    parts = apply("SplitToSequence", x, numbers([2, 1, 3]), axis=1)
    third = apply("SequenceAt", parts, numbers(-1))
    assert third.shape == (2, 3)
    assert third.hull() == (5.0, 6.0)
    assert apply("SequenceLength", parts).known == 3
    assert apply("ConcatFromSequence", parts, axis=1).cuts == x.cuts


def test_halves_of_a_symbolic_axis() -> None:
    n = symbol("N")
    x = finite(FLOAT32, (n, 6), 0.0, 1.0)
    parts = apply("SplitToSequence", x, numbers(3), axis=1)
    assert apply("SequenceAt", parts, numbers(1)).shape == (n, 3)
    rows = apply("SplitToSequence", x, numbers(3), axis=0)
    assert apply("SequenceAt", rows, numbers(1)).shape is None


def test_rows_without_their_axis() -> None:
    parts = apply("SplitToSequence", finite(FLOAT32, (2, 6), 0.0, 1.0), None, axis=0, keepdims=0)
    assert apply("SequenceAt", parts, numbers(0)).shape == (6,)
    assert apply("ConcatFromSequence", parts, axis=0, new_axis=1).shape == (2, 6)


def test_an_unknown_place_is_any_item() -> None:
    one, two = finite(FLOAT32, (2,), 0.0, 1.0), finite(FLOAT32, (3,), 5.0, 6.0)
    both = apply("SequenceConstruct", one, two)
    any_of = apply("SequenceAt", both, finite(INT64, (), 0, 1))
    assert any_of.hull() == (0.0, 6.0)
    assert any_of.shape is None
    assert join(both, apply("SequenceConstruct", two)).hull() == (0.0, 6.0)
