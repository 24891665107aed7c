"""Recurrent layers: RNN, GRU, LSTM. Bounded through their gates, whatever flows in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf
from types import MappingProxyType
from typing import Any, NamedTuple

from nanproof.dims import ShapeError, Size, bounds
from nanproof.domain.box import ALL, INFS, NAN, Box, Shape, top
from nanproof.numerics.dtypes import DType
from nanproof.ops.call import POSSIBLE, Call, Event
from nanproof.ops.record import Case, Op, Operand, Samples

Ends = tuple[float, float]

# Kernels have their own approximations, which may pass the ends of an image a little.
PAST = 16.0
"""Unit roundoffs that an activation or a gate may be off by at the ends of its image."""

RATE = 4.0 * PAST
"""Unit roundoffs by which one step may enlarge a state: two gates past their ends, four roundings."""

_IMAGES: Mapping[str, Ends] = MappingProxyType(
    {"tanh": (-1.0, 1.0), "sigmoid": (0.0, 1.0), "hardsigmoid": (0.0, 1.0), "softsign": (-1.0, 1.0)}
)
"""Activations with a bounded image; ScaledTanh has one that its attributes decide."""


class Layer(NamedTuple):
    """What a layer's sizes are: None where an operand has no shape."""

    dtype: DType
    steps: Size | None
    batch: Size | None
    directions: Size
    hidden: Size | None


def _layer(call: Call, x: Box, r: Box) -> Layer:
    first, second = (1, 0) if call.attr("layout", 0) else (0, 1)
    steps: Size | None = None
    batch: Size | None = None
    hidden: Size | None = None
    if x.shape is not None and len(x.shape) == 3:
        steps, batch = x.shape[first], x.shape[second]
    if call.attr("hidden_size") is not None:
        hidden = int(call.attr("hidden_size"))
    elif r.shape:
        hidden = r.shape[-1]
    directions = 2 if call.attr("direction", "forward") == "bidirectional" else 1
    return Layer(x.dtype, steps, batch, directions, hidden)


def _shapes(call: Call, layer: Layer) -> tuple[Shape, Shape]:
    """The shape of all steps' results, and of the last one's."""
    _, steps, batch, directions, hidden = layer
    if steps is None or batch is None or hidden is None:
        return None, None
    if call.attr("layout", 0):
        return (batch, steps, directions, hidden), (batch, directions, hidden)
    return (steps, directions, batch, hidden), (directions, batch, hidden)


def _image(call: Call, place: int, default: str, kinds: int) -> Ends | None:
    """The values of the activation at a place, over all directions; None where it isn't bounded."""
    names = call.attr("activations") or ()
    if not names:
        return _IMAGES[default]
    scales = call.attr("activation_alpha") or ()
    found: list[Ends] = []
    for i in range(place, len(names), kinds):
        name = str(names[i]).lower()
        if name == "scaledtanh" and len(names) == len(scales):
            found.append((-abs(float(scales[i])), abs(float(scales[i]))))
        elif name in _IMAGES:
            found.append(_IMAGES[name])
        else:
            return None
    return _widest(*found) if found else None


def _past(ends: Ends, dtype: DType) -> Ends:
    """An image, and a little more."""
    slack = PAST * dtype.unit * max(1.0, abs(ends[0]), abs(ends[1]))
    return ends[0] - slack, ends[1] + slack


def _size(box: Box | None) -> float:
    """The largest magnitude among the finite values."""
    return 0.0 if box is None or not box.has_finite else max(map(abs, box.hull()))


def _most(call: Call, size: Size | None) -> float:
    if size is None:
        return inf
    high = size if isinstance(size, int) else bounds(size, call.setting.dims)[1]
    return inf if high is None else float(high)


def _checked(call: Call, layer: Layer, boxes: Sequence[Box | None], states: tuple[float, float]) -> int:
    """The special values that results may have: of operands, and of sums before a gate that overflow.

    Such a sum adds up w x, r h, both biases and, in an LSTM, what peepholes add. An infinite one
    leaves its gate at an end of the image, but two that cancel make a NaN.
    """
    x, w, r = boxes[:3]
    b = boxes[3] if len(boxes) > 3 else None
    for name, box in (("X", x), ("W", w), ("R", r)):
        if box is not None and box.shape is not None and len(box.shape) != 3:
            raise ShapeError(f"{name} has {len(box.shape)} axes: a recurrent layer needs 3")
    features = _most(call, None if w is None or w.shape is None else w.shape[-1])
    hidden = _most(call, layer.hidden)
    peepholes = boxes[7] if len(boxes) > 7 else None
    parts = ((features, _size(w) * _size(x)), (hidden, _size(r) * states[0]), (2.0, _size(b)),
             (1.0, _size(peepholes) * states[1]))  # fmt: skip
    size = sum(count * value if value else 0.0 for count, value in parts)
    if size:
        size *= 1.0 + 2.0 * min(features + hidden + 8.0, 1e300) * layer.dtype.unit
    flags = 0
    for place, box in enumerate(boxes):
        if box is not None and box.flags and box.dtype.is_float:
            # an infinite state can go on as it is; elsewhere it meets a gate first
            flags |= NAN | (INFS if place >= 5 else 0)
    if not size <= layer.dtype.max:
        limit = f"{layer.dtype.max:.5g}"
        call.events.append(
            Event("NP214", -1, POSSIBLE, NAN, (-size, size), f"|sum before a gate| > {limit}", f"sums within {limit}")
        )
        flags |= NAN
    return flags


def _grown(size: float, rate: float, steps: float) -> float:
    """A magnitude after ``steps`` steps that each enlarge it by a factor of at most ``1 + rate``."""
    exponent = rate * steps
    # e**t <= 1 + t + t*t up to t = 1.79
    return size * (1.0 + exponent + exponent * exponent) if exponent < 1.5 else (inf if size else 0.0)


def _widest(*ends: Ends) -> Ends:
    return min(lo for lo, _ in ends), max(hi for _, hi in ends)


def _initial(box: Box | None) -> Ends:
    """A state at the start: 0 where none is given."""
    return (0.0, 0.0) if box is None or not box.has_finite else box.hull()


def _box(layer: Layer, shape: Shape, ends: Ends, flags: int) -> Box:
    if shape is not None and 0 in shape:
        return Box(layer.dtype, shape, inf, -inf)
    lo, hi = max(ends[0], layer.dtype.min), min(ends[1], layer.dtype.max)
    if ends[1] > layer.dtype.max or ends[0] < layer.dtype.min:
        flags |= ALL
    return Box(layer.dtype, shape, lo, hi, flags)


def _unbounded(call: Call, layer: Layer) -> tuple[Box, ...]:
    """An activation without a bounded image feeds itself: nothing is known after a few steps."""
    call.overflowed(-inf, inf, layer.dtype, ALL, never=False)
    whole, last = _shapes(call, layer)
    return (top(layer.dtype, whole), top(layer.dtype, last), top(layer.dtype, last))[: call.outputs]


def _outer(
    call: Call, layer: Layer, boxes: Sequence[Box | None], ends: tuple[Ends, Ends], flags: int
) -> tuple[Box, ...]:
    """All steps' results and the last one's, which is the first state where there is no step."""
    whole, last = _shapes(call, layer)
    lens = boxes[4] if len(boxes) > 4 else None
    stepless = not (isinstance(layer.steps, int) and layer.steps >= 1)
    every, final = ends
    if lens is not None:
        every, final = _widest(every, (0.0, 0.0)), _widest(final, (0.0, 0.0))
    if lens is not None or stepless:
        final = _widest(final, _initial(boxes[5] if len(boxes) > 5 else None))
    return _box(layer, whole, every, flags), _box(layer, last, final, flags)


def _rnn(call: Call, *boxes: Box | None) -> tuple[Box, ...]:
    """No class fits: every result is the activation's, so it lies in the activation's image."""
    x, r = boxes[0], boxes[2]
    assert x is not None
    assert r is not None
    layer = _layer(call, x, r)
    image = _image(call, 0, "tanh", 1)
    if image is None:
        return _unbounded(call, layer)
    ends = _past(image, layer.dtype)
    first = _initial(boxes[5] if len(boxes) > 5 else None)
    state = max(map(abs, (*ends, *first)))
    flags = _checked(call, layer, boxes, (state, 0.0))
    return _outer(call, layer, boxes, (ends, ends), flags)[: call.outputs]


def _gru(call: Call, *boxes: Box | None) -> tuple[Box, ...]:
    """No class fits: a step mixes the state with a new one, (1 - z) n + z h with z in [0, 1], so it stays between them."""
    x, r = boxes[0], boxes[2]
    assert x is not None
    assert r is not None
    layer = _layer(call, x, r)
    gate, image = _image(call, 0, "sigmoid", 2), _image(call, 1, "tanh", 2)
    if image is None or gate is None or gate[0] < 0.0 or gate[1] > 1.0:
        return _unbounded(call, layer)
    ends = _widest(_past(image, layer.dtype), _initial(boxes[5] if len(boxes) > 5 else None))
    far = max(map(abs, ends))
    slack = _grown(far, RATE * layer.dtype.unit, _most(call, layer.steps)) - far
    ends = ends[0] - slack, ends[1] + slack
    flags = _checked(call, layer, boxes, (max(map(abs, ends)), 0.0))
    return _outer(call, layer, boxes, (ends, ends), flags)[: call.outputs]


def _lstm(call: Call, *boxes: Box | None) -> tuple[Box, ...]:
    """No class fits: a step adds at most the image of g to the cell, so it grows with the number of steps only."""
    x, r = boxes[0], boxes[2]
    assert x is not None
    assert r is not None
    layer = _layer(call, x, r)
    gate, image, out = (_image(call, i, name, 3) for i, name in enumerate(("sigmoid", "tanh", "tanh")))
    if gate is None or image is None or out is None or gate[0] < 0.0 or gate[1] > 1.0:
        return _unbounded(call, layer)
    c0 = _initial(boxes[6] if len(boxes) > 6 else None)
    steps = _most(call, layer.steps)
    fresh = max(map(abs, _past(image, layer.dtype)))
    reach = _grown(max(map(abs, c0)) + (steps * fresh if fresh else 0.0), RATE * layer.dtype.unit, steps)
    cell = -reach, reach
    ends = _past(_widest(out, (0.0, 0.0)), layer.dtype)  # o times h(c), with o in [0, 1]
    ends = _past(ends, layer.dtype)
    first = _initial(boxes[5] if len(boxes) > 5 else None)
    flags = _checked(call, layer, boxes, (max(map(abs, (*ends, *first))), reach))
    every, final = _outer(call, layer, boxes, (ends, ends), flags)
    last = _box(layer, _shapes(call, layer)[1], _widest(cell, (0.0, 0.0)), flags)
    return (every, final, last)[: call.outputs]


# -- run -----------------------------------------------------------------------------------------------------


def _activation(xp: Any, name: str) -> Any:
    return {
        "tanh": xp.tanh,
        "sigmoid": lambda v: 1.0 / (1.0 + xp.exp(-v)),
        "relu": lambda v: xp.where(v > 0, v, 0.0 * v),
        "softsign": lambda v: v / (1.0 + xp.abs(v)),
        "hardsigmoid": lambda v: xp.clip(0.2 * v + 0.5, 0.0, 1.0),
    }[name.lower()]


def _unrolled(xp: Any, operands: Sequence[Any], attrs: Mapping[str, Any], cell: Any) -> tuple[Any, ...]:
    """Walk the directions and steps. ``cell(direction, x, states) -> states``, h first."""
    x, lens, states = operands
    batch_first = bool(attrs.get("layout", 0))
    if batch_first:
        x = xp.permute_dims(x, (1, 0, 2))
        states = [xp.permute_dims(s, (1, 0, 2)) for s in states]
    length, batch = x.shape[0], x.shape[1]
    lens = xp.full((batch,), length) if lens is None else lens
    way = attrs.get("direction", "forward")
    columns, lasts = [], []
    for d in range(2 if way == "bidirectional" else 1):
        back = way == "reverse" or d == 1
        now, rows = [s[d] for s in states], []
        for t in range(length):
            alive = xp.reshape(xp.asarray(t < lens), (-1, 1))
            place = xp.where(t < lens, lens - 1 - t, t) if back else xp.full((batch,), t)
            seen = x[place, xp.arange(batch)]
            after = cell(d, seen, now)
            now = [xp.where(alive, a, b) for a, b in zip(after, now, strict=True)]
            rows.append(xp.where(alive, now[0], 0.0 * now[0]))
        columns.append(_in_order(xp, rows, lens) if back else rows)
        lasts.append(now)
    width = states[0].shape[-1]
    whole = xp.reshape(xp.stack([xp.stack([c[t] for c in columns]) for t in range(length)]), (length, -1, batch, width))
    last = [xp.stack([d[i] for d in lasts]) for i in range(len(states))]
    if batch_first:
        return (xp.permute_dims(whole, (2, 0, 1, 3)), *(xp.permute_dims(s, (1, 0, 2)) for s in last))
    return (whole, *last)


def _in_order(xp: Any, rows: list[Any], lens: Any) -> list[Any]:
    """Results of a reversed walk, back in the order of the steps."""
    stacked, count = xp.stack(rows), len(rows)
    found = []
    for t in range(count):
        place = xp.where(t < lens, lens - 1 - t, t)
        found.append(stacked[place, xp.arange(stacked.shape[1])])
    return found


def _state(xp: Any, given: Any, x: Any, r: Any, attrs: Mapping[str, Any]) -> Any:
    if given is not None:
        return given
    if attrs.get("layout", 0):
        return xp.zeros((x.shape[0], r.shape[0], r.shape[-1]), dtype=x.dtype)
    return xp.zeros((r.shape[0], x.shape[1], r.shape[-1]), dtype=x.dtype)


def _split(xp: Any, x: Any, parts: int, axis: int = -1) -> list[Any]:
    size = x.shape[axis] // parts
    return [x[..., i * size : (i + 1) * size] for i in range(parts)]


def _given(operands: Sequence[Any], place: int) -> Any:
    return operands[place] if place < len(operands) else None


def _run_rnn(xp: Any, *operands: Any, **attrs: Any) -> Any:
    x, w, r = operands[:3]
    b = _given(operands, 3)
    names = attrs.get("activations") or ("Tanh", "Tanh")

    def cell(d: int, seen: Any, states: Any) -> Any:
        total = xp.matmul(seen, w[d].T) + xp.matmul(states[0], r[d].T)
        if b is not None:
            one, two = _split(xp, b[d], 2)
            total = total + one + two
        return [_activation(xp, names[d])(_clipped(xp, total, attrs))]

    states = [_state(xp, _given(operands, 5), x, r, attrs)]
    return _unrolled(xp, (x, _given(operands, 4), states), attrs, cell)


def _clipped(xp: Any, total: Any, attrs: Mapping[str, Any]) -> Any:
    limit = attrs.get("clip")
    return total if limit is None else xp.clip(total, -limit, limit)


def _run_gru(xp: Any, *operands: Any, **attrs: Any) -> Any:
    x, w, r = operands[:3]
    b = _given(operands, 3)
    f, g = _activation(xp, "sigmoid"), _activation(xp, "tanh")

    def cell(d: int, seen: Any, states: Any) -> Any:
        h = states[0]
        wz, wr, wh = _split(xp, xp.matmul(seen, w[d].T), 3)
        rz, rr, _ = _split(xp, xp.matmul(h, r[d].T), 3)
        bz, br, bh, cz, cr, ch = [0.0] * 6 if b is None else _split(xp, b[d], 6)
        z, reset = f(_clipped(xp, wz + rz + bz + cz, attrs)), f(_clipped(xp, wr + rr + br + cr, attrs))
        kernel = r[d][2 * h.shape[-1] :]
        if attrs.get("linear_before_reset", 0):
            inner = reset * (xp.matmul(h, kernel.T) + ch)
        else:
            inner = xp.matmul(reset * h, kernel.T) + ch
        n = g(_clipped(xp, wh + inner + bh, attrs))
        return [(1.0 - z) * n + z * h]

    states = [_state(xp, _given(operands, 5), x, r, attrs)]
    return _unrolled(xp, (x, _given(operands, 4), states), attrs, cell)


def _run_lstm(xp: Any, *operands: Any, **attrs: Any) -> Any:
    x, w, r = operands[:3]
    b, p = _given(operands, 3), _given(operands, 7)
    f, g = _activation(xp, "sigmoid"), _activation(xp, "tanh")

    def cell(d: int, seen: Any, states: Any) -> Any:
        h, c = states
        total = xp.matmul(seen, w[d].T) + xp.matmul(h, r[d].T)
        if b is not None:
            one, two = _split(xp, b[d], 2)
            total = total + one + two
        i, o, forget, fresh = _split(xp, total, 4)
        pi, po, pf = [0.0] * 3 if p is None else _split(xp, p[d], 3)
        i = f(_clipped(xp, i + pi * c, attrs))
        forget = 1.0 - i if attrs.get("input_forget", 0) else f(_clipped(xp, forget + pf * c, attrs))
        c = forget * c + i * g(_clipped(xp, fresh, attrs))
        return [f(_clipped(xp, o + po * c, attrs)) * g(c), c]

    states = [_state(xp, _given(operands, place), x, r, attrs) for place in (5, 6)]
    return _unrolled(xp, (x, _given(operands, 4), states), attrs, cell)


# -- records -------------------------------------------------------------------------------------------------

STEPS, BATCH, FEATURES, HIDDEN = 3, 2, 4, 5


def _case(gates: int, outputs: int, *more: Operand, directions: int = 1, wide: float = 10.0, **attrs: Any) -> Case:
    x = Operand((BATCH, STEPS, FEATURES) if attrs.get("layout") else (STEPS, BATCH, FEATURES), low=-wide, high=wide)
    w = Operand((directions, gates * HIDDEN, FEATURES), low=-wide, high=wide)
    r = Operand((directions, gates * HIDDEN, HIDDEN), low=-wide, high=wide)
    return Case((x, w, r, *more), {"hidden_size": HIDDEN, **attrs}, outputs)


ABSENT = Operand(absent=True)
LENGTHS = Operand((BATCH,), dtype="int32", values=(2, 3), stored=True)


def _start(directions: int = 1) -> Operand:
    return Operand((directions, BATCH, HIDDEN), low=-3.0, high=3.0)


def _bias(gates: int, directions: int = 1) -> Operand:
    return Operand((directions, 2 * gates * HIDDEN), low=-5.0, high=5.0)


def _cases(gates: int, outputs: int, *more: Case) -> tuple[Case, ...]:
    return (
        _case(gates, outputs),
        _case(gates, outputs, wide=1e30),
        _case(gates, outputs, _bias(gates), LENGTHS, _start()),
        _case(gates, outputs, _bias(gates), ABSENT, _start(), direction="reverse"),
        _case(gates, outputs, _bias(gates, 2), ABSENT, _start(2), directions=2, direction="bidirectional"),
        _case(gates, outputs, _bias(gates), clip=0.5),
        *more,
    )


FLOAT = ("float32",)

RNN = Op(
    "RNN",
    run=_run_rnn,
    bound=_rnn,
    overflow="NP214",
    samples=Samples(
        cases=_cases(1, 2, _case(1, 2, activations=("Sigmoid",)), _case(1, 2, activations=("Relu",))), dtypes=FLOAT
    ),
)

GRU = Op(
    "GRU",
    run=_run_gru,
    bound=_gru,
    overflow="NP214",
    samples=Samples(cases=_cases(3, 2, _case(3, 2, _bias(3), linear_before_reset=1)), dtypes=FLOAT),
)

LSTM = Op(
    "LSTM",
    run=_run_lstm,
    bound=_lstm,
    overflow="NP214",
    samples=Samples(
        cases=_cases(
            4, 3,
            _case(4, 3, _bias(4), LENGTHS, _start(), _start(), Operand((1, 3 * HIDDEN), low=-5.0, high=5.0)),
            _case(4, 3, input_forget=1),
        ),
        dtypes=FLOAT,
    ),
)  # fmt: skip

OPS = (RNN, GRU, LSTM)
