"""Random sizes together with the meaning that they should have: a Python function of the symbols' values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from hypothesis import strategies as st

from nanproof import dims

NAMES = ("N", "M", "K")
Values = Mapping[str, int]


@dataclass(frozen=True)
class Sized:
    """A size and an independent reading of it."""

    size: dims.Size
    meaning: Callable[[Values], int]


def leaves() -> st.SearchStrategy[Sized]:
    numbers = st.integers(-6, 40).map(lambda n: Sized(n, lambda _values: n))
    names = st.sampled_from(NAMES).map(lambda name: Sized(dims.symbol(name), lambda values: values[name]))
    return st.one_of(names, numbers)


def _grow(parts: st.SearchStrategy[Sized]) -> st.SearchStrategy[Sized]:
    def binary(kind: str, a: Sized, b: Sized, k: int) -> Sized:
        f, g = a.meaning, b.meaning
        return {
            "add": lambda: Sized(a.size + b.size, lambda v: f(v) + g(v)),
            "sub": lambda: Sized(a.size - b.size, lambda v: f(v) - g(v)),
            "mul": lambda: Sized(a.size * b.size, lambda v: f(v) * g(v)),
            "floor": lambda: Sized(a.size // k, lambda v: f(v) // k),
            "mod": lambda: Sized(a.size % k, lambda v: f(v) % k),
            "max": lambda: Sized(dims.most(a.size, b.size), lambda v: max(f(v), g(v))),
            "min": lambda: Sized(dims.least(a.size, b.size), lambda v: min(f(v), g(v))),
        }[kind]()

    kinds = st.sampled_from(["add", "sub", "mul", "floor", "mod", "max", "min"])
    divisors = st.sampled_from([1, 2, 3, 4, 6, 7, 12, -1, -2, -5])
    return st.builds(binary, kinds, parts, parts, divisors)


def sized() -> st.SearchStrategy[Sized]:
    return st.recursive(leaves(), _grow, max_leaves=8)


def values(least: int = 0, most: int = 30) -> st.SearchStrategy[dict[str, int]]:
    return st.fixed_dictionaries({name: st.integers(least, most) for name in NAMES})
