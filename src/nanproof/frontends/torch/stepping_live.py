"""A PyTorch program with its loss and its optimiser as it is: one forward pass, autograd's gradients, one real step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch.utils._pytree import tree_leaves

from nanproof.frontends.live import Arrays, CannotRunLiveError, Ran
from nanproof.frontends.torch.births import Watch
from nanproof.frontends.torch.capturing import in_mode
from nanproof.frontends.torch.living import SEED, is_finite, seeded, told
from nanproof.frontends.torch.losses import PREFIX
from nanproof.frontends.torch.training_live import TrainingLive
from nanproof.frontends.torch.update.choosing import Chosen
from nanproof.frontends.torch.update.joining import AFTER
from nanproof.frontends.torch.update.states import COUNTER, Kept, kept_by, over
from nanproof.numerics.tensors import to_tensor


class SteppingLive(TrainingLive):
    """As a TrainingLive, whose arrays may also say what the optimiser keeps, by the names of the exported model."""

    def __init__(self, inner: Any, *about: Any, chosen: Chosen, label: str, **more: Any) -> None:
        module, given, names = about
        tensors = sum(isinstance(leaf, torch.Tensor) for leaf in tree_leaves((given.args, dict(given.kwargs))))
        super().__init__(inner, module, given, names[:tensors], **more)
        self.chosen, self.states = chosen, frozenset(names[tensors:])
        held = {id(p) for group in chosen.optimizer.param_groups for p in group["params"]}
        every = module.named_parameters(remove_duplicate=False)
        named = {name.removeprefix(PREFIX): p for name, p in every if id(p) in held}
        self.updated = {name: p for name, p in named.items() if p.requires_grad}
        self.kept, self.others = kept_by(chosen.optimizer, self.updated, label)

    def run(self, values: Arrays) -> Ran:
        """One forward pass and one step, watched, and what isn't finite after it."""
        given = {name: value for name, value in values.items() if name not in self.states}
        results, state, births, arguments = self._passed(given)
        bad = tuple(i for i, x in enumerate(results) if not is_finite(x))
        gradients = told(lambda: self._gradients(results[0], state, arguments))
        spoilt = [name for name, g in gradients.items() if not is_finite(g)]
        with in_mode(self.module, self.mode), seeded(SEED), torch.no_grad(), Watch(self.owners) as watch:
            after = told(lambda: self._stepped(values, state, gradients))
        spoilt += [AFTER.format(name) for name, x in after.items() if not is_finite(x)]
        return Ran(bad, (*births, *watch.births), tuple(spoilt))

    def _stepped(self, values: Arrays, state: Mapping[str, Any], gradients: Mapping[str, Any]) -> dict[str, Any]:
        """The parameters and the optimiser's state after its step."""
        full = {name: name if name in state else PREFIX + name for name in self.updated}
        moved = {n: p for n, p in self.updated.items() if f"{n}.grad" in gradients and full[n] in state}
        new = {name: state[full[name]].detach().clone() for name in moved}
        made = over(self.chosen.optimizer, {id(p): new[name] for name, p in moved.items()})
        for name in moved:
            new[name].grad = gradients[f"{name}.grad"].detach().clone()
            made.state[new[name]].update(self._state_of(name, values))
        if self.chosen.clip is not None:
            torch.nn.utils.clip_grad_norm_(list(new.values()), self.chosen.clip)
        made.step()
        found: dict[str, Any] = dict(new)
        for name in moved:
            found |= {f"{name}.{k}": v for k, v in made.state[new[name]].items() if isinstance(v, torch.Tensor)}
        return found

    def _state_of(self, name: str, values: Arrays) -> dict[str, Any]:
        """What is given of the state of a parameter; nothing, as before the first step, where nothing is."""
        own = [item for item in self.kept if item.owner == name]
        given = {item.key: _value(item, values) for item in own if item.name in values or item.counts}
        if not any(item.name in values for item in own) and COUNTER not in values:
            return {}
        return {**self.others.get(name, {}), **given}


def _value(item: Kept, values: Arrays) -> Any:
    if item.name in values:
        return to_tensor(values[item.name]).to(item.dtype).reshape(item.shape).clone()
    if COUNTER not in values:
        raise CannotRunLiveError(f"it is not said how many steps {item.owner} has taken")
    return torch.tensor(float(values[COUNTER]), dtype=item.dtype)


def live(about: tuple[Any, ...], names: Sequence[str], mode: str, step: tuple[Chosen, str]) -> SteppingLive:
    """The program with its loss and the optimiser that takes the step."""
    inner, module, given = about
    chosen, label = step
    return SteppingLive(inner, module, given, names, mode=mode, chosen=chosen, label=label)
