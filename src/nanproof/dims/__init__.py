"""Symbolic sizes: polynomials over named dimensions, with the algebra of broadcasting, reshaping, slicing, windows."""

from __future__ import annotations

from nanproof.dims.bounds import Interval, Ranges, at_most, bounds, interval, same
from nanproof.dims.dim import Dim, Size, symbol, symbols
from nanproof.dims.errors import ShapeError
from nanproof.dims.extremes import evaluate, joint, least, most, substitute
from nanproof.dims.lengths import conv_length, slice_length
from nanproof.dims.reshape import divides, reshape
from nanproof.dims.shapes import Shape, broadcast, broadcast_all, concat, merge, merge_shapes, product, show

__all__ = [
    "Dim",
    "Interval",
    "Ranges",
    "Shape",
    "ShapeError",
    "Size",
    "at_most",
    "bounds",
    "broadcast",
    "broadcast_all",
    "concat",
    "conv_length",
    "divides",
    "evaluate",
    "interval",
    "joint",
    "least",
    "merge",
    "merge_shapes",
    "most",
    "product",
    "reshape",
    "same",
    "show",
    "slice_length",
    "substitute",
    "symbol",
    "symbols",
]
