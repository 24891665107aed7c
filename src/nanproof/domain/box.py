"""The Box: what the analysis knows about every element of one tensor.

A Box stands for the set of all tensors of its shape whose every element is

* a finite value between the bounds of the block that the element lies in, or
* one of the special values that the block's flags allow: NaN, +Inf, -Inf.

Bounds are float64 whatever the tensor's dtype, and concern the finite values
only; a block that holds no finite value has ``lo = inf > hi = -inf``.

A Box of one block (``cuts is None``) keeps its bounds as two Python floats:
most tensors of most models are that, and floats are five times faster than
one-element arrays.
"""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from nanproof.dims import Size
    from nanproof.domain.affine import Form, Pieces, Symbol
    from nanproof.domain.partition import Cuts
    from nanproof.numerics.dtypes import DType

NAN, PINF, NINF = 1, 2, 4
INFS = PINF | NINF
ALL = NAN | INFS

FEW = 32
"""Arrays of at most so many floats are looked at one by one."""

Array: TypeAlias = "np.ndarray[Any, Any]"
Bound: TypeAlias = "float | Array"
Shape: TypeAlias = "tuple[Size, ...] | None"


class Box:
    """The abstract value of one tensor. Treat as immutable.

    ``shape`` is None when even the rank is unknown. ``cuts`` has, for every
    axis, the cut points (0, ..., n) or None for an axis in one piece; it is None
    as a whole for a Box of one block. ``flags`` is the union of the special
    values of all blocks; ``spots`` says which block has which (None: any block
    may have any of ``flags``). ``known`` holds the exact elements where they are
    known: a NumPy array, of Dims for symbolic sizes. ``form`` relates the
    elements to those of other Boxes. ``ends`` caches the hull of many blocks, and
    ``sums`` what known elements add up to by sign (``domain.weights``).
    """

    __slots__ = ("cuts", "dtype", "ends", "flags", "form", "hi", "known", "lo", "shape", "spots", "sums", "symbol")

    def __init__(
        self,
        dtype: DType,
        shape: Shape,
        lo: Bound,
        hi: Bound,
        flags: int = 0,
        *,
        cuts: Cuts | None = None,
        spots: Array | None = None,
        known: Array | None = None,
        form: Form | Pieces | None = None,
    ) -> None:
        if cuts is None:
            if not lo <= hi and not (lo == inf and hi == -inf):
                raise ValueError(f"bounds out of order: [{lo}, {hi}]")
        elif not (lo <= hi).all() and not ((lo <= hi) | ((lo == inf) & (hi == -inf))).all():  # type: ignore[union-attr]
            raise ValueError("bounds out of order in a block")
        self.dtype = dtype
        self.shape = shape
        self.lo = lo
        self.hi = hi
        self.flags = flags
        self.cuts = cuts
        self.spots = spots
        self.known = known
        self.form = form
        self.symbol: Symbol | None = None
        self.ends: tuple[float, float] | None = None
        self.sums: tuple[int, Array] | None = None

    def hull(self) -> tuple[float, float]:
        """The finite bounds over all blocks: (inf, -inf) where there is no finite value."""
        if self.cuts is None:
            return self.lo, self.hi  # type: ignore[return-value]
        if self.ends is None:
            self.ends = float(self.lo.min()), float(self.hi.max())  # type: ignore[union-attr]
        return self.ends

    @property
    def has_finite(self) -> bool:
        """Whether any element may be finite."""
        if self.cuts is None:
            return self.lo <= self.hi  # type: ignore[return-value]
        lo, hi = self.hull()
        return lo <= hi

    @property
    def is_point(self) -> bool:
        """Whether every element is the same known finite number."""
        return self.cuts is None and self.lo == self.hi and not self.flags

    def block_flags(self) -> Array:
        """Special values block by block, in the shape of the blocks."""
        if self.spots is not None:
            return self.spots
        return np.full(np.shape(self.lo), self.flags, dtype=np.uint8)

    def with_form(self, form: Form | Pieces | None) -> Box:
        """The same Box with a relation to others. For a Box that was just made: changes it."""
        self.form = form
        return self

    def __repr__(self) -> str:
        names = [n for bit, n in ((NAN, "NaN"), (PINF, "+Inf"), (NINF, "-Inf")) if self.flags & bit]
        lo, hi = self.hull()
        blocks = "" if self.cuts is None else f", {np.size(self.lo)} blocks"
        special = "".join(f" | {n}" for n in names)
        return f"Box({self.dtype.name}{list(self.shape or ())}, [{lo:.6g}, {hi:.6g}]{special}{blocks})"


def top(dtype: DType, shape: Shape = None) -> Box:
    """Any tensor of a dtype: what is answered when nothing is known."""
    flags = ALL if dtype.is_float else 0
    return Box(dtype, shape, *limits(dtype), flags)


def limits(dtype: DType) -> tuple[float, float]:
    """The finite range of a dtype, outward: 2**63 - 1 is no float64, so int64 ends at 2**63."""
    if dtype.is_integer and dtype.bits == 64:
        return (-(2.0**63), 2.0**63) if dtype.min < 0 else (0.0, 2.0**64)
    return dtype.min, dtype.max


def finite(dtype: DType, shape: Shape, lo: float, hi: float) -> Box:
    """Every element between two finite bounds, in one block."""
    return Box(dtype, shape, float(lo), float(hi))


def nothing(dtype: DType, shape: Shape) -> Box:
    """The Box without a value: an empty tensor, or a branch that is never taken."""
    return Box(dtype, shape, inf, -inf)


def of_array(dtype: DType, array: Array) -> Box:
    """The Box of one known tensor, in one block, with its elements kept as ``known``."""
    lo, hi, flags = extent(array)
    return Box(dtype, array.shape, lo, hi, flags, known=array)


def of_sizes(dtype: DType, sizes: Array, lo: float, hi: float) -> Box:
    """A tensor of symbolic sizes (an object array of ints and Dims) between two bounds."""
    return Box(dtype, sizes.shape, lo, hi, known=sizes)


def extent(array: Array) -> tuple[float, float, int]:
    """Smallest and largest finite element and the flags of the special ones."""
    if array.size == 0:
        return inf, -inf, 0
    if array.size <= FEW and array.dtype.kind == "f":
        # a few Python floats are compared faster than one array; a finite sum has neither NaN nor Inf in it
        values = array.ravel().tolist()
        total = sum(values)
        if total - total == 0.0:
            return min(values), max(values), 0
    if array.dtype.kind in "iub":
        return _outward_int(array.min(), array.max())
    wide = array if array.dtype in (np.float32, np.float64) else array.astype(np.float64)
    lo, hi = float(wide.min()), float(wide.max())
    if -inf < lo and hi < inf:
        return lo, hi, 0
    special_nan, special_inf = np.isnan(wide), np.isinf(wide)
    flags = NAN if special_nan.any() else 0
    if special_inf.any():
        flags |= PINF if (wide == inf).any() else 0
        flags |= NINF if (wide == -inf).any() else 0
    usual = wide[~(special_nan | special_inf)]
    if usual.size == 0:
        return inf, -inf, flags
    return float(usual.min()), float(usual.max()), flags


def _outward_int(lo: Any, hi: Any) -> tuple[float, float, int]:
    """Integers beyond 2**53 don't fit a float64: round the bounds outward."""
    low, high = float(int(lo)), float(int(hi))
    if low > int(lo):
        low = float(np.nextafter(low, -inf))
    if high < int(hi):
        high = float(np.nextafter(high, inf))
    return low, high, 0
