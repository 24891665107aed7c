"""The second verification: both models run in ONNX Runtime on many points, watched where the change was made."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nanproof.execution.onnx_runtime import CannotRunError, new_session
from nanproof.fix.apart import difference, finite
from nanproof.fix.exact import TorchModel, available, torch_model
from nanproof.fix.limits import APART, NEAR
from nanproof.fix.points import ORDINARY, Drawn, points
from nanproof.fix.slopes import Slopes, compared

if TYPE_CHECKING:
    from onnx import ModelProto

    from nanproof.model.graph import Model

Point = Mapping[str, Any]
SLOPES = 32
"""At so many points gradients are compared."""
REFERENCES = 8
"""At so many ordinary points with a large difference float64 is asked who is right."""


@dataclass(frozen=True, slots=True)
class Sampled:
    """What the runs say."""

    count: int
    """How many points both models ran on."""
    failing: Point | None = None
    """A point at which the changed model isn't finite where it should be."""
    where: str = ""
    ulps: float | None = None
    """The largest difference of an output on ordinary points, in units in the last place of the output's largest element."""
    relative: float = 0.0
    """The largest difference of an output or of a changed value on ordinary points, as a share of its largest element.

    Where the changed one is closer to what float64 gives than the original, its distance to that.
    """
    off: tuple[float, float] | None = None
    """How far outputs of the original and of the changed model are off those in float64, in ulps, where they differ much."""
    ordinary: int = 0
    """How many ordinary points that was seen on."""
    skipped: str = ""
    """Why nothing could be run."""
    slopes: Slopes | None = None
    """What was seen of gradients; None where PyTorch isn't there or can't compute them."""


@dataclass(frozen=True, slots=True)
class Watched:
    """What is looked at in both models: the values that are computed in another way, and the outputs."""

    changed: tuple[str, ...]
    outputs: tuple[str, ...]
    free: tuple[str, ...] = ()
    """What the changed values are computed from: where that is finite, they have to be."""
    renamed: Mapping[str, str] = field(default_factory=dict)
    """What the changed model calls values, where it has other names for them."""


@dataclass(eq=False)
class Sampler:
    """Runs an original model and changed ones on the same points."""

    values: tuple[Drawn, ...] | None
    folder: Path | None
    samples: int = 1000
    seconds: float = 5.0
    witnesses: tuple[Point, ...] = ()
    load: Callable[[ModelProto], Model] | None = None
    """Reads a message as a Model, for PyTorch; without it gradients aren't looked at."""
    _sessions: dict[Any, Any] = field(default_factory=dict)
    _exact: tuple[ModelProto, tuple[str, ...], TorchModel | None] | None = None

    def compare(self, before: ModelProto, after: ModelProto, watched: Watched) -> Sampled:
        """Run both; stop at the first failure, after so many samples, or when the time is over."""
        if self.values is None:
            return Sampled(0, skipped="the inputs can't be drawn")
        names = tuple(dict.fromkeys((*watched.changed, *watched.free, *watched.outputs)))
        try:
            old = self._session(before, names)
            new = self._session(after, [watched.renamed.get(name, name) for name in names])
        except ModuleNotFoundError:
            return Sampled(0, skipped="onnxruntime is not installed")
        except CannotRunError as problem:
            return Sampled(0, skipped=f"ONNX Runtime can't run it: {str(problem).splitlines()[0]}")
        sampled = self._runs((old, new), names, watched, before)
        if sampled.failing is not None or self.load is None or self.samples == 0:
            return sampled
        return self._with_slopes(before, after, watched, sampled)

    def _runs(self, both: tuple[Any, Any], names: tuple[str, ...], watched: Watched, before: ModelProto) -> Sampled:
        assert self.values is not None
        tally = _Tally(watched, lambda point: self._reference(before, watched, point))
        start = time.monotonic()
        for kind, point in (*(("witness", w) for w in self.witnesses), *points(self.values, self.samples)):
            one, other = (_run(session, point) for session in both)
            if one is None and other is None:
                continue
            originals = None if one is None else dict(zip(names, one, strict=True))
            if other is None:
                return tally.sampled(point, "the run")
            results = dict(zip(names, other, strict=True))
            tally.count += 1
            bad = _not_finite(watched, results, originals)
            if bad is not None:
                return tally.sampled(point, bad)
            if kind == ORDINARY and originals is not None:
                tally.compare(point, originals, results)
            if time.monotonic() - start - tally.aside > self.seconds:
                break
        return tally.sampled()

    def _reference(self, model: ModelProto, watched: Watched, point: Point) -> dict[str, Any] | None:
        """What the original gives in float64."""
        if self.load is None or not available():
            return None
        taps = (*watched.outputs, *watched.changed)
        if self._exact is None or self._exact[0] is not model or self._exact[1] != taps:
            names = [value.name for value in self.values or ()]
            self._exact = model, taps, torch_model(self.load(model), names, taps, wide=True)
        made = self._exact[2]
        found = None if made is None else made.values(point)
        return None if found is None else dict(zip(taps, found, strict=True))

    def _with_slopes(self, before: ModelProto, after: ModelProto, watched: Watched, sampled: Sampled) -> Sampled:
        if self.values is None or self.load is None or not available():
            return sampled
        others = tuple(watched.renamed.get(name, name) for name in watched.outputs)
        names = [value.name for value in self.values]
        old, exact = (torch_model(self.load(before), names, watched.outputs, wide=wide) for wide in (False, True))
        new = torch_model(self.load(after), names, others)
        if old is None or new is None:
            return sampled
        drawn = (*(("witness", w) for w in self.witnesses), *points(self.values, min(self.samples, SLOPES)))
        slopes = compared(old, new, exact, drawn)
        if slopes.failing is not None:
            return replace(sampled, failing=slopes.failing, where=f"the gradient of {slopes.where}", slopes=slopes)
        return replace(sampled, slopes=slopes)

    def _session(self, model: ModelProto, names: Sequence[str]) -> Any:
        import onnx
        from onnx import helper

        copy = onnx.ModelProto()
        copy.CopyFrom(model)
        given = {item.name for item in copy.graph.input}
        stored = {tensor.name: tensor for tensor in copy.graph.initializer}
        for value in self.values or ():
            if value.name not in given and value.name in stored:
                tensor = stored[value.name]
                copy.graph.input.append(helper.make_tensor_value_info(value.name, tensor.data_type, list(tensor.dims)))
        there = {output for node in copy.graph.node for output in node.output}
        there |= given | set(stored)
        have = {item.name for item in copy.graph.output}
        for name in names:
            if name not in have and name in there:
                copy.graph.output.append(onnx.ValueInfoProto(name=name))
        session = new_session(copy.SerializeToString(), self.folder)
        inputs = {item.name for item in (*session.get_inputs(), *session.get_overridable_initializers())}
        found = {item.name for item in session.get_outputs()}
        return session, [name if name in found else None for name in names], inputs


@dataclass(eq=False)
class _Tally:
    """Counts points and keeps the largest differences."""

    watched: Watched
    reference: Callable[[Point], dict[str, Any] | None]
    count: int = 0
    ordinary: int = 0
    asked: int = 0
    aside: float = 0.0
    """Seconds that float64 took: they don't count."""
    ulps: float | None = None
    relative: float = 0.0
    off: tuple[float, float] | None = None

    def sampled(self, failing: Point | None = None, where: str = "") -> Sampled:
        return Sampled(self.count, failing, where, self.ulps, self.relative, self.off, self.ordinary)

    def compare(self, point: Point, originals: Mapping[str, Any], results: Mapping[str, Any]) -> None:
        """Take the difference at an ordinary point into account."""
        outputs = difference((originals[name], results[name]) for name in self.watched.outputs)
        inner = difference((originals[name], results[name]) for name in self.watched.changed)
        if outputs is not None:
            self.ulps, self.ordinary = max(outputs[0], self.ulps or 0.0), self.ordinary + 1
        share = max((found[1] for found in (outputs, inner) if found is not None), default=0.0)
        ulps = 0.0 if outputs is None else outputs[0]
        if share > APART or (ulps > NEAR and self.asked < REFERENCES):
            self.asked += 1
            begun = time.monotonic()
            exact = self.reference(point)
            self.aside += time.monotonic() - begun
            if exact is not None:
                share = self._judged(exact, originals, results, share)
        self.relative = max(self.relative, share)

    def _judged(
        self, exact: Mapping[str, Any], originals: Mapping[str, Any], results: Mapping[str, Any], share: float
    ) -> float:
        """How far the changed model is off, if it is no further off than the original."""
        both = (*self.watched.outputs, *self.watched.changed)
        before = difference((originals[name], exact[name]) for name in self.watched.outputs)
        after = difference((results[name], exact[name]) for name in self.watched.outputs)
        if before is not None and after is not None:
            known = self.off or (0.0, 0.0)
            self.off = max(known[0], before[0]), max(known[1], after[0])
        whole = difference((results[name], exact[name]) for name in both)
        was = difference((originals[name], exact[name]) for name in both)
        return min(whole[1], share) if whole is not None and was is not None and whole[1] <= was[1] else share


def _run(session: Any, point: Point) -> list[Any] | None:
    runner, names, inputs = session
    wanted = [name for name in names if name is not None]
    try:
        results = iter(runner.run(wanted, {name: value for name, value in point.items() if name in inputs}))
    except Exception:  # noqa: BLE001 - no common base class; a point that a runtime refuses says nothing of a change
        return None
    return [next(results) if name is not None else None for name in names]


def _not_finite(watched: Watched, results: Mapping[str, Any], originals: Mapping[str, Any] | None) -> str | None:
    """The first value that isn't finite though all that it is made of is, or though the original is."""
    if all(finite(results[name]) for name in watched.free):
        for name in watched.changed:
            if not finite(results[name]):
                return name
    for name in watched.outputs:
        if originals is not None and finite(originals[name]) and not finite(results[name]):
            return name
    return None
