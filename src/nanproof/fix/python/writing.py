"""The text of a replacement: a template with the program's own words in it, in parentheses where they are needed."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from dataclasses import dataclass

from nanproof.fix.draft import NotHereError
from nanproof.fix.python.names import reads
from nanproof.fix.python.sketch import Sketch
from nanproof.fix.python.source import Span
from nanproof.fix.rewrite import Match, Rewrite, Words

_PLACEHOLDER = re.compile(r"\{(\w+)\}")
_ATOMS = (ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.List, ast.Dict)
_ENCLOSING = (
    ast.Assign,
    ast.AnnAssign,
    ast.AugAssign,
    ast.Return,
    ast.Call,
    ast.keyword,
    ast.Tuple,
    ast.List,
    ast.Expr,
)
FRAMEWORKS = {"torch": "torch", "jax": "jax", "tensorflow": "tensorflow", "keras": "tensorflow"}
MODULES = {
    "F.": "torch.nn.functional.", "torch.": "torch.", "jnp.": "jax.numpy.", "jax.nn.": "jax.nn.", "tf.": "tensorflow.",
}  # fmt: skip
"""What templates call the modules, and their full names."""


@dataclass(frozen=True, eq=False)
class Placement:
    """A rewrite at a place of a program."""

    sketch: Sketch
    rewrite: Rewrite
    match: Match
    words: Words

    @property
    def root(self) -> ast.expr:
        """The expression whose value is made anew."""
        return self._expr(self.match.root)

    @property
    def target(self) -> ast.expr:
        """The expression whose text is replaced: the root, or an operand of one of the matched nodes."""
        if not self.words.at:
            return self.root
        name, _, position = self.words.at.partition(":")
        index = self.match.root if name == "root" else self.match.found.nodes[name]
        value = self.match.sheet.nodes[index].input[int(position)]
        start, stop = self.sketch.source.span(self._expr(index))
        for place in self.sketch.places.get(value, ()):
            inner = self.sketch.source.span(place)
            if start <= inner[0] and inner[1] <= stop and inner != (start, stop):
                return place
        raise NotHereError("the operand isn't written there")

    @property
    def span(self) -> Span:
        """Where the target stands."""
        return self.sketch.source.span(self.target)

    def _expr(self, index: int) -> ast.expr:
        found = self.sketch.exprs.get(index)
        if found is None:
            raise NotHereError("that part isn't written out")
        return found


def framework_of(sketch: Sketch) -> str | None:
    """Which framework a file is written for."""
    modules = {full.split(".", 1)[0] for full in sketch.source.imports.values()}
    return next((FRAMEWORKS[name] for name in FRAMEWORKS if name in modules), None)


Hoist = Callable[[Placement, ast.expr], str]
"""Gives an expression a name, by an assignment in front of the statement that it is in."""


def written(placement: Placement, hoist: Hoist) -> str:
    """The text to put in the place of the target."""
    source, words, target = placement.sketch.source, placement.words, placement.target
    template = words.text(placement.match) if callable(words.text) else words.text
    template = _with_modules(template, placement)
    parts: list[str] = []
    last = 0
    for found in _PLACEHOLDER.finditer(template):
        parts.append(template[last : found.start()])
        before, after = template[: found.start()].rstrip()[-1:], template[found.end() :].lstrip()[:1]
        alone = before in {"", "(", ",", "="} and after in {"", ")", ","}
        parts.append(_kept_whole(_word(placement, found[1], hoist), alone=alone))
        last = found.end()
    text = "".join([*parts, template[last:]])
    if not words.at:
        text = _moved(placement, text)
    outer = source.parent(target)
    free = isinstance(outer, _ENCLOSING) or (isinstance(outer, ast.Subscript) and outer.slice is target)
    if isinstance(outer, ast.Call) and outer.func is target:
        free = False
    return _kept_whole(text, alone=free or _in_parentheses(source.data, placement.span))


def _with_modules(template: str, placement: Placement) -> str:
    """The template with modules as the file calls them."""

    def called(found: re.Match[str]) -> str:
        name = placement.sketch.source.name_of(MODULES[found[1]] + found[2])
        if name is None:
            raise NotHereError(f"the file doesn't import {MODULES[found[1]].rstrip('.')}")
        return name

    return re.sub(r"(?<![\w.])(F\.|torch\.|jnp\.|jax\.nn\.|tf\.)([A-Za-z_][\w.]*)", called, template)


def _word(placement: Placement, name: str, hoist: Hoist) -> str:
    """What a placeholder stands for."""
    sketch, match = placement.sketch, placement.match
    if name == "operand":
        return sketch.source.text(placement.target)
    if name in {"axis", "dims"}:
        return _settings(placement, name)
    value = match.found.values.get(name)
    if value is None:
        raise NotHereError(f"nothing was matched with {name}")
    return _spoken(placement, value, hoist)


def _spoken(placement: Placement, value: str, hoist: Hoist) -> str:
    """An expression that has a value where the target stands."""
    sketch, target = placement.sketch, placement.target
    start, stop = sketch.source.span(target)
    places = sketch.places.get(value, [])
    for place in places:
        inner = sketch.source.span(place)
        if start <= inner[0] and inner[1] <= stop:
            return sketch.source.text(place)
    holding = sketch.holding[id(sketch.statement(target))]
    named = [name for name, held in holding.items() if held == value]
    if named:
        return named[0]
    if value.startswith("name "):
        return value.removeprefix("name ")
    if value in sketch.numbers:
        return f"{sketch.numbers[value]:g}"
    if not places:
        raise NotHereError("a part of it isn't written out")
    return hoist(placement, places[0])


def _settings(placement: Placement, name: str) -> str:
    """The axis (and whether it is kept) as the program says it."""
    sketch = placement.sketch
    for index in (*placement.match.found.nodes.values(), *placement.match.found.used):
        settings = sketch.settings.get(index, {})
        if "dim" in settings:
            axis = sketch.source.text(settings["dim"])
            if name == "axis":
                return axis
            torch = framework_of(sketch) == "torch"
            words = [f"dim={axis}" if torch else f"axis={axis}"]
            if "keepdim" in settings:
                keep = sketch.source.text(settings["keepdim"])
                words.append(f"keepdim={keep}" if torch else f"keepdims={keep}")
            return ", ".join(words)
    raise NotHereError("the axis isn't written there")


def _moved(placement: Placement, text: str) -> str:
    """The text with the moves of the match (a gather, a reshape) made behind it, as the program makes them."""
    sketch = placement.sketch
    source = sketch.source
    here = sketch.holding[id(sketch.statement(placement.target))]
    for index in reversed(placement.match.chain("moves")):
        expr = sketch.exprs.get(index)
        inner = None if expr is None else _first_operand(expr, sketch, index)
        if expr is None or inner is None:
            raise NotHereError("a move isn't written out")
        there = sketch.holding[id(sketch.statement(expr))]
        kept = [n for n in reads(expr) if not any(n is m for m in reads(inner))]
        if any(here.get(name.id) != there.get(name.id) for name in kept):
            raise NotHereError("what a move depends on has changed since")
        start, stop = source.span(expr)
        first, last = source.span(inner)
        alone = source.between(first - 1, first) in {"(", ","}
        text = source.between(start, first) + _kept_whole(text, alone=alone) + source.between(last, stop)
    return text


def _first_operand(expr: ast.expr, sketch: Sketch, index: int) -> ast.expr | None:
    value = sketch.nodes[index].input[0]
    match expr:
        case ast.Subscript(value=inner) | ast.Attribute(value=inner):
            return inner
        case ast.Call(func=func, args=args):
            candidates = [*args, *([func.value] if isinstance(func, ast.Attribute) else [])]
            return next((c for c in candidates if sketch.value_of.get(id(c)) == value), None)
    return None


def _kept_whole(text: str, *, alone: bool) -> str:
    """The text, in parentheses if what stands around it would take it apart."""
    if alone:
        return text
    try:
        body = ast.parse(f"({text})", mode="eval").body
    except SyntaxError:
        raise NotHereError("the text can't be moved") from None
    return text if isinstance(body, _ATOMS) else f"({text})"


def _in_parentheses(data: bytes, span: Span) -> bool:
    before, after = data[: span[0]].rstrip()[-1:], data[span[1] :].lstrip()[:1]
    return before == b"(" and after == b")"
