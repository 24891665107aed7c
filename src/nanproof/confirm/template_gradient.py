"""The text of an emitted test about a gradient: it loads the user's own program and loss, and nothing of nanproof."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import TYPE_CHECKING

from nanproof.confirm.template import MARK, literal, quoted
from nanproof.findings import wording

if TYPE_CHECKING:
    from nanproof.confirm.confirming import Evidence
    from nanproof.findings.finding import Finding

PROLOGUE = '''"""{title}

{seen}.
{where}
{what}: {what_fails} in PyTorch.

{mark} {version}. It fails as long as that is NaN or Inf there, and passes once the program is mended.
Set NANPROOF_TARGET to run it on another program, as in file.py:name.
"""

import importlib
import importlib.util
import inspect
import os
import sys
from pathlib import Path

import numpy as np
import torch

HERE = Path(__file__).parent
TARGET = os.environ.get("NANPROOF_TARGET") or {target}
LOSS = {loss}  # "" for a program that says its loss, or computes it
TENSORS = HERE / {tensors}
INPUTS = {inputs}
LEARNED = {learned}  # inputs whose gradients are looked at


def found(target):
    """The object that a text names: in a file beside this one, or in a module."""
    where, _, name = target.rpartition(":")
    if where.endswith(".py"):
        file = (HERE / where).resolve()
        sys.path.insert(0, str(file.parent))
        spec = importlib.util.spec_from_file_location(file.stem, file)
        value = importlib.util.module_from_spec(spec)
        sys.modules.setdefault(file.stem, value)
        spec.loader.exec_module(value)
    else:
        sys.path.insert(0, os.getcwd())
        value = importlib.import_module(where)
    for part in name.split("."):
        value = getattr(value, part)
    return value


def program():
    """The model, its loss, and its optimiser if it says one."""
    model, optimizer = found(TARGET), None
    loss = None if not LOSS else found(LOSS if ":" in LOSS else TARGET.rpartition(":")[0] + ":" + LOSS)
    for _ in range(4):
        if isinstance(model, dict):
            loss, optimizer = loss or model.get("loss"), model.get("optimizer")
            model = model["model"]
        elif isinstance(model, (tuple, list)):
            model = model[0]
        elif not isinstance(model, torch.nn.Module):
            model = model()
    return model, loss, optimizer


def tensors():
    """The inputs by name, and the weights."""
    with np.load(TENSORS) as kept:
        arrays = {{name: torch.from_numpy(kept[name]) for name in kept}}
    inputs = {{name: arrays.pop(name).to(dtype) for name, dtype in INPUTS.items()}}
    for name in LEARNED:
        inputs[name].requires_grad_()
    return inputs, arrays


def first(outputs):
    """The loss that a model gives itself."""
    if hasattr(outputs, "loss"):
        return outputs.loss
    if isinstance(outputs, dict):
        return outputs["loss"] if "loss" in outputs else next(iter(outputs.values()))
    return outputs[0] if isinstance(outputs, (tuple, list)) else outputs


def forward(model, loss, inputs, weights):
    """The loss of the model with these weights, and what the model gives."""
    model.{mode}
    own = dict(model.named_parameters()) | dict(model.named_buffers())
    with torch.no_grad():
        for name in weights.keys() & own.keys():
            own[name].copy_(weights[name])
    takes = inspect.signature(model.forward).parameters
    torch.manual_seed(0)
    outputs = model(**{{name: value for name, value in inputs.items() if name in takes}})
    rest = [value for name, value in inputs.items() if name not in takes]
    return first(outputs) if loss is None else loss(outputs, *rest), outputs


def backward(model, loss, inputs, weights):
    """Its gradients are in the parameters afterwards."""
    value, _ = forward(model, loss, inputs, weights)
    assert value.isfinite().all(), "the loss itself is not finite"
    value.sum().backward()
'''
_TEST = """

def test_{name}():
    torch.manual_seed(0)
    model, loss, _ = program()
    inputs, weights = tensors()
    backward(model, loss, inputs, weights)
    gradients = {{name: p.grad for name, p in model.named_parameters() if p.grad is not None}}
    gradients |= {{name: inputs[name].grad for name in LEARNED}}
    bad = {{name: g[~g.isfinite()][:6] for name, g in gradients.items() if not g.isfinite().all()}}
    assert not bad, f"NaN or Inf in the gradients of {{bad}}"
"""
_FORWARD = """

def test_{name}():
    torch.manual_seed(0)
    model, loss, _ = program()
    inputs, weights = tensors()
    with torch.no_grad():
        found = torch.utils._pytree.tree_leaves(forward(model, loss, inputs, weights))
    bad = [x[~x.isfinite()][:6] for x in found if isinstance(x, torch.Tensor) and not x.isfinite().all()]
    assert not bad, f"NaN or Inf in the loss or in what the model gives: {{bad}}"
"""


def program(
    finding: Finding,
    evidence: Evidence,
    *,
    stem: str,
    version: str,
    about: tuple[str, str, str],
    state: Collection[str] = (),
) -> str:
    """The test of one finding. ``about`` are the program and its loss as seen from the test's folder, and the mode; ``state``
    are inputs that an optimiser keeps, which gradients don't depend on.
    """
    hit = evidence.hit
    shown = f"{wording.listing(hit.outputs)} {'is' if len(hit.outputs) == 1 else 'are'} not"
    is_forward = finding.phase == "forward"
    fails = f"{shown} finite" if is_forward else f"the loss is finite, and {shown}"
    return (PROLOGUE + (_FORWARD if is_forward else _TEST)).format(
        **values(finding, evidence, (stem, version, fails), about, without=state)
    )


def values(
    finding: Finding,
    evidence: Evidence,
    text: tuple[str, str, str],
    about: tuple[str, str, str],
    without: Collection[str] = (),
) -> dict[str, str]:
    """What a template has names for. ``text`` are the stem of the file's name, our version, and what fails."""
    from nanproof.findings.rules import find

    stem, version, fails = text
    target, loss, mode = about
    rule, names = find(finding.code), {n: dtype for n, dtype in evidence.inputs.items() if n not in without}
    gradients = {name.removesuffix(".grad") for name in evidence.problem.outputs if name.endswith(".grad")}
    return {
        "title": quoted(f"{finding.code} {rule.title if rule else finding.op}"),
        "seen": quoted(wording.seen(finding)),
        "where": quoted(f"At {wording.place(finding)}."),
        "what": quoted(evidence.witness.summary),
        "what_fails": quoted(fails),
        "mark": MARK,
        "version": version,
        "target": literal(target),
        "loss": literal(loss),
        "tensors": literal(f"{stem}.npz"),
        "inputs": f"{{{', '.join(f'{literal(name)}: torch.{dtype}' for name, dtype in names.items())}}}",
        "learned": f"[{', '.join(literal(name) for name in names if name in gradients)}]",
        "name": re.sub(r"\W", "_", stem.removeprefix("test_")),
        "mode": "eval()" if mode == "eval" else "train()",
    }
