"""The training operators of ai.onnx.preview.training: Gradient, and the steps of three optimisers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf
from typing import Any

import numpy as np

from nanproof.domain.box import ALL, NAN, PINF, Box, top
from nanproof.ops.call import INEVITABLE, POSSIBLE, Call, Event
from nanproof.ops.record import Case, Op, Operand, Samples
from nanproof.ops.steps import Ends, Steps

DOMAIN = "ai.onnx.preview.training"

# defaults as a file holds them: 1 - 0.999 isn't 1 - float32(0.999)
ALPHA, BETA, EPSILON = (float(np.float32(default)) for default in (0.9, 0.999, 1e-6))


# -- Gradient ------------------------------------------------------------------------------------------------


def _gradient(call: Call, *boxes: Box | None) -> tuple[Box, ...]:
    """Coarse: any value of the dtype, in the shapes of ``xs``.

    The operator differentiates the part of the graph in front of it, which a record
    doesn't see. A derivative may be any number, and NaN or Inf where none exists.
    """
    wanted = boxes[: call.outputs]
    return tuple(top(x.dtype, x.shape) for x in wanted if x is not None)


def _run_gradient(xp: Any, *xs: Any, **_: Any) -> Any:
    # outside of a graph nothing depends on the operands
    return tuple(xp.zeros_like(x) for x in xs)


GRADIENT = Op(
    "Gradient",
    run=_run_gradient,
    bound=_gradient,
    domain=DOMAIN,
    samples=Samples(cases=(Case((Operand((2, 3)),), {"xs": ("x0",), "y": "y0"}),)),
)


# -- optimisers ----------------------------------------------------------------------------------------------

Update = Callable[..., "tuple[Ends, ...]"]
"""``update(call, steps, r, t, *states) -> new states`` for one tensor."""


def _optimiser(update: Update, states: int, outputs: int) -> Callable[..., tuple[Box, ...]]:
    """The bound of an optimiser that reads ``states`` tensors for every one that it trains.

    No class fits: the formula has several operands and steps. It is followed step by step
    over the hulls; an intermediate overflow, or a special value, leaves nothing known.
    """

    def bound(call: Call, *boxes: Box) -> tuple[Box, ...]:
        r, t = boxes[:2]
        tensors = boxes[2:]
        count = len(tensors) // states
        found: list[tuple[Box, ...]] = []
        for i in range(count):
            own = tensors[i : len(tensors) : count]
            found.append(_updated(call, update, (r, t, *own), outputs))
        return tuple(found[i][kind] for kind in range(outputs) for i in range(count))

    bound.__doc__ = _optimiser.__doc__
    return bound


def _updated(call: Call, update: Update, boxes: Sequence[Box], outputs: int) -> tuple[Box, ...]:
    x = boxes[2]
    if x.shape is not None and 0 in x.shape:
        return (Box(x.dtype, x.shape, inf, -inf),) * outputs
    if any(not box.has_finite for box in boxes):
        return (top(x.dtype, x.shape),) * outputs
    steps = Steps(x.dtype)
    results = update(call, steps, *(box.hull() for box in boxes))
    if steps.over or any(box.flags for box in boxes):
        if steps.over and not call.events:
            call.overflowed(*results[0], x.dtype, ALL, never=False)
        return tuple(Box(x.dtype, x.shape, x.dtype.min, x.dtype.max, ALL) for _ in results)
    return tuple(call.settle(x.dtype, x.shape, *ends) for ends in results)


def _number(value: Any) -> Ends:
    return float(value), float(value)


def _regularised(call: Call, steps: Steps, x: Ends, g: Ends) -> Ends:
    """The gradient with that of the penalty on the weights."""
    rate = float(call.attr("norm_coefficient", 0.0))
    return g if rate == 0.0 else steps.add(steps.mul(_number(rate), x), g)


def _root(call: Call, steps: Steps, h: Ends) -> Ends:
    """Sqrt(h) + epsilon, which something is divided by."""
    epsilon = float(call.attr("epsilon", EPSILON))
    if h[0] < 0.0:
        verdict = INEVITABLE if h[1] < 0.0 else POSSIBLE
        call.events.append(Event("NP102", -1, verdict, NAN, h, "the new h < 0", "a new h of at least 0"))
        steps.over = True
    root = steps.sqrt(h)
    result = root if epsilon == 0.0 else steps.add(root, _number(epsilon))
    if root[0] == 0.0:
        result = epsilon * (1.0 - 2.0**-20), result[1]  # 0 + epsilon is epsilon, or what float32 makes of it
    if result[0] <= 0.0 <= result[1] and not steps.over:
        invalid = "sqrt(the new h) + epsilon == 0"
        call.events.append(Event("NP103", -1, POSSIBLE, NAN | PINF, result, invalid, "a divisor that isn't 0"))
    return result


def _momentum(call: Call, steps: Steps, *operands: Ends) -> tuple[Ends, ...]:
    r, t, x, g, v = operands
    alpha, beta = float(call.attrs["alpha"]), float(call.attrs["beta"])
    gradient = _regularised(call, steps, x, g)
    rate = (beta, beta) if t[0] > 0 else (1.0, 1.0) if t[1] <= 0 else (min(beta, 1.0), max(beta, 1.0))
    v_new = steps.add(steps.mul(_number(alpha), v), steps.mul(rate, gradient))
    way = v_new
    if call.attr("mode", "standard") == "nesterov":
        way = steps.add(gradient, steps.mul(_number(alpha), v_new))
    return steps.sub(x, steps.mul(r, way)), v_new


def _adagrad(call: Call, steps: Steps, *operands: Ends) -> tuple[Ends, ...]:
    r, t, x, g, h = operands
    decay = float(call.attr("decay_factor", 0.0))
    rate = r
    if decay != 0.0:
        divisor = steps.add((1.0, 1.0), steps.mul(t, _number(decay)))
        if divisor[0] <= 0.0 <= divisor[1]:
            invalid = "1 + T * decay_factor == 0"
            call.events.append(Event("NP103", -1, POSSIBLE, ALL, divisor, invalid, "a divisor that isn't 0"))
        rate = steps.div(r, divisor)
    gradient = _regularised(call, steps, x, g)
    square = steps.square(gradient)
    h_new = _never_below(h, square, steps.add(h, square))
    root = _root(call, steps, h_new)
    return steps.sub(x, _either_order(steps, rate, gradient, root)), h_new


def _never_below(h: Ends, added: Ends, total: Ends) -> Ends:
    """A sum of what isn't negative isn't negative."""
    return (max(total[0], 0.0), total[1]) if h[0] >= 0.0 and added[0] >= 0.0 else total


def _either_order(steps: Steps, rate: Ends, way: Ends, root: Ends) -> Ends:
    """Rate * way / root; runtimes differ in what they do first."""
    first = steps.div(steps.mul(rate, way), root)
    second = steps.mul(rate, steps.div(way, root))
    return min(first[0], second[0]), max(first[1], second[1])


def _adam(call: Call, steps: Steps, *operands: Ends) -> tuple[Ends, ...]:
    r, t, x, g, v, h = operands
    alpha, beta = float(call.attr("alpha", ALPHA)), float(call.attr("beta", BETA))
    gradient = _regularised(call, steps, x, g)
    v_new = steps.add(steps.mul(_number(alpha), v), steps.mul(steps.near(1.0 - alpha, 1.0 - alpha), gradient))
    kept = steps.mul(_number(beta), h)
    kept = (max(kept[0], 0.0), kept[1]) if beta >= 0.0 and h[0] >= 0.0 else kept
    fresh = steps.mul(steps.near(1.0 - beta, 1.0 - beta), steps.square(gradient))
    fresh = (max(fresh[0], 0.0), fresh[1]) if beta <= 1.0 else fresh
    h_new = _never_below(kept, fresh, steps.add(kept, fresh))
    root = _root(call, steps, h_new)
    x_new = steps.sub(x, _either_order(steps, _adjusted(steps, (alpha, beta), r, t), v_new, root))
    after = 1.0 - float(call.attr("norm_coefficient_post", 0.0))
    return (x_new if after == 1.0 else steps.mul(steps.near(after, after), x_new)), v_new, h_new


def _adjusted(steps: Steps, rates: tuple[float, float], r: Ends, t: Ends) -> Ends:
    """R * sqrt(1 - beta**T) / (1 - alpha**T) from the first update on, R before it."""
    alpha, beta = rates
    if t[1] <= 0:
        return r
    if not (0.0 <= alpha < 1.0 and 0.0 <= beta <= 1.0):
        steps.over = True
        return r
    first, last = max(t[0], 1.0), t[1]
    root = steps.sqrt(steps.sub((1.0, 1.0), steps.near(beta**last, beta**first, 4.0)))
    divisor = steps.sub((1.0, 1.0), steps.near(alpha**last, alpha**first, 4.0))
    after = _either_order(steps, r, root, divisor)
    return after if t[0] > 0 else (min(after[0], r[0]), max(after[1], r[1]))


def _run_momentum(xp: Any, r: Any, t: Any, *states: Any, **attrs: Any) -> Any:
    def one(x: Any, g: Any, v: Any) -> tuple[Any, Any]:
        alpha, beta = attrs["alpha"], attrs["beta"]
        g = attrs["norm_coefficient"] * x + g
        v = alpha * v + xp.where(t > 0, beta, 1.0) * g
        return x - r * (g + alpha * v if attrs.get("mode") == "nesterov" else v), v

    return _each(one, states, 3)


def _run_adagrad(xp: Any, r: Any, t: Any, *states: Any, **attrs: Any) -> Any:
    def one(x: Any, g: Any, h: Any) -> tuple[Any, Any]:
        g = attrs.get("norm_coefficient", 0.0) * x + g
        h = h + g * g
        rate = r / (1.0 + t * attrs.get("decay_factor", 0.0))
        return x - rate * g / (xp.sqrt(h) + attrs.get("epsilon", EPSILON)), h

    return _each(one, states, 3)


def _run_adam(xp: Any, r: Any, t: Any, *states: Any, **attrs: Any) -> Any:
    alpha, beta = attrs.get("alpha", ALPHA), attrs.get("beta", BETA)

    def one(x: Any, g: Any, v: Any, h: Any) -> tuple[Any, Any, Any]:
        g = attrs.get("norm_coefficient", 0.0) * x + g
        v, h = alpha * v + (1.0 - alpha) * g, beta * h + (1.0 - beta) * g * g
        n = xp.where(t > 0, t, 1) * 1.0
        rate = xp.where(t > 0, r * xp.sqrt(1.0 - beta**n) / (1.0 - alpha**n), r)
        x = x - rate * v / (xp.sqrt(h) + attrs.get("epsilon", EPSILON))
        return (1.0 - attrs.get("norm_coefficient_post", 0.0)) * x, v, h

    return _each(one, states, 4)


def _each(one: Callable[..., tuple[Any, ...]], states: Sequence[Any], width: int) -> tuple[Any, ...]:
    count = len(states) // width
    found = [one(*states[i::count]) for i in range(count)]
    return tuple(results[kind] for kind in range(len(found[0])) for results in found)


_RATE = Operand((), low=0.0, high=1.0)
_COUNT = Operand((), dtype="int64", low=0, high=20)
_X = Operand((5,), low=-1e9, high=1e9)
_SQUARES = Operand((5,), low=0.0, high=1e9)


def _cases(states: tuple[Operand, ...], outputs: int, *attrs: dict[str, Any]) -> tuple[Case, ...]:
    doubled = tuple(s for s in states for _ in range(2))
    single = tuple(Case((_RATE, _COUNT, *states), a, outputs) for a in attrs)
    return (*single, Case((_RATE, _COUNT, *doubled), attrs[0], 2 * outputs))


_USUAL = {"norm_coefficient": 0.01, "alpha": 0.9, "beta": 0.5}

MOMENTUM = Op(
    "Momentum",
    run=_run_momentum,
    bound=_optimiser(_momentum, 3, 2),
    overflow="NP214",
    result=lambda call, boxes: boxes[2].dtype,
    domain=DOMAIN,
    samples=Samples(
        cases=_cases((_X, _X, _X), 2, {**_USUAL, "mode": "standard"}, {**_USUAL, "mode": "nesterov"}),
        dtypes=("float32",),
    ),
)

ADAGRAD = Op(
    "Adagrad",
    run=_run_adagrad,
    bound=_optimiser(_adagrad, 3, 2),
    overflow="NP214",
    result=lambda call, boxes: boxes[2].dtype,
    domain=DOMAIN,
    samples=Samples(
        cases=_cases(
            (_X, _X, _SQUARES), 2,
            {"norm_coefficient": 0.01, "decay_factor": 0.1, "epsilon": 1e-3}, {}, {"epsilon": 0.0},
        ),
        dtypes=("float32",),
    ),
)  # fmt: skip

ADAM = Op(
    "Adam",
    run=_run_adam,
    bound=_optimiser(_adam, 4, 3),
    overflow="NP214",
    result=lambda call, boxes: boxes[2].dtype,
    domain=DOMAIN,
    samples=Samples(
        cases=_cases(
            (_X, _X, _X, _SQUARES), 3,
            {"norm_coefficient": 0.01, "alpha": 0.5, "beta": 0.25, "epsilon": 1e-2, "norm_coefficient_post": 0.1}, {},
        ),
        dtypes=("float32",),
    ),
)  # fmt: skip

OPS = (GRADIENT, MOMENTUM, ADAGRAD, ADAM)
