"""What flows along a TensorFlow graph while it is written as ONNX: tensors, variables, lists of tensors, and the unknown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, Union

from nanproof.dims import Size

if TYPE_CHECKING:
    from numpy.typing import NDArray

Shape: TypeAlias = tuple[Size, ...]


@dataclass(eq=False, slots=True)
class Tensor:
    """A value of the ONNX graph.

    name   in the graph
    kind   ONNX's number of its element type
    shape  None where the rank is unknown; an open size is a Dim
    held   the elements, where they are stored
    sizes  the elements of a small integer tensor as sizes, where they follow from shapes alone
    wide   the int64 tensor that this was cast from without loss
    """

    name: str
    kind: int
    shape: Shape | None = None
    held: NDArray[Any] | None = None
    sizes: NDArray[Any] | None = None
    wide: Tensor | None = None

    @property
    def rank(self) -> int | None:
        return None if self.shape is None else len(self.shape)


@dataclass(eq=False, slots=True)
class Variable:
    """A variable: its present value, and the first one. None: nothing was stored for it.

    ``reference``: TensorFlow 1's kind, whose handle is read wherever a tensor is wanted.
    """

    name: str
    kind: int
    shape: tuple[int, ...] | None = None
    stored: NDArray[Any] | None = None
    now: Tensor | None = None
    changed: bool = False
    reference: bool = False


@dataclass(eq=False, slots=True)
class TensorList:
    """A list of tensors of one shape, kept as one tensor with an axis in front.

    None as ``items``: no element was written, so that their shape isn't known yet; ``length`` then says how many there are.
    """

    kind: int
    items: Tensor | None = None
    length: Tensor | None = None


@dataclass(eq=False, slots=True)
class Opaque:
    """What has no counterpart in ONNX: a resource, a string table, a dataset."""

    what: str


@dataclass(frozen=True, slots=True)
class Place:
    """Where a call is from: what its nodes are named after, and what they carry."""

    name: str = "graph"
    line: str = ""
    phase: str = ""


Value = Union[Tensor, Variable, TensorList, Opaque]
