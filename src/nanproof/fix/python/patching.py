"""Placements in a file -> its new text: replacements, names for what is used twice, and no line that nothing needs any more."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from nanproof.fix.draft import NotHereError
from nanproof.fix.python.names import all_names, reads
from nanproof.fix.python.sketch import Sketch
from nanproof.fix.python.source import Function, Source, Span
from nanproof.fix.python.writing import Placement, written


@dataclass(frozen=True, slots=True)
class Splice:
    """A piece of text and what takes its place."""

    start: int
    stop: int
    text: str


@dataclass(eq=False)
class _Draft:
    source: Source
    splices: dict[Span, Splice] = field(default_factory=dict)
    names: dict[int, str] = field(default_factory=dict)
    """The new name of each expression that got one."""
    hoisted: dict[int, ast.expr] = field(default_factory=dict)
    texts: list[str] = field(default_factory=list)

    def put(self, span: Span, text: str) -> None:
        """Replace a piece."""
        known = self.splices.get(span)
        if known is not None and known.text != text:
            raise NotHereError("two changes of one expression")
        self.splices[span] = Splice(*span, text)
        self.texts.append(text)

    def hoist(self, placement: Placement, expr: ast.expr) -> str:
        """A name for an expression of an earlier statement."""
        if id(expr) not in self.names:
            taken = all_names(self.source.tree) | set(self.names.values())
            wanted, number = placement.words.hoisted, 1
            while (name := wanted if number == 1 else f"{wanted}_{number}") in taken:
                number += 1
            self.names[id(expr)], self.hoisted[id(expr)] = name, expr
        return self.names[id(expr)]


def patched(source: Source, placements: Sequence[Placement]) -> bytes:
    """The text of a file with all placements made. NotHereError where that can't be written down."""
    draft = _Draft(source)
    for placement in placements:
        draft.put(placement.span, written(placement, draft.hoist))
    by_function: dict[int, Sketch] = {id(p.sketch.function): p.sketch for p in placements}
    gone: list[ast.stmt] = []
    for sketch in by_function.values():
        gone += _unneeded(sketch, draft)
    splices = [*draft.splices.values(), *_namings(draft, gone)]
    kept = {id(_statement(source, e)) for e in draft.hoisted.values()}
    splices += [Splice(*_lines(source, s), "") for s in gone if id(s) not in kept]
    data = _spliced(source.data, splices)
    try:
        ast.parse(data)
    except SyntaxError:
        raise NotHereError("the change would break the file") from None
    return data


def diff(source: Source, data: bytes, name: str | None = None) -> str:
    """The change as a unified diff."""
    shown = name or source.path.as_posix()
    before, after = (text.decode("utf-8").splitlines(keepends=True) for text in (source.data, data))
    lines = difflib.unified_diff(before, after, f"a/{shown.lstrip('/')}", f"b/{shown.lstrip('/')}")
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


# -- statements that nothing needs -------------------------------------------------------------------


def _unneeded(sketch: Sketch, draft: _Draft) -> list[ast.stmt]:
    """Assignments whose name was read in what is replaced, and is read nowhere now."""
    found: list[ast.stmt] = []
    while True:
        more = [s for s in _assignments(sketch.function) if s not in found and _is_unneeded(sketch, draft, s, found)]
        if not more:
            return found
        found += more


def _assignments(function: Function) -> list[ast.Assign]:
    return [s for s in ast.walk(function) if isinstance(s, ast.Assign) and len(s.targets) == 1]


def _is_unneeded(sketch: Sketch, draft: _Draft, statement: ast.Assign, gone: Sequence[ast.stmt]) -> bool:
    target = statement.targets[0]
    if not isinstance(target, ast.Name) or not _alone(sketch.source, statement):
        return False
    spans = list(draft.splices.values())
    dead = [sketch.source.span(s) for s in gone]
    was_read = False
    for name in reads(sketch.function):
        if name.id != target.id:
            continue
        start, stop = sketch.source.span(name)
        if any(s.start <= start and stop <= s.stop for s in spans) or any(
            first <= start and stop <= last for first, last in dead
        ):
            was_read = True
        else:
            return False
    texts = [*draft.texts, *(sketch.source.text(e) for e in draft.hoisted.values())]
    if not was_read or any(target.id in _mentioned(text) for text in texts):
        return False
    return _is_pure(sketch, statement.value, draft)


def _mentioned(text: str) -> set[str]:
    return all_names(ast.parse(f"({text})", mode="eval"))


def _is_pure(sketch: Sketch, expr: ast.expr, draft: _Draft) -> bool:
    """Whether leaving an expression out changes nothing else; what got a name of its own stays."""
    if id(expr) in draft.hoisted:
        return True
    if isinstance(expr, ast.Call):
        value = sketch.value_of.get(id(expr), "")
        if not value.startswith("v") or sketch.nodes[int(value[1:])].op_type == "Unknown":
            return False
    if isinstance(expr, (ast.Await, ast.Yield, ast.YieldFrom, ast.NamedExpr)):
        return False
    return all(_is_pure(sketch, c, draft) for c in ast.iter_child_nodes(expr) if isinstance(c, ast.expr))


# -- names for what is used twice ----------------------------------------------------------------------


def _statement(source: Source, expr: ast.expr) -> ast.stmt:
    return next(outer for outer in source.above(expr) if isinstance(outer, ast.stmt))


def _namings(draft: _Draft, gone: Iterable[ast.stmt]) -> list[Splice]:
    """Assignments of hoisted expressions: in the place of a statement that goes, else on a line before it."""
    source, unneeded = draft.source, {id(s) for s in gone}
    found: list[Splice] = []
    replaced: set[int] = set()
    for key, expr in draft.hoisted.items():
        statement, name = _statement(source, expr), draft.names[key]
        if not _alone(source, statement):
            raise NotHereError("the line has more than one statement")
        text = source.text(expr)
        assignment = f"{name} = ({text})" if "\n" in text else f"{name} = {text}"
        if id(statement) in unneeded and id(statement) not in replaced:
            replaced.add(id(statement))
            found.append(Splice(*source.span(statement), assignment))
            continue
        start = source.starts[statement.lineno - 1]
        indent = source.between(start, source.span(statement)[0])
        found.append(Splice(start, start, f"{indent}{assignment}\n"))
        if id(statement) not in unneeded:
            found.append(Splice(*source.span(expr), name))
    return found


def _alone(source: Source, statement: ast.stmt) -> bool:
    """Whether a statement has its lines for itself, comments aside."""
    start, stop = source.span(statement)
    before = source.data[source.starts[statement.lineno - 1] : start]
    after = source.data[stop : source.starts[statement.end_lineno or statement.lineno]].strip()
    return not before.strip() and (not after or after.startswith(b"#"))


def _lines(source: Source, statement: ast.stmt) -> Span:
    return source.starts[statement.lineno - 1], source.starts[statement.end_lineno or statement.lineno]


def _spliced(data: bytes, splices: Sequence[Splice]) -> bytes:
    """The text with all pieces replaced. A piece within a larger one that is replaced, too, goes with it."""
    ordered = sorted(set(splices), key=lambda s: (s.start, s.stop))
    for one, other in pairwise(ordered):
        if other.start < one.stop:
            raise NotHereError("two changes overlap")
    for splice in reversed(ordered):
        data = data[: splice.start] + splice.text.encode() + data[splice.stop :]
    return data
