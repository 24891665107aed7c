"""Images in another size."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx import TensorProto

from nanproof.frontends.tensorflow.context import Context, Translation
from nanproof.frontends.tensorflow.operators.windows import Layout
from nanproof.frontends.tensorflow.values import Tensor

if TYPE_CHECKING:
    from nanproof.frontends.tensorflow.graph import Call

_IMAGE = Layout(2, last=True)


def _resized(mode: str) -> Translation:
    def translation(c: Context, call: Call, x: Tensor, size: Tensor) -> Tensor:
        front = _IMAGE.front(c, x)
        if mode != "nearest":
            front = c.cast(front, TensorProto.FLOAT)
        corners, centres = bool(call.get("align_corners", False)), bool(call.get("half_pixel_centers", False))
        how = "align_corners" if corners else "half_pixel" if centres else "asymmetric"
        attributes: dict[str, object] = {"mode": mode, "coordinate_transformation_mode": how}
        if mode == "nearest":
            attributes["nearest_mode"] = "round_prefer_ceil" if corners or centres else "floor"
        elif mode == "cubic":
            attributes["cubic_coeff_a"] = -0.5 if centres else -0.75
            attributes["exclude_outside"] = int(centres)
        made = c.op("Resize", front, None, None, c.int64(size), axes=[2, 3], **attributes)
        return _IMAGE.back(c, made)

    return translation


TRANSLATIONS: dict[str, Translation] = {
    "ResizeBicubic": _resized("cubic"),
    "ResizeBilinear": _resized("linear"),
    "ResizeNearestNeighbor": _resized("nearest"),
}
