"""Shapes as tuples of sizes: broadcasting, products, concatenation."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import TypeAlias

from nanproof.dims.bounds import same
from nanproof.dims.dim import Size
from nanproof.dims.errors import ShapeError
from nanproof.dims.extremes import joint

Shape: TypeAlias = "tuple[Size, ...]"


def broadcast(a: Shape, b: Shape) -> Shape:
    """The shape that two operands broadcast to, as in NumPy and ONNX.

    An unknown size beside a known one other than 1 is that known size: any other value would not run. Two different
    unknown sizes may be equal, or one of them may be 1, so the result is their `joint` size.
    """
    return a if a == b else _broadcast(a, b)


@lru_cache(maxsize=4096)  # a graph of 200,000 nodes has a few dozen pairs of shapes
def _broadcast(a: Shape, b: Shape) -> Shape:
    if len(a) < len(b):
        a, b = b, a
    extra = len(a) - len(b)
    return a[:extra] + tuple(
        [x if y in (x, 1) else y if x == 1 else _pair(x, y, a, b) for x, y in zip(a[extra:], b, strict=True)]
    )


def broadcast_all(shapes: Iterable[Shape]) -> Shape:
    """The shape that any number of operands broadcast to."""
    result: Shape = ()
    for shape in shapes:
        result = broadcast(result, shape)
    return result


def _pair(x: Size, y: Size, a: Shape, b: Shape) -> Size:
    """Two sizes that differ as expressions, neither of them 1."""
    if isinstance(x, int):
        if isinstance(y, int):
            raise ShapeError(f"shapes {show(a)} and {show(b)} don't broadcast: {x} against {y}")
        return x
    return y if isinstance(y, int) else joint(x, y)


def product(shape: Iterable[Size]) -> Size:
    """The number of elements; 1 for a scalar's empty shape."""
    return _product(tuple(shape))


@lru_cache(maxsize=4096)
def _product(shape: Shape) -> Size:
    total: Size = 1
    for size in sorted(shape, key=_is_unknown):
        total = total * size
    return total


def _is_unknown(size: Size) -> bool:
    return not isinstance(size, int)


def merge(a: Size, b: Size, what: str = "sizes") -> Size:
    """One size for two that have to be equal: the known one, else the first."""
    if isinstance(a, int) and isinstance(b, int):
        if a != b:
            raise ShapeError(f"{what} have to be equal: {a} against {b}")
        return a
    if same(a, b) is False:
        raise ShapeError(f"{what} have to be equal: {a} against {b}")
    return b if isinstance(b, int) else a


def merge_shapes(a: Shape, b: Shape, what: str = "shapes") -> Shape:
    """One shape for two that have to be equal."""
    if a == b:
        return a
    if len(a) != len(b):
        raise ShapeError(f"{what} have to be equal: {show(a)} against {show(b)}")
    return tuple(merge(x, y, what) for x, y in zip(a, b, strict=True))


def concat(shapes: Sequence[Shape], axis: int) -> Shape:
    """The shape of tensors joined along an axis: sizes add up there and have to agree elsewhere."""
    first = shapes[0]
    if not -len(first) <= axis < len(first):
        raise ShapeError(f"axis {axis} does not exist in the shape {show(first)}")
    axis %= len(first)
    result = list(first)
    for shape in shapes[1:]:
        if len(shape) != len(first):
            raise ShapeError(f"shapes {show(first)} and {show(shape)} have different ranks and can't be joined")
        for i, size in enumerate(shape):
            if i == axis:
                result[i] = result[i] + size
            elif result[i] != size:
                result[i] = merge(
                    result[i], size, f"sizes of axis {i} of joined shapes {show(first)} and {show(shape)}"
                )
    return tuple(result)


def show(shape: Shape) -> str:
    """A shape as text: [N, 3, 2*H]."""
    return f"[{', '.join(map(str, shape))}]"
