"""A model as PyTorch computes it: in float64, to tell which of two results is off, and with gradients.

Both are extras of the second verification. Without PyTorch they are left out, and said to be.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nanproof.execution.torch_program import TorchProgram
    from nanproof.model.graph import Model

Point = Mapping[str, Any]


class TorchModel:
    """Some values of a model as functions of some of its initial values, in PyTorch."""

    def __init__(self, built: TorchProgram, names: tuple[str, ...]) -> None:
        self._built, self._names = built, names

    def values(self, point: Point) -> list[Any] | None:
        """The values at a point; None where PyTorch can't say."""
        import torch

        from nanproof.numerics.tensors import to_array, to_tensor

        try:
            with torch.no_grad():
                found, _ = self._built([_widened(to_tensor(point[n]), self._built.wide) for n in self._names])
        except Exception:  # noqa: BLE001 - whatever an operator raises for what it is given
            return None
        return [to_array(value) for value in found]

    def gradients(self, point: Point) -> dict[str, Any] | None:
        """The gradient of the sum of all values by each initial value that is a float and has a part in it."""
        import torch

        from nanproof.numerics.tensors import to_array, to_tensor

        try:
            given = [_widened(to_tensor(point[n]), self._built.wide) for n in self._names]
            free = {
                n: v.requires_grad_()
                for n, v in zip(self._names, given, strict=True)
                if isinstance(v, torch.Tensor) and v.is_floating_point()
            }
            found, _ = self._built(given)
            floats = [v for v in found if isinstance(v, torch.Tensor) and v.is_floating_point() and v.requires_grad]
            if not floats or not free:
                return {}
            total = torch.stack([v.to(torch.float64).sum() for v in floats]).sum()
            made = torch.autograd.grad(total, list(free.values()), allow_unused=True)
        except Exception:  # noqa: BLE001 - as above
            return None
        return {name: to_array(g) for name, g in zip(free, made, strict=True) if g is not None}


def available() -> bool:
    """Whether PyTorch is installed; it isn't imported for that."""
    return importlib.util.find_spec("torch") is not None


def torch_model(model: Model, names: Sequence[str], taps: Sequence[str], *, wide: bool = False) -> TorchModel | None:
    """A model as PyTorch computes it; None where it can't."""
    from nanproof.execution.onnx_runtime import CannotRunError
    from nanproof.execution.torch_program import built
    from nanproof.model.lower import lower
    from nanproof.ops import lookup

    program = lower(model, lookup)
    slots = {name: slot for slot, name in program.initial.items()}
    known = tuple(name for name in names if name in slots)
    made = {program.names[slot]: slot for slot in _all_outputs(program)} | slots
    if not all(tap in made for tap in taps):
        return None
    try:
        whole = built(program, {}, [slots[n] for n in known], taps=[made[t] for t in taps], wide=wide)
    except (CannotRunError, RuntimeError, KeyError, NotImplementedError):
        return None
    return TorchModel(whole, known)


def _all_outputs(program: Any) -> list[int]:
    return [slot for step in program.steps for slot in step.outputs if slot >= 0]


def _widened(value: Any, wide: bool) -> Any:
    import torch

    return value.double() if wide and isinstance(value, torch.Tensor) and value.is_floating_point() else value
