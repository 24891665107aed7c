"""A PyTorch program as it is: run eagerly, initialised by its own code, trained by PyTorch's own optimisers."""

from __future__ import annotations

import copy
import random
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from math import isfinite
from typing import Any

import numpy as np
import torch
from torch.utils._pytree import tree_flatten, tree_leaves, tree_unflatten

from nanproof.frontends.live import Arrays, CannotRunLiveError, Ran, Trained, Training
from nanproof.frontends.torch.births import Watch
from nanproof.frontends.torch.capturing import in_mode
from nanproof.frontends.torch.examples import Examples, signature_of
from nanproof.frontends.torch.tracing import owners_of
from nanproof.numerics.tensors import to_array, to_tensor

SEED = 0
"""Of every run: what a program draws at random is the same each time."""
OPTIMIZERS = {
    "sgd": "SGD", "momentum": "SGD", "adam": "Adam", "adamw": "AdamW", "adagrad": "Adagrad", "rmsprop": "RMSprop",
}  # fmt: skip


class TorchLive:
    """``names`` are those of the exported model's inputs, in order; ``make`` makes the module anew, with fresh weights."""

    runtime = "torch"

    def __init__(
        self,
        module: Any,
        given: Examples,
        names: Sequence[str],
        *,
        make: Callable[[], Any] | None = None,
        loss: Any = None,
        mode: str = "eval",
    ) -> None:
        self.module, self.given, self.make, self.loss, self.mode = module, given, make, loss, mode
        self.owners = owners_of(module)
        self.leaves, self.form = tree_flatten((given.args, dict(given.kwargs)))
        places = [i for i, leaf in enumerate(self.leaves) if isinstance(leaf, torch.Tensor)]
        if len(places) != len(names):
            raise CannotRunLiveError(f"it takes {len(places)} tensors, and what it was exported to {len(names)}")
        self.places = dict(zip(names, places, strict=True))
        self.plain = set(names) <= signature_of(module).parameters.keys() and len(places) == len(self.leaves)

    def run(self, values: Arrays) -> Ran:
        """One call without gradients, watched."""
        state = _state(self.module)
        unknown = [name for name in values if name not in self.places and name not in state]
        if unknown:
            raise CannotRunLiveError(f"it has no tensor named {unknown[0]}")
        args, kwargs = self._call(values)
        for name in state.keys() & values.keys():
            state[name] = to_tensor(values[name]).to(state[name].dtype)
        with in_mode(self.module, self.mode), seeded(SEED), torch.no_grad(), Watch(self.owners) as watch:
            results = told(lambda: torch.func.functional_call(self.module, state, args, kwargs))
        floats = [x for x in tree_leaves(results) if isinstance(x, torch.Tensor)]
        bad = tuple(i for i, x in enumerate(floats) if x.is_floating_point() and not is_finite(x))
        return Ran(bad, tuple(watch.births))

    def _call(self, values: Arrays) -> Any:
        leaves = list(self.leaves)
        for name, place in self.places.items():
            if name in values:
                leaves[place] = to_tensor(values[name]).to(leaves[place].dtype)
        return tree_unflatten(leaves, self.form)

    def hold(self, weights: Arrays) -> None:
        """They are written into the module."""
        state = dict(self.module.named_parameters()) | dict(self.module.named_buffers())
        with torch.no_grad():
            for name in weights.keys() & state.keys():
                state[name].copy_(to_tensor(weights[name]))

    def initial(self, seed: int) -> Arrays:
        """What the program's own initialiser makes; without one, what the module has."""
        with seeded(seed):
            module = self.module if self.make is None else self.make()
        return {name: to_array(value) for name, value in _state(module).items()}

    def trained(self, weights: Arrays, steps: Sequence[Sequence[Arrays]], how: Training) -> Trained:
        """Each step is one of the optimiser on the mean loss of its examples, in train mode."""
        module = copy.deepcopy(self.module)
        state = _state(module)
        with torch.no_grad():
            for name, value in weights.items():
                state[name].copy_(to_tensor(value))
        if not any(p.requires_grad for p in module.parameters()):
            raise CannotRunLiveError("it has no weights to train")
        optimizer = optimizer_of(how, module.parameters())
        losses = [0.0]

        def step(examples: Sequence[Arrays]) -> None:
            optimizer.zero_grad()
            loss = torch.stack([self._loss(module, example) for example in examples]).mean()
            loss.backward()
            optimizer.step()
            losses.append(float(loss.detach()))

        with in_mode(module, "keep" if self.mode == "keep" else "train"), seeded(SEED):
            for examples in steps:
                told(partial(step, examples))
        after = {name: to_array(value) for name, value in _state(module).items()}
        finite = all(map(isfinite, losses)) and all(is_finite(x) for x in _state(module).values())
        return Trained(after, finite, losses[-1])

    def _loss(self, module: Any, example: Arrays) -> Any:
        args, kwargs = self._call(example)
        results = module(*args, **kwargs)
        if self.loss is not None:
            return self.loss(results, *self.given.rest)
        first = tree_leaves(results)[0]
        if first.numel() != 1:
            raise CannotRunLiveError(
                "its first output is no single number, so it can't be the loss: name one with --loss"
            )
        return first.reshape(())

    def close(self) -> None:
        """Nothing runs on."""


def optimizer_of(how: Training, parameters: Any) -> Any:
    """PyTorch's optimiser by its name in a Training."""
    kind = getattr(torch.optim, OPTIMIZERS[how.optimizer])
    settings: dict[str, Any] = {"momentum": 0.9} if how.optimizer == "momentum" else {}
    return kind(parameters, lr=how.learning_rate, **settings, **how.settings)


def _state(module: Any) -> dict[str, Any]:
    """Parameters by name, and copies of buffers, which a run may write to."""
    state = {name: value.detach() for name, value in module.named_parameters()}
    return state | {name: value.clone() for name, value in module.named_buffers()}


def told(run: Callable[[], Any]) -> Any:
    """Whatever the user's code raises becomes one sentence."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return run()
    except CannotRunLiveError:
        raise
    except Exception as error:
        raise CannotRunLiveError(f"{type(error).__name__}: {' '.join(str(error).split())[:200]}") from error


def is_finite(x: Any) -> bool:
    """Whether a tensor holds neither NaN nor Inf."""
    return not x.is_floating_point() or bool(torch.isfinite(x if x.dtype.itemsize > 1 else x.float()).all())


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Within this, all generators that programs use start from a seed; afterwards they go on as if nothing had been."""
    python, numpy = random.getstate(), np.random.get_state()  # noqa: NPY002 - what programs use
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        random.seed(seed)
        np.random.seed(seed)  # noqa: NPY002 - as above
        try:
            yield
        finally:
            random.setstate(python)
            np.random.set_state(numpy)  # noqa: NPY002 - as above
