"""Keras's files: .keras archives and .h5. Nothing in them is run unless they are trusted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from nanproof.findings.errors import InputError
from nanproof.frontends.programs.objects import Program
from nanproof.frontends.tensorflow.live import quiet

SUFFIXES = (".keras", ".h5", ".hdf5")


def read(path: Path, *, trust: bool) -> Program:
    """The model in a file. A Lambda layer holds code: it is refused unless the file is trusted."""
    quiet()
    try:
        import keras
    except ModuleNotFoundError as error:
        if error.name not in {"keras", "tensorflow"}:
            raise
        raise InputError(f"{path}: reading Keras models needs TensorFlow: pip install 'nanproof[tensorflow]'") from None
    try:
        return Program(keras.saving.load_model(path, compile=False, safe_mode=not trust))
    except Exception as error:
        raise _complaint(path, error, trust=trust) from error


def _complaint(path: Path, error: Exception, *, trust: bool) -> InputError:
    text = " ".join(str(error).split())
    if not trust and ("Lambda" in text or "lambda" in text) and "safe" in text:
        return InputError(
            f"{path} holds a Lambda layer, whose code runs when the model is loaded: say --trust if you trust where it comes from"
        )
    if "Could not locate" in text or "Unknown layer" in text or "is not a KerasSaveable" in text:
        return InputError(
            f"{path} uses a class of your own: name a function that imports it and loads the model, file.py:NAME ({text[:160]})"
        )
    return InputError(f"{path} can't be loaded as a Keras model: {_reason(error, text)}")


def _reason(error: Any, text: str) -> str:
    return f"{type(error).__name__}: {text[:200].rstrip('.')}" if text else type(error).__name__
