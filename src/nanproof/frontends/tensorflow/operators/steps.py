"""What an optimiser does to a variable in one step."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from nanproof.frontends.tensorflow.context import Context, Translation, UntranslatableError
from nanproof.frontends.tensorflow.values import Tensor, Value, Variable

if TYPE_CHECKING:
    from nanproof.frontends.tensorflow.graph import Call

Update = Callable[..., "tuple[Tensor, ...]"]
"""``(context, call, present values of variables, other operands)`` -> new values of the variables."""


def _step(slots: int, update: Update) -> Translation:
    """The variable comes first, then its slots, then plain operands."""

    def translation(c: Context, call: Call, *operands: Value) -> Value:
        held = []
        for operand in operands[: slots + 1]:
            if not isinstance(operand, Variable):
                raise UntranslatableError("a step of what is no variable")
            held.append(operand)
        before = [c.read(variable) for variable in held]
        for slot in before[1:]:  # what an optimiser remembers isn't for training to choose
            c.program.roles[slot.name] = "constant"
        rest = [c.tensor(operand) for operand in operands[slots + 1 :]]
        for number in rest[:-1]:
            if number.name in c.program.roles:
                c.program.roles[number.name] = "constant"
        for variable, value in zip(held, update(c, call, *before, *rest), strict=True):
            variable.now, variable.changed = value, True
        return held[0]

    return translation


def _less(c: Context, a: Tensor, b: Tensor) -> Tensor:
    return c.op("Sub", a, b)


def _times(c: Context, a: Tensor, b: Tensor) -> Tensor:
    return c.op("Mul", a, b)


def _drawn_to(c: Context, average: Tensor, value: Tensor, rate: Tensor) -> Tensor:
    """``average + (value - average) * (1 - rate)``, as the kernels have it."""
    return c.op("Add", average, _times(c, _less(c, value, average), _less(c, c.like(1, rate), rate)))


def _descent(c: Context, call: Call, var: Tensor, rate: Tensor, grad: Tensor) -> tuple[Tensor, ...]:
    return (_less(c, var, _times(c, rate, grad)),)


def _momentum(c: Context, call: Call, *values: Tensor) -> tuple[Tensor, ...]:
    var, speed, rate, grad, keep = values
    faster = c.op("Add", _times(c, speed, keep), grad)
    if call.get("use_nesterov", False):
        ahead = c.op("Add", _times(c, grad, rate), _times(c, _times(c, faster, keep), rate))
        return _less(c, var, ahead), faster
    return _less(c, var, _times(c, rate, faster)), faster


def _keras_momentum(c: Context, call: Call, *values: Tensor) -> tuple[Tensor, ...]:
    var, speed, rate, grad, keep = values
    faster = _less(c, _times(c, speed, keep), _times(c, rate, grad))
    if call.get("use_nesterov", False):
        return c.op("Add", var, _less(c, _times(c, faster, keep), _times(c, rate, grad))), faster
    return c.op("Add", var, faster), faster


def _adam(c: Context, call: Call, *values: Tensor) -> tuple[Tensor, ...]:
    var, m, v, power1, power2, rate, beta1, beta2, epsilon, grad = values
    one = c.like(1, rate)
    step = c.op("Div", _times(c, rate, c.op("Sqrt", _less(c, one, power2))), _less(c, one, power1))
    first, second = _drawn_to(c, m, grad, beta1), _drawn_to(c, v, _times(c, grad, grad), beta2)
    towards = first
    if call.get("use_nesterov", False):
        towards = c.op("Add", _times(c, grad, _less(c, one, beta1)), _times(c, beta1, first))
    root = c.op("Add", c.op("Sqrt", second), epsilon)
    return _less(c, var, c.op("Div", _times(c, towards, step), root)), first, second


def _adagrad(c: Context, call: Call, *values: Tensor) -> tuple[Tensor, ...]:
    var, total, rate, *epsilon, grad = values
    more = c.op("Add", total, _times(c, grad, grad)) if call.get("update_slots", True) else total
    root = c.op("Sqrt", more)
    if epsilon:
        root = c.op("Add", root, epsilon[0])
    return _less(c, var, c.op("Div", _times(c, rate, grad), root)), more


def _adadelta(c: Context, call: Call, *values: Tensor) -> tuple[Tensor, ...]:
    var, total, change, rate, rho, epsilon, grad = values
    rest = _less(c, c.like(1, rho), rho)
    more = c.op("Add", _times(c, total, rho), _times(c, _times(c, grad, grad), rest))
    up = c.op("Sqrt", c.op("Add", change, epsilon))
    step = _times(c, c.op("Div", up, c.op("Sqrt", c.op("Add", more, epsilon))), grad)
    moved = c.op("Add", _times(c, change, rho), _times(c, _times(c, step, step), rest))
    return _less(c, var, _times(c, rate, step)), more, moved


def _rmsprop(c: Context, call: Call, *values: Tensor) -> tuple[Tensor, ...]:
    var, square, speed, rate, rho, keep, epsilon, grad = values
    mean = _drawn_to(c, square, _times(c, grad, grad), rho)
    step = c.op("Div", _times(c, rate, grad), c.op("Sqrt", c.op("Add", mean, epsilon)))
    faster = c.op("Add", _times(c, speed, keep), step)
    return _less(c, var, faster), mean, faster


_UPDATES: dict[str, tuple[int, Update]] = {
    "Adadelta": (2, _adadelta),
    "Adagrad": (1, _adagrad),
    "AdagradV2": (1, _adagrad),
    "Adam": (2, _adam),
    "GradientDescent": (0, _descent),
    "KerasMomentum": (1, _keras_momentum),
    "Momentum": (1, _momentum),
    "RMSProp": (2, _rmsprop),
}

TRANSLATIONS: dict[str, Translation] = {
    f"{prefix}{name}": _step(slots, update)
    for prefix in ("Apply", "ResourceApply")
    for name, (slots, update) in _UPDATES.items()
}

HANDLES: frozenset[str] = frozenset(TRANSLATIONS)
