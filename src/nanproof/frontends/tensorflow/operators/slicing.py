"""Parts of tensors by ranges of places, and their gradients."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from nanproof.dims import Dim
from nanproof.frontends.tensorflow.context import Context, Translation, UntranslatableError
from nanproof.frontends.tensorflow.shapes import sizes_of
from nanproof.frontends.tensorflow.values import Tensor

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nanproof.frontends.tensorflow.graph import Call

END = np.iinfo(np.int64).max
START = np.iinfo(np.int64).min + 1


def _slice(c: Context, call: Call, x: Tensor, begin: Tensor, size: Tensor) -> Tensor:
    """``size`` elements from ``begin`` on; -1 are all that are left."""
    starts = c.int64(begin)
    axes = c.ints(list(range(c.rank(x))))
    counts, first = c.numbers(size), c.numbers(begin)
    if counts is not None and first is not None:
        ends = [END if n == -1 else s + n for s, n in zip(first, counts, strict=True)]
        return c.op("Slice", x, starts, c.ints(ends), axes)
    length = c.int64(size)
    stop = c.op("Add", starts, length)
    if counts is None and _may_be_rest(size):
        stop = c.op("Where", c.op("Equal", length, c.ints(-1)), c.ints(END), stop)
    return c.op("Slice", x, starts, stop, axes)


def _may_be_rest(size: Tensor) -> bool:
    sizes = sizes_of(size)
    return sizes is None or any(isinstance(one, int) and one < 0 for one in sizes.flat)


class _Cuts:
    """What a strided slice does along each axis of its operand, from the masks of the call."""

    def __init__(self, c: Context, call: Call, spec: Sequence[Tensor]) -> None:
        self.masks = {
            name: int(call.get(f"{name}_mask", 0)) for name in ("begin", "end", "ellipsis", "new_axis", "shrink_axis")
        }
        count = self._count(spec)
        self.cuts: list[tuple[int, int]] = []  # (axis of the operand, place in the specification)
        self.shrunk: list[int] = []
        self.added: list[int] = []  # axes of the result
        places = list(range(count))
        ellipsis = next((i for i in places if self._on("ellipsis", i)), None)
        front = places if ellipsis is None else places[:ellipsis]
        back = [] if ellipsis is None else places[ellipsis + 1 :]
        self._read(front, 0, 0)
        taken = sum(not self._on("new_axis", i) for i in back)
        left = sum(self._on("new_axis", i) or not self._on("shrink_axis", i) for i in back)
        self._read(back, -taken, -left)

    def _on(self, mask: str, place: int) -> bool:
        return bool(self.masks[mask] >> place & 1)

    @staticmethod
    def _count(spec: Sequence[Tensor]) -> int:
        for part in spec:
            if part.shape is not None and isinstance(part.shape[0], int):
                return part.shape[0]
        raise UntranslatableError("a slice of unknown rank")

    def _read(self, places: Sequence[int], axis: int, result: int) -> None:
        """What the places say, from an axis of the operand and one of the result on; behind an ellipsis from the end."""
        for place in places:
            if self._on("new_axis", place):
                self.added.append(result)
                result += 1
                continue
            self.cuts.append((axis, place))
            if self._on("shrink_axis", place):
                self.shrunk.append(axis)
            else:
                result += 1
            axis += 1

    def ends(self, c: Context, spec: Sequence[Tensor]) -> tuple[Tensor, Tensor, Tensor, Tensor] | None:
        """starts, stops, axes and steps for ONNX's Slice; None where nothing is cut off."""
        begin, end, stride = spec
        steps = c.needed(stride, "a step")
        starts: list[int | Tensor] = []
        stops: list[int | Tensor] = []
        axes, strides = [], []
        for axis, place in self.cuts:
            start = self._end(c, begin, place, "begin", steps[place])
            stop, step = self._end(c, end, place, "end", steps[place]), steps[place]
            if self._on("shrink_axis", place):
                stop, step = self._after(c, start), 1
            elif (start, stop, step) == (0, END, 1):
                continue
            starts.append(start)
            stops.append(stop)
            axes.append(axis)
            strides.append(step)
        return (_vector(c, starts), _vector(c, stops), c.ints(axes), c.ints(strides)) if axes else None

    def _end(self, c: Context, ends: Tensor, place: int, mask: str, step: int) -> int | Tensor:
        if self._on(mask, place) and not (mask == "begin" and self._on("shrink_axis", place)):
            return (END if step < 0 else 0) if mask == "begin" else (START if step < 0 else END)
        sizes = sizes_of(ends)
        if sizes is not None and not isinstance(sizes[place], Dim):
            return int(sizes[place])
        return c.op("Gather", c.int64(ends), c.ints([place]))

    @staticmethod
    def _after(c: Context, start: int | Tensor) -> int | Tensor:
        if isinstance(start, int):
            return END if start == -1 else start + 1
        stop = c.op("Add", start, c.ints([1]))
        sizes = sizes_of(start)
        if sizes is not None:
            return stop
        return c.op("Where", c.op("Equal", stop, c.ints([0])), c.ints([END]), stop)


def _vector(c: Context, parts: Sequence[int | Tensor]) -> Tensor:
    if all(isinstance(part, int) for part in parts):
        return c.ints(parts)  # type: ignore[arg-type]
    made = [c.ints([part]) if isinstance(part, int) else part for part in parts]
    return made[0] if len(made) == 1 else c.op("Concat", *made, axis=0)


def _strided(c: Context, call: Call, x: Tensor, *spec: Tensor) -> Tensor:
    cuts = _Cuts(c, call, spec)
    ends = cuts.ends(c, spec)
    made = x if ends is None else c.op("Slice", x, *ends)
    if cuts.shrunk:
        made = c.op("Squeeze", made, c.ints(cuts.shrunk))
    for axis in _order(cuts.added):
        made = c.op("Unsqueeze", made, c.ints([axis]))
    return made


def _order(axes: list[int]) -> list[int]:
    """From the front for axes counted from there, from the back for the others, so that each finds its place."""
    return sorted(axis for axis in axes if axis >= 0) + sorted((axis for axis in axes if axis < 0), reverse=True)


def _strided_grad(c: Context, call: Call, shape: Tensor, *rest: Tensor) -> Tensor:
    """The gradient put back where the slice was taken from, zeros elsewhere."""
    *spec, grad = rest
    sizes = sizes_of(shape)
    if sizes is None:
        raise UntranslatableError("a shape not known beforehand")
    cuts = _Cuts(c, call, spec)
    for axis in _order(cuts.added)[::-1]:
        grad = c.op("Squeeze", grad, c.ints([axis]))
    rank = sizes.size
    if cuts.shrunk:
        grad = c.op("Unsqueeze", grad, c.ints([axis % rank for axis in cuts.shrunk]))
    begin, _, stride = spec
    starts, steps = c.numbers(begin), c.needed(stride, "a step")
    if starts is None or any(steps[place] != 1 for _, place in cuts.cuts):
        return _scattered(c, (shape, spec), cuts, grad)
    front = [0] * rank
    for axis, place in cuts.cuts:
        masked = bool(cuts.masks["begin"] >> place & 1) and not cuts.masks["shrink_axis"] >> place & 1
        start = 0 if masked else starts[place]
        if start < 0:
            return _scattered(c, (shape, spec), cuts, grad)
        front[axis % rank] = start
    lengths = c.shape_vector(grad)
    whole = c.int64(shape)
    left = c.op("Sub", c.op("Sub", whole, lengths), c.ints(front))
    return c.op("Pad", grad, c.op("Concat", c.ints(front), left, axis=0), c.like(0, grad))


def _scattered(c: Context, about: tuple[Tensor, Sequence[Tensor]], cuts: _Cuts, grad: Tensor) -> Tensor:
    """The same by numbers of places: slice the numbers of all places as the operand was sliced, and write there."""
    shape, spec = about
    whole = c.int64(shape)
    count = c.op("ReduceProd", whole, keepdims=1)
    numbers = c.op("Range", c.ints(0), c.op("Squeeze", count, c.ints([0])), c.ints(1))
    places, ends = c.op("Reshape", numbers, whole), cuts.ends(c, spec)
    if ends is not None:
        places = c.op("Slice", places, *ends)
    zeros = c.op("Expand", c.like(0, grad), count)
    flat = c.ints([-1])
    made = c.op("ScatterElements", zeros, c.op("Reshape", places, flat), c.op("Reshape", grad, flat), axis=0)
    return c.op("Reshape", made, whole)


TRANSLATIONS: dict[str, Translation] = {"Slice": _slice, "StridedSlice": _strided, "StridedSliceGrad": _strided_grad}
