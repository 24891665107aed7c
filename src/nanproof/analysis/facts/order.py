"""Order between values: which of two tensors is never above the other, element by element.

``at_most`` looks for a chain of steps that only go up: a minimum is at most each of its operands, a sum of something
that is never negative at least the other operand, a product of smaller non-negative factors at most that of larger
ones. Everything is said of the computed floats, not of real numbers, and holds after rounding because rounding to
nearest is monotone: x <= y gives fl(x) <= fl(y), and a float is its own rounding. Where a runtime's function isn't
correctly rounded, or a mean or a logarithm of a sum is compared with its own terms, the chain has a slack.

Elements are compared at the positions of a common result, under NumPy's broadcasting. Values that may be NaN or +Inf
are in no order; -Inf, which a mask may put anywhere, is below everything.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import inf, prod, sqrt
from typing import NamedTuple

from nanproof.analysis.facts.made import maker, passed, plain, resolved, same
from nanproof.analysis.facts.rows import reduced_axes, rows_of
from nanproof.analysis.state import State
from nanproof.dims import bounds
from nanproof.domain.box import NINF, Box
from nanproof.model.lower import Step
from nanproof.numerics.runtimes import error_form
from nanproof.numerics.runtimes.forms import EXACT

MAX, MIN = frozenset({"ReduceMax"}), frozenset({"ReduceMin"})
FUEL = 120
"""So many pairs of values are looked at for one question."""

DEEP = 7
"""Longest chain."""

SMALL = 2.0**-10
"""What a sum may be short of one of its operands and still be taken for a step up, with that as slack."""


class Term(NamedTuple):
    """A value, or (sign -1) its negative."""

    slot: int
    sign: int = 1

    def turned(self) -> Term:
        """The negative."""
        return Term(self.slot, -self.sign)


class Bound(NamedTuple):
    """A term that another one is at most (or at least), but for a slack that is added to the larger side."""

    term: Term
    slack: float = 0.0


def ordered(state: State, step: Step, operands: Sequence[Box | None]) -> tuple[float, float] | None:
    """A - b <= 0 where a <= b, and >= 0 where a >= b: x - max(x), |x| - x, x - floor(x), sum(x) - x for x >= 0."""
    a, b = (Term(slot) for slot in step.inputs)
    # an element that is -Inf is below everything: x - max(x) <= 0 where a mask has put some
    if not plain(operands[1]) or not may_sink(operands[0]) or rounds_late(state, operands):
        return None
    up, down = at_most(state, a, b), at_most(state, b, a)
    low = 0.0 if _extremes(state, a.slot, b.slot) else -inf if down is None else -down
    high = 0.0 if _extremes(state, b.slot, a.slot) else inf if up is None else up
    return None if low == -inf and high == inf else (low, high)


def rounds_late(state: State, operands: Sequence[Box | None]) -> bool:
    """Whether one consumer of a value may see it rounded and another one not: then even x <= x is off by a rounding."""
    return any(box is not None and state.setting.keeps_float32(box.dtype) for box in operands)


def fraction(state: State, step: Step, operands: Sequence[Box | None]) -> tuple[float, float] | None:
    """What rounding to a whole number takes away: x - floor(x) in [0, 1], x - round(x) in [-1/2, 1/2].

    The difference in the reals lies there, and so does its rounding.
    """
    if not plain(*operands) or rounds_late(state, operands):
        return None
    x, y = step.inputs
    for sign, value, whole in ((1.0, x, y), (-1.0, y, x)):
        made = maker(state, whole, {"Floor", "Ceil", "Round"})
        if made is not None and same(state, made.inputs[0], value):
            ends = {"Floor": (0.0, sign), "Ceil": (-sign, 0.0), "Round": (-0.5, 0.5)}[made.node.op]
            return min(ends), max(ends)
    return None


def at_most(state: State, low: Term, high: Term) -> float | None:
    """The slack (0: none) with which one term is surely at most another; None where that isn't known."""
    return _Search(state).prove(low, high, DEEP)


def dominated(state: State, value: int, limit: int) -> bool:
    """Whether |value| <= limit, element by element."""
    up = at_most(state, Term(value), Term(limit))
    if up is None or up > 0.0:
        return False
    if _ends(state, Term(value))[0] >= 0.0:
        return True
    return at_most(state, Term(value, -1), Term(limit)) == 0.0


def may_sink(box: Box | None) -> bool:
    """Whether the elements of a tensor are numbers or -Inf."""
    return box is not None and not box.flags & ~NINF and box.dtype.is_float and box.has_finite


def _ends(state: State, term: Term) -> tuple[float, float]:
    """Bounds of a term; the widest there are where it may be NaN or +Inf."""
    box = state.hulls[term.slot] if term.slot >= 0 else None
    if box is None or not may_sink(box):
        return -inf, inf
    lo, hi = box.hull()
    if box.flags:
        lo = -inf
    return (lo, hi) if term.sign > 0 else (-hi, -lo)


class _Search:
    """One search for a chain, with what is left to spend."""

    def __init__(self, state: State) -> None:
        self.state, self.fuel = state, FUEL
        self.failed: set[tuple[Term, Term]] = set()

    def prove(self, low: Term, high: Term, depth: int) -> float | None:
        """The slack of a chain from ``low`` up to ``high``."""
        state = self.state
        one, two = _ends(state, low), _ends(state, high)
        if one == (-inf, inf) or two == (-inf, inf):
            return None
        if one[1] <= two[0] or (low.sign == high.sign and same(state, low.slot, high.slot)) or _later(state, low, high):
            return 0.0
        self.fuel -= 1
        if depth == 0 or self.fuel < 0 or (low, high) in self.failed:
            return None
        found = self._search(low, high, depth - 1)
        if found is None:
            self.failed.add((low, high))
        return found

    def _search(self, low: Term, high: Term, depth: int) -> float | None:
        best: float | None = None
        for found in self._found(low, high, depth):
            if found == 0.0:
                return found
            best = found if best is None else min(best, found)
        return best

    def _found(self, low: Term, high: Term, depth: int) -> Iterator[float]:
        """The slacks of all chains there are, those through the same operator on both sides first."""
        state = self.state
        for parts in _partings(state, low, high):
            if all(self.prove(a, b, depth) == 0.0 for a, b in parts):
                yield 0.0
        for upper in _above(state, low):
            found = self.prove(upper.term, high, depth)
            if found is not None:
                yield found + upper.slack
        for mirrored in _above(state, high.turned()):
            found = self.prove(low, mirrored.term.turned(), depth)
            if found is not None:
                yield found + mirrored.slack
        for inner in _taken_from_rows(state, low, high):
            found = self.prove(inner.term, high, depth)
            if found is not None:
                yield found + inner.slack
        for inner in _taken_from_rows(state, high.turned(), low.turned()):
            found = self.prove(low, inner.term.turned(), depth)
            if found is not None:
                yield found + inner.slack


def _above(state: State, term: Term) -> Iterator[Bound]:
    """Terms that are surely no less than this one."""
    before = passed(state, term.slot)
    if before is not None:
        yield Bound(Term(before, term.sign))
        return
    step = state.makers.get(term.slot)
    if step is None or step.op is None or step.branches or step.node.domain:
        return
    name, sign = step.node.op, term.sign
    inputs = [Term(slot, sign) for slot in step.inputs]
    if name == "Identity":
        yield Bound(inputs[0])
    elif name == "Neg":
        yield Bound(inputs[0].turned())
    elif name == ("Min" if sign > 0 else "Max"):
        yield from map(Bound, inputs)
    elif (name, sign) in {("Floor", 1), ("Ceil", -1), ("Relu", -1)}:
        yield Bound(inputs[0])
    elif name == "Abs" and sign < 0:
        yield Bound(inputs[0])
        yield Bound(inputs[0].turned())
    elif name == "Clip":
        yield from _clipped(state, step, sign)
    elif name in {"Add", "Sub"}:
        second = inputs[1] if name == "Add" else inputs[1].turned()
        yield from _sum(state, inputs[0], second)
        if name == "Sub":
            yield from _halves(state, step, sign)
    elif name == "Sqrt" and sign < 0:
        yield from _root(state, step)
    elif name == "Mul":
        yield from _product(state, inputs[0], inputs[1], sign)
        yield from _product(state, inputs[1], inputs[0], sign)
    elif name == "Div" and _ends(state, Term(step.inputs[0]))[0] >= 0.0:
        lo, hi = _ends(state, Term(step.inputs[1]))
        if (sign > 0 and lo >= 1.0) or (sign < 0 and lo > 0.0 and hi <= 1.0):
            yield Bound(inputs[0])
    elif name in _ROWS:
        yield from _rows(state, term, name)


def _clipped(state: State, step: Step, sign: int) -> Iterator[Bound]:
    """clip(x) is below x where only the upper limit can act, above it where only the lower one can."""
    x = Term(step.inputs[0], sign)
    lo, hi = _ends(state, Term(step.inputs[0]))
    limit = step.inputs[1] if len(step.inputs) > 1 else -1
    least = _ends(state, Term(limit))[1] if limit >= 0 else -inf
    limit = step.inputs[2] if len(step.inputs) > 2 else -1
    most = _ends(state, Term(limit))[0] if limit >= 0 else inf
    if (sign > 0 and least <= lo) or (sign < 0 and hi <= most):
        yield Bound(x)


def _sum(state: State, x: Term, y: Term) -> Iterator[Bound]:
    """X + y <= x where y <= 0; where y is hardly positive, up to that and a rounding."""
    for kept, other in ((x, y), (y, x)):
        lo, hi = _ends(state, kept)
        most = _ends(state, other)[1]
        if most <= 0.0:
            yield Bound(kept)
        elif most <= SMALL:
            box = state.hulls[kept.slot]
            assert box is not None
            yield Bound(kept, most + 2.0 * box.dtype.unit * (max(-lo, hi) + most))


def _halves(state: State, step: Step, sign: int) -> Iterator[Bound]:
    """relu(x) - relu(-x) is x itself: one of the two is 0."""
    one, two = (maker(state, slot, {"Relu"}) for slot in step.inputs)
    turned = None if two is None else maker(state, two.inputs[0], {"Neg"})
    if one is not None and turned is not None and same(state, one.inputs[0], turned.inputs[0]):
        yield Bound(Term(one.inputs[0], sign))


def _root(state: State, step: Step) -> Iterator[Bound]:
    """sqrt(s) >= |x| where s is no less than the computed x * x.

    In binary floats the correctly rounded root of the correctly rounded square of x is |x|, where the square doesn't
    underflow (a number that small is within the slack), and a root is monotone.
    """
    box = state.hulls[step.outputs[0]]
    if box is None or error_form(state.setting.runtime, "sqrt", box.dtype) is not EXACT or box.dtype.bits < 32:
        return
    waiting = [step.inputs[0]]
    for _ in range(DEEP):
        made = state.makers.get(waiting.pop()) if waiting else None
        if made is None or made.op is None or made.node.domain:
            continue
        if made.node.op == "Mul" and same(state, *made.inputs):
            slack = 4.0 * sqrt(box.dtype.tiny)
            yield Bound(Term(made.inputs[0]), slack)
            yield Bound(Term(made.inputs[0], -1), slack)
        elif made.node.op == "Max" or (
            made.node.op == "Add" and all(_ends(state, Term(slot))[0] >= 0.0 for slot in made.inputs)
        ):
            waiting += made.inputs


def _product(state: State, kept: Term, other: Term, sign: int) -> Iterator[Bound]:
    """X * y <= x for x >= 0 and y <= 1, and >= x for y >= 1."""
    if _ends(state, Term(kept.slot))[0] < 0.0:
        return
    lo, hi = _ends(state, Term(other.slot))
    if (sign > 0 and hi <= 1.0) or (sign < 0 and lo >= 1.0):
        yield Bound(kept)


_KINDS = frozenset({"ReduceMax", "ReduceMin", "ReduceSum", "ReduceL1", "ReduceLogSumExp"})
_NEVER_BELOW = frozenset({"torch", "onnxruntime"})
"""Runtimes whose logsumexp is log(s) + max(x), where s is at least exp(0) = 1 and log(1) = 0, all of it exactly."""
_ROWS = _KINDS | {"CumSum", "Unsqueeze", "Squeeze", "Reshape", "Expand"}
_WITHIN = frozenset({"ReduceMax", "ReduceMin", "ReduceMean"})


def _rows(state: State, term: Term, name: str) -> Iterator[Bound]:
    """The elements of a row against their maximum, minimum, sum, mean and logsumexp."""
    if name == "CumSum":
        step = state.makers[term.slot]
        if term.sign < 0 and not step.attrs.get("exclusive", 0) and _ends(state, Term(step.inputs[0]))[0] >= 0.0:
            yield Bound(Term(step.inputs[0], -1))
        return
    found = rows_of(state, term.slot, _KINDS)
    if found is None:
        return
    step, _ = found
    kind, x = step.node.op, Term(step.inputs[0], term.sign)
    lo, hi = _ends(state, Term(x.slot))
    if (kind, term.sign) in {("ReduceMax", -1), ("ReduceMin", 1)} or (kind == "ReduceSum" and term.sign < 0 <= lo):
        yield Bound(x)
    elif kind == "ReduceL1" and term.sign < 0:
        yield Bound(x)
        yield Bound(x.turned())
    elif kind == "ReduceLogSumExp" and term.sign < 0 and lo > -inf:
        exact = state.setting.runtime in _NEVER_BELOW
        yield Bound(x, 0.0 if exact else log_sum_slack(state, x.slot, (lo, hi)))


def _taken_from_rows(state: State, low: Term, high: Term) -> Iterator[Bound]:
    """What lies within a row (its maximum, minimum, mean) is below whatever the whole row is below.

    That must be one number for the whole row: ``high`` may not vary along the reduced axes. The computed mean of n
    numbers is off by at most (n + 4) units of the largest.
    """
    found = rows_of(state, low.slot, _WITHIN)
    other, own = state.hulls[high.slot], state.hulls[low.slot]
    if found is None or other is None or own is None or other.shape is None or own.shape is None:
        return
    step, axes = found
    box = state.hulls[step.inputs[0]]
    if box is None or box.shape is None or not plain(box):
        return
    rank = len(box.shape)
    if any(other.shape[axis - rank] != 1 for axis in axes if rank - axis <= len(other.shape)):
        return
    sizes = [bounds(box.shape[axis], state.setting.dims) for axis in axes]
    if any(least < 1 or most is None for least, most in sizes):
        return
    slack = 0.0
    if step.node.op == "ReduceMean":
        lo, hi = box.hull()
        wide = state.setting.accumulator(box.dtype)
        n = float(prod(most for _, most in sizes if most is not None))
        slack = ((n * 1.01 + 4.0) * wide.unit + 2.0 * box.dtype.unit) * max(-lo, hi) + 4.0 * box.dtype.quantum
    yield Bound(Term(step.inputs[0], low.sign), slack)


def log_sum_slack(state: State, slot: int, ends: tuple[float, float]) -> float:
    """How far a computed logsumexp may be below the largest element: log(a sum >= exp(0)) + max, each rounded.

    The sum of terms that are never negative is no less, however it is rounded, than the one for the largest element:
    exp(0), up to the error of exp. Its logarithm errs around 0, and the final addition by a unit of the result.
    """
    box = state.hulls[slot]
    assert box is not None
    wide = state.setting.accumulator(box.dtype)
    one, log = (error_form(state.setting.runtime, name, wide) for name in ("exp", "log"))
    off = 4.0 * (one.ulps + 1.0) * wide.unit + one.relative + one.absolute + one.quanta * wide.quantum
    off += log.absolute + (log.ulps + 1.0) * 2.0 * wide.unit * off
    reach = max(abs(ends[0]), abs(ends[1]))
    return 1.01 * off + 4.0 * (box.dtype.unit + wide.unit) * (reach + 1.0) + box.dtype.quantum


def _partings(state: State, low: Term, high: Term) -> Iterator[tuple[tuple[Term, Term], ...]]:
    """Orders between the operands that give the order of two results."""
    one, two = state.makers.get(low.slot), state.makers.get(high.slot)
    yield from _choices(state, one, low, high)
    yield from (
        tuple((b.turned(), a.turned()) for a, b in p) for p in _choices(state, two, high.turned(), low.turned())
    )
    if one is None or two is None or one.op is None or two.op is None or low.sign != high.sign:
        return
    name = one.node.op
    if name != two.node.op or name not in {"Add", "Sub", "Mul", "Div", "Relu", "Max", "Min"}:
        return
    (a, b), (c, d) = ([Term(slot, low.sign) for slot in (*step.inputs, -1)[:2]] for step in (one, two))
    if name == "Relu":
        yield ((a, c),)
    elif name in {"Max", "Min"}:
        return
    elif name == "Sub":
        yield (a, c), (d, b)
    elif name == "Add":
        yield (a, c), (b, d)
        yield (a, d), (b, c)
    elif all(_ends(state, Term(term.slot))[0] >= 0.0 for term in (a, b, c, d)):
        if name == "Div":
            yield (a, c), (d, b)
        else:
            yield (a, c), (b, d)
            yield (a, d), (b, c)


def _reaches(state: State, step: Step, sign: int, high: Term) -> bool:
    """Whether a clip doesn't lift a value above what it is compared with: its lower limit is below that too."""
    if step.node.op != "Clip":
        return False
    position = 1 if sign > 0 else 2
    limit = step.inputs[position] if len(step.inputs) > position else -1
    return limit < 0 or _ends(state, Term(limit, sign))[1] <= _ends(state, high)[0]


def _choices(state: State, step: Step | None, low: Term, high: Term) -> Iterator[tuple[tuple[Term, Term], ...]]:
    """What is one of several is below what all of them are below."""
    if step is None or step.op is None or step.node.domain:
        return
    sign = low.sign
    if step.node.op == "Where":
        yield tuple((Term(slot, sign), high) for slot in step.inputs[1:])
    elif step.node.op == ("Max" if sign > 0 else "Min"):
        yield tuple((Term(slot, sign), high) for slot in step.inputs)
    elif step.node.op == "Abs" and sign > 0:
        yield (Term(step.inputs[0]), high), (Term(step.inputs[0], -1), high)
    elif (step.node.op == "Relu" and sign > 0 and _ends(state, high)[0] >= 0.0) or _reaches(state, step, sign, high):
        yield ((Term(step.inputs[0], sign), high),)


def _extremes(state: State, upper: int, lower: int) -> bool:
    """Whether two values are the maximum and the minimum of the same rows, none of them empty."""
    high, low = _reduction(state, upper), _reduction(state, lower)
    if high is None or low is None or (high[0].node.op, low[0].node.op) != ("ReduceMax", "ReduceMin"):
        return False
    if high[1:] != low[1:]:
        return False
    source = high[0].inputs[0]
    box = state.hulls[source]
    if box is None or box.shape is None or not plain(box) or not same(state, source, low[0].inputs[0]):
        return False
    return all(bounds(box.shape[axis], state.setting.dims)[0] >= 1 for axis in high[1])


def _reduction(state: State, slot: int) -> tuple[Step, tuple[int, ...], bool] | None:
    """A reduction with its axes, and whether it broadcasts back to its rows or has lost the reduced axes."""
    rows = rows_of(state, slot, MAX | MIN)
    if rows is not None:
        return *rows, True
    step = maker(state, slot, MAX | MIN)
    axes = None if step is None or step.attrs.get("keepdims", 1) else reduced_axes(state, step)
    return None if step is None or axes is None else (step, axes, False)


def _picked(state: State, slot: int) -> tuple[Step, int] | None:
    """The sorted TopK that a value is one column of, and which one."""
    step = maker(state, slot, {"Gather"})
    if step is None:
        return None
    top, index, box = maker(state, step.inputs[0], {"TopK"}), state.hulls[step.inputs[1]], state.hulls[step.inputs[0]]
    if top is None or index is None or index.known is None or index.known.size != 1 or box is None or not box.shape:
        return None
    rank = len(box.shape)
    axes = [int(s.attrs.get("axis", default)) % rank for s, default in ((step, 0), (top, -1))]  # type: ignore[arg-type]
    sorted_down = top.attrs.get("sorted", 1) and top.attrs.get("largest", 1)
    at = int(index.known.reshape(-1)[0])
    if not sorted_down or axes[0] != axes[1] or at < 0 or resolved(state, step.inputs[0]) != top.outputs[0]:
        return None
    return top, at


def _later(state: State, low: Term, high: Term) -> bool:
    """Whether two terms are columns of a sorted TopK, the lower one not before the higher one."""
    one, two = _picked(state, low.slot), _picked(state, high.slot)
    if one is None or two is None or one[0] is not two[0] or low.sign != high.sign:
        return False
    a, b = state.hulls[low.slot], state.hulls[high.slot]
    return a is not None and b is not None and a.shape == b.shape and (one[1] - two[1]) * low.sign >= 0
