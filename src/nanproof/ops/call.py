"""One application of an operator during an analysis: attributes in, events out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np

from nanproof.dims import Dim, symbol
from nanproof.domain.affine import MOST_TERMS
from nanproof.domain.box import NAN, NINF, PINF, Array, Box, Shape, limits, top
from nanproof.domain.partition import BUDGET, Blocks, Cuts, pack
from nanproof.numerics import scalar
from nanproof.numerics.arrays import numpy_namespace
from nanproof.numerics.dtypes import FLOAT16, FLOAT32, DType, by_name
from nanproof.numerics.rounding import nearest, nearest_array
from nanproof.numerics.runtimes import ErrorForm, accumulator, error_form, widen
from nanproof.ops.conditions import Requirement

if TYPE_CHECKING:
    from nanproof.ops.record import Op

SAFE, POSSIBLE, INEVITABLE = 0, 1, 2


@dataclass(frozen=True, slots=True)
class Setting:
    """What holds for a whole analysis.

    ``xp`` is the namespace that array bounds are computed in (NumPy, or PyTorch
    for gradients), picked once. ``accumulate`` overrides the runtime's
    accumulator for low-precision sums. ``dims`` gives the range of every
    symbolic size.

    What the analysis may use: ``budget`` blocks a tensor, affine relations of up
    to ``terms`` terms (0: none), ``facts`` about how a value was made, and
    ``masks``, the conditions under which a Where chooses a branch.
    """

    runtime: str = "onnxruntime"
    xp: Any = numpy_namespace
    budget: int = BUDGET
    dims: Mapping[str, tuple[int, int | None]] = field(default_factory=dict)
    accumulate: DType | None = None
    opset: int = 26
    terms: int = MOST_TERMS
    facts: bool = True
    masks: bool = True
    calm: bool = False
    """Whether values on the way back are taken to stay moderate, to tell what one step does from what many do together."""

    def accumulator(self, dtype: DType) -> DType:
        """The dtype that sums of ``dtype`` are added up in."""
        if self.accumulate is None and dtype.bits >= 32:
            return dtype
        return self.accumulate or accumulator(self.runtime, dtype)

    def keeps_float32(self, dtype: DType) -> bool:
        """Whether results of this dtype may go on to the next node without being rounded to it.

        ONNX Runtime's CPU kernels compute float16 in float32, and it removes the
        casts between two such nodes.
        """
        return dtype is FLOAT16 and self.runtime == "onnxruntime"


@dataclass(frozen=True, slots=True)
class Event:
    """A site of this call that isn't proved safe.

    ``operand`` is -1 for the result. ``ends`` is the interval that was seen.
    """

    code: str
    operand: int
    verdict: int
    gives: int
    ends: tuple[float, float]
    invalid: str
    needs: str


class Call:
    """One operator, its attributes and the setting; collects what went wrong."""

    __slots__ = ("alive", "attrs", "events", "label", "op", "outputs", "setting")

    def __init__(self, op: Op, attrs: Mapping[str, Any], setting: Setting, outputs: int = 1, label: str = "") -> None:
        self.op = op
        self.attrs = attrs
        self.setting = setting
        self.outputs = outputs
        self.label = label
        self.alive = False
        """Whether every row of the first operand is known to have an element that is neither -Inf nor NaN."""
        self.events: list[Event] = []

    def attr(self, name: str, default: Any = None) -> Any:
        """An attribute of the node, or what the operator's specification says without it."""
        return self.attrs.get(name, default)

    def fresh(self, what: str) -> Dim:
        """A size that only running the model tells; ``label`` (a name of this node) makes it this node's own."""
        return symbol(f"{self.label or self.op.name}.{what}")

    @property
    def scalar(self) -> Any:
        """The operator over Python floats."""
        return partial(self.op.run, scalar, **self.attrs)

    @property
    def arrays(self) -> Any:
        """The operator over arrays of block bounds."""
        return partial(self.op.run, self.setting.xp, **self.attrs)

    def result_dtype(self, boxes: Any) -> DType:
        """The dtype of the (first) result."""
        rule = self.op.result
        if rule == "same":
            return boxes[0].dtype  # type: ignore[no-any-return]
        return by_name(rule) if isinstance(rule, str) else rule(self, boxes)

    def form(self, dtype: DType, function: str | None = None) -> ErrorForm:
        """How the runtime's function errs in a dtype."""
        return error_form(self.setting.runtime, function or self.op.error or "", dtype)

    def fail(self, requirement: Requirement, ends: tuple[float, float], *, never: bool) -> None:
        """Record a violated (or not provable) requirement."""
        condition = requirement.condition
        self.events.append(
            Event(
                requirement.code,
                requirement.operand,
                INEVITABLE if never else POSSIBLE,
                requirement.gives,
                ends,
                condition.invalid(),
                condition.needs(requirement.operand),
            )
        )

    def overflowed(self, lo: float, hi: float, dtype: DType, gives: int, *, never: bool) -> None:
        """Record a result that can leave the dtype's range."""
        if self.op.overflow is None:
            return
        limit = f"{dtype.max:.5g}"
        self.events.append(
            Event(
                self.op.overflow,
                -1,
                INEVITABLE if never else POSSIBLE,
                gives,
                (lo, hi),
                f"|result| > {limit}",
                f"a result within [-{limit}, {limit}]",
            )
        )

    # -- rounding a result outward ---------------------------------------------------------

    def rounded(self, lo: Any, hi: Any, dtype: DType) -> tuple[Any, Any]:
        """End points of a real-valued result, as the runtime's arithmetic can deliver them."""
        op = self.op
        if op.exact or not dtype.is_float:
            return lo, hi
        if op.error is None:
            return self.nearest(lo, hi, dtype)
        low, high = widen(self.form(dtype), dtype, lo, hi)
        if self.setting.keeps_float32(dtype):
            wide = widen(self.form(FLOAT32), FLOAT32, lo, hi)
            return least_of(low, wide[0]), most_of(high, wide[1])
        return low, high

    def nearest(self, lo: Any, hi: Any, dtype: DType) -> tuple[Any, Any]:
        """Ends rounded to the dtype; not inward where the runtime may leave that out."""
        low: Any
        high: Any
        if isinstance(lo, float) and isinstance(hi, float):
            low, high = nearest(dtype, lo), nearest(dtype, hi)
        else:
            low, high = nearest_array(dtype, np.asarray(lo)), nearest_array(dtype, np.asarray(hi))
        if dtype.bits == 16 and self.setting.keeps_float32(dtype):
            return least_of(low, lo), most_of(high, hi)
        return low, high

    def settle(
        self,
        dtype: DType,
        shape: Shape,
        lo: Any,
        hi: Any,
        *,
        err: Any = 0.0,
        cuts: Cuts | None = None,
        spots: Array | int | None = None,
        report: bool = True,
    ) -> Box:
        """A Box from real-valued bounds: error added, rounded outward, overflow made a flag.

        ``err`` is the absolute error that the runtime may make before the final
        rounding. ``spots`` are the special values that flow in from operands (an
        int, or an array over the blocks). Overflow is recorded as an event of the
        operator's overflow rule, unless ``report`` is False.
        """
        if dtype.is_float and (spots is None or (type(spots) is int and not spots)):
            plain = self._plain(dtype, (shape, cuts), lo - err, hi + err)
            if plain is not None:
                return plain
        lo, hi = np.asarray(lo, np.float64), np.asarray(hi, np.float64)
        empty = lo > hi
        some_empty = bool(empty.any())
        lo, hi = lo - err, hi + err
        flags = np.asarray(0 if spots is None else spots, np.uint8)
        if dtype.is_float:
            low, high = self.nearest(lo, hi, dtype)
            low = np.where(np.isnan(low), -inf, low)
            high = np.where(np.isnan(high), inf, high)
            over, under = (high > dtype.max) & ~empty, (low < dtype.min) & ~empty
            if bool(over.any() | under.any()):
                gives = overflow_flags(dtype, bool(over.any()), bool(under.any()))
                never = bool(((low > dtype.max) | (high < dtype.min)).any())
                if report:
                    ends = float(np.min(lo[~empty])), float(np.max(hi[~empty]))
                    self.overflowed(*ends, dtype, gives, never=never)
                plus = overflow_flags(dtype, True, False)
                minus = overflow_flags(dtype, False, True)
                flags = flags | (over * np.uint8(plus)) | (under * np.uint8(minus))
                gone = (low > dtype.max) | (high < dtype.min)
                low = np.where(gone, inf, np.maximum(low, dtype.min))
                high = np.where(gone, -inf, np.minimum(high, dtype.max))
            lo, hi = low, high
        elif dtype.is_integer:
            least, most = limits(dtype)
            fits = hi < most if dtype.bits == 64 else hi <= most
            wraps = ~((lo >= least) & fits) & ~empty
            big = (hi > 2.0**53) | (lo < -(2.0**53))
            lo, hi = np.where(big, np.nextafter(lo, -inf), lo), np.where(big, np.nextafter(hi, inf), hi)
            lo, hi = np.where(wraps, least, np.floor(lo)), np.where(wraps, most, np.ceil(hi))
        if some_empty:
            lo, hi = np.where(empty, inf, lo), np.where(empty, -inf, hi)
        marks = np.broadcast_to(flags, lo.shape) if flags.any() else None
        return pack(dtype, shape, cuts, Blocks(lo, hi, marks), self.setting.budget)

    def _plain(self, dtype: DType, place: tuple[Shape, Cuts | None], lo: Any, hi: Any) -> Box | None:
        """The fast path of ``settle``: finite values within the dtype; None for everything else."""
        shape, cuts = place
        if isinstance(lo, float) and isinstance(hi, float):
            low, high = self.nearest(lo, hi, dtype)
            return Box(dtype, shape, low, high) if dtype.min <= low <= high <= dtype.max else None
        los, his = self.nearest(np.asarray(lo, np.float64), np.asarray(hi, np.float64), dtype)
        if not los.size:
            return None
        ends = float(los.min()), float(his.max())
        # false for NaN and for blocks without a value too: those take the general path
        if not (dtype.min <= ends[0] and ends[1] <= dtype.max and (los <= his).all()):
            return None
        result = pack(dtype, shape, cuts, Blocks(los, his, None), self.setting.budget)
        result.ends = ends
        return result

    def unknown(self, dtype: DType, shape: Shape = None) -> Box:
        """Any tensor of a dtype: the answer of a bound that gives up."""
        return top(dtype, shape)


def least_of(one: Any, other: Any) -> Any:
    """The smaller of two floats, or element by element of two arrays."""
    return min(one, other) if isinstance(one, float) and isinstance(other, float) else np.minimum(one, other)


def most_of(one: Any, other: Any) -> Any:
    """The larger of two floats, or element by element of two arrays."""
    return max(one, other) if isinstance(one, float) and isinstance(other, float) else np.maximum(one, other)


def overflow_flags(dtype: DType, over: bool, under: bool) -> int:
    """What an arithmetic result past the limits becomes."""
    if dtype.overflows_to == "max":
        return 0
    if dtype.overflows_to == "nan":
        return NAN if over or under else 0
    return (PINF if over else 0) | (NINF if under else 0)
