"""Reshape algebra: the target may copy a size (0), leave one to be worked out (-1), or name it."""

from __future__ import annotations

from nanproof.dims.bounds import same
from nanproof.dims.dim import Dim, Size, terms_of
from nanproof.dims.division import exact_quotient, floor_divide
from nanproof.dims.errors import ShapeError
from nanproof.dims.shapes import Shape, product, show


def reshape(shape: Shape, target: Shape, *, allow_zero: bool = False) -> Shape:
    """The shape that `shape` gets by ONNX's Reshape: 0 copies the size at its place, -1 is what is left over.

    With `allow_zero`, 0 means a size of 0. The size left over is exact where the elements divide as polynomials, for
    instance [N, 4, 8] to [-1, 32] is [N, 32]; else it is a floor, which is right in every run that doesn't fail.
    """
    sizes = list(target)
    hole = -1
    for i, size in enumerate(target):
        if size == 0 and not allow_zero:
            if i >= len(shape):
                raise ShapeError(f"reshape of {show(shape)} to {show(target)}: there is no axis {i} to copy")
            sizes[i] = shape[i]
        elif size == -1:
            if hole >= 0:
                raise ShapeError(f"reshape of {show(shape)} to {show(target)}: more than one -1")
            hole = i
    if hole < 0:
        if same(product(shape), product(sizes)) is False:
            raise ShapeError(
                f"reshape of {show(shape)} to {show(target)}: {product(shape)} elements don't fit {product(sizes)}"
            )
        return tuple(sizes)
    sizes[hole] = _left_over(shape, sizes[:hole] + sizes[hole + 1 :], target)
    return tuple(sizes)


def divides(divisor: Size, size: Size) -> bool | None:
    """Whether `size` is a multiple of `divisor`: True or False where that holds in every run, else None."""
    if isinstance(divisor, int) and isinstance(size, int):
        return size % divisor == 0 if divisor else size == 0
    if exact_quotient(size, divisor) is not None:
        return True
    if isinstance(divisor, int) and divisor:
        rest = {monomial: factor % divisor for monomial, factor in terms_of(size) if factor % divisor}
        return False if set(rest) == {()} else None
    return None


def _left_over(shape: Shape, others: list[Size], target: Shape) -> Size:
    """The size at -1. Sizes on both sides cancel first, so that even unknown sizes of 0 leave the right answer."""
    left = list(shape)
    rest = []
    for size in others:
        if size in left:
            left.remove(size)
        else:
            rest.append(size)
    elements, parts = product(left), product(rest)
    if parts == 0:
        if same(elements, 0) is False:
            raise ShapeError(f"reshape of {show(shape)} to {show(target)}: {product(shape)} elements don't fit 0")
        return 0
    if divides(parts, elements) is False:
        raise ShapeError(f"reshape of {show(shape)} to {show(target)}: {parts} does not divide {elements}")
    return floor_divide(elements, parts) if isinstance(elements, Dim) or isinstance(parts, Dim) else elements // parts
