"""What the command line says of example inputs: ``x=float32[N,3,32,32]``, and which sizes stay open."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from nanproof.findings.errors import InputError
from nanproof.findings.names import hint

OPEN_SIZES = (3, 5, 7, 11, 13, 17, 19, 23)
"""What stands for the named sizes of a description: no two the same, so that none is taken for another."""
BATCH = "batch"
Wishes = dict[tuple[str, int], str]
"""{(input, axis): name}; the input by its path, such as ``x`` or ``batch['mask']``."""

_TYPED = re.compile(r"\s*(\w+)\s*(?:\[([^\]]*)\])?\s*")
_OPEN = re.compile(r"(.+?):(\d+)(?:=([A-Za-z_]\w*))?")


def described(
    name: str, text: str, sizes: dict[str, int], kinds: Sequence[str]
) -> tuple[str, list[int], dict[int, str]]:
    """The type, the shape and the axes with a name of a description. Sizes of one name are equal, in all inputs."""
    form = _TYPED.fullmatch(text)
    if form is None or form[1] not in kinds:
        raise InputError(
            f"--input {name}={text}: write a type and sizes, such as float32[N,3,32,32]; types are {', '.join(kinds)}"
        )
    shape: list[int] = []
    named: dict[int, str] = {}
    for part in (form[2] or "").split(",") if (form[2] or "").strip() else ():
        symbol, _, size = part.strip().partition("=")
        if symbol.isdecimal() and not size:
            shape.append(int(symbol))
        elif symbol.isidentifier() and (not size or size.isdecimal()):
            if symbol not in sizes:
                sizes[symbol] = int(size) if size else OPEN_SIZES[len(sizes) % len(OPEN_SIZES)]
            named[len(shape)] = symbol
            shape.append(sizes[symbol])
        else:
            raise InputError(f'--input {name}={text}: "{part.strip()}" is no size: write 32, N or N=32')
    return form[1], shape, named


def wishes(dynamic: tuple[str, ...], named: Mapping[str, Mapping[int, str]], leaves: Mapping[str, Any]) -> Wishes:
    """Which axes of which tensors (anything with ``ndim``) are to stay open, under which names."""
    found: Wishes = {(name, axis): symbol for name, axes in named.items() for axis, symbol in axes.items()}
    for text in dynamic:
        if text == BATCH:
            found.update({(name, 0): BATCH for name, leaf in leaves.items() if leaf.ndim})
        elif text == "all":
            found.update(
                {(name, axis): f"{_plain(name)}_{axis}" for name, leaf in leaves.items() for axis in range(leaf.ndim)}
            )
        else:
            name, axis, symbol = _wish(text, leaves)
            found[name, axis] = symbol
    return found


def _wish(text: str, leaves: Mapping[str, Any]) -> tuple[str, int, str]:
    form = _OPEN.fullmatch(text)
    if form is None:
        raise InputError(f'--dynamic "{text}": say batch, all, or INPUT:AXIS=NAME, such as x:0=N')
    name, axis = form[1], int(form[2])
    if name not in leaves:
        raise InputError(f'--dynamic "{text}": there is no input "{name}": {hint(name, list(leaves))}')
    if axis >= leaves[name].ndim:
        raise InputError(f'--dynamic "{text}": {name} has {leaves[name].ndim} axes, counted from 0')
    return name, axis, form[3] or f"{_plain(name)}_{axis}"


def _plain(path: str) -> str:
    return re.sub(r"\W+", "_", path).strip("_")
