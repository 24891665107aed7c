"""What all nested graphs of one model have in common: names, stored tensors, open sizes."""

from __future__ import annotations

import onnx

from nanproof.dims import Dim, Size, symbol
from nanproof.frontends.tensorflow.values import Tensor


class Shared:
    """The state of a model that is being written.

    names       how often each name was asked for
    stored      tensors with their elements
    equal       small ones by their elements, so that none is stored twice
    dims        open sizes by how they are written
    foreign     operators without a translation, and how often they came
    declared    types that nothing else says
    transposed  results of transposes, with what was transposed and how
    sources     a tensor and an axis that show an open size
    """

    def __init__(self) -> None:
        self.names: dict[str, int] = {}
        self.stored: list[onnx.TensorProto] = []
        self.equal: dict[tuple[int, tuple[int, ...], bytes], Tensor] = {}
        self.dims: dict[str, Size] = {}
        self.foreign: dict[str, int] = {}
        self.declared: list[onnx.ValueInfoProto] = []
        self.transposed: dict[str, tuple[Tensor, tuple[int, ...]]] = {}
        self.sources: dict[str, tuple[Tensor, int]] = {}

    def unique(self, name: str) -> str:
        """The name itself the first time, then with a number."""
        while True:
            count = self.names.get(name, 0)
            self.names[name] = count + 1
            if not count:
                return name
            name = f"{name}_{count}"

    def open_size(self, name: str = "") -> Dim:
        """A size that isn't known, under a new name unless it has one."""
        text = name or self.unique("open")
        self.dims.setdefault(text, symbol(text))
        found = self.dims[text]
        assert isinstance(found, Dim)
        return found

    def size(self, dim: onnx.TensorShapeProto.Dimension) -> Size:
        """A size as ONNX writes it."""
        if dim.HasField("dim_value"):
            return int(dim.dim_value)
        known = self.dims.get(dim.dim_param)
        return self.open_size() if known is None else known
