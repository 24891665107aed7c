"""What a function computes, as a graph of ONNX operators: a sketch that the patterns of rewrites are matched on.

The body is read from top to bottom with a table of what each name holds. What isn't known to compute an operator is a
node of its own that equals nothing else, so a sketch may say too little, but a name never stands for two values. What
comes of a match is verified by running the changed program, so a sketch needs no types and no shapes.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from nanproof.fix.python.compositions import COMPOSITIONS
from nanproof.fix.python.names import assigned
from nanproof.fix.python.source import Function, Source
from nanproof.fix.python.words import LAYERS, Word, word_of
from nanproof.fix.sheet import Sheet

if TYPE_CHECKING:
    from onnx import NodeProto

UNKNOWN = "nanproof.python"
"""The domain of what is not known."""
_BINARY = {ast.Add: "Add", ast.Sub: "Sub", ast.Mult: "Mul", ast.Div: "Div", ast.Pow: "Pow", ast.MatMult: "MatMul"}
_COMPARE = {ast.Lt: "Less", ast.LtE: "LessOrEqual", ast.Gt: "Greater", ast.GtE: "GreaterOrEqual", ast.Eq: "Equal"}
MOVING_ATTRIBUTES = frozenset({"T", "mT", "data"})


@dataclass(eq=False)
class Sketch:
    """The graph of one function, and which expression computes what."""

    source: Source
    function: Function
    nodes: list[NodeProto] = field(default_factory=list)
    exprs: dict[int, ast.expr] = field(default_factory=dict)
    """The expression that is a node, by the node's index."""
    settings: dict[int, Mapping[str, ast.expr]] = field(default_factory=dict)
    """The arguments of a node that are no tensors, by their first name."""
    value_of: dict[int, str] = field(default_factory=dict)
    """The value of an expression, by its identity."""
    places: dict[str, list[ast.expr]] = field(default_factory=dict)
    """The expressions that have a value, in their order."""
    holding: dict[int, dict[str, str]] = field(default_factory=dict)
    """What each name holds when a statement begins, by the statement's identity."""
    numbers: dict[str, float] = field(default_factory=dict)
    _env: dict[str, str] = field(default_factory=dict)
    _sheet: Sheet | None = None

    @property
    def sheet(self) -> Sheet:
        """The graph, indexed for patterns."""
        if self._sheet is None:
            import numpy as np
            from onnx import helper, numpy_helper

            stored = [numpy_helper.from_array(np.asarray(n, np.float64), name) for name, n in self.numbers.items()]
            graph = helper.make_graph(self.nodes, self.function.name, [], [], stored)
            model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)])
            self._sheet = Sheet(model, model.graph)
        return self._sheet

    def statement(self, node: ast.AST) -> ast.stmt:
        """The innermost statement that an expression is in."""
        return next(outer for outer in (node, *self.source.above(node)) if isinstance(outer, ast.stmt))

    # -- what makes nodes ------------------------------------------------------------------------

    def node(self, op: str, inputs: Sequence[str], expr: ast.expr | None = None, **attributes: Any) -> str:
        """A node of an operator, and its value."""
        from onnx import helper

        value = f"v{len(self.nodes)}"
        if expr is not None:
            self.exprs[len(self.nodes)] = expr
        self.nodes.append(helper.make_node(op, list(inputs), [value], **attributes))
        return value

    def unknown(self, inputs: Sequence[str], expr: ast.expr | None = None) -> str:
        """A value that equals no other."""
        return self.node("Unknown", inputs, expr, domain=UNKNOWN, number=len(self.nodes))

    def number(self, number: float) -> str:
        """A constant."""
        name = f"c{number!r}"
        self.numbers[name] = number
        return name

    # -- statements ------------------------------------------------------------------------------

    def read(self) -> Sketch:
        """Go through the whole function."""
        self._env.update({name: self.number(value) for name, value in _constants(self.source).items()})
        for name in assigned(self.function.args):
            self._env[name] = f"argument {name}"
        self._block(self.function.body)
        return self

    def _block(self, body: Sequence[ast.stmt]) -> None:
        for statement in body:
            self.holding[id(statement)] = dict(self._env)
            self._statement(statement)

    def _statement(self, s: ast.stmt) -> None:
        match s:
            case ast.Assign(targets=targets, value=value):
                made = self.value(value)
                for target in targets:
                    self._bind(target, value, made)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                self._bind(target, value, self.value(value))
            case ast.AugAssign(target=ast.Name(id=name) as target, op=op, value=value):
                old = self._env.get(name) or self._initial(name)
                made = self._binary(type(op), old, self.value(value), None)
                self._bind(target, value, made)
            case ast.Return(value=ast.expr() as value) | ast.Expr(value=value):
                self.value(value)
            case ast.If(test=test, body=body, orelse=orelse):
                self.value(test)
                self._branches([body, orelse])
            case ast.With(items=items, body=body):
                for item in items:
                    self.value(item.context_expr)
                    for name in assigned(item.optional_vars):
                        self._env[name] = self.unknown(())
                self._block(body)
            case ast.For(iter=over, target=target, body=body, orelse=orelse):
                self.value(over)
                self._forget([target, *body])
                self._block(body)
                self._forget([target, *body])
                self._block(orelse)
            case ast.While(test=test, body=body, orelse=orelse):
                self._forget(body)
                self.value(test)
                self._block(body)
                self._forget(body)
                self._block(orelse)
            case ast.Try(body=body, handlers=handlers, orelse=orelse, finalbody=final):
                self._branches([[*body, *orelse], *(handler.body for handler in handlers)])
                self._block(final)
            case _:
                self._forget([s])
                for child in ast.iter_child_nodes(s):
                    if isinstance(child, ast.expr):
                        self.value(child)

    def _bind(self, target: ast.expr, expr: ast.expr, made: str) -> None:
        several = (ast.Tuple, ast.List)
        if isinstance(target, several) and isinstance(expr, several) and len(target.elts) == len(expr.elts):
            for inner, value in zip(target.elts, expr.elts, strict=True):
                self._bind(inner, value, self.value_of[id(value)])
        elif isinstance(target, ast.Name):
            self._env[target.id] = made
        elif isinstance(target, ast.Attribute) and (dotted := _plain(target)) is not None:
            self._env[dotted] = made
        else:  # x[...] = y changes what x holds
            self._forget([target])

    def _forget(self, nodes: Sequence[ast.AST]) -> None:
        for name in dict.fromkeys(name for node in nodes for name in assigned(node)):
            self._env[name] = self.unknown(())

    def _branches(self, bodies: Sequence[Sequence[ast.stmt]]) -> None:
        before, ends = dict(self._env), []
        for body in bodies:
            self._env = dict(before)
            self._block(body)
            if not (body and isinstance(body[-1], (ast.Return, ast.Raise, ast.Continue, ast.Break))):
                ends.append(self._env)
        ends = ends or [before]
        joined: dict[str, str] = {}
        for name in dict.fromkeys(name for end in ends for name in end):
            values = {end.get(name, "") for end in ends}
            joined[name] = values.pop() if len(values) == 1 else self.unknown(())
        self._env = joined

    # -- expressions -----------------------------------------------------------------------------

    def value(self, expr: ast.expr) -> str:
        """The value of an expression; all that it is made of gets one, too."""
        made = self._value(expr)
        self.value_of[id(expr)] = made
        self.places.setdefault(made, []).append(expr)
        return made

    def _value(self, e: ast.expr) -> str:
        match e:
            case ast.Constant(value=bool()):
                return self.unknown((), e)
            case ast.Constant(value=int() | float() as number) if abs(number) < 1e300:
                return self.number(float(number))
            case ast.Name(id=name):
                return self._env.get(name) or self._initial(name)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                inner = self.value(operand)
                return self.number(-self.numbers[inner]) if inner in self.numbers else self.node("Neg", [inner], e)
            case ast.BinOp(left=left, op=op, right=right):
                return self._binary(type(op), self.value(left), self.value(right), e)
            case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in _COMPARE:
                return self.node(_COMPARE[type(op)], [self.value(left), self.value(right)], e)
            case ast.Attribute():
                return self._attribute(e)
            case ast.Subscript(value=base, slice=index):
                moved = [self.value(base)]
                self.value(index)
                return self.node("Slice", moved, e, text=self.source.text(index))
            case ast.Call():
                return self._call(e)
            case ast.Lambda() | ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                return self.unknown((), e)  # names of its own
            case ast.NamedExpr(target=target, value=value):
                made = self.value(value)
                self._env[target.id] = made
                return made
        return self.unknown([self.value(c) for c in ast.iter_child_nodes(e) if isinstance(c, ast.expr)], e)

    def _initial(self, name: str) -> str:
        return f"name {name}"

    def _attribute(self, e: ast.Attribute) -> str:
        dotted = _plain(e)
        if dotted is not None:
            root = dotted.split(".", 1)[0]
            if e.attr in MOVING_ATTRIBUTES and root != "self":
                return self.node("Transpose", [self.value(e.value)], e)
            full = self.source.dotted(e)
            if root == "self" or full is not None:
                return self._env.get(dotted) or f"name {dotted}"
        return self.unknown([self.value(e.value)], e)

    def _binary(self, kind: type[ast.operator], left: str, right: str, expr: ast.expr | None) -> str:
        if kind not in _BINARY:
            return self.unknown([left, right], expr)
        if left in self.numbers and right in self.numbers:
            found = _folded(kind, self.numbers[left], self.numbers[right])
            if found is not None:
                return self.number(found)
        return self.node(_BINARY[kind], [left, right], expr)

    def _call(self, e: ast.Call) -> str:
        word, receiver = self._callee(e)
        if isinstance(e.func, ast.Attribute) and e.func.attr.endswith("_") and not e.func.attr.endswith("__"):
            changed = _plain(e.func.value)
            if changed is not None and changed in self._env:  # in place
                self._env[changed] = self.unknown(())
        if word is None or any(isinstance(a, ast.Starred) for a in e.args) or any(k.arg is None for k in e.keywords):
            if isinstance(e.func, ast.Attribute) and _plain(e.func) is None:
                self.value(e.func.value)
            for argument in (*e.args, *(k.value for k in e.keywords)):
                self.value(argument)
            return self.unknown([self.value_of[id(a)] for a in e.args if id(a) in self.value_of], e)
        operands, settings = _arguments(word, e, receiver)
        values = [self.value(o) if o is not None else "" for o in operands]
        while values and not values[-1]:
            values.pop()
        for setting in settings.values():
            self.value(setting)
        if word.op.startswith("@"):
            made = COMPOSITIONS[word.op](self, values, settings, e)
        else:
            made = self.node(word.op, values, e, **_attributes(word.op, settings))
        if made.startswith("v"):
            self.settings[int(made[1:])] = settings
        return made

    def _callee(self, e: ast.Call) -> tuple[Word | None, ast.expr | None]:
        """What a call computes, and the tensor whose method it is."""
        full = self.source.dotted(e.func)
        if full is not None:
            return word_of(full), None
        if isinstance(e.func, ast.Attribute):
            if isinstance(e.func.value, ast.Name) and e.func.value.id == "self":
                return self._layer(e.func.attr), None
            found = word_of(f"torch.{e.func.attr}")
            return found, e.func.value if found is not None else None
        return None, None

    def _layer(self, name: str) -> Word | None:
        """A layer of torch.nn that __init__ keeps under a name."""
        owner = self.source.class_of(self.function)
        for node in ast.walk(owner) if owner is not None else ():
            match node:
                case ast.Assign(
                    targets=[ast.Attribute(value=ast.Name(id="self"), attr=attr)], value=ast.Call(func=func)
                ) if attr == name:
                    full = self.source.dotted(func) or ""
                    op = LAYERS.get(full.removeprefix("torch.nn."))
                    return Word(op) if op else None
        return None


def sketched(source: Source, function: Function) -> Sketch:
    """The sketch of a function."""
    return Sketch(source, function).read()


def _arguments(
    word: Word, call: ast.Call, receiver: ast.expr | None
) -> tuple[list[ast.expr | None], dict[str, ast.expr]]:
    """The operands of a call in the order of the operator, and its settings by their first name."""
    given = [*([receiver] if receiver is not None else []), *call.args]
    if receiver is not None and word.op == "Where":
        given = [call.args[0], receiver, *call.args[1:]]
    by_name = {keyword.arg: keyword.value for keyword in call.keywords}
    names = (*word.operands, *word.settings)
    found: dict[str, ast.expr] = {}
    for place, name in enumerate(names):
        if place < len(given):
            found[name] = given[place]
        else:
            chosen = next((by_name[n] for n in name.split("|") if n in by_name), None)
            if chosen is not None:
                found[name] = chosen
    settings = {n.split("|", 1)[0]: found[n] for n in word.settings if n in found}
    return [found.get(name) for name in word.operands], settings


def _attributes(op: str, settings: Mapping[str, ast.expr]) -> dict[str, object]:
    """ONNX's attributes, as far as they are written out."""
    found: dict[str, object] = {}
    axis = integers(settings.get("dim"))
    if op in {"Softmax", "LogSoftmax"} and axis is not None and len(axis) == 1:
        found["axis"] = axis[0]
    if op.startswith("Reduce"):
        keep = settings.get("keepdim")
        found["keepdims"] = int(isinstance(keep, ast.Constant) and bool(keep.value))
        if axis:
            found["axes"] = axis
    return found


def integers(expr: ast.expr | None) -> list[int] | None:
    """The integers that are written out: one, or a tuple of them."""
    if expr is None:
        return None
    try:
        found = ast.literal_eval(expr)
    except ValueError:
        return None
    several = list(found) if isinstance(found, (tuple, list)) else [found]
    return several if all(type(n) is int for n in several) else None


def _plain(e: ast.expr) -> str | None:
    """The text of a dotted name."""
    parts: list[str] = []
    while isinstance(e, ast.Attribute):
        parts.append(e.attr)
        e = e.value
    return ".".join([e.id, *reversed(parts)]) if isinstance(e, ast.Name) else None


def _constants(source: Source) -> dict[str, float]:
    """Numbers that the module gives a name, once."""
    found: dict[str, float] = {}
    times: dict[str, int] = {}
    for statement in source.tree.body:
        for name in assigned(statement):
            times[name] = times.get(name, 0) + 1
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                number = _number(value, found)
                if number is not None:
                    found[name] = number
    return {name: number for name, number in found.items() if times[name] == 1}


def _number(e: ast.expr, known: Mapping[str, float]) -> float | None:
    match e:
        case ast.Constant(value=bool()):
            return None
        case ast.Constant(value=int() | float() as number) if abs(number) < 1e300:
            return float(number)
        case ast.Name(id=name):
            return known.get(name)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            inner = _number(operand, known)
            return None if inner is None else -inner
        case ast.BinOp(left=left, op=op, right=right):
            one, other = _number(left, known), _number(right, known)
            return None if one is None or other is None else _folded(type(op), one, other)
    return None


def _folded(kind: type[ast.operator], a: float, b: float) -> float | None:
    try:
        if kind is ast.Add:
            return a + b
        if kind is ast.Sub:
            return a - b
        if kind is ast.Mult:
            return a * b
        if kind is ast.Div:
            return a / b
        if kind is ast.Pow and a > 0:
            return float(a**b)
    except (ZeroDivisionError, OverflowError):
        return None
    return None
