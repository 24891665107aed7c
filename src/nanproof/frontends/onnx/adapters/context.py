"""What an adapter is, and what it may ask."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from nanproof.dims import Size
    from nanproof.model.graph import Array, Node
    from nanproof.numerics.dtypes import DType

    Adapter = Callable[[Node, "Context"], list[Node]]


class Context(Protocol):
    """The model around the node that is brought to today's form."""

    @property
    def opset(self) -> int:
        """The version that the node is written for."""
        ...

    def fresh(self, base: str) -> str: ...

    def constant(self, values: Array, base: str) -> str: ...

    def ints(self, values: Iterable[int], base: str) -> str: ...

    def dtype(self, name: str) -> DType | None: ...

    def shape(self, name: str) -> tuple[Size, ...] | None: ...

    def note(self, text: str) -> None: ...
