"""The larger and the smaller of sizes, and the value of an expression once its symbols are known."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import chain

from nanproof.dims.bounds import at_most
from nanproof.dims.dim import Atom, Size, build, fold, function, sole_atom
from nanproof.dims.division import floor_divide


def most(*sizes: Size) -> Size:
    """The largest of the sizes."""
    return _extreme("max", sizes, lambda one, other: at_most(one, other) is True)


def least(*sizes: Size) -> Size:
    """The smallest of the sizes."""
    return _extreme("min", sizes, lambda one, other: at_most(other, one) is True)


def joint(*sizes: Size) -> Size:
    """The size that all of these broadcast to: 0 if one is 0, else the largest (the others are equal to it or 1)."""
    kept = _members("broadcast", sizes)
    if len(kept) == 1:
        return kept[0]
    kept.sort(key=str)
    return function("broadcast", tuple(kept), f"broadcast({', '.join(map(str, kept))})")


def substitute(size: Size, values: Mapping[str, Size]) -> Size:
    """The size with symbols replaced; those without a value stay."""

    def value(atom: Atom) -> Size:
        if atom.kind == "symbol":
            return values[atom.text] if atom.text in values else _atom_size(atom)
        if not atom.args:
            return _atom_size(atom)
        args = [substitute(arg, values) for arg in atom.args]
        return _FUNCTIONS[atom.kind](*args)

    return fold(size, value)


def evaluate(size: Size, values: Mapping[str, int]) -> int:
    """The size as a number; KeyError names the first symbol that has no value."""

    def value(atom: Atom) -> int:
        if not atom.args:
            return values[atom.text]
        args = [evaluate(arg, values) for arg in atom.args]
        if atom.kind == "floor":
            return args[0] // args[1]
        if atom.kind == "min":
            return min(args)
        return 0 if atom.kind == "broadcast" and 0 in args else max(args)

    number = fold(size, value)
    assert isinstance(number, int)
    return number


def _atom_size(atom: Atom) -> Size:
    return build([((atom,), 1)])


def _members(kind: str, sizes: tuple[Size, ...]) -> list[Size]:
    """The distinct arguments, with a nested function of the same kind opened."""
    inner = (atom.args if (atom := sole_atom(size)) and atom.kind == kind else (size,) for size in sizes)
    return list(dict.fromkeys(chain.from_iterable(inner)))


def _extreme(kind: str, sizes: tuple[Size, ...], beaten: Callable[[Size, Size], bool]) -> Size:
    kept: list[Size] = []
    for size in _members(kind, sizes):
        if any(beaten(size, other) for other in kept):
            continue
        kept = [other for other in kept if not beaten(other, size)]
        kept.append(size)
    if len(kept) == 1:
        return kept[0]
    kept.sort(key=str)
    return function(kind, tuple(kept), f"{kind}({', '.join(map(str, kept))})")


_FUNCTIONS: Mapping[str, Callable[..., Size]] = {"floor": floor_divide, "max": most, "min": least, "broadcast": joint}
