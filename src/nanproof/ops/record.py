"""The operator record: everything that nanproof knows of one operator, side by side."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from nanproof.domain.box import Box
from nanproof.ops.conditions import Condition, Requirement

if TYPE_CHECKING:
    from nanproof.ops.call import Call

Run = Callable[..., Any]


class BoundRule(Protocol):
    """Boxes of the operands to the Box (or Boxes) of the results."""

    def __call__(self, call: Call, *boxes: Any) -> Box | tuple[Box, ...]: ...


@dataclass(frozen=True, slots=True)
class Operand:
    """One operand of a test case: what to draw for it.

    ``values`` fixes the elements (an axis, a shape: what must be known);
    otherwise elements are drawn between ``low`` and ``high`` (None: anywhere in
    the dtype, with a liking for the record's interesting points).
    ``dtype`` None is the dtype that the law is run for. ``absent`` leaves an
    optional operand out. ``stored`` makes it a constant of the model, known to
    the analysis.
    """

    shape: tuple[int, ...] = ()
    dtype: str | None = None
    values: Any = None
    low: float | None = None
    high: float | None = None
    absent: bool = False
    stored: bool = False


@dataclass(frozen=True, slots=True)
class Case:
    """One way to call an operator in the tests that come with every record."""

    operands: tuple[Operand, ...]
    attrs: Mapping[str, Any] = field(default_factory=dict)
    outputs: int = 1
    dtypes: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Samples:
    """Where an operator is interesting: points of its operands, ways to call it, dtypes."""

    points: tuple[float, ...] = (0.0, 1.0, -1.0)
    cases: tuple[Case, ...] = ()
    dtypes: tuple[str, ...] = ("float32", "float64", "float16")


@dataclass(frozen=True, slots=True)
class Op:
    """What one operator means.

    run       ``run(xp, *operands, **attributes)``: the concrete meaning over an array namespace
    bound     Boxes in, Boxes out; an algebraic class (ops.classes) wherever one fits
    requires  what must hold for the result to be finite, with the rule that says so
    smooth    what must hold for the derivative to be finite
    overflow  the rule that a result past the dtype's limit breaks (None: it can't happen)
    error     the function name in the runtime tables; None for correctly rounded arithmetic
    exact     results are operands' values moved, selected or compared: no rounding at all
    result    dtype of the result: "same" as operand 0, a dtype name, or a function of the Call
    relate    affine relation of the result, for the linear operators
    grain     operands that must be known element by element (shapes, indices, counts)
    stops     such a need ends here (the result depends on shapes only)
    weighs    operands whose sums by sign the bound asks for where they are stored, each with the axis that is kept
    infinite  the rule that a NaN made out of infinite operands breaks
    explain   a sentence on why the result can take the value that a later operator can't stand
    samples   where the interesting operands are, and how to call it in tests
    """

    name: str
    run: Run
    bound: BoundRule
    requires: tuple[Requirement, ...] = ()
    smooth: tuple[Condition, ...] = ()
    overflow: str | None = None
    error: str | None = None
    exact: bool = False
    result: str | Callable[[Call, Sequence[Any]], Any] = "same"
    relate: Callable[[Call, Sequence[Box], Box], Box] | None = None
    grain: tuple[int, ...] = ()
    stops: bool = False
    weighs: Callable[[Mapping[str, Any]], Mapping[int, int]] | None = None
    infinite: str = "NP212"
    explain: Callable[[Call, Sequence[Box]], str | None] | None = None
    samples: Samples = Samples()
    domain: str = ""

    @property
    def sites(self) -> int:
        """How many things can go wrong at a node of this kind with float results."""
        floating = sum(r.only != "integer" for r in self.requires)
        return floating + (self.overflow is not None)


def around(*points: float, also: tuple[float, ...] = (), dtypes: tuple[str, ...] | None = None) -> Samples:
    """Samples of a function with something happening at the given points."""
    return Samples((*points, *also), dtypes=dtypes or Samples().dtypes)
