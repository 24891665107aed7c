"""Who says what an operator really does: runtimes that others wrote.

Which of them can run a case is found out by trying. ONNX Runtime comes first, then the ONNX reference evaluator;
PyTorch is asked besides where it has the same function. Where none can, the record's own ``run`` answers, in
float64 and rounded once: that oracle isn't independent, so it is the last one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from nanproof.execution import onnx_runtime, reference, torch_functions
from nanproof.execution.onnx_runtime import CannotRunError
from nanproof.numerics.arrays import numpy_namespace
from nanproof.numerics.dtypes import FLOAT32
from nanproof.numerics.rounding import nearest_array
from nanproof.testing.draws import Style, draw, dtype_of
from nanproof.testing.single import Subject, feeds_of, model_of, schema_of

Array = Any


@dataclass(frozen=True, slots=True)
class Oracle:
    """``run`` maps the operands of a sample to results; ``runtime`` is whose tables the Boxes are computed for."""

    name: str
    runtime: str
    run: Callable[[list[Any]], Sequence[Any]]


def oracles(subject: Subject, *, torch: bool = True) -> list[Oracle]:
    """Everyone who can run a case, the best first. Empty: nobody can."""
    found: list[Oracle] = []
    trial = _trial(subject)
    for oracle in _candidates(subject, torch=torch):
        if found and oracle.name in {"reference", "run"}:
            continue
        if answers(oracle, trial) is not None:
            found.append(oracle)
    return found


def answers(oracle: Oracle, sample: list[Any]) -> list[Any] | None:
    """The results for one sample, None where the oracle refuses."""
    try:
        return [np.asarray(y) if y is not None else None for y in oracle.run(sample)]
    except CannotRunError:
        return None


def random(subject: Subject) -> bool:
    """Whether results are drawn at random, so that two runs differ."""
    schema = schema_of(subject.op)
    if schema is None:
        return False
    kind: Any = schema
    if kind.node_determinism == kind.NodeDeterminism.NonDeterministic:
        return True
    return subject.op.name in {"Dropout", "RandomNormal", "RandomUniform", "RandomNormalLike", "RandomUniformLike",
                               "Bernoulli", "Multinomial"}  # fmt: skip


def _trial(subject: Subject) -> list[Any]:
    """Operands that every runtime should take: small and positive."""
    rng = np.random.default_rng(0)
    wanted = Style(whole=True, count=1, mood="positive")
    return draw(rng, subject.case, subject.dtype, (), wanted).sample(0)


def _candidates(subject: Subject, *, torch: bool) -> list[Oracle]:
    op, case, _, dtype = subject
    found: list[Oracle] = []
    try:
        model = model_of(subject).SerializeToString()
    except (TypeError, ValueError, KeyError):
        model = b""  # not an operator that the onnx package knows
    narrow = any(dtype_of(o, dtype).is_float and dtype_of(o, dtype).bits < FLOAT32.bits for o in case.operands)
    if model:
        found.append(Oracle("onnxruntime", "onnxruntime", lambda x: onnx_runtime.run(model, feeds_of(case, x))))
        if op.exact or (op.error is None and not narrow):
            # NumPy's own functions are good to a few ulps, which no runtime's table allows for; and in the narrow
            # dtypes it rounds every step, where runtimes compute in float32.
            found.append(Oracle("reference", "torch", lambda x: reference.run(model, feeds_of(case, x))))
    if torch:
        function = _torch_function(subject)
        if function is not None and not any(o.absent for o in case.operands):
            found.append(Oracle("torch", "torch", partial(_by_torch, function)))
    if dtype.is_float:
        found.append(Oracle("run", "ieee", partial(_by_run, subject)))
    return found


def _torch_function(subject: Subject) -> Callable[..., Any] | None:
    try:
        return torch_functions.function(subject.op.name, subject.case.attrs)
    except ImportError:
        return None


def _by_torch(function: Callable[..., Any], sample: list[Any]) -> list[Any]:
    try:
        return [torch_functions.call(function, sample)]
    except (RuntimeError, TypeError, ValueError, IndexError) as problem:
        raise CannotRunError(str(problem)) from problem


def _by_run(subject: Subject, sample: list[Any]) -> list[Any]:
    """The record's own meaning in float64, rounded once."""
    operands = [_widened(x) for x in sample]
    try:
        with np.errstate(all="ignore"):
            result = subject.op.run(numpy_namespace, *operands, **subject.case.attrs)
    except Exception as problem:  # whatever a record under test may raise: it can't serve as an oracle
        raise CannotRunError(f"{type(problem).__name__}: {problem}") from problem
    results = result if isinstance(result, tuple) else (result,)
    return [_rounded(np.asarray(y), subject) for y in results]


def _widened(x: Any) -> Any:
    if x is None or np.asarray(x).dtype.kind in "iub":
        return x
    return np.asarray(x, np.float64)


def _rounded(y: Array, subject: Subject) -> Array:
    return nearest_array(subject.dtype, y) if y.dtype == np.float64 else y
