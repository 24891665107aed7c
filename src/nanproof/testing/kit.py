"""Hold a record to the laws in one call."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path

import numpy as np
import onnx

from nanproof.ops.record import Op
from nanproof.testing.draws import dtype_of
from nanproof.testing.laws import LAWS
from nanproof.testing.laws.breach import Breach, LawError
from nanproof.testing.models import breaches_of_model
from nanproof.testing.single import Subject, subjects

MOST = 20
PER_SUBJECT = 2
"""Breaches of one law in one case and dtype that are worth reporting."""


def check(op: Op, *, effort: int = 40, laws: Iterable[str] = tuple(LAWS), seed: int = 0) -> Iterator[Breach]:
    """What an operator's record gets wrong, in every case and dtype that it names.

    ``effort`` is the number of Boxes drawn for each law, case and dtype. The same seed gives the same draws.
    """
    for law in laws:
        for subject in filter(_numeric, subjects(op)):
            yield from islice(hold(law, subject, effort, seed), PER_SUBJECT)


def _numeric(subject: Subject) -> bool:
    """Whether the laws can be asked: they are about numbers, strings have none."""
    return all(o.absent or dtype_of(o, subject.dtype).kind != "string" for o in subject.case.operands)


def hold(law: str, subject: Subject, effort: int, seed: int = 0) -> Iterator[Breach]:
    """One law for one operator, case and dtype. What the record itself raises is a breach too."""
    rng = np.random.default_rng(zlib.crc32(f"{law} {subject} {seed}".encode()))
    try:
        yield from LAWS[law](subject, rng, effort)
    except Exception as problem:  # noqa: BLE001  # a record under test may raise anything, and that is the answer
        yield Breach(law, str(subject), f"{type(problem).__name__}: {problem}  [{_where(problem)}]")


def _where(problem: BaseException) -> str:
    """The innermost place in the package that an exception came through."""
    trace, place = problem.__traceback__, ""
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename.replace("\\", "/")
        if "/nanproof/" in file:
            place = f"{file.rpartition('/nanproof/')[2]}:{trace.tb_lineno}"
        trace = trace.tb_next
    return place


def assert_sound(
    target: Op | str | Path | onnx.ModelProto,
    *,
    effort: int = 40,
    laws: Iterable[str] = tuple(LAWS),
    seed: int = 0,
    ranges: Mapping[str, tuple[float, float]] | None = None,
) -> None:
    """Raise LawError with what an operator's record, or the analysis of a model, gets wrong.

    For people who add an operator::

        def test_my_operator():
            assert_sound(MY_OP)

    The record's ``samples`` say what is drawn: ``points`` are where the operator is interesting, ``cases`` the
    ways of calling it, ``dtypes`` where it exists. A record without cases is called as an elementwise operator.

    For a model (a path or a ModelProto), inputs are drawn in their ``ranges``, and ONNX Runtime's outputs must lie
    in the Boxes that the analysis computes::

        assert_sound("model.onnx", ranges={"x": (0.0, 1.0)})

    ``effort`` is the number of Boxes drawn for each law, case and dtype, or of samples of a model.
    """
    if isinstance(target, Op):
        name = target.name
        checked = check(target, effort=effort, laws=laws, seed=seed)
    else:
        name = str(target) if isinstance(target, (str, Path)) else "the model"
        checked = breaches_of_model(target, ranges or {}, samples=effort, seed=seed)
    found = [b for b in islice(checked, MOST) if b.law != "untested"]
    if found:
        more = "" if len(found) < MOST else "\n(and more)"
        raise LawError(f"{name} breaks {len(found)} laws:\n\n" + "\n\n".join(map(str, found)) + more)
