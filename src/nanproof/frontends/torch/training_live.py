"""A PyTorch program with its loss as it is: one eager forward pass, and autograd's own gradients of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch.utils._pytree import tree_leaves

from nanproof.frontends.live import Arrays, Birth, CannotRunLiveError, Ran
from nanproof.frontends.programs.objects import Program
from nanproof.frontends.request import Request
from nanproof.frontends.torch.births import Watch
from nanproof.frontends.torch.capturing import in_mode
from nanproof.frontends.torch.examples import examples
from nanproof.frontends.torch.living import SEED, TorchLive, is_finite, seeded, told
from nanproof.frontends.torch.losses import PREFIX, differentiated, with_loss
from nanproof.frontends.torch.tracing import owners_of
from nanproof.frontends.torch.update.choosing import chosen
from nanproof.numerics.tensors import to_tensor


class TrainingLive(TorchLive):
    """``module`` computes the loss of ``inner`` as its first output; weights go by their names in ``inner``."""

    def __init__(self, inner: Any, *about: Any, **more: Any) -> None:
        super().__init__(*about, **more)
        self.owners = owners_of(inner)

    def run(self, values: Arrays) -> Ran:
        """One forward pass, watched, and the gradients of the loss."""
        results, state, births, arguments = self._passed(values)
        bad = tuple(i for i, x in enumerate(results) if not is_finite(x))
        gradients = told(lambda: self._gradients(results[0], state, arguments))
        return Ran(bad, births, tuple(name for name, g in gradients.items() if not is_finite(g)))

    def _passed(self, values: Arrays) -> tuple[Any, dict[str, Any], tuple[Birth, ...], Any]:
        """A forward pass: its results, the weights that it was with, what was born in it, and its arguments."""
        args, kwargs = self._call(values)
        weights = dict(self.module.named_parameters())
        state = {name: value.detach().requires_grad_(value.requires_grad) for name, value in weights.items()}
        state |= {name: value.clone() for name, value in self.module.named_buffers()}
        for name in values.keys() - self.places.keys():
            full = name if name in state else PREFIX + name
            if full not in state:
                raise CannotRunLiveError(f"it has no tensor named {name}")
            state[full] = to_tensor(values[name]).to(state[full].dtype).requires_grad_(state[full].requires_grad)
        with in_mode(self.module, self.mode), seeded(SEED), torch.enable_grad(), Watch(self.owners) as watch:
            results = told(lambda: torch.func.functional_call(self.module, state, args, kwargs))
        return results, state, tuple(watch.births), (args, kwargs)

    def _gradients(self, loss: Any, state: dict[str, Any], given: Any) -> dict[str, Any]:
        leaves = tree_leaves(given)
        wanted = {f"{name.removeprefix(PREFIX)}.grad": value for name, value in state.items() if value.requires_grad}
        wanted |= {f"{name}.grad": leaves[i] for name, i in self.places.items() if leaves[i].requires_grad}
        found = torch.autograd.grad(loss.sum(), list(wanted.values()), allow_unused=True)
        return {name: g for name, g in zip(wanted, found, strict=True) if g is not None}

    def _call(self, values: Arrays) -> Any:
        args, kwargs = super()._call(values)
        leaves = tree_leaves((args, kwargs))
        for i in self.places.values():
            if self.leaves[i].requires_grad and not leaves[i].requires_grad:
                leaves[i].requires_grad_()
        return args, kwargs

    def hold(self, weights: Arrays) -> None:
        """They are written into the module."""
        super().hold({(n if n.startswith("objective.") else PREFIX + n): value for n, value in weights.items()})


def live(program: Program, request: Request, names: Sequence[str], label: str) -> TrainingLive:
    """The program with its loss, which the request names or is."""
    given = examples(program, request, label)
    loss = None if isinstance(request.loss, str) else request.loss
    module, given = with_loss(program, loss, given, label)
    given, _ = differentiated(module, given, label)
    mode = request.mode or "train"
    if request.phase == "step":
        from nanproof.frontends.torch import stepping_live

        taken = chosen(program, request, list(module.parameters()), label)
        return stepping_live.live((program.model, module, given), names, mode, (taken, label))
    return TrainingLive(program.model, module, given, names, mode=mode)
