"""What gathers and scatters share: for each place of the indices, the elements of the operand that it means."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from nanproof.frontends.jax.rules.filling import counting
from nanproof.frontends.jax.rules.shaping import reshaped, same_size
from nanproof.frontends.jax.rules.slicing import clipped

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nanproof.frontends.jax.translating import Type
    from nanproof.frontends.jax.writing import Block

CLIP, FILL = "clip", "fill"
"""What happens with places outside: they are moved inside; or what is read there is filled in, and what is written there dropped."""


def mode_of(params: Any, promised: str) -> str:
    """The mode of an equation; ``promised`` is XLA's for places that the program promises to be inside."""
    name = str(getattr(params["mode"], "name", params["mode"])).upper()
    return CLIP if "CLIP" in name else FILL if "FILL" in name or "DROP" in name else promised


@dataclass(frozen=True, slots=True)
class Window:
    """How XLA's dimension numbers map an operand: each of its axes is indexed, a batch axis, or taken whole.

    ``indexed``  axes with a start in the indices, in the order of the starts
    ``batched``  (axis of the operand, axis of the indices' batch) that go together
    ``gone``     axes that the window doesn't have: collapsed, inserted or batched ones
    ``sizes``    of the window along each axis of the operand
    """

    operand: Type
    indices: Type
    indexed: tuple[int, ...]
    batched: tuple[tuple[int, int], ...]
    gone: frozenset[int]
    sizes: tuple[Any, ...]

    @property
    def named(self) -> list[int]:
        """Axes that a tuple of numbers names, in order: all that are indexed or batched."""
        return sorted({*self.indexed, *(axis for axis, _ in self.batched)})

    @property
    def whole(self) -> list[int]:
        """Axes that are not named."""
        return [axis for axis in range(self.operand.rank) if axis not in self.named]

    @property
    def inner(self) -> list[int]:
        """Named axes that are axes of the window, too."""
        return [axis for axis in self.named if axis not in self.gone]

    @property
    def batch(self) -> tuple[Any, ...]:
        """Sizes of the places: the indices' without the last."""
        return self.indices.shape[:-1]

    def starts(self, block: Block, indices: str, mode: str) -> tuple[dict[int, str], str | None]:
        """For each indexed axis its starts (int64) within the operand, and where all of them were, if not all are."""
        found: dict[int, str] = {}
        inside: str | None = None
        last = self.indices.rank - 1
        parts = [indices]
        if block.book.rows.get(indices, (None,))[0] == last:
            parts = list(block.book.rows[indices][1])
        wide = [x if self.indices.dtype == np.int64 else block.cast(x, np.int64) for x in parts]
        for number, axis in enumerate(self.indexed):
            if len(wide) == len(self.indexed):
                start = block.add("Squeeze", wide[number], block.ints([last]))
            else:
                start = block.add("Gather", wide[0], block.constant(number, np.int64), axis=last)
            fits = clipped(block, start, self.operand.shape[axis], self.sizes[axis])
            if mode == FILL:
                last_start = self.operand.shape[axis] - self.sizes[axis]
                for test, end in (("GreaterOrEqual", 0), ("LessOrEqual", last_start)):
                    fine = block.add(test, start, block.add("Squeeze", block.size(end)))
                    inside = fine if inside is None else block.add("And", inside, fine)
            found[axis] = fits
        return found, inside

    def places(self, block: Block, starts: dict[int, str]) -> dict[int, str]:
        """For each named axis its numbers, over the batch and then the window's inner axes (broadcast, not yet expanded)."""
        rank = len(self.batch) + len(self.inner)
        found: dict[int, str] = {}
        for axis in self.named:
            if axis in starts:
                spread = len(self.inner)
                numbers = starts[axis]
                if spread:
                    numbers = block.add("Unsqueeze", numbers, block.ints(range(len(self.batch), rank)))
                if axis in self.inner and not same_size(self.sizes[axis], 1):
                    row = counting(block, self.sizes[axis])
                    at = len(self.batch) + self.inner.index(axis)
                    numbers = block.add("Add", numbers, _along(block, row, self.sizes[axis], (at, rank)))
            else:
                at = dict(self.batched)[axis]
                numbers = _along(block, counting(block, self.batch[at]), self.batch[at], (at, rank))
            found[axis] = numbers
        return found

    def together(self, block: Block, places: dict[int, str]) -> str:
        """One tuple of numbers, along the last axis, for each place of the batch and of the window's inner axes."""
        sizes = [*self.batch, *(self.sizes[axis] for axis in self.inner)]
        grown = [block.add("Expand", places[axis], block.shape(sizes)) for axis in self.named]
        return block.add(
            "Concat", *(block.add("Unsqueeze", x, block.ints([len(sizes)])) for x in grown), axis=len(sizes)
        )


def _along(block: Block, row: str, size: Any, where: tuple[int, int]) -> str:
    """A row of numbers as a tensor of some rank, along one of its axes."""
    at, rank = where
    shape: Sequence[Any] = [size if axis == at else 1 for axis in range(rank)]
    return row if rank == 1 else reshaped(block, row, shape)
