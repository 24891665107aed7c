"""Cutting, merging and aligning blocks never loses a value."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from nanproof.domain.box import Box, of_array
from nanproof.domain.lattice import contains
from nanproof.domain.partition import aligned, blocks_of, exact_blocks, fine, pack, refine, seams
from nanproof.numerics.dtypes import FLOAT32, INT64
from nanproof.testing.membership import outside, spread
from nanproof.testing.strategies import boxed_tensors, cut_points, shapes


def inside(box: Box, tensor: Any) -> bool:
    return not bool(outside(spread(box, tensor.shape), tensor).any())


@given(st.data())
def test_refining_changes_nothing(data: st.DataObject) -> None:
    shape = data.draw(shapes())
    box, tensor = data.draw(boxed_tensors(FLOAT32, shape))
    cuts = data.draw(cut_points(shape)) or (None,) * len(shape)
    finer = refine(box, cuts)
    assert inside(finer, tensor)
    assert contains(box, finer)
    assert contains(finer, box)


@given(st.data())
def test_coarsening_keeps_every_value_and_the_budget(data: st.DataObject) -> None:
    shape = data.draw(shapes())
    box, tensor = data.draw(boxed_tensors(FLOAT32, shape))
    budget = data.draw(st.integers(1, 6))
    coarse = pack(box.dtype, box.shape, box.cuts, blocks_of(box), budget)
    assert np.size(coarse.lo) <= budget
    assert inside(coarse, tensor)
    assert contains(coarse, box)
    assert coarse.hull() == box.hull()
    assert coarse.flags == box.flags


@given(st.data())
def test_aligned_operands_have_common_blocks(data: st.DataObject) -> None:
    shape = data.draw(shapes())
    one, first = data.draw(boxed_tensors(FLOAT32, shape))
    kept = data.draw(st.integers(0, len(shape)))
    thin = tuple(data.draw(st.sampled_from((1, n))) for n in shape[kept:])
    other, second = data.draw(boxed_tensors(FLOAT32, thin))
    cuts, blocks = aligned((one, other), len(shape))
    if cuts is None:
        return
    for block, tensor in zip(blocks, (first, second), strict=True):
        grid = tuple(1 if c is None else len(c) - 1 for c in cuts)
        np.broadcast_shapes(np.shape(block.lo), grid)
        full = pack(FLOAT32, shape, cuts, block)
        assert inside(full, np.broadcast_to(tensor, shape))


@given(st.data())
def test_known_elements_are_exact_at_any_cuts(data: st.DataObject) -> None:
    shape = data.draw(shapes())
    _, tensor = data.draw(boxed_tensors(FLOAT32, shape))
    box = of_array(FLOAT32, tensor)
    assert inside(box, tensor)
    bare = Box(FLOAT32, shape, box.lo, box.hi, box.flags)  # what is known says more than any bounds
    finest = fine(box)
    assert inside(finest, tensor)
    assert contains(bare, finest)
    cuts = data.draw(cut_points(shape))
    if cuts is not None:
        part = pack(FLOAT32, shape, cuts, exact_blocks(tensor, cuts))
        assert inside(part, tensor)
        assert contains(bare, part)
    limited = fine(box, 3)
    assert inside(limited, tensor)


def test_integers_beyond_float64_stay_inside() -> None:
    tensor = np.array([2**63 - 1, -(2**63), 2**53 + 1, -(2**53) - 1], np.int64)
    assert inside(of_array(INT64, tensor), tensor)
    assert inside(fine(of_array(INT64, tensor)), tensor)
    for one in (tensor[2:3], tensor[2:]):
        assert inside(of_array(INT64, one), one)
        assert inside(fine(of_array(INT64, one)), one)
    small = np.array([0, 2**60], np.int64)
    assert fine(of_array(INT64, small)).lo[0] == 0.0  # type: ignore[index]


def test_a_causal_mask_has_a_seam_behind_its_first_column() -> None:
    mask = np.triu(np.full((80, 80), -np.inf, np.float32), 1)
    cuts = seams(mask)
    assert cuts[1] is not None
    assert cuts[1][:2] == (0, 1)
    box = fine(of_array(FLOAT32, mask))
    assert inside(box, mask)
    spots = spread(box, mask.shape).flags
    assert not spots[:, 0].any()
