"""What is known of small integer tensors that are made of shapes: their elements as sizes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from nanproof.dims import Dim, bounds, most, product, same

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Sizes = NDArray[Any]

MOST = 64
"""Elements of a tensor beyond which it isn't followed."""


def as_sizes(values: Any, shape: tuple[int, ...] | None = None) -> Sizes:
    """An array of sizes: ints and Dims as objects."""
    flat = np.asarray(values, object) if not isinstance(values, (list, tuple)) else _objects(values)
    return flat if shape is None else flat.reshape(shape)


def all_known(sizes: Sizes) -> bool:
    """Whether every element is a plain number."""
    return all(not isinstance(size, Dim) for size in sizes.flat)


def follow(op: str, operands: Sequence[Sizes | None], attrs: Mapping[str, Any]) -> Sizes | None:
    """The result of an operator over sizes, if all that it reads is known and we follow it."""
    rule = _RULES.get(op)
    if rule is None or any(operand is None for operand in operands):
        return None
    try:
        found = rule(attrs, *operands)
    except (ValueError, IndexError, TypeError, ZeroDivisionError):
        return None
    return found if found is not None and found.size <= MOST else None


def _objects(values: Sequence[Any]) -> Sizes:
    array = np.empty(len(values), object)
    array[:] = list(values)
    return array


def _elementwise(function: Callable[[Any, Any], Any]) -> Callable[..., Sizes]:
    apply = np.frompyfunc(function, 2, 1)
    return lambda attrs, a, b: np.asarray(apply(a, b), object)


def _divide(a: Any, b: Any) -> Any:
    """Integer division, where truncating and flooring are the same."""
    if bounds(a)[0] < 0 or bounds(b)[0] < 1:
        raise ValueError
    return a // b


def _equal(a: Any, b: Any) -> Any:
    answer = same(a, b)
    if answer is None:
        raise ValueError
    return answer


def _rest(a: Any, b: Any) -> Any:
    """The rest of a division, of the divisor's sign as Python's."""
    if not isinstance(a, int) or not isinstance(b, int):
        raise TypeError
    return a % b


def _filled(attrs: Mapping[str, Any], shape: Sizes) -> Sizes:
    """A small tensor of one integer."""
    import onnx

    value = onnx.numpy_helper.to_array(attrs["value"]) if "value" in attrs else np.zeros(1)
    if value.dtype.kind != "i":
        raise TypeError
    return _repeated(int(value.item()), shape)


def _expanded(attrs: Mapping[str, Any], data: Sizes, shape: Sizes) -> Sizes | None:
    return _repeated(data.item(), shape) if data.size == 1 else None


def _repeated(value: Any, shape: Sizes) -> Sizes:
    lengths = tuple(int(size) for size in shape.flat)
    if np.prod(lengths) > MOST:
        raise ValueError
    made = np.empty(lengths, object)
    made.fill(value)
    return made


def _slice(attrs: Mapping[str, Any], data: Sizes, *ends: Sizes) -> Sizes:
    starts, stops = ([int(x) for x in end.flat] for end in ends[:2])
    axes = [int(x) for x in ends[2].flat] if len(ends) > 2 else range(len(starts))
    steps = [int(x) for x in ends[3].flat] if len(ends) > 3 else [1] * len(starts)
    for axis, start, stop, step in zip(axes, starts, stops, steps, strict=True):
        cut = slice(start, None if step < 0 and stop < -data.shape[axis] else stop, step)
        data = data[(slice(None),) * (axis % data.ndim) + (cut,)]
    return data


def _squeeze(attrs: Mapping[str, Any], data: Sizes, axes: Sizes | None = None) -> Sizes:
    return np.squeeze(data, None if axes is None else tuple(int(axis) for axis in axes.flat))


def _unsqueeze(attrs: Mapping[str, Any], data: Sizes, axes: Sizes) -> Sizes:
    return np.expand_dims(data, tuple(int(axis) for axis in axes.flat))


def _total(attrs: Mapping[str, Any], data: Sizes, axes: Sizes | None = None) -> Sizes | None:
    if data.ndim > 1:
        return None
    total = np.asarray(product(tuple(data.flat)), object)
    return total.reshape(1) if attrs.get("keepdims", 1) else total


def _where(attrs: Mapping[str, Any], condition: Sizes, one: Sizes, other: Sizes) -> Sizes:
    return np.asarray(np.where(condition.astype(bool), one, other), object)


def _range(attrs: Mapping[str, Any], start: Sizes, stop: Sizes, step: Sizes) -> Sizes:
    values = np.arange(int(start.item()), int(stop.item()), int(step.item()))
    return as_sizes(values.tolist())


_RULES: dict[str, Callable[..., Sizes | None]] = {
    "Add": _elementwise(lambda a, b: a + b),
    "Sub": _elementwise(lambda a, b: a - b),
    "Mul": _elementwise(lambda a, b: a * b),
    "Div": _elementwise(_divide),
    "Max": _elementwise(most),
    "Mod": _elementwise(_rest),
    "ConstantOfShape": _filled,
    "Expand": _expanded,
    "Equal": _elementwise(_equal),
    "Identity": lambda attrs, data: data,
    "Cast": lambda attrs, data: data,
    "Concat": lambda attrs, *parts: np.concatenate(parts, attrs.get("axis", 0)),
    "Gather": lambda attrs, data, index: np.asarray(data[_index(index)], object)
    if not attrs.get("axis", 0)
    else None,
    "Slice": _slice,
    "Squeeze": _squeeze,
    "Unsqueeze": _unsqueeze,
    "Reshape": lambda attrs, data, shape: data.reshape([int(size) for size in shape.flat]),
    "ReduceProd": _total,
    "Where": _where,
    "Range": _range,
}  # fmt: skip


def _index(index: Sizes) -> Any:
    return int(index.item()) if not index.ndim else index.astype(np.int64)
