"""Apply a record to Boxes as the analysis does."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from nanproof.domain.box import Box
from nanproof.ops.call import Call, Event, Setting
from nanproof.testing.single import Subject


@lru_cache(maxsize=8)
def setting(runtime: str) -> Setting:
    """The setting of a runtime, with NumPy."""
    return Setting(runtime=runtime)


def bounded(
    subject: Subject, boxes: Sequence[Box | None], where: Setting | str = "onnxruntime"
) -> tuple[tuple[Box | None, ...], list[Event]]:
    """The Boxes of the results and what went wrong."""
    used = setting(where) if isinstance(where, str) else where
    call = Call(subject.op, subject.case.attrs, used, subject.case.outputs)
    with np.errstate(all="ignore"):
        result = subject.op.bound(call, *boxes)
    return (result if isinstance(result, tuple) else (result,)), call.events
