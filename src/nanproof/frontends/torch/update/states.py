"""What an optimiser keeps from step to step: which tensors, of which types and sizes, and what is valid for them."""

from __future__ import annotations

import copy
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from nanproof.findings.errors import InputError

COUNTER = "step"
"""What PyTorch's optimisers call the number of steps taken."""
STEPS = (0.0, 1e6)
LARGE = 1e4
"""Gradients are taken to have stayed below this in earlier steps; what is never negative is taken for a mean of their squares."""
OWN = {"mu_product": (0.0, 1.0), "mu": (0.0, 1.0), "eta": (0.0, 1.0)}
"""Kept numbers that are no means of gradients."""
TRIALS = 4


@dataclass(frozen=True, slots=True)
class Kept:
    """One tensor of the state of one parameter."""

    owner: str
    key: str
    dtype: Any
    shape: tuple[int, ...]

    @property
    def name(self) -> str:
        """What it is called in the graph and in reports: ``fc.weight.exp_avg``."""
        return f"{self.owner}.{self.key}"

    @property
    def counts(self) -> bool:
        """Whether it is the number of steps."""
        return self.key == COUNTER and not self.shape


def over(optimizer: Any, replaced: Mapping[int, Any]) -> Any:
    """The same optimiser, with all of its settings and no state, over other tensors: by the identity of its own parameters.

    Parameters that nothing is given for are left out.
    """
    made = object.__new__(type(optimizer))
    made.__dict__ = dict(optimizer.__dict__)
    made.__dict__.pop("step", None)  # a scheduler puts one there that is bound to the optimiser itself
    made.state = defaultdict(dict)
    made.param_groups = []
    for group in optimizer.param_groups:
        places = [i for i, p in enumerate(group["params"]) if id(p) in replaced]
        each = {**group, "params": [replaced[id(group["params"][i])] for i in places]}
        if "param_names" in group:
            each["param_names"] = [group["param_names"][i] for i in places]
        made.param_groups.append(each)
    return made


def symbols(*, counting: bool = False) -> Any:
    """Where tensors have types and sizes only. Numbers read out of them are symbols; with ``counting`` what is known of them."""
    from torch._subclasses.fake_tensor import FakeTensorMode
    from torch.fx.experimental.symbolic_shapes import ShapeEnv

    return FakeTensorMode(shape_env=None if counting else ShapeEnv(), allow_non_fake_inputs=True)


def kept_by(optimizer: Any, trained: Mapping[str, Any], label: str) -> tuple[list[Kept], dict[str, dict[str, Any]]]:
    """The state of each parameter after one step, and what of it is no tensor. Runs no arithmetic."""
    try:
        with as_if_compiled():
            return _kept_by(optimizer, trained, symbols(), label)
    except InputError as error:
        if not decides_by_data(error.__cause__ or error):
            raise
        return _kept_by(optimizer, trained, symbols(counting=True), label)


def _kept_by(
    optimizer: Any, trained: Mapping[str, Any], mode: Any, label: str
) -> tuple[list[Kept], dict[str, dict[str, Any]]]:
    import torch

    with mode:
        fake = {name: torch.empty(p.shape, dtype=p.dtype) for name, p in trained.items()}
        made = over(optimizer, {id(p): fake[name] for name, p in trained.items()})
        for name, p in trained.items():
            fake[name].grad = torch.empty_like(fake[name])
            already = optimizer.state.get(p, {})
            if already:
                made.state[fake[name]] = {k: _like(v) for k, v in already.items()}
        stepped(made, label)
    found: list[Kept] = []
    others: dict[str, dict[str, Any]] = {}
    for name, tensor in fake.items():
        for key, value in made.state[tensor].items():
            if isinstance(value, torch.Tensor):
                found.append(Kept(name, key, value.dtype, tuple(value.shape)))
            else:
                others.setdefault(name, {})[key] = value
    return found, others


def stepped(optimizer: Any, label: str) -> None:
    """Take the step. InputError with one sentence where it can't be taken on symbols."""
    try:
        optimizer.step()
    except InputError:
        raise
    except Exception as error:
        raise _refusal(error, type(optimizer).__name__, label) from error


def decides_by_data(error: BaseException) -> bool:
    """Whether a trace stopped where a decision depends on the value of a tensor."""
    names = {base.__name__ for base in type(error).__mro__}
    return bool(names & {"GuardOnDataDependentSymNode", "DataDependentOutputException"})


def _refusal(error: Exception, name: str, label: str) -> InputError:
    if decides_by_data(error):
        return InputError(
            f"{label}: the step of {name} decides by the values of a tensor, which no exported graph can: check the gradients "
            "alone, --phase gradient, or another optimiser"
        )
    text = " ".join(str(error).split())[:200]
    return InputError(f"{label}: the step of {name} can't be traced: {type(error).__name__}: {text}")


@contextmanager
def as_if_compiled() -> Iterator[None]:
    """Within this, optimisers keep numbers in tensors instead of reading them out, as under torch.compile."""
    import torch

    before = torch.compiler._is_compiling_flag  # noqa: SLF001 - what torch.compiler.is_compiling looks at
    torch.compiler._is_compiling_flag = True  # noqa: SLF001
    try:
        yield
    finally:
        torch.compiler._is_compiling_flag = before  # noqa: SLF001


def valid(optimizer: Any, trained: Mapping[str, Any], kept: Sequence[Kept]) -> dict[str, tuple[float, float]]:
    """What each tensor of the state may be in any later step, by name.

    Whether one is ever negative is seen in a few real steps with random gradients: means of squares never are.
    """
    signs: dict[str, bool] = {}
    found: dict[str, tuple[float, float]] = {}
    for item in kept:
        if item.counts:
            found[COUNTER] = STEPS
            continue
        if item.key in OWN and not item.shape:
            found[item.name] = OWN[item.key]
            continue
        if item.key not in signs:
            signs.update(
                {key: sign for key, sign in _signs(optimizer, trained[item.owner]).items() if key not in signs}
            )
        most = LARGE if signs.get(item.key, True) else LARGE * LARGE
        most = min(most, _largest(item.dtype))
        found[item.name] = (-most if signs.get(item.key, True) else 0.0, most)
    return found


def _signs(optimizer: Any, parameter: Any) -> dict[str, bool]:
    """Whether each part of the state of a parameter gets negative; empty where the optimiser can't be tried on it alone."""
    import torch

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        alone = torch.zeros(parameter.shape, dtype=parameter.dtype)
        made = over(optimizer, {id(parameter): alone})
        made.state[alone] = copy.deepcopy(optimizer.state.get(parameter, {}))
        found: dict[str, bool] = {}
        try:
            for _ in range(TRIALS):
                alone.grad = torch.randn(parameter.shape, dtype=torch.float32).to(parameter.dtype)
                made.step()
                for key, value in made.state[alone].items():
                    if isinstance(value, torch.Tensor) and value.numel():
                        found[key] = found.get(key, False) or bool((value < 0).any())
        except Exception:  # noqa: BLE001 - it may need its other parameters
            return {}
    return found


def _largest(dtype: Any) -> float:
    import torch

    return float(torch.finfo(dtype).max if dtype.is_floating_point else torch.iinfo(dtype).max)


def _like(value: Any) -> Any:
    import torch

    return torch.empty(value.shape, dtype=value.dtype) if isinstance(value, torch.Tensor) else value
