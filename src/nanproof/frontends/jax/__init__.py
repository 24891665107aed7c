"""JAX: functions of arrays, jitted ones, their gradients, modules that are trees of arrays -> ONNX with the user's own lines."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from nanproof.frontends.leaves import Exported
    from nanproof.frontends.programs.objects import Program
    from nanproof.frontends.request import Request

_CLASSES = ("PjitFunction", "custom_jvp", "custom_vjp")
_PACKAGES = frozenset({"jax", "jaxlib", "flax", "equinox", "haiku", "optax", "distrax", "dm_pix", "jaxtyping"})


def matches(program: Program) -> bool:
    """Whether the program is a function of JAX arrays: by its example inputs, or by what it is made of."""
    jax = sys.modules.get("jax")
    if jax is None or not callable(program.model):
        return False
    if type(program.model).__name__ in _CLASSES:
        return True
    leaves = jax.tree_util.tree_leaves((program.inputs, dict(program.kwargs), program.model))
    if any(isinstance(leaf, (jax.Array, jax.ShapeDtypeStruct, np.ndarray)) for leaf in leaves):
        return True
    return _uses_jax(program.model)


def export(program: Program, request: Request, label: str) -> Exported:
    """The program as ONNX."""
    from nanproof.frontends.jax.exporting import exported

    return exported(program, request, label)


def _uses_jax(model: Any) -> bool:
    """Whether a function comes from a module that uses JAX, or is wrapped by JAX itself."""
    seen = 0
    while model is not None and seen < 8:
        owner = getattr(model, "__module__", None) or ""
        if owner.split(".", 1)[0] in _PACKAGES:
            return True
        for value in getattr(model, "__globals__", {}).values():
            name = getattr(value, "__module__", None) or getattr(value, "__name__", "")
            if isinstance(name, str) and name.split(".", 1)[0] in _PACKAGES:
                return True
        model, seen = getattr(model, "__wrapped__", None), seen + 1
    return False
