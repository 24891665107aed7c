"""The text of an emitted test for a PyTorch program: it loads the user's own code, and nothing of nanproof."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from nanproof.confirm.template import MARK, literal, quoted
from nanproof.findings import wording

if TYPE_CHECKING:
    from nanproof.confirm.confirming import Evidence
    from nanproof.findings.finding import Finding

_TEXT = '''"""{title}

{seen}.
{where}
{what}, seen in PyTorch.

{mark} {version}. It fails as long as the program computes NaN or Inf there, and passes once it is mended.
Set NANPROOF_TARGET to run it on another program, as in file.py:name.
"""

import importlib
import importlib.util
import os
import sys
from pathlib import Path

import numpy as np
import torch
{imports}
HERE = Path(__file__).parent
TARGET = os.environ.get("NANPROOF_TARGET") or {target}
TENSORS = HERE / {tensors}
INPUTS = {inputs}


def loaded(target):
    """The model that the target names: an object, or what a class or a factory makes."""
    where, _, name = target.rpartition(":")
    if where.endswith(".py"):
        file = (HERE / where).resolve()
        sys.path.insert(0, str(file.parent))
        spec = importlib.util.spec_from_file_location(file.stem, file)
        found = importlib.util.module_from_spec(spec)
        sys.modules.setdefault(file.stem, found)
        spec.loader.exec_module(found)
    else:
        sys.path.insert(0, os.getcwd())
        found = importlib.import_module(where)
    for part in name.split("."):
        found = getattr(found, part)
    for _ in range(4):
        if isinstance(found, (dict, tuple, list)):
            found = found["model"] if isinstance(found, dict) else found[0]
        elif not isinstance(found, torch.nn.Module):
            found = found()
    return found


def tensors():
    """The inputs by name, and the weights."""
    with np.load(TENSORS) as found:
        arrays = {{name: torch.from_numpy(found[name]) for name in found}}
    inputs = {{name: arrays.pop(name).to(dtype) for name, dtype in INPUTS.items()}}
    return inputs, arrays

{watch}
def test_{name}():
    torch.manual_seed(0)
    model = loaded(TARGET).{mode}
    inputs, weights = tensors()
    own = dict(model.named_parameters()) | dict(model.named_buffers())
    with torch.no_grad():
        for name in weights.keys() & own.keys():
            own[name].copy_(weights[name])
{run}
'''

_OUTPUTS = """        torch.manual_seed(0)
        outputs = model(**inputs)
    for output in torch.utils._pytree.tree_leaves(outputs):
        bad = output[~output.isfinite()][:6]
        assert not bad.numel(), f"NaN or Inf in an output: {bad}"
"""

_WATCH = '''
class Watch(TorchDispatchMode):
    """Notes what {function} makes that isn't finite: it does not reach an output."""

    bad = ()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {{}}))
        if func.__name__ == {literal} and not result.isfinite().all():
            self.bad = result[~result.isfinite()][:6]
        return result

'''

_WATCHED = """        torch.manual_seed(0)
        with Watch() as watch:
            model(**inputs)
    assert not len(watch.bad), f"NaN or Inf inside: {watch.bad}"
"""


def program(finding: Finding, evidence: Evidence, *, target: str, stem: str, version: str) -> str:
    """The test of one finding. ``target`` is the program as seen from the test's folder."""
    from nanproof.findings.rules import find

    rule = find(finding.code)
    hit, names = evidence.hit, evidence.inputs
    inside = not hit.outputs
    return _TEXT.format(
        title=quoted(f"{finding.code} {rule.title if rule else finding.op}"),
        seen=quoted(wording.seen(finding)),
        where=quoted(f"At {wording.place(finding)}."),
        what=quoted(evidence.witness.summary),
        mark=MARK,
        version=version,
        imports="from torch.utils._python_dispatch import TorchDispatchMode\n" if inside else "",
        target=literal(target),
        tensors=literal(f"{stem}.npz"),
        inputs=f"{{{', '.join(f'{literal(name)}: torch.{dtype}' for name, dtype in names.items())}}}",
        watch=_WATCH.format(function=hit.function.split(".")[0], literal=literal(hit.function)) if inside else "",
        name=re.sub(r"\W", "_", stem.removeprefix("test_")),
        mode="eval()",
        run=(_WATCHED if inside else _OUTPUTS).rstrip(),
    )
