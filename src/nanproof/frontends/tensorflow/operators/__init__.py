"""TensorFlow's operators in terms of ONNX's, one small file a family; each maps names to translations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanproof.frontends.tensorflow.operators import (
    arithmetic,
    batch_norm,
    convolution,
    elementwise,
    filling,
    flow,
    gradients,
    indexing,
    joining,
    linear,
    lists,
    losses,
    moving,
    pooling,
    random,
    reductions,
    resizing,
    segments,
    shaping,
    slicing,
    steps,
    variables,
)

if TYPE_CHECKING:
    from nanproof.frontends.tensorflow.context import Translation

_FAMILIES = (
    arithmetic, batch_norm, convolution, elementwise, filling, flow, gradients, indexing, joining, linear, lists, losses, moving,
    pooling, random, reductions, resizing, segments, shaping, slicing, steps, variables,
)  # fmt: skip

TRANSLATIONS: dict[str, Translation] = {name: one for family in _FAMILIES for name, one in family.TRANSLATIONS.items()}
"""Every operator that can be written as ONNX."""

HANDLES: frozenset[str] = frozenset(
    {*flow.HANDLES, *lists.HANDLES, *random.HANDLES, *steps.HANDLES, *variables.HANDLES}
)
"""Operators that take variables and lists as such, where others take tensors."""

FLOW: frozenset[str] = frozenset(flow.TRANSLATIONS)
"""Calls of functions, branches and loops."""

SILENT = frozenset({
    "NoOp", "Assert", "Print", "PrintV2", "ControlTrigger", "SaveV2", "MergeV2Checkpoints", "LookupTableImportV2",
    "InitializeTableV2", "InitializeTableFromTextFileV2", "ScalarSummary", "HistogramSummary", "MergeSummary", "ImageSummary",
    "WriteScalarSummary", "AssertNextDataset",
})  # fmt: skip
"""Operators that compute nothing of the model."""
