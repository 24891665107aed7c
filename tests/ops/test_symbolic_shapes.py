"""Shapes computed by the model itself, as exported PyTorch models do: symbolic sizes must survive."""

from __future__ import annotations

from typing import Any

import numpy as np

from nanproof.dims import symbol
from nanproof.domain.box import Box, finite, of_array
from nanproof.numerics.dtypes import FLOAT32, INT64
from nanproof.ops.call import Call, Setting
from nanproof.ops.registry import lookup

N = symbol("N")
S = symbol("S")


def apply(name: str, *boxes: Box | None, outputs: int = 1, **attrs: Any) -> Any:
    """The Box (or Boxes) that a record answers."""
    op = lookup("", name)
    assert op is not None, name
    setting = Setting(dims={"N": (1, 4096), "S": (1, 4096)})
    with np.errstate(all="ignore"):
        return op.bound(Call(op, attrs, setting, outputs, label=name), *boxes)


def ints(*values: int) -> Box:
    return of_array(INT64, np.array(values, np.int64))


def number(value: int) -> Box:
    return of_array(INT64, np.array(value, np.int64))


def size(x: Box, axis: int) -> Box:
    """x.shape[axis] as a scalar, the way exporters write it."""
    found: Box = apply("Gather", apply("Shape", x), number(axis))
    return found


def listed(*scalars: Box) -> Box:
    found: Box = apply("Concat", *(apply("Unsqueeze", s, ints(0)) for s in scalars), axis=0)
    return found


X = finite(FLOAT32, (N, S, 64), -1.0, 1.0)


def test_view_from_gathered_sizes() -> None:
    """x.view(n, s, 4, 16): Shape, Gather, Unsqueeze, Concat, Reshape."""
    heads = apply("Reshape", X, listed(size(X, 0), size(X, 1), number(4), number(16)))
    assert heads.shape == (N, S, 4, 16)
    back = apply("Reshape", apply("Transpose", heads, perm=(0, 2, 1, 3)), listed(size(X, 0), number(-1), size(X, 1)))
    assert back.shape == (N, 64, S)


def test_arithmetic_between() -> None:
    """Products, sums and quotients of sizes stay expressions."""
    rows = apply("Mul", size(X, 0), size(X, 1))
    assert apply("Reshape", X, listed(rows, number(64))).shape == (N * S, 64)
    more = apply("Add", size(X, 1), number(1))
    assert apply("Expand", finite(FLOAT32, (1,), 0.0, 1.0), listed(size(X, 0), more)).shape == (N, S + 1)
    half = apply("Div", size(X, 2), number(2))
    assert apply("Reshape", X, listed(number(-1), half)).shape == (2 * N * S, 32)
    halves = apply("Div", apply("Mul", size(X, 1), number(2)), number(2))
    assert apply("Reshape", X, listed(number(-1), halves, number(64))).shape == (N, S, 64)


def test_slices_of_shapes() -> None:
    lead = apply("Slice", apply("Shape", X), ints(0), ints(-1))
    assert apply("Reshape", X, apply("Concat", lead, ints(8, 8), axis=0)).shape == (N, S, 8, 8)
    assert apply("Reshape", X, apply("Concat", apply("Shape", X, start=0, end=1), ints(-1), axis=0)).shape == (
        N,
        S * 64,
    )


def test_range_and_mask() -> None:
    places = apply("Range", number(0), size(X, 1), number(1))
    assert places.shape == (S,)
    assert places.lo == 0
    mask = apply("ConstantOfShape", listed(size(X, 1), size(X, 1)))
    assert mask.shape == (S, S)


def test_slice_by_a_size() -> None:
    table = finite(FLOAT32, (512, 64), -2.0, 2.0)
    taken = apply("Slice", table, ints(0), listed(size(X, 1)), ints(0))
    assert str(taken.shape[0]) == "min(512, S)"
    assert apply("Slice", X, ints(1), ints(2**63 - 1), ints(1)).shape == (
        N,
        apply("Slice", X, ints(1), ints(2**63 - 1), ints(1)).shape[1],
        64,
    )


def test_flatten_and_back() -> None:
    flat = apply("Reshape", X, ints(-1, 64))
    assert flat.shape == (N * S, 64)
    assert apply("Reshape", flat, apply("Shape", X)).shape == (N, S, 64)


def test_channels_survive() -> None:
    """Cuts of the channel axis pass through reshapes of symbolic axes."""
    lo = -np.arange(1.0, 5.0).reshape(1, 1, 4)
    x = Box(FLOAT32, (N, S, 4), lo, -lo, cuts=(None, None, (0, 1, 2, 3, 4)))
    flat = apply("Reshape", x, ints(-1, 4))
    assert flat.cuts == (None, (0, 1, 2, 3, 4))
    back = apply("Reshape", flat, apply("Shape", x))
    assert back.cuts == x.cuts
    assert apply("Transpose", back, perm=(0, 2, 1)).cuts == (None, (0, 1, 2, 3, 4), None)
    up = apply("Unsqueeze", x, ints(0, 2))
    assert up.shape == (1, N, 1, S, 4)
    assert up.cuts == (None, None, None, None, (0, 1, 2, 3, 4))
    assert apply("Squeeze", up, ints(0, 2)).cuts == x.cuts


def test_rectangles() -> None:
    """Corners from centres and offsets, put together and taken apart: widths are never negative (DEBAR's example)."""
    centre = finite(FLOAT32, (N, 2), -10.0, 10.0)
    offset = finite(FLOAT32, (N, 2), 0.5, 2.0)
    corners = apply("Concat", apply("Sub", centre, offset), apply("Add", centre, offset), axis=-1)
    assert corners.shape == (N, 4)
    left, top, right, bottom = apply("Split", corners, outputs=4, num_outputs=4, axis=-1)
    for low, high in ((left, right), (top, bottom)):
        width = apply("Sub", high, low)
        assert width.lo > 0.99
        assert width.hi < 4.01
    crossed = apply("Sub", bottom, left)
    assert crossed.lo < -10


def test_rectangles_by_indices() -> None:
    """The same with Gather for the columns, and with Slice."""
    centre = finite(FLOAT32, (7, 2), -10.0, 10.0)
    offset = finite(FLOAT32, (7, 2), 0.5, 2.0)
    corners = apply("Concat", apply("Sub", centre, offset), apply("Add", centre, offset), axis=1)
    columns = [apply("Gather", corners, number(i), axis=1) for i in range(4)]
    assert apply("Sub", columns[2], columns[0]).lo > 0.99
    low = apply("Slice", corners, ints(0), ints(2), ints(1))
    high = apply("Slice", corners, ints(2), ints(4), ints(1))
    assert apply("Sub", high, low).lo > 0.99
    far = finite(FLOAT32, (7, 2), -1e9, 1e9)
    corners = apply("Concat", apply("Sub", far, offset), apply("Add", far, offset), axis=1)
    columns = [apply("Gather", corners, number(i), axis=1) for i in range(4)]
    assert apply("Sub", columns[2], columns[0]).lo <= 0, "in float32 the offset vanishes"


def test_transposed_is_another_tensor() -> None:
    x = finite(FLOAT32, (3, 3), -1.0, 1.0)
    turned = apply("Transpose", x)
    assert apply("Sub", x, turned).lo == -2.0
    assert apply("Sub", turned, apply("Transpose", x)).hi == 0.0


def test_casts_between() -> None:
    """Sizes through Cast, comparison-free arithmetic and back, as interpolate and pooling export."""
    half = apply("Cast", apply("Div", size(X, 1), number(2)), to=7)
    assert apply("Expand", finite(FLOAT32, (1,), 0.0, 1.0), listed(half)).shape == (S // 2,)
    narrow = apply("Cast", apply("Cast", size(X, 0), to=6), to=7)
    assert apply("Reshape", X, listed(narrow, number(-1))).shape == (N, S * 64)


def test_choice_of_sizes() -> None:
    """Expand as PyTorch writes it: Where(shape == -1, 1, shape)."""
    wanted = listed(size(X, 0), number(-1), number(64))
    chosen = apply("Where", apply("Equal", wanted, ints(-1)), ints(1, 1, 1), wanted)
    assert apply("Expand", finite(FLOAT32, (1, 1, 64), 0.0, 1.0), chosen).shape == (N, 1, 64)
