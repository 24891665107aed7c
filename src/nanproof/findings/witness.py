"""The concrete tensors that make a site fail."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Witness:
    """What was seen to fail, and where. ``test`` and ``tensors`` are paths, None where no files were asked for."""

    summary: str
    """The tensors and what they give, in a few words: 'x = [0, 0, 104] gives -inf'."""
    runtime: str
    """Who computed it: 'onnxruntime', 'reference' (the ONNX reference evaluator), 'torch'."""
    outputs: tuple[str, ...] = ()
    """The outputs of the model that aren't finite then; none where the failure stays inside."""
    test: str | None = None
    tensors: str | None = None
