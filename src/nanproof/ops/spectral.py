"""Fourier transforms and the filters that follow them: DFT, STFT, MelWeightMatrix."""

from __future__ import annotations

from math import inf, log2, sqrt
from typing import Any, NamedTuple

import numpy as np

from nanproof.dims import Size, bounds
from nanproof.domain.box import ALL, NAN, Box, Shape
from nanproof.numerics.dtypes import DType, by_onnx, to_numpy
from nanproof.ops.call import Call
from nanproof.ops.operands import axis_in, one_size
from nanproof.ops.record import Case, Op, Operand, Samples

ROOT = sqrt(2.0) * (1.0 + 2.0**-50)


def _most(call: Call, size: Size | None) -> float:
    if size is None:
        return inf
    high = size if isinstance(size, int) else bounds(size, call.setting.dims)[1]
    return inf if high is None else float(high)


class Transform(NamedTuple):
    """A transform's number of terms that aren't 0, its length, and the largest magnitude of a term."""

    terms: float
    length: float
    far: float


def _settled(call: Call, place: tuple[DType, Shape], what: Transform, flags: int, *, divided: bool = False) -> Box:
    """Sums of magnitude ``terms * far`` at most, in exact arithmetic; ``divided`` by their number at the end.

    Whether the terms are summed one by one, by halving (Cooley and Tukey, for powers of 2), or by a
    convolution with a chirp (Bluestein: three transforms of up to 4 N), each step of an element
    rounds; and angles up to 2 pi N are rounded before their sine is taken. The sums of a
    convolution are up to 16 N**2 times as large on the way: those decide on overflow.
    """
    dtype, shape = place
    terms, length, far = what
    if shape is not None and 0 in shape:
        return Box(dtype, shape, inf, -inf)
    sums = terms * far if far else 0.0
    size = far if divided else sums
    halving = length < 2.0**53 and log2(max(length, 1.0)).is_integer()
    within = sums * (1.0 if halving else 16.0 * length * length) if sums else 0.0
    # an infinite operand meets twiddles of both signs, and 0
    special = ALL if flags & ~NAN else flags
    if not within * (1.0 + 2.0**-4) <= dtype.max:
        call.overflowed(-size, size, dtype, ALL, never=False)
        return Box(dtype, shape, dtype.min, dtype.max, ALL)
    unit = call.setting.accumulator(dtype).unit
    steps = terms + 16.0 * (log2(max(4.0 * length, 1.0)) + 1.0) + 16.0 * length + 8.0
    err = size * steps * unit + (dtype.quantum * steps if size else 0.0)
    return call.settle(dtype, shape, -size, size, err=err, spots=special)


# -- DFT -----------------------------------------------------------------------------------------------------


def _dft(call: Call, x: Box, length: Box | None = None, axis: Box | None = None) -> Box:
    """No class fits: a sum of the signal times numbers of magnitude 1, so at most the sum of magnitudes."""
    given = one_size(axis) if axis is not None else -2
    inverse, onesided = bool(call.attr("inverse", 0)), bool(call.attr("onesided", 0))
    if not x.flags and not x.has_finite:
        return Box(
            x.dtype, None if x.shape is None else tuple(call.fresh(f"size{i}") for i in range(len(x.shape))), inf, -inf
        )
    far = max(map(abs, x.hull())) if x.has_finite else 0.0
    shape: Shape = None
    terms = points = inf
    if x.shape is not None and isinstance(given, int):
        at = axis_in(given, len(x.shape))
        size = x.shape[at]
        count = one_size(length) if length is not None else 2 * (size - 1) if inverse and onesided else size
        wanted: Size = call.fresh("length") if count is None else count
        points = _most(call, wanted)
        terms = points if inverse and onesided else min(points, _most(call, size))
        out = wanted // 2 + 1 if onesided and not inverse else wanted
        shape = (*x.shape[:at], out, *x.shape[at + 1 : -1], 1 if onesided and inverse else 2)
        if x.shape[-1] != 1:
            far *= ROOT
    else:
        far *= ROOT
    # the inverse divides by its length, which isn't below the number of terms
    return _settled(call, (x.dtype, shape), Transform(terms, points, far), x.flags, divided=inverse)


def _run_dft(xp: Any, x: Any, length: Any = None, axis: Any = None, *, inverse: int = 0, onesided: int = 0) -> Any:
    array = np.asarray(x)
    at = axis_in(-2 if axis is None else int(np.reshape(axis, ())), array.ndim)
    signal = array[..., 0] + 1j * array[..., 1] if array.shape[-1] == 2 else array[..., 0]
    n = None if length is None else int(np.reshape(length, ()))
    if inverse and onesided:
        return xp.asarray(np.fft.irfft(signal, n, at)[..., None])
    if onesided:
        signal = np.real(signal)
    transform = np.fft.rfft if onesided else np.fft.ifft if inverse else np.fft.fft
    found = transform(signal, n, at)
    return xp.asarray(np.stack([found.real, found.imag], -1))


def _number(value: int) -> Operand:
    return Operand((), dtype="int64", values=value, stored=True)


DFT = Op(
    "DFT",
    run=_run_dft,
    bound=_dft,
    overflow="NP207",
    infinite="NP213",
    grain=(1, 2),
    samples=Samples(
        cases=(
            Case((Operand((2, 8, 1)),)),
            Case((Operand((2, 7, 2)),)),
            Case((Operand((2, 8, 1)), _number(12)), {"onesided": 1}),
            Case((Operand((2, 8, 2)), Operand(absent=True), _number(1)), {"inverse": 1}),
            Case((Operand((5, 3, 1)), _number(4), _number(0))),
        ),
        dtypes=("float32", "float64"),
    ),
)


# -- STFT ----------------------------------------------------------------------------------------------------


def _stft(call: Call, x: Box, step: Box, window: Box | None = None, frame: Box | None = None) -> Box:
    """No class fits: transforms of frames of the signal times the window."""
    if not x.flags and not x.has_finite:
        return Box(x.dtype, None, inf, -inf)
    size: Size | None = one_size(frame)
    if size is None and frame is None:
        if window is not None:
            size = window.shape[0] if window.shape else None
        elif x.shape is not None:
            size = x.shape[1]
    far = max(map(abs, x.hull())) if x.has_finite else 0.0
    flags = x.flags
    if window is not None:
        far *= max(map(abs, window.hull())) if window.has_finite else 0.0
        flags |= window.flags
    shape: Shape = None
    if x.shape is not None:
        each = one_size(step)
        length: Size = call.fresh("length") if size is None else size
        unclear = size is None or not isinstance(each, int) or each < 1
        frames: Size = call.fresh("frames") if unclear else (x.shape[1] - size) // each + 1  # type: ignore[operator]
        shape = (x.shape[0], frames, length // 2 + 1 if call.attr("onesided", 1) else length, 2)
    if x.shape is None or x.shape[-1] != 1:
        far *= ROOT
    terms = _most(call, size)
    return _settled(call, (x.dtype, shape), Transform(terms, terms, far), flags)


def _run_stft(xp: Any, x: Any, step: Any, window: Any = None, frame: Any = None, *, onesided: int = 1) -> Any:
    array, each = np.asarray(x), int(np.reshape(step, ()))
    size = int(np.reshape(frame, ())) if frame is not None else array.shape[1] if window is None else len(window)
    weights = np.ones(size) if window is None else np.asarray(window)
    signal = array[..., 0] + 1j * array[..., 1] if array.shape[-1] == 2 else array[..., 0]
    starts = range(0, signal.shape[1] - size + 1, each)
    found = np.fft.fft(np.stack([signal[:, s : s + size] * weights for s in starts], 1), axis=-1)
    found = found[..., : size // 2 + 1] if onesided else found
    return xp.asarray(np.stack([found.real, found.imag], -1))


STFT = Op(
    "STFT",
    run=_run_stft,
    bound=_stft,
    overflow="NP207",
    infinite="NP213",
    grain=(1, 3),
    samples=Samples(
        cases=(
            Case((Operand((2, 16, 1)), _number(4), Operand((8,)), _number(8))),
            Case((Operand((1, 16, 1)), _number(3), Operand((8,)))),
            Case((Operand((1, 16, 1)), _number(8), Operand(absent=True), _number(8)), {"onesided": 0}),
        ),
        dtypes=("float32", "float64"),
    ),
)


# -- MelWeightMatrix -----------------------------------------------------------------------------------------


def _mel(call: Call, bins: Box, length: Box, *_: Box) -> Box:
    """Triangles that rise from 0 to 1 and fall again: every weight lies between."""
    dtype = by_onnx(int(call.attr("output_datatype", 1)))
    count, size = one_size(bins), one_size(length)
    shape = (
        call.fresh("spectrogram") if size is None else size // 2 + 1,
        call.fresh("bins") if count is None else count,
    )
    if 0 in shape:
        return Box(dtype, shape, inf, -inf)
    return Box(dtype, shape, 0.0, 1.0)


def _run_mel(xp: Any, *operands: Any, output_datatype: int = 1) -> Any:
    count, size, rate = (int(np.reshape(o, ())) for o in operands[:3])
    low, high = (float(np.reshape(o, ())) for o in operands[3:])
    ends = [2595.0 * np.log10(1.0 + f / 700.0) for f in (low, high)]
    mels = ends[0] + np.arange(count + 2) * (ends[1] - ends[0]) / (count + 2)
    places = np.floor((size + 1) * 700.0 * (10.0 ** (mels / 2595.0) - 1.0) / rate).astype(int)
    table = np.zeros((size // 2 + 1, count))
    for i in range(count):
        left, middle, right = (int(p) for p in places[i : i + 3])
        for j in range(left, middle + 1):
            table[j, i] = 1.0 if left == middle else (j - left) / (middle - left)
        for j in range(middle, right):
            table[j, i] = (right - j) / (right - middle)
    return xp.asarray(table.astype(to_numpy(by_onnx(output_datatype))))


def _frequency(value: float) -> Operand:
    return Operand((), dtype="float32", values=value, stored=True)


MEL_WEIGHT_MATRIX = Op(
    "MelWeightMatrix",
    run=_run_mel,
    bound=_mel,
    exact=True,
    grain=(0, 1),
    result=lambda call, boxes: by_onnx(int(call.attr("output_datatype", 1))),
    samples=Samples(
        cases=(Case((_number(8), _number(16), _number(8192), _frequency(0.0), _frequency(4096.0))),),
        dtypes=("float32",),
    ),
)

OPS = (DFT, STFT, MEL_WEIGHT_MATRIX)
