"""What a witness may choose: the initial values with a range, and what makes a choice valid."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from nanproof.dims import evaluate, symbols
from nanproof.model.roles import Role
from nanproof.numerics.dtypes import DType, to_numpy
from nanproof.numerics.rounding import nearest, nearest_array

if TYPE_CHECKING:
    from nanproof.model.graph import Declared, Model
    from nanproof.model.lower import Program
    from nanproof.model.ranges import Range

Array = Any
Sample = dict[str, Array]
"""One array for every variable, by name."""

FLOAT, WHOLE, ONE_HOT = "float", "whole", "one-hot"
BOTH, INPUTS, WEIGHTS = "both", "inputs", "weights"
VARY = (BOTH, INPUTS, WEIGHTS)


@dataclass(frozen=True, slots=True)
class Variable:
    """One initial value that a witness chooses, with its concrete shape. ``low`` and ``high`` are numbers of the dtype,
    or arrays of the shape. ``stored`` is what the file holds, None for an input.
    """

    name: str
    slot: int
    dtype: DType
    shape: tuple[int, ...]
    low: Any
    high: Any
    kind: str
    role: Role
    stored: Array | None = None

    @property
    def is_weight(self) -> bool:
        """Whether the file stores it."""
        return self.stored is not None

    @property
    def moves(self) -> bool:
        """Whether a gradient can move it."""
        return self.kind == FLOAT

    @property
    def size(self) -> int:
        """The number of elements."""
        return int(np.prod(self.shape, dtype=np.int64))

    def fitted(self, values: Array) -> Array:
        """The values as an array of the dtype, cut to the range. Classes of a one-hot tensor are the largest of each row."""
        values = np.asarray(values, np.float64)
        if self.kind == ONE_HOT:
            return np.eye(self.shape[-1])[np.argmax(values, axis=-1)].astype(to_numpy(self.dtype))
        values = np.clip(np.where(np.isnan(values), self.low, values), self.low, self.high)
        if self.kind == WHOLE:
            return np.clip(np.round(values), np.ceil(self.low), np.floor(self.high)).astype(to_numpy(self.dtype))
        return _rounded(self.dtype, values)

    def fault(self, values: Array) -> str | None:
        """Why an array isn't a valid choice; None if it is one."""
        if values.shape != self.shape or values.dtype != to_numpy(self.dtype):
            return f"{self.name} must be {self.dtype.name}{list(self.shape)}"
        wide = values.astype(np.float64)
        if not (wide >= self.low).all() or not (wide <= self.high).all():
            return f"{self.name} leaves its range"
        if self.kind != FLOAT and not (wide == np.round(wide)).all():
            return f"{self.name} holds class numbers: whole numbers only"
        if self.kind == ONE_HOT and not ((wide == 0) | (wide == 1)).all():
            return f"{self.name} is one-hot: it holds 0 and 1 only"
        if self.kind == ONE_HOT and not (wide.sum(axis=-1) == 1).all():
            return f"{self.name} is one-hot: one element of each row is 1"
        return None


def _rounded(dtype: DType, values: Array) -> Array:
    native = to_numpy(dtype)
    if native.itemsize >= 4:
        return values.astype(native)
    return nearest_array(dtype, values).astype(native)


class CannotVaryError(Exception):
    """An input can't be drawn; the text says why."""


def variables_of(
    model: Model,
    program: Program,
    ranges: Mapping[str, Range],
    sizes: Mapping[str, int],
    vary: str = BOTH,
) -> tuple[tuple[Variable, ...], Sample]:
    """The variables in the order of their slots, and the arrays of the inputs that stay as they are.

    Raises CannotVaryError for an input of unknown rank, or one that is no tensor.
    """
    declared = {item.name: item for item in model.graph.inputs}
    found: list[Variable] = []
    fixed: Sample = {}
    for slot, name in program.initial.items():
        source, chosen = program.constants.get(slot), ranges.get(name)
        if source is not None and (chosen is None or chosen.exact or vary == INPUTS):
            continue
        if chosen is None:
            raise CannotVaryError(f"the input {name} has no range")
        if source is not None:
            dtype, shape, stored = source.dtype, source.shape, source.array()
        else:
            dtype, shape = _tensor(declared[name], sizes)
            stored = None
        variable = _variable(model, (name, slot), (dtype, shape), chosen, stored)
        if source is None and vary == WEIGHTS:
            fixed[name] = ordinary(variable)
        else:
            found.append(variable)
    return tuple(found), fixed


def _tensor(item: Declared, sizes: Mapping[str, int]) -> tuple[DType, tuple[int, ...]]:
    if item.item is not None or item.dtype is None:
        raise CannotVaryError(f"the input {item.name} is no tensor")
    if item.shape is None:
        raise CannotVaryError(f"the input {item.name} has no known rank")
    if not (item.dtype.is_float or item.dtype.is_integer or item.dtype.is_bool):
        raise CannotVaryError(f"the input {item.name} holds {item.dtype.name} elements")
    shape = tuple(n if isinstance(n, int) else evaluate(n, {s: sizes[s] for s in symbols(n)}) for n in item.shape)
    return item.dtype, shape


def _variable(
    model: Model,
    place: tuple[str, int],
    tensor: tuple[DType, tuple[int, ...]],
    chosen: Range,
    stored: Array | None,
) -> Variable:
    (name, slot), (dtype, shape) = place, tensor
    role = model.roles.get(name, Role.INPUT)
    low: Any = max(chosen.lo, dtype.min)
    high: Any = min(chosen.hi, dtype.max)
    if chosen.array is not None:
        low, high = (np.broadcast_to(np.asarray(end, np.float64), shape) for end in chosen.array)
    if dtype.is_float:
        if isinstance(low, np.ndarray):
            low, high = nearest_array(dtype, low), nearest_array(dtype, high)
        else:
            low, high = nearest(dtype, low), nearest(dtype, high)
    return Variable(name, slot, dtype, shape, low, high, _kind(dtype, shape, (low, high), role), role, stored)


def _kind(dtype: DType, shape: tuple[int, ...], ends: tuple[Any, Any], role: Role) -> str:
    """Labels given as floats are classes: one of each row where the range is [0, 1], else class numbers."""
    if not dtype.is_float:
        return WHOLE
    if role is not Role.LABEL:
        return FLOAT
    unit = bool(np.all(np.equal(ends[0], 0.0)) and np.all(np.equal(ends[1], 1.0)))
    return ONE_HOT if unit and len(shape) > 1 and shape[-1] > 1 else WHOLE


def ordinary(variable: Variable) -> Array:
    """An unremarkable value: what is stored, else 0, or what in the range is nearest to it; the first class."""
    if variable.stored is not None:
        return variable.fitted(np.nan_to_num(variable.stored.astype(np.float64), posinf=0.0, neginf=0.0))
    return variable.fitted(np.zeros(variable.shape))


def fault(variables: tuple[Variable, ...], sample: Sample) -> str | None:
    """Why a sample isn't valid; None if it is."""
    for variable in variables:
        if variable.name not in sample:
            return f"{variable.name} is missing"
        found = variable.fault(sample[variable.name])
        if found is not None:
            return found
    return None
