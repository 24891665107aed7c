"""Reading operands that say *where* or *how much*: shapes, axes, indices, counts.

Such operands are small, and often known: as constants, or as symbolic sizes that
an earlier Shape delivered.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np

from nanproof.dims import Dim, ShapeError, Size, bounds, interval
from nanproof.domain.box import Array, Box, Shape, limits, of_array, of_sizes
from nanproof.numerics.dtypes import INT64, DType

if TYPE_CHECKING:
    from nanproof.ops.call import Call

MOST = 1 << 16
"""Most elements of an operand that is read element by element."""

MAX_RANK = 64
"""Most axes of a tensor: NumPy's limit, and far above any model's."""

FEW = 1 << 12
"""Most elements of a known result whose bounds are read again."""


def sizes(box: Box | None) -> tuple[Size, ...] | None:
    """The elements of an integer operand, symbolic ones included; None where they aren't known."""
    if box is None:
        return None
    known = box.known
    if known is None:
        if box.cuts is None and box.lo == box.hi and not box.flags and box.shape is not None:
            count = counted(box.shape)
            if count is not None and count <= MOST:
                return (int(box.lo),) * count
        return None
    if known.size > MOST:
        return None
    if known.dtype.kind in "iu":
        return tuple(known.tolist() if known.ndim == 1 else known.reshape(-1).tolist())
    if known.dtype == object:
        return tuple(n if isinstance(n, Dim) else int(n) for n in known.reshape(-1).tolist())
    return tuple(map(int, known.reshape(-1).tolist()))


def ints(box: Box | None) -> tuple[int, ...] | None:
    """The elements of an integer operand where all are known numbers."""
    found = sizes(box)
    if found is None or any(isinstance(n, Dim) for n in found):
        return None
    return found  # type: ignore[return-value]


def one(box: Box | None) -> int | None:
    """The number in an operand of one element."""
    found = ints(box)
    return found[0] if found else None


def one_size(box: Box | None) -> Size | None:
    """The number in an operand of one element, which may be symbolic."""
    found = sizes(box)
    return found[0] if found else None


def counted(shape: Shape) -> int | None:
    """The number of elements of a shape without unknown sizes."""
    if shape is None:
        return None
    total = 1
    for n in shape:
        if not isinstance(n, int):
            return None
        total *= n
    return total


def numeric(shape: Shape) -> tuple[int, ...] | None:
    """A shape without unknown sizes."""
    if shape is None or any(isinstance(n, Dim) for n in shape):
        return None
    return shape  # type: ignore[return-value]


def axis_in(axis: int, rank: int) -> int:
    """An axis counted from the front."""
    if not -rank <= axis < rank:
        raise ShapeError(f"axis {axis} does not exist in a tensor of rank {rank}")
    return axis % rank


def axes_in(axes: Sequence[int], rank: int) -> tuple[int, ...]:
    """Axes counted from the front."""
    return tuple(axis_in(a, rank) for a in axes)


def length_of(box: Box) -> int | None:
    """The length of an operand with a number for each axis (that of a scalar is 1)."""
    if box.shape is None or len(box.shape) > 1:
        return None
    if not box.shape:
        return 1
    length = box.shape[0]
    if isinstance(length, int) and length > MAX_RANK:
        raise ShapeError(f"a tensor of {length} axes: no runtime takes more than {MAX_RANK}")
    return length if isinstance(length, int) else None


def ends_of(call: Call, size: Size, *, is_size: bool = True) -> tuple[float, float]:
    """The bounds of one size, or of an expression over sizes that may be negative."""
    if isinstance(size, int):
        return float(size), float(size)
    low, high = (bounds if is_size else interval)(size, call.setting.dims)
    least, most = limits(INT64)
    return (
        least if low is None else max(float(low), least),
        most if high is None else min(float(high), most),
    )


def of_shape(call: Call, found: Sequence[Size]) -> Box:
    """The int64 tensor that holds the sizes of a shape."""
    if all(type(n) is int for n in found):
        return of_array(INT64, np.array(found, np.int64))
    return _symbolic(call, INT64, np.array([*found, None], object)[:-1], is_size=True)


def of_size(call: Call, size: Size) -> Box:
    """The int64 scalar that holds one size."""
    whole = of_shape(call, (size,))
    assert whole.known is not None
    return Box(INT64, (), *whole.hull(), known=whole.known.reshape(()))


def _symbolic(call: Call, dtype: DType, known: Array, *, is_size: bool) -> Box:
    lo, hi = inf, -inf
    for size in known.reshape(-1).tolist():
        low, high = ends_of(call, size, is_size=is_size)
        lo, hi = min(lo, low), max(hi, high)
    return of_sizes(dtype, known, lo, hi)


def polished(call: Call, box: Box) -> Box:
    """The bounds of a result of few known elements, read again from them."""
    known = box.known
    if known is None or known.size > FEW or box.cuts is not None or box.lo == box.hi:
        return box
    dtype = box.dtype
    if not (dtype.is_float or dtype.is_integer or dtype.is_bool):
        return box
    if known.dtype != object:
        return of_array(dtype, known).with_form(box.form)
    items = known.reshape(-1).tolist()
    if dtype.is_integer and not any(isinstance(n, Dim) for n in items):
        return of_array(dtype, np.array(items, np.int64).reshape(known.shape))
    return _symbolic(call, dtype, known, is_size=False)


def exactly(call: Call, boxes: Sequence[Box | None], most: int = MOST) -> list[Array] | None:
    """The results over operands that are all known, run in NumPy; None where some isn't."""
    arrays: list[Array | None] = []
    for box in boxes:
        if box is None:
            arrays.append(None)
        elif box.known is None or box.known.size > most:
            return None
        else:
            arrays.append(box.known)
    try:
        results = call.op.run(np, *arrays, **call.attrs)
    except (TypeError, ValueError):
        return None  # symbolic sizes that this operator has no meaning for
    except IndexError:
        raise ShapeError("an index lies outside the tensor that it picks from") from None
    found: Any = results if isinstance(results, tuple) else (results,)
    return [np.asarray(r) for r in found]
