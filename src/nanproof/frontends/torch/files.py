"""PyTorch's files: exported programs (.pt2), and pickles that hold a whole module."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from nanproof.findings.errors import InputError
from nanproof.frontends.programs.objects import Program


def read(path: Path, *, trust: bool) -> Program:
    """The program in a file. A pickle may run any code; nothing is unpickled unless it is trusted."""
    import torch

    if path.suffix.lower() == ".pt2":
        try:
            return Program(torch.export.load(path))
        except Exception as error:
            raise InputError(f"{path} is no exported program, or it is damaged: {_reason(error)}") from error
    if not trust:
        raise InputError(f"{path} is a pickle, which can run any code when it is loaded: say --trust")
    try:
        found = torch.load(path, map_location="cpu", weights_only=False)
    except Exception as error:
        raise InputError(f"{path} can't be loaded: {_reason(error)}") from error
    if isinstance(found, torch.jit.ScriptModule):
        raise InputError(
            f"{path} is a TorchScript module: export it with torch.export.save from the program that made it"
        )
    if not isinstance(found, torch.nn.Module):
        raise InputError(
            f"{path} holds {_what(found)}, no module: name a function that makes the module and loads them, file.py:NAME"
        )
    return Program(found)


def _what(found: Any) -> str:
    return "weights only" if isinstance(found, dict) else f"a {type(found).__name__}"


def _reason(error: Exception) -> str:
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text[:200]}" if text else type(error).__name__
