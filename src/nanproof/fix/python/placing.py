"""Where in the user's program a change of the graph was meant: the expressions on its lines that its pattern fits."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import combinations, product
from pathlib import Path

from nanproof.findings import InputError
from nanproof.findings.location import Location
from nanproof.fix.changes import Change, Rewriting
from nanproof.fix.draft import NotHereError
from nanproof.fix.python.sketch import Sketch, sketched
from nanproof.fix.python.source import Source, read
from nanproof.fix.python.writing import Placement, framework_of
from nanproof.fix.rewrite import Rewrite, Words

MOST = 6
"""So many ways to choose among the expressions of one line are looked at."""


@dataclass(eq=False)
class Files:
    """The files of a program, each read and sketched once."""

    sources: dict[Path, Source | None] = field(default_factory=dict)
    sketches: dict[int, Sketch] = field(default_factory=dict)

    def source(self, file: str) -> Source | None:
        """A file; None where it can't be read as Python."""
        path = Path(file).resolve()
        if path not in self.sources:
            try:
                self.sources[path] = read(path) if path.suffix == ".py" else None
            except InputError:
                self.sources[path] = None
        return self.sources[path]

    def sketch(self, location: Location) -> Sketch | None:
        """The function around a line."""
        source = self.source(location.file)
        function = None if source is None else source.function_at(location.line)
        if source is None or function is None:
            return None
        if id(function) not in self.sketches:
            self.sketches[id(function)] = sketched(source, function)
        return self.sketches[id(function)]


def alternatives(files: Files, change: Change, lines: Iterable[Location]) -> list[tuple[Placement, ...]]:
    """The ways to make a change in a program, the likeliest first; none where it can't be found in it."""
    if not isinstance(change, Rewriting):
        return []
    choices: list[list[tuple[Placement, ...]]] = []
    for location, count in Counter(lines).items():
        sketch = files.sketch(location)
        fitting = [] if sketch is None else list(fitting_at(sketch, change.rewrite, location.line))
        if not fitting:
            return []
        # a line that runs several times makes several nodes of one expression
        take = min(count, len(fitting))
        choices.append(list(_chosen(fitting, take)))
    return [tuple(p for part in parts for p in part) for parts in product(*choices)][:MOST] if choices else []


def _chosen(fitting: list[Placement], count: int) -> Iterator[tuple[Placement, ...]]:
    if count < len(fitting):
        yield from list(combinations(fitting, count))[: MOST - 1]
    yield tuple(fitting)


def fitting_at(sketch: Sketch, rewrite: Rewrite, line: int) -> Iterator[Placement]:
    """The expressions on a line that a rewrite fits, from left to right."""
    words = rewrite.python.get(framework_of(sketch) or "")
    if words is None:
        return
    for expr in _on(sketch, line):
        value = sketch.value_of[id(expr)]
        if not value.startswith("v") or sketch.exprs.get(int(value[1:])) is not expr:
            continue  # a name of something that is computed elsewhere
        match = rewrite.first(sketch.sheet, value, sketched=True)
        if match is None:
            continue
        placement = Placement(sketch, rewrite, match, Words(words) if isinstance(words, str) else words)
        try:
            placement.span  # noqa: B018 - raises where there is nothing to replace
        except NotHereError:
            continue
        yield placement


def _on(sketch: Sketch, line: int) -> list[ast.expr]:
    found = [
        node
        for node in ast.walk(sketch.function)
        if isinstance(node, ast.expr) and id(node) in sketch.value_of and node.lineno <= line <= (node.end_lineno or 0)
    ]
    return sorted(found, key=lambda e: (e.lineno, e.col_offset))
