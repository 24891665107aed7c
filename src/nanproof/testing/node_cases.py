"""The test cases that the onnx package ships for its operators, turned into tests of soundness.

Each has a model, often of one node, and its inputs. The float inputs are widened to Boxes of several widths, the
analysis propagates them through the model, and the outputs that a runtime really gives, for those inputs and for
others in the Boxes, must lie in the Boxes of the outputs. Integers, which are shapes, axes and indices as a rule,
and what operators must know element by element, stay exact.
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from math import inf
from typing import Any

import numpy as np

from nanproof.analysis.labelling import fine_grained, levels
from nanproof.analysis.propagate import propagate
from nanproof.analysis.state import State, new_state
from nanproof.analysis.stored import stored_box
from nanproof.domain.box import ALL, Box, limits, of_array
from nanproof.domain.partition import Blocks, everywhere, fine, pack
from nanproof.domain.series import Maybe, Series
from nanproof.execution import onnx_runtime, reference
from nanproof.execution.onnx_runtime import CannotRunError
from nanproof.findings.errors import InputError
from nanproof.frontends.onnx import load
from nanproof.model.lower import Program, lower
from nanproof.numerics.dtypes import DType, of_numpy
from nanproof.numerics.rounding import nearest_array, next_down, next_up
from nanproof.ops.call import Setting
from nanproof.ops.registry import OPS, lookup
from nanproof.testing.draws import elements, native_array
from nanproof.testing.membership import outside, spread, told

Array = Any
NodeCase = Any
"""A test case of the onnx package: name, model, data_sets."""

WIDTHS = ("point", "ulp", "relative", "one", "huge")
JUDGED = "relative"
"""The width at which an answer counts as one: inputs known to 0.1 %."""
CONTROL = frozenset({"If", "Loop", "Scan"})


@dataclass(slots=True)
class Outcome:
    """One test case: why it was left out, or whether it was answered and what was wrong."""

    name: str
    ops: tuple[str, ...]
    skipped: str | None = None
    oracle: str = ""
    answered: bool = False
    checked: int = 0
    wrong: list[str] = field(default_factory=list)


@lru_cache(maxsize=1)
def collected() -> Mapping[str, tuple[NodeCase, ...]]:
    """All cases of the onnx package, by the operator that they test (its domain in front, if it isn't ONNX's own)."""
    from onnx.backend.test.case.node import collect_testcases

    found: dict[str, list[NodeCase]] = {}
    with np.errstate(all="ignore"):
        cases = collect_testcases(None)
    for case in cases:
        found.setdefault(_subject(case), []).append(case)
    return {name: tuple(cases) for name, cases in sorted(found.items())}


def _subject(case: NodeCase) -> str:
    """The operator that a case is named after: of an expanded function, the function."""
    nodes = case.model.graph.node
    known = {n.op_type: f"{n.domain}.{n.op_type}" if n.domain else n.op_type for n in nodes}
    return next(iter(known.values())) if len(known) == 1 else "several operators"


def examine(case: NodeCase, *, samples: int = 3) -> Outcome:
    """Run one case at every width."""
    outcome = Outcome(case.name, tuple(n.op_type for n in case.model.graph.node))
    try:
        model = load(case.model)
    except InputError as problem:
        outcome.skipped = f"not loaded: {problem}"
        return outcome
    program = lower(model, lookup)
    missing = _missing(program)
    if missing:
        outcome.skipped = f"no record: {', '.join(sorted(missing))}"
        return outcome
    names = [i.name for i in case.model.graph.input]
    if not case.data_sets:
        outcome.skipped = "has no data"
        return outcome
    feeds = dict(zip(names, case.data_sets[0][0], strict=False))
    if not all(_plain(x) for x in feeds.values()):
        outcome.skipped = "inputs are no plain tensors"
        return outcome
    serialised = case.model.SerializeToString()
    real = _run(serialised, feeds, outcome)
    if real is None or not _as_expected(real, case.data_sets[0][1]):
        outcome.skipped = "no runtime can run it" if real is None else f"{outcome.oracle} contradicts the case"
        return outcome
    exact = fine_grained(program)
    rng = np.random.default_rng(zlib.crc32(case.name.encode()))
    for width in WIDTHS:
        _at_width(outcome, (model, program, exact, serialised), (feeds, width, samples), rng)
    return outcome


def _missing(program: Program) -> set[str]:
    return {
        step.node.op
        for level in levels(program)
        for step in level.steps
        if step.op is None and step.node.op not in CONTROL
    }


def _plain(x: Any) -> bool:
    return isinstance(x, (np.ndarray, np.generic)) and np.asarray(x).dtype.kind not in "OSUc"


def _run(model: bytes, feeds: Mapping[str, Any], outcome: Outcome) -> list[Any] | None:
    """Real outputs: ONNX Runtime's, else the reference evaluator's."""
    for name, runtime in (("onnxruntime", onnx_runtime.run), ("reference", reference.run)):
        if outcome.oracle and outcome.oracle != name:
            continue
        try:
            results = list(runtime(model, {k: np.asarray(v) for k, v in feeds.items()}))
        except CannotRunError:
            continue
        outcome.oracle = name
        return results
    return None


def _as_expected(real: list[Any], expected: list[Any]) -> bool:
    """Whether a runtime's results have the shapes that the case says: the reference evaluator stacks scalars wrongly."""
    return all(np.shape(r) == np.shape(e) for r, e in zip(real, expected, strict=False) if _plain(r) and _plain(e))


def _at_width(outcome: Outcome, about: tuple[Any, ...], asked: tuple[Any, ...], rng: np.random.Generator) -> None:
    model, program, exact, serialised = about
    feeds, width, samples = asked
    slots = {name: slot for slot, name in program.initial.items()}
    boxes = {name: widened(np.asarray(x), width, exact=slots.get(name) in exact, rng=rng) for name, x in feeds.items()}
    if width != "point" and all(b.known is not None for b in boxes.values()):
        return
    state = _propagated(model, program, boxes)
    outputs = [state.boxes[slot] for slot in program.outputs]
    if width == JUDGED or (width == "point" and all(b.known is not None for b in boxes.values())):
        outcome.answered = all(box is not None and not is_top(box) for box in outputs)
    for k in range(samples + 1):
        chosen = feeds if k == 0 else {n: _sample(rng, boxes[n], x) for n, x in feeds.items()}
        results = _run(serialised, chosen, outcome)
        if results is None:
            continue
        for i, (box, result) in enumerate(zip(outputs, results, strict=False)):
            if box is None or not (_plain(result) or isinstance(box, (Series, Maybe))):
                continue
            outcome.checked += 1
            problem = misses(box, result)
            if problem:
                outcome.wrong.append(
                    f"{outcome.name}, width {width}, sample {k}, output {i}: {problem}  (by {outcome.oracle})"
                )
                return


def _propagated(model: Any, program: Program, boxes: Mapping[str, Box]) -> State:
    declared = {**model.graph.declared, **{d.name: d for d in model.graph.inputs}}
    state = new_state(program, Setting(opset=model.opset), declared)
    labelled = fine_grained(program)
    for slot, name in program.initial.items():
        source = program.constants.get(slot)
        found = boxes.get(name)
        if found is None:
            if source is None:
                raise KeyError(f"the case has no data for {name}")
            found = stored_box(source, labelled=slot in labelled)
        state.boxes[slot] = state.hulls[slot] = found
    propagate(state)
    return state


def widened(x: Array, width: str, *, exact: bool, rng: np.random.Generator) -> Box:
    """The Box of an input at a width: element by element, or as one block."""
    dtype = of_numpy(x.dtype)
    if exact or not dtype.is_float or x.size == 0:
        return fine(of_array(dtype, x)) if exact else of_array(dtype, x)
    values = x.astype(np.float64)
    usual = np.isfinite(values)
    low, high = _ends(dtype, np.where(usual, values, 0.0), width)
    low, high = np.where(usual, low, inf), np.where(usual, high, -inf)
    flags = (np.isnan(values) * 1 + (values == inf) * 2 + (values == -inf) * 4).astype(np.uint8)
    cuts = tuple(everywhere(n) if n > 1 else None for n in x.shape)
    if width != "point" and rng.random() < 0.4:
        lo, hi = float(low.min()), float(high.max())
        return Box(dtype, x.shape, lo, hi, int(np.bitwise_or.reduce(flags, axis=None)))
    return pack(dtype, x.shape, cuts, Blocks(low, high, flags if flags.any() else None))


def _ends(dtype: DType, x: Array, width: str) -> tuple[Array, Array]:
    if width == "point":
        return x, x
    if width == "ulp":
        up = np.vectorize(lambda v: next_up(dtype, v), otypes=[float])(x)
        down = np.vectorize(lambda v: next_down(dtype, v), otypes=[float])(x)
    else:
        margin = {"relative": np.abs(x) * 1e-3, "one": 1.0, "huge": np.abs(x) * 1e3 + 1e4}[width]
        up, down = nearest_array(dtype, x + margin), nearest_array(dtype, x - margin)
    least, most = limits(dtype)
    return np.clip(np.minimum(down, x), least, most), np.clip(np.maximum(up, x), least, most)


def _sample(rng: np.random.Generator, box: Box, x: Array) -> Array:
    if box.known is not None or not box.dtype.is_float:
        return x
    landmarks = np.asarray([*np.ravel(x)[:16].astype(float), 0.0, 1.0, -1.0])
    landmarks = landmarks[np.isfinite(landmarks)]
    return native_array(box.dtype, elements(rng, box, landmarks, 2)[int(rng.integers(0, 2))])


def is_top(box: Box) -> bool:
    """Whether a Box says nothing: no shape, or any value of the dtype (of the small integers, any value may be all there is)."""
    if isinstance(box, Maybe):
        return box.present is None and is_top(box.inner)
    lo, hi = box.hull()
    least, most = box.dtype.min, box.dtype.max
    if box.shape is None and not isinstance(box, Series):
        return True
    if box.dtype.is_float:
        return box.flags == ALL and lo <= least and hi >= most
    return box.dtype.is_integer and box.dtype.bits > 16 and lo <= least and hi >= most


def misses(box: Box, result: Any) -> str | None:
    """What is wrong with a Box for a real result (a tensor, a sequence of them, or None); None if nothing is."""
    if isinstance(box, Maybe):
        if result is None:
            return "is absent, the Box says that it isn't" if box.present else None
        return "is there, the Box says absent" if box.present is False else misses(box.inner, result)
    if isinstance(box, Series):
        return _misses_one_of(box, result)
    if not _plain(result):
        return None
    return _misses_tensor(box, np.asarray(result))


def _misses_one_of(box: Series, results: Any) -> str | None:
    """The same for a sequence, tensor by tensor."""
    if not isinstance(results, list):
        return f"is no sequence but {type(results).__name__}"
    if len(results) < box.least or (box.most is not None and len(results) > box.most):
        return f"has {len(results)} tensors, the Box says {box.least} to {box.most}"
    anyone = Box(box.dtype, None, *box.rest.hull(), box.rest.flags)
    items = box.items or (anyone,) * len(results)
    found = (misses(item, result) for item, result in zip(items, results, strict=True))
    return next((f"tensor {i} {text}" for i, text in enumerate(found) if text), None)


def _misses_tensor(box: Box, result: Array) -> str | None:
    dtype = of_numpy(result.dtype)
    if dtype is not box.dtype:
        return f"is {dtype.name}, the Box says {box.dtype.name}"
    if box.shape is not None:
        fits = len(box.shape) == result.ndim and all(
            not isinstance(n, int) or n == m for n, m in zip(box.shape, result.shape, strict=True)
        )
        if not fits:
            return f"has shape {list(result.shape)}, the Box says {list(box.shape)}"
    bounds = spread(box, result.shape)
    wrong = outside(bounds, result)
    if not wrong.any():
        return None
    at = tuple(int(p) for p in np.argwhere(wrong)[0])
    return f"at {list(at)} is {result[at]!r}, the Box allows {told(bounds, at)}"


@dataclass(frozen=True, slots=True)
class Share:
    """How many cases of one operator were answered, of those that could be."""

    op: str
    answered: int
    tried: int
    skipped: int
    wrong: int


def examined(op: str, *, samples: int = 3) -> Iterator[Outcome]:
    """All cases of an operator. What the package itself raises is a wrong answer too."""
    return (_guarded(case, samples) for case in collected().get(op, ()))


def _guarded(case: NodeCase, samples: int) -> Outcome:
    try:
        return examine(case, samples=samples)
    except Exception as problem:  # noqa: BLE001  # whatever an operator's record raises is the answer
        name = type(problem).__name__
        return Outcome(case.name, (), wrong=[f"{case.name}: {name}: {problem}  [{_where(problem)}]"])


def _where(problem: BaseException) -> str:
    trace, places = problem.__traceback__, []
    while trace is not None:
        places.append(f"{trace.tb_frame.f_code.co_filename.rpartition('/')[2]}:{trace.tb_lineno}")
        trace = trace.tb_next
    return " ".join(places[-3:])


def node_case_report(*, samples: int = 1) -> tuple[Share, ...]:
    """The share of cases that are answered by more than "anything", operator by operator; the last one is the sum."""
    shares: list[Share] = []
    for op in collected():
        outcomes = list(examined(op, samples=samples))
        tried = [o for o in outcomes if o.skipped is None]
        wrong = sum(bool(o.wrong) for o in outcomes)
        shares.append(Share(op, sum(o.answered for o in tried), len(tried), len(outcomes) - len(tried), wrong))
    with_record = {f"{o.domain}.{o.name}" if o.domain else o.name for o in OPS} | {"several operators"}
    total: Counter[str] = Counter()
    for share in shares:
        if share.op in with_record:
            total.update(answered=share.answered, tried=share.tried, skipped=share.skipped)
        total.update(wrong=share.wrong)
    return (*shares, Share("all", total["answered"], total["tried"], total["skipped"], total["wrong"]))


def report_text(shares: tuple[Share, ...]) -> str:
    """The report as lines: what isn't answered in full first, the sum last."""
    rest = [s for s in shares[:-1] if s.tried and (s.answered < s.tried or s.wrong)]
    lines = [
        f"{s.op:32} {s.answered:4} of {s.tried:4} answered" + (f", {s.wrong} WRONG" if s.wrong else "")
        for s in sorted(rest, key=lambda s: s.answered / s.tried)
    ]
    last = shares[-1]
    percent = 100.0 * last.answered / max(1, last.tried)
    lines.append(
        f"node cases: {last.answered} of {last.tried} answered ({percent:.1f} %), {last.wrong} wrong, {last.skipped} left out"
    )
    return "\n".join(lines)
