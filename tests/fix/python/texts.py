"""Helpers: a function as text, one rewrite made in it by its line."""

from __future__ import annotations

import ast
from pathlib import Path
from textwrap import dedent

from nanproof.fix.python.patching import patched
from nanproof.fix.python.placing import fitting_at
from nanproof.fix.python.sketch import sketched
from nanproof.fix.python.source import Source, parsed
from nanproof.fix.python.writing import Placement
from nanproof.fix.rewrite import Rewrite
from nanproof.fix.rewrites import REWRITES

HEAD = "import torch\nimport torch.nn.functional as F\nfrom torch import nn\n\n\n"


def source_of(text: str, head: str = HEAD) -> Source:
    return parsed(Path("model.py"), (head + dedent(text).lstrip("\n")).encode())


def rewrite_of(name: str) -> Rewrite:
    (found,) = [rewrite for rewrite in REWRITES if rewrite.name == name]
    return found


def placements(source: Source, *names: str) -> list[Placement]:
    """Where the rewrites fit in any line of any function of a text."""
    found: list[Placement] = []
    for function in source.functions:
        sketch = sketched(source, function)
        for name in names:
            for line in range(function.lineno, (function.end_lineno or 0) + 1):
                for placement in fitting_at(sketch, rewrite_of(name), line):
                    if placement.span not in {p.span for p in found}:
                        found.append(placement)
    return found


def changed(text: str, *names: str, head: str = HEAD) -> str:
    """The text with rewrites made wherever they fit."""
    source = source_of(text, head)
    made = patched(source, placements(source, *names)).decode()
    ast.parse(made)
    assert made.startswith(head)
    return made.removeprefix(head)
