"""BitCast of floats, which the laws can't draw: every number between two ends has its bits in the Box."""

from __future__ import annotations

from math import inf

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nanproof.domain.box import NAN, NINF, PINF, Box
from nanproof.numerics.dtypes import BFLOAT16, FLOAT16, FLOAT32, FLOAT64, DType, by_name, to_numpy
from nanproof.ops.bit_cast import BIT_CAST
from nanproof.ops.call import Call
from nanproof.testing.laws.apply import setting


def cast(box: Box, target: DType) -> Box:
    return BIT_CAST.bound(Call(BIT_CAST, {"to": target.onnx}, setting("ieee"), 1), box)


WIDE = {"float32": ("int32", "uint32"), "float64": ("int64", "uint64"), "float16": ("int16",), "bfloat16": ("uint16",)}


@pytest.mark.parametrize("dtype", [FLOAT32, FLOAT64, FLOAT16, BFLOAT16], ids=repr)
@given(data=st.data())
def test_the_bits_of_every_number_between_two_ends(dtype: DType, data: st.DataObject) -> None:
    kind = to_numpy(dtype)
    numbers = np.frombuffer(data.draw(st.binary(min_size=6 * kind.itemsize, max_size=6 * kind.itemsize)), kind)
    with np.errstate(invalid="ignore"):  # signalling NaNs
        numbers = np.where(np.isfinite(numbers), numbers, kind.type(0.0))
    wide = numbers.astype(np.float64)
    box = Box(dtype, (6,), float(wide.min()), float(wide.max()))
    for name in WIDE[dtype.name]:
        target = by_name(name)
        found = cast(box, target)
        bits = numbers.view(to_numpy(target))
        assert all(found.lo <= int(n) <= found.hi for n in bits)


def test_a_number_in_one_of_the_upper_bits_is_between_1_and_2() -> None:
    """How uniform random numbers are made."""
    bits = Box(by_name("uint32"), (3,), float(0x3F800000), float(0x3FFFFFFF))
    found = cast(bits, FLOAT32)
    assert (found.lo, found.hi, found.flags) == (1.0, 2.0 - 2.0**-23, 0)


def test_what_is_not_finite_is_flagged_by_its_sign() -> None:
    found = cast(Box(by_name("int32"), (3,), float(0x7F800000), float(0x7F800000)), FLOAT32)
    assert (found.lo, found.hi, found.flags) == (inf, -inf, PINF)
    found = cast(Box(by_name("int32"), (3,), -(2.0**31), -1.0), FLOAT32)
    assert found.flags == NAN | NINF
    assert (found.lo, found.hi) == (FLOAT32.min, 0.0)
