"""Operators of older opsets, brought to the form that they have at opset 26.

`ADAPTERS` maps an operator to (version, adapter): a node written for an opset under that version goes through the adapter, which
knows all its older forms. An operator that isn't here has changed at most by new types and by new attributes whose defaults mean what
it meant before; a test compares every version of every schema and holds that this is so.

Why not `onnx.version_converter`: it turns some operators into something else without a word (Hardmax), raises on operators it
doesn't know, drops the metadata that leads back to the user's source, and takes the whole model through a serialised copy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from nanproof.frontends.onnx.adapters import meant, moved

if TYPE_CHECKING:
    from nanproof.frontends.onnx.adapters.context import Adapter

TARGET: Final = 26

_REDUCTIONS: Final = (
    "ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd", "ReduceSumSquare",
)  # fmt: skip
_BINARY: Final = ("Add", "And", "Div", "Equal", "Greater", "Less", "Mul", "Or", "Pow", "Sub", "Xor")

ADAPTERS: Final[dict[str, tuple[int, Adapter]]] = {
    **dict.fromkeys(_BINARY, (7, meant.broadcast)),
    **dict.fromkeys(_REDUCTIONS, (18, moved.axes)),
    **dict.fromkeys(("ReduceSum", "Squeeze", "Unsqueeze"), (13, moved.axes)),
    **dict.fromkeys(("Softmax", "LogSoftmax", "Hardmax"), (13, meant.softmax)),
    **dict.fromkeys(("LSTM", "GRU", "RNN"), (7, meant.recurrent)),
    **dict.fromkeys(("LpPool", "GlobalLpPool"), (2, meant.whole_p)),
    "BatchNormalization": (14, meant.batch_normalization),
    "Cast": (6, meant.cast),
    "Clip": (11, moved.clip),
    "Concat": (4, meant.concat),
    "DFT": (20, moved.dft),
    "Dropout": (12, meant.dropout),
    "Gemm": (7, meant.gemm),
    "GridSample": (20, meant.grid_sample),
    "GroupNormalization": (21, meant.group_normalization),
    "PRelu": (7, meant.prelu),
    "Pad": (11, moved.pad),
    "Reshape": (5, moved.reshape),
    "Resize": (11, meant.resize),
    "RoiAlign": (16, meant.roi_align),
    "Scan": (9, meant.foreign),
    "Scatter": (1 << 31, meant.scatter),
    "Selu": (6, meant.selu),
    "Slice": (10, moved.slice_),
    "Split": (18, moved.split),
    "Tile": (6, meant.foreign),
    "TopK": (10, moved.top_k),
    "Upsample": (1 << 31, meant.resize),
}
