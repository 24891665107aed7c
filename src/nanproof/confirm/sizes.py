"""Concrete sizes for the dimensions that a model leaves open."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

TRIED = (2, 1, 8, 3, 32, 64, 224, 0)
"""Sizes to try, in this order, where they lie in the range of a dimension."""


def choices(sizes: Mapping[str, tuple[int, int | None]]) -> Iterator[dict[str, int]]:
    """Assignments to try: all dimensions small first. One without open dimensions has one, the empty one."""
    seen: list[dict[str, int]] = []
    for size in TRIED:
        chosen = {name: _within(size, *ends) for name, ends in sizes.items()}
        if chosen not in seen:
            seen.append(chosen)
            yield chosen


def _within(size: int, low: int, high: int | None) -> int:
    return max(low, size if high is None else min(size, high))
