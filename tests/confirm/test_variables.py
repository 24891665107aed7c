from __future__ import annotations

import numpy as np
import pytest

from nanproof.confirm.variables import FLOAT, ONE_HOT, WHOLE, Variable, ordinary
from nanproof.model.roles import Role
from nanproof.numerics.dtypes import FLOAT16, FLOAT32, INT64, DType


def variable(
    kind: str, low: float, high: float, *, dtype: DType = FLOAT32, shape: tuple[int, ...] = (2, 3)
) -> Variable:
    return Variable("v", 0, dtype, shape, low, high, kind, Role.INPUT)


@pytest.mark.parametrize(
    ("kind", "values", "why"),
    [
        (FLOAT, [[0, 1, 2], [0, 0, 0.5]], None),
        (FLOAT, [[0, 1, 2], [0, 0, 2.0000002]], "v leaves its range"),
        (FLOAT, [[0, 1, 2], [0, 0, np.nan]], "v leaves its range"),
        (FLOAT, [[0, 1, 2]], "v must be float32[2, 3]"),
        (WHOLE, [[0, 1, 2], [0, 0, 0.5]], "v holds class numbers: whole numbers only"),
        (ONE_HOT, [[0, 1, 0], [1, 0, 0]], None),
        (ONE_HOT, [[0, 1, 0], [1, 1, 0]], "v is one-hot: one element of each row is 1"),
        (ONE_HOT, [[0, 2, -1], [1, 0, 0]], "v leaves its range"),
    ],
)
def test_a_fault_is_told(kind: str, values: list[list[float]], why: str | None) -> None:
    assert variable(kind, 0.0, 2.0).fault(np.float32(values)) == why


def test_values_are_brought_into_the_range_and_dtype() -> None:
    narrow = variable(FLOAT, 0.0, 1.0, dtype=FLOAT16, shape=(4,))
    fitted = narrow.fitted([-1, np.nan, 0.1, 7])
    assert fitted.dtype == np.float16
    assert fitted.tolist() == [0, 0, float(np.float16(0.1)), 1]
    whole = variable(WHOLE, -1.5, 2.5, dtype=INT64, shape=(4,))
    assert whole.fitted([-9, 0.6, 9, -1.2]).tolist() == [-1, 1, 2, -1]


def test_ordinary_values_are_valid() -> None:
    for kind, low, high in ((FLOAT, 3.0, 4.0), (FLOAT, -2.0, 2.0), (ONE_HOT, 0.0, 1.0), (WHOLE, 1.0, 5.0)):
        chosen = variable(kind, low, high)
        assert chosen.fault(ordinary(chosen)) is None
