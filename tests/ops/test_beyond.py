"""The jump of atan2, which the laws leave out."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from nanproof.domain.box import Box
from nanproof.numerics.dtypes import FLOAT32
from nanproof.ops.beyond import ATAN2
from nanproof.ops.call import Call
from nanproof.testing.laws.apply import setting

NUMBERS = st.sampled_from([0.0, -0.0, 1.0, -1.0, 1e-40, -1e-40, 2.5, -3e38]) | st.floats(width=32, allow_nan=False, allow_infinity=False)  # fmt: skip


@given(st.lists(st.tuples(NUMBERS, NUMBERS), min_size=1, max_size=4))
def test_no_angle_of_points_in_a_rectangle_is_outside(points: list[tuple[float, float]]) -> None:
    y, x = (np.array(side, np.float32) for side in zip(*points, strict=True))
    boxes = [Box(FLOAT32, (len(points),), float(side.min()), float(side.max())) for side in (y, x)]
    found = ATAN2.bound(Call(ATAN2, {}, setting("torch"), 1), *boxes)
    angles = np.arctan2(y, x).astype(np.float64)
    assert found.lo <= angles.min()
    assert angles.max() <= found.hi
    assert found.hi <= math.pi + 1e-6
