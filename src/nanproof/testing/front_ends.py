"""Conformance of a front end: what it makes of a target loads, runs, and equals the framework on sampled inputs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import inf
from typing import Any

import numpy as np
import onnx.checker

from nanproof.execution import onnx_runtime, reference
from nanproof.execution.onnx_runtime import CannotRunError
from nanproof.frontends.opened import Opened
from nanproof.frontends.opening import open_target
from nanproof.frontends.request import Request

Feeds = Mapping[str, Any]
Reference = Callable[[Feeds], Sequence[Any]]
"""The framework itself: arrays by name in, arrays out, in the order of the model's outputs."""


class ConformanceError(AssertionError):
    """What a front end got wrong."""


def assert_conforms(
    target: Any,
    reference: Reference,
    feeds: Iterable[Feeds],
    *,
    request: Request | None = None,
    tolerance: float = 1e-5,
    random: bool = False,
) -> Opened:
    """Raise ConformanceError unless the target opens as a valid model that computes what the framework computes.

    For people who add a front end::

        def test_my_front_end():
            assert_conforms(my_model, lambda feeds: [my_model(feeds["x"])], [{"x": np.ones((2, 3), np.float32)}])

    The model is run node by node on each of the feeds, in ONNX Runtime or, where that has no kernel, in the reference
    evaluator of the onnx package. Outputs agree when NaN and infinities are at the same places and the other numbers differ by at
    most ``tolerance``, relative to the largest of them and to 1. ``random`` models draw numbers of their own: their outputs
    agree in number, type, shape, and where they are finite.
    Returns what was opened, for further questions.
    """
    opened = open_target(target, request)
    proto = opened.proto()
    if proto is None:
        raise ConformanceError("the front end keeps no ONNX model, so that nothing can be replayed")
    try:
        onnx.checker.check_model(proto, full_check=True)
    except (onnx.checker.ValidationError, onnx.shape_inference.InferenceError) as error:
        raise ConformanceError(f"the exported model is not valid: {error}") from error
    serialised = proto.SerializeToString()
    names = [value.name for value in proto.graph.input]
    if names != [declared.name for declared in opened.model.graph.inputs]:
        raise ConformanceError(f"the inputs {names} are not those of the model that was loaded")
    for number, fed in enumerate(feeds):
        missing = [name for name in names if name not in fed]
        if missing:
            raise ConformanceError(f"sample {number} has no value for {', '.join(missing)}")
        found = _run(serialised, {name: fed[name] for name in names})
        expected = list(reference(fed))
        if len(found) != len(expected):
            raise ConformanceError(f"the model has {len(found)} outputs, the framework {len(expected)}")
        for output, one, other in zip(proto.graph.output, found, expected, strict=True):
            _compare(
                f"sample {number}, output {output.name}",
                np.asarray(one),
                np.asarray(other),
                inf if random else tolerance,
            )
    return opened


def _run(model: bytes, feeds: Feeds) -> Sequence[Any]:
    try:
        return onnx_runtime.run(model, feeds)
    except CannotRunError as refusal:
        try:
            return reference.run(model, feeds)
        except CannotRunError as problem:
            raise ConformanceError(f"no runtime runs the exported model: {refusal}; {problem}") from problem


def _compare(what: str, found: Any, expected: Any, tolerance: float) -> None:
    if found.shape != expected.shape:
        raise ConformanceError(f"{what}: the shape is {found.shape}, the framework's {expected.shape}")
    if found.dtype != expected.dtype:
        raise ConformanceError(f"{what}: the type is {found.dtype}, the framework's {expected.dtype}")
    if not _is_float(found.dtype):
        if tolerance < inf and not np.array_equal(found, expected):
            raise ConformanceError(f"{what} differs from the framework's")
        return
    one, other = found.astype(np.float64), expected.astype(np.float64)
    for name, test in (("NaN", np.isnan), ("+Inf", np.isposinf), ("-Inf", np.isneginf)):
        if not np.array_equal(test(one), test(other)):
            raise ConformanceError(f"{what}: {name} is at other places than in the framework")
    finite = np.isfinite(other)
    if finite.any():
        scale = max(1.0, float(np.abs(other[finite]).max()))
        worst = float(np.abs(one[finite] - other[finite]).max()) / scale
        if worst > tolerance:
            raise ConformanceError(f"{what} differs from the framework's by {worst:.3g} (allowed: {tolerance:g})")


def _is_float(dtype: np.dtype[Any]) -> bool:
    return dtype.kind in "fc" or "float" in dtype.name  # those of ml_dtypes have a kind of their own
