"""Control flow: cond -> If, while -> Loop, scan -> Scan or Loop; the graphs within see the values around them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from nanproof.frontends.jax.translating import Equation, Type, type_of
from nanproof.frontends.jax.unused import used
from nanproof.frontends.jax.writing import declared

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onnx import GraphProto, ValueInfoProto

    from nanproof.frontends.jax.translating import Rule, Translator
    from nanproof.frontends.jax.writing import Block


def graph(inner: Block, inputs: list[ValueInfoProto], results: Sequence[tuple[str, Type]]) -> GraphProto:
    """The body as a graph. Its outputs are made in it, each by a node of its own."""
    from onnx import helper

    names: list[str] = []
    for name, _ in results:
        names.append(name if name in inner.made and name not in names else inner.add("Identity", name))
    outputs = [declared(name, kind.dtype, kind.shape) for name, (_, kind) in zip(names, results, strict=True)]
    nodes = used(inner.nodes, names)
    types = [inner.book.types.pop(name) for name in sorted(inner.made & set(inner.book.types)) if name not in names]
    return helper.make_graph(nodes, inner.book.name("body"), inputs, outputs, value_info=types)


def _cond(translator: Translator, block: Block, eqn: Equation) -> list[str]:
    index, *operands = eqn.inputs
    branches = eqn.params["branches"]
    return _branch(translator, block, eqn, (index, operands, list(enumerate(branches))))


def _branch(
    translator: Translator, block: Block, eqn: Equation, about: tuple[str, list[str], list[tuple[int, Any]]]
) -> list[str]:
    """If the index is the first number, its branch; else what the rest says."""
    index, operands, branches = about
    kind = eqn.operands[0]
    truth = translator.casts.get(index)
    if len(branches) == 1:
        return translator.run(block, branches[0][1], operands)
    if len(branches) == 2 and branches[0][0] == 0 and (kind.is_bool or truth is not None):
        chosen, first, rest = (truth or index), branches[1], branches[:1]
    else:
        chosen = block.add("Equal", index, block.constant(branches[0][0], kind.dtype))
        first, rest = branches[0], branches[1:]
    bodies = {}
    for name, some in (("then_branch", [first]), ("else_branch", rest)):
        inner = block.inner()
        found = _branch(translator, inner, eqn, (index, operands, some))
        bodies[name] = graph(inner, [], list(zip(found, eqn.results, strict=True)))
    return block.emit("If", chosen, outputs=len(eqn.results), **bodies) if eqn.results else []


def _while(translator: Translator, block: Block, eqn: Equation) -> list[str]:
    """A Loop without a count: the condition is looked at before it, and at the end of each round."""
    params = eqn.params
    tests, steps = int(params["cond_nconsts"]), int(params["body_nconsts"])
    test_consts, body_consts = list(eqn.inputs[:tests]), list(eqn.inputs[tests : tests + steps])
    carried = list(eqn.inputs[tests + steps :])
    (first,) = translator.run(block, params["cond_jaxpr"], [*test_consts, *carried])
    inner = block.inner()
    book = block.book
    number, before = book.name("round"), book.name("go_on")
    names = [book.name("carried") for _ in carried]
    after = translator.run(inner, params["body_jaxpr"], [*body_consts, *names])
    (more,) = translator.run(inner, params["cond_jaxpr"], [*test_consts, *after])
    inputs = [declared(number, np.int64, ()), declared(before, np.bool_, ())]
    inputs += [declared(name, kind.dtype, kind.shape) for name, kind in zip(names, eqn.results, strict=True)]
    truth = Type(np.dtype(bool), ())
    body = graph(inner, inputs, [(more, truth), *zip(after, eqn.results, strict=True)])
    return block.emit("Loop", "", first, *carried, outputs=len(eqn.results), body=body) if carried else []


def _scan(translator: Translator, block: Block, eqn: Equation) -> list[str]:
    """A Scan over its inputs; without any, a Loop with a count."""
    params = eqn.params
    jaxpr = params["jaxpr"]
    kinds = [type_of(aval) for aval in jaxpr.in_avals]
    results = [type_of(aval) for aval in jaxpr.out_avals]
    consts, carries = int(params["num_consts"]), int(params["num_carry"])
    shared, start, rows = (
        list(eqn.inputs[:consts]), list(eqn.inputs[consts : consts + carries]), list(eqn.inputs[consts + carries :]),
    )  # fmt: skip
    if not rows:
        return _counted(translator, block, eqn, (shared, start))
    inner = block.inner()
    names = [block.book.name("carried" if n < carries else "row") for n in range(carries + len(rows))]
    after = translator.run(inner, jaxpr, [*shared, *names])
    inputs = [declared(name, kind.dtype, kind.shape) for name, kind in zip(names, kinds[consts:], strict=True)]
    body = graph(inner, inputs, list(zip(after, results, strict=True)))
    directions: dict[str, Any] = {
        f"scan_{side}_directions": [1] * count
        for side, count in (("input", len(rows)), ("output", len(results) - carries))
        if params["reverse"] and count
    }
    if not results:
        return []
    return block.emit("Scan", *start, *rows, outputs=len(results), body=body, num_scan_inputs=len(rows), **directions)


def _counted(translator: Translator, block: Block, eqn: Equation, about: tuple[list[str], list[str]]) -> list[str]:
    """As many rounds as the scan is long."""
    shared, start = about
    jaxpr = eqn.params["jaxpr"]
    results = [type_of(aval) for aval in jaxpr.out_avals]
    inner, book = block.inner(), block.book
    number, go_on = book.name("round"), book.name("go_on")
    names = [book.name("carried") for _ in start]
    after = translator.run(inner, jaxpr, [*shared, *names])
    inputs = [declared(number, np.int64, ()), declared(go_on, np.bool_, ())]
    inputs += [declared(name, kind.dtype, kind.shape) for name, kind in zip(names, results, strict=False)]
    more = inner.add("Identity", go_on)
    body = graph(inner, inputs, [(more, Type(np.dtype(bool), ())), *zip(after, results, strict=True)])
    count = block.add("Squeeze", block.size(eqn.params["length"]))
    found = block.emit("Loop", count, block.constant(value=True), *start, outputs=len(results), body=body)
    if not eqn.params["reverse"]:
        return found
    rows = found[len(start) :]
    return [*found[: len(start)], *(_reversed(block, row) for row in rows)]


def _reversed(block: Block, x: str) -> str:
    least = np.iinfo(np.int64).min
    return block.add("Slice", x, block.ints([-1]), block.ints([least]), block.ints([0]), block.ints([-1]))


def _custom_linear_solve(translator: Translator, block: Block, eqn: Equation) -> list[str]:
    """The solver of the program itself, with what it closes over."""
    lengths, jaxprs = eqn.params["const_lengths"], eqn.params["jaxprs"]
    before = int(lengths.matvec) + int(lengths.vecmat)
    consts = eqn.inputs[before : before + int(lengths.solve)]
    total = sum(int(getattr(lengths, name)) for name in ("matvec", "vecmat", "solve", "transpose_solve"))
    return translator.run(block, jaxprs.solve, [*consts, *eqn.inputs[total:]])


def _platform_index(_: Translator, block: Block, eqn: Equation) -> str:
    """Which branch a CPU takes; the one without a platform is for all others."""
    platforms = list(eqn.params["platforms"])
    chosen = [n for n, names in enumerate(platforms) if names is not None and "cpu" in names]
    return block.constant(chosen[0] if chosen else platforms.index(None), np.int32)


RULES: dict[str, Rule] = {
    "cond": _cond,
    "while": _while,
    "scan": _scan,
    "custom_linear_solve": _custom_linear_solve,
    "platform_index": _platform_index,
}
