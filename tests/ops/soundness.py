"""Random Boxes with random partitions, a tensor drawn from each, and what ONNX Runtime or the reference makes of them.

The check is containment, element by element, without any slack.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import onnx.reference

from nanproof.domain.box import NAN, NINF, PINF, Box, of_array
from nanproof.domain.partition import Blocks, blocks_of, fine, pack, refine
from nanproof.numerics.dtypes import by_name, of_numpy, to_numpy
from nanproof.numerics.rounding import nearest_array
from nanproof.ops.call import Call, Setting
from nanproof.ops.record import Case, Op, Operand

SPECIAL = ((NAN, np.nan), (PINF, np.inf), (NINF, -np.inf))


def random_cuts(rng: Any, shape: tuple[int, ...]) -> tuple[Any, ...] | None:
    """Cut points for some axes; None for one block."""
    if rng.random() < 0.3 or 0 in shape:
        return None
    cuts: list[Any] = []
    for n in shape:
        inner = [p for p in range(1, n) if rng.random() < 0.5]
        cuts.append((0, *inner, n) if inner and rng.random() < 0.8 else None)
    return tuple(cuts) if any(cuts) else None


def spread(box: Box) -> tuple[Any, Any, Any]:
    """Bounds and flags of every element."""
    assert box.shape is not None
    blocks = blocks_of(box)
    arrays = [np.asarray(blocks.lo), np.asarray(blocks.hi),
              np.zeros(np.shape(blocks.lo), np.uint8) if blocks.spots is None else blocks.spots]  # fmt: skip
    for axis, points in enumerate(box.cuts or ()):
        if points is not None:
            arrays = [np.repeat(a, np.diff(points), axis=axis) for a in arrays]
    shape: Any = box.shape
    lo, hi, flags = (np.broadcast_to(a, shape) for a in arrays)
    return lo, hi, flags


def random_box(rng: Any, operand: Operand, dtype_name: str) -> tuple[Box, Any]:
    """A Box, and a tensor that it allows."""
    dtype = by_name(operand.dtype or dtype_name)
    numpy_type = to_numpy(dtype)
    if operand.values is not None:
        array = np.asarray(operand.values, numpy_type).reshape(operand.shape)
        box = of_array(dtype, array)
        if not operand.stored:
            box = Box(dtype, array.shape, *box.hull(), box.flags)
        return box, array
    shape = operand.shape
    low = operand.low if operand.low is not None else (0.0 if dtype.is_bool or dtype.min == 0 else -9.0)
    high = operand.high if operand.high is not None else (1.0 if dtype.is_bool else 9.0)
    cuts = random_cuts(rng, shape)
    grid = tuple(1 if c is None else len(c) - 1 for c in cuts) if cuts else (1,) * len(shape)
    ends = rng.uniform(low, high, (2, *grid))
    ends = nearest_array(dtype, ends) if dtype.is_float else np.round(ends)
    lo, hi = ends.min(0), ends.max(0)
    if rng.random() < 0.3:
        hi = lo.copy()
    spots = np.zeros(grid, np.uint8)
    if dtype.is_float and operand.low is None and rng.random() < 0.4:
        spots = (rng.integers(0, 8, grid) * (rng.random(grid) < 0.5)).astype(np.uint8)
    if 0 in shape:
        lo, hi = np.full(grid, np.inf), np.full(grid, -np.inf)
        spots[:] = 0
    box = pack(dtype, shape, cuts, Blocks(lo, hi, spots if spots.any() else None))
    low_e, high_e, flags = spread(box)
    drawn = rng.uniform(0, 1, shape) * (high_e - low_e) + low_e
    drawn = np.where(rng.random(shape) < 0.3, low_e, np.where(rng.random(shape) < 0.3, high_e, drawn))
    drawn = nearest_array(dtype, drawn) if dtype.is_float else np.round(drawn)
    drawn = np.clip(drawn, low_e, high_e)
    for bit, value in SPECIAL:
        drawn = np.where(((flags & bit) != 0) & (rng.random(shape) < 0.4), value, drawn)
    if 0 in shape:
        drawn = np.zeros(shape)
    array = np.asarray(drawn).astype(numpy_type)
    if operand.stored or rng.random() < 0.15:
        box = of_array(dtype, array)
        if rng.random() < 0.5:
            box = fine(box)
        elif (cuts := random_cuts(rng, shape)) is not None:
            box = refine(box, cuts)
    return box, array


def concrete(op: Op, case: Case, arrays: list[Any], *, runtime: str = "onnxruntime") -> list[Any] | None:
    """What the runtime answers; None where it has no kernel for this."""
    names = [f"i{i}" if a is not None else "" for i, a in enumerate(arrays)]
    outputs = [f"o{i}" for i in range(case.outputs)]
    node = onnx.helper.make_node(op.name, names, outputs, **{k: _attr(v) for k, v in case.attrs.items()})
    infos = [
        onnx.helper.make_tensor_value_info(n, of_numpy(a.dtype).onnx, a.shape)
        for n, a in zip(names, arrays, strict=True)
        if n
    ]
    results = [onnx.helper.make_empty_tensor_value_info(o) for o in outputs]
    graph = onnx.helper.make_graph([node], "g", infos, results)
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 24)], ir_version=11)
    feeds = {n: a for n, a in zip(names, arrays, strict=True) if n}
    if runtime == "reference":
        return list(onnx.reference.ReferenceEvaluator(model).run(None, feeds))
    import onnxruntime as ort

    try:
        inferred = onnx.shape_inference.infer_shapes(model, data_prop=True)
        options = ort.SessionOptions()
        options.log_severity_level = 4
        session = ort.InferenceSession(inferred.SerializeToString(), options, providers=["CPUExecutionProvider"])
    except Exception:  # noqa: BLE001 - whatever the runtime says: it has no kernel for this
        return None
    return list(session.run(None, feeds))


def _attr(value: Any) -> Any:
    if isinstance(value, tuple):
        return list(value)
    if isinstance(value, np.ndarray):
        return onnx.numpy_helper.from_array(value)
    return value


def allowed(box: Box, result: Any) -> str | None:
    """None if the Box allows the tensor, else what is wrong."""
    array = np.asarray(result)
    if of_numpy(array.dtype) is not box.dtype:
        return f"dtype {array.dtype} against {box.dtype}"
    shape = box.shape
    if shape is not None:
        if len(shape) != array.ndim:
            return f"shape {array.shape} against {shape}"
        if any(isinstance(n, int) and n != m for n, m in zip(shape, array.shape, strict=True)):
            return f"shape {array.shape} against {shape}"
    known = box.known
    if (
        known is not None
        and known.dtype != object
        and not np.array_equal(known, array, equal_nan=known.dtype.kind == "f")
    ):
        return f"known {known} against {array}"
    if array.size == 0:
        return None
    wide = array.astype(np.float64)
    if shape is None or any(not isinstance(n, int) for n in shape):
        ends = box.hull()
        lo, hi = np.full(array.shape, ends[0]), np.full(array.shape, ends[1])
        flags = np.full(array.shape, box.flags)
    else:
        lo, hi, flags = spread(box)
    usual = np.isfinite(wide)
    with np.errstate(invalid="ignore"):
        good = np.where(usual, (lo <= wide) & (wide <= hi), False)
    for bit, mask in ((NAN, np.isnan(wide)), (PINF, wide == np.inf), (NINF, wide == -np.inf)):
        good |= mask & ((flags & bit) != 0)
    if not good.all():
        where = np.argwhere(~good)[0]
        at = tuple(where)
        return f"at {at}: {wide[at]!r} not in [{lo[at]}, {hi[at]}] flags {flags[at]}"
    if shape is not None and box.cuts is not None and len(box.cuts) != len(shape):
        return "cuts of another rank"
    return None


def bound(op: Op, boxes: list[Any], case: Case, setting: Setting | None = None) -> tuple[tuple[Box, ...], Call]:
    """The Boxes that the record answers."""
    call = Call(op, case.attrs, setting or Setting(), case.outputs, label="n")
    answer = op.bound(call, *boxes)
    return (answer if isinstance(answer, tuple) else (answer,)), call


def check_case(op: Op, case: Case, dtype: str, seed: int, *, runtime: str = "onnxruntime") -> str:
    """Draw operands, bound them, run them, compare: what the runtime said ("ran" or "no kernel")."""
    rng = np.random.default_rng(seed)
    drawn = [(None, None) if o.absent else random_box(rng, o, dtype) for o in case.operands]
    boxes, arrays = [b for b, _ in drawn], [a for _, a in drawn]
    with np.errstate(all="ignore"):
        answers, _ = bound(op, boxes, case)
        own = op.run(np, *arrays, **case.attrs)
    results = concrete(op, case, arrays, runtime=runtime)
    if results is None:
        return "no kernel"
    owns = own if isinstance(own, tuple) else (own,)
    for i, result in enumerate(results):
        wrong = allowed(answers[i], result)
        context = f"{op.name} {case.attrs} {dtype} seed {seed} output {i}\n{boxes}\n{arrays}\n{answers[i]}\n{result}"
        assert wrong is None, f"{wrong}\n{context}"
        if op.exact and own is not None:
            np.testing.assert_array_equal(np.asarray(owns[i]), result, err_msg=f"run differs: {context}")
    return "ran"
