"""Between NumPy arrays and PyTorch tensors, for every dtype that both know; what isn't a tensor stays as it is."""

from __future__ import annotations

from typing import Any

# dtypes that NumPy has from ml_dtypes only: they travel as their bits
_BITS = {
    "bfloat16": "int16", "float8_e4m3fn": "uint8", "float8_e4m3fnuz": "uint8", "float8_e5m2": "uint8", "float8_e5m2fnuz": "uint8",
}  # fmt: skip


def to_tensor(value: Any, device: str = "cpu") -> Any:
    """A tensor of its own memory. Strings, sequences and absent values are returned as they are, item by item."""
    import numpy as np
    import torch

    if value is None or isinstance(value, torch.Tensor):
        return value
    if isinstance(value, (list, tuple)):
        return [to_tensor(item, device) for item in value]
    array = np.array(value)
    if array.dtype.kind in "OSU":
        return array
    name = array.dtype.name
    if name in _BITS:
        return torch.from_numpy(array.view(_BITS[name])).view(getattr(torch, name)).to(device)
    if name.startswith(("int4", "uint4", "int2", "uint2")):
        array = array.astype(np.int8 if name.startswith("int") else np.uint8)
    return torch.from_numpy(array).to(device)


def to_array(value: Any) -> Any:
    """The NumPy array of a tensor, without its gradient."""
    import torch

    if isinstance(value, (list, tuple)):
        return [to_array(item) for item in value]
    if not isinstance(value, torch.Tensor):
        return value
    plain = value.detach().cpu()
    name = str(plain.dtype).removeprefix("torch.")
    if name in _BITS:
        import ml_dtypes

        return plain.view(getattr(torch, _BITS[name])).numpy().view(getattr(ml_dtypes, name))
    return plain.numpy()
