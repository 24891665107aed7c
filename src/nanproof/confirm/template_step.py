"""The text of an emitted test about an optimiser's step: it loads the user's own program, and takes one real step."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanproof.confirm.template import literal
from nanproof.confirm.template_gradient import PROLOGUE, values
from nanproof.findings import wording
from nanproof.frontends.programs.target import defines

if TYPE_CHECKING:
    from nanproof.confirm.confirming import Evidence
    from nanproof.findings.finding import Finding

_TEST = '''

STATE = {state}  # what the optimiser keeps, by parameter and name
CLIP = {clip}  # the norm that all gradients together are cut to
LATER = 1000  # steps taken, where the tensors don't say


def optimizer_of(model, own):
    """The optimiser, over the parameters of this model; ``own`` is what the program says of it."""
{making}


def settled(model, optimizer, state):
    """Let the optimiser be in the middle of a training: a first step makes what it keeps, which is then replaced."""
    before = {{name: p.detach().clone() for name, p in model.named_parameters()}}
    gradients = {{name: p.grad.clone() for name, p in model.named_parameters() if p.grad is not None}}
    optimizer.step()
    with torch.no_grad():
        for name, p in model.named_parameters():
            p.copy_(before[name])
            p.grad = gradients.get(name)
            kept = optimizer.state[p]
            for key in kept:
                if f"{{name}}.{{key}}" in state:
                    kept[key] = state[f"{{name}}.{{key}}"].to(kept[key].dtype)
                elif key == "step":
                    count = float(state.get("step", LATER))
                    kept[key] = torch.tensor(count) if isinstance(kept[key], torch.Tensor) else int(count)


def test_{name}():
    torch.manual_seed(0)
    model, loss, own = program()
    inputs, weights = tensors()
    state = {{name: inputs.pop(name) for name in STATE}}
    backward(model, loss, inputs, weights)
    assert all(p.grad.isfinite().all() for p in model.parameters() if p.grad is not None), "a gradient is not finite"
    optimizer = optimizer_of(model, own)
    settled(model, optimizer, state)
    if CLIP is not None:
        torch.nn.utils.clip_grad_norm_(list(model.parameters()), CLIP)
    optimizer.step()
    after = {{name: p.detach() for name, p in model.named_parameters()}}
    for name, p in model.named_parameters():
        after |= {{f"{{name}}.{{key}}": v for key, v in optimizer.state[p].items() if isinstance(v, torch.Tensor)}}
    bad = {{name: x[~x.isfinite()][:6] for name, x in after.items() if not x.isfinite().all()}}
    assert not bad, f"NaN or Inf after the step in {{bad}}"
'''
_OWN = """    made = {found}
    return made if isinstance(made, torch.optim.Optimizer) else made([p for p in model.parameters() if p.requires_grad])"""
_GIVEN = """    parameters = [p for p in model.parameters() if p.requires_grad]
    return torch.optim.{call}"""


def program(
    finding: Finding,
    evidence: Evidence,
    *,
    stem: str,
    version: str,
    about: tuple[str, str, str],
    step: tuple[str, float | None, tuple[str, ...]],
) -> str:
    """The test of one finding. ``step`` are the optimiser as Python, the clipping norm, and the inputs that are its state."""
    made, clip, state = step
    hit = evidence.hit
    fails = f"loss and gradients are finite, and {wording.listing(hit.outputs)} {'is' if len(hit.outputs) == 1 else 'are'} not"
    told = values(finding, evidence, (stem, version, fails), about)
    own = f"[{', '.join(map(literal, state))}]"
    return (PROLOGUE + _TEST).format(**told, making=made, clip=clip, state=own)


def making(optimizer: str | None, target: tuple[str, str]) -> str:
    """The lines that make the optimiser that an option names; the program's own, where none does.

    ``target`` is the program as it was named, and as it is seen from the folder of the test.
    """
    from nanproof.frontends.torch.update.choosing import called

    if optimizer is None:
        return _OWN.format(found="own")
    call = None if defines(target[0], optimizer) else called(optimizer, "parameters")
    if call is not None:
        return _GIVEN.format(call=call)
    name = optimizer if ":" in optimizer else f"{target[1].rpartition(':')[0]}:{optimizer}"
    return _OWN.format(found=f"found({literal(name)})")
