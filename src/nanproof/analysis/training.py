"""Findings in a graph with gradients: which part of a training step they are about, and what of it is one defect.

A gradient finding is a finite forward with a derivative that isn't: either a node on the way back fails by itself, or a
value that the forward pass hides (in the branch that a Where doesn't choose, under a clamp) is still used on the way back.
What the forward pass shows already isn't said again of its derivative.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from nanproof.analysis.state import Site, State
from nanproof.domain.box import Box
from nanproof.findings.finding import Finding, stable_id
from nanproof.findings.wording import derivative_of, hidden_forward, update_of
from nanproof.model.graph import STEP_MARK

FORWARD, GRADIENT, STEP = "forward", "gradient", "step"

WIDE = 1e30
"""Gradients overflow in types that end below this without anything being wrong with one step: float16 and narrower."""

TRAP, ROOT, EDGE, QUOTIENT, STEEP, INFINITIES, EQUAL, VANISHED = (
    "NP301", "NP302", "NP303", "NP304", "NP305", "NP306", "NP307", "NP308",
)  # fmt: skip

DIVISIONS = frozenset({"NP103", "NP104", "NP106"})
"""A divisor of 0, also as a negative power."""
MEETING = frozenset({"NP212", "NP213"})
"""Inf - Inf, and 0 times Inf."""
TOGETHER = "only if the bounds of several layers multiply: no step overflows by itself"
SUBNORMAL = "needs a divisor below the smallest normal number"
_DERIVATIVES = {
    ROOT: ("sqrt", "rsqrt", "pow", "norm", "linalg_vector_norm", "linalg_norm", "std", "var", "std_mean", "cdist_forward",
           "pdist_forward", "euclidean_dist", "hypot", "native_norm", "weight_norm_interface", "renorm",
           "atan2", "angle", "sgn", "abs"),
    EDGE: ("acos", "asin", "acosh", "atanh", "erfinv", "logit"),
    QUOTIENT: ("log", "log2", "log10", "log1p", "div", "reciprocal", "xlogy", "true_divide", "remainder", "fmod"),
    EQUAL: ("linalg_svd", "linalg_eigh", "linalg_eig", "linalg_qr", "svd"),
}  # fmt: skip
"""What the derivative of an operator breaks where it divides by 0, by the names that frameworks give operators."""


@dataclass(frozen=True, slots=True)
class Parts:
    """What is known of the parts of a graph: by output the phase that makes it, and which forward operators fail by themselves."""

    outputs: Mapping[str, str]
    failing: frozenset[str]


def parts(state: State, open_sites: Sequence[tuple[Site, tuple[str, ...]]]) -> Parts | None:
    """What is known of the parts; None for a graph that has a forward pass only.

    ``open_sites`` are the sites that are no consequences, each with the outputs that it reaches.
    """
    if all(step.node.part.phase == FORWARD for step in state.program.steps):
        return None
    outputs = {}
    for slot in state.program.outputs:
        step = state.makers.get(slot)
        outputs[state.program.names[slot]] = FORWARD if step is None else step.node.part.phase
    failing = {
        site.step.node.part.pair
        for site, reached in open_sites
        if site.step.node.part.phase == FORWARD
        and (FORWARD in {outputs[name] for name in reached} or not site.event.gives)
    }
    return Parts(outputs, frozenset(failing - {""}))


def is_said(known: Parts, site: Site) -> bool:
    """Whether a site on the way back is the derivative of an operator that fails on the way forward already."""
    part = site.step.node.part
    # an infinity of the forward pass may be meant, a NaN that is made of it on the way back never is
    return part.phase == GRADIENT and part.pair in known.failing and site.event.code not in MEETING


def told(known: Parts, site: Site, finding: Finding) -> Finding:
    """The finding with its phase, and with the code that says what is wrong with a gradient."""
    part = site.step.node.part
    phases = [known.outputs[name] for name in finding.reaches]
    if part.phase == FORWARD:
        if not phases or FORWARD in phases:
            return finding
        hidden = hidden_forward(finding)
        return _as(
            finding, TRAP if GRADIENT in phases else finding.code, GRADIENT if GRADIENT in phases else STEP, hidden
        )
    if part.phase == STEP:
        code = VANISHED if finding.code in DIVISIONS else finding.code
        return _as(finding, code, STEP, update_of(finding, part.of, part.pair.partition(STEP_MARK)[0]))
    return _as(finding, code_of(finding, part.of), GRADIENT, derivative_of(finding, part.of))


def same_step(site: Site) -> object | None:
    """What a site has in common with that of another parameter whose update is the same; None for sites of other phases."""
    part = site.step.node.part
    place = part.pair.partition(STEP_MARK)[2]
    return (part.of, place, site.step.node.op) if part.phase == STEP and place else None


def has_gradients(state: State) -> bool:
    """Whether any step is on the way back."""
    return any(step.node.part.phase == GRADIENT for step in state.program.steps)


def calmed(box: Box) -> Box:
    """A value on the way back as it is as long as gradients stay moderate: below the root of the largest finite number.

    Bounds of gradients multiply from layer to layer, each as if the worst of all inputs came together; what is left after
    each result is cut like this fails by what one step does. Types in which gradients really get out of range stay whole.
    """
    if type(box) is not Box or not box.dtype.is_float or box.dtype.max < WIDE or not box.has_finite:
        return box
    most = box.dtype.max**0.5 / 16.0
    if box.cuts is None:
        if -most <= box.lo and box.hi <= most:
            return box
        return Box(box.dtype, box.shape, min(max(box.lo, -most), most), max(min(box.hi, most), -most), box.flags)
    lo, hi = np.asarray(box.lo), np.asarray(box.hi)
    full = lo <= hi
    lo, hi = np.where(full, np.clip(lo, -most, most), lo), np.where(full, np.clip(hi, -most, most), hi)
    return Box(box.dtype, box.shape, lo, hi, box.flags, cuts=box.cuts, spots=box.spots)


def only_subnormal(state: State, site: Site) -> bool:
    """Whether a quotient on the way back overflows for divisors below the smallest normal number only."""
    step = site.step
    if step.node.part.phase != GRADIENT or site.event.operand >= 0 or step.node.op not in {"Div", "Reciprocal"}:
        return False
    above, below = (None, step.inputs[0]) if step.node.op == "Reciprocal" else step.inputs
    divisor = state.hulls[below]
    if divisor is None or not divisor.dtype.is_float or divisor.flags:
        return False
    most = 1.0
    if above is not None:
        box = state.hulls[above]
        if box is None or box.flags:
            return False
        lo, hi = box.hull()
        most = max(-lo, hi)
    return most <= divisor.dtype.max * divisor.dtype.tiny


def code_of(finding: Finding, of: str) -> str:
    """What is wrong with the derivative of an operator where a node of it fails; the node's own code if it isn't known."""
    if finding.code in MEETING:
        return INFINITIES
    if finding.code.startswith("NP4") or not of:
        return finding.code
    if finding.operand < 0:
        return STEEP
    return next((code for code, names in _DERIVATIVES.items() if of in names), QUOTIENT)


def _as(finding: Finding, code: str, phase: str, reason: str | None) -> Finding:
    because = finding.because if reason is None else (reason, *finding.because)
    name = finding.id if code == finding.code else stable_id(code, finding.node, finding.operand_name)
    hazard = "" if code == finding.code else finding.code
    return replace(finding, id=name, code=code, phase=phase, because=because, hazard=hazard)
