"""Half precision and below: epsilons that vanish, sums and squares that overflow, casts that don't fit."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from ..case import Case, Input


class HalfShares(nn.Module):
    """M37: 1e-20 is 0 in float16."""

    def forward(self, w: Tensor) -> Tensor:
        return w / (w.sum(-1, keepdim=True) + 1e-20)


class HalfSharesSafe(nn.Module):
    """Repaired: the division in float32."""

    def forward(self, w: Tensor) -> Tensor:
        wide = w.float()
        return (wide / (wide.sum(-1, keepdim=True) + 1e-20)).half()


class ScaleOfScales(nn.Module):
    """M42: a block's scale, in units of the largest one, cast to an 8-bit float without infinities."""

    def forward(self, block: Tensor, most: Tensor) -> Tensor:
        held = torch.where(block == 0, 1.0, block)
        return (held * 448.0 / (most / 6.0)).to(torch.float8_e4m3fn).float()


class ScaleOfScalesSafe(nn.Module):
    """Repaired: at most 448 before the cast."""

    def forward(self, block: Tensor, most: Tensor) -> Tensor:
        held = torch.where(block == 0, 1.0, block)
        return torch.clip(held * 448.0 / (most / 6.0), max=448.0).to(torch.float8_e4m3fn).float()


class FeatureMap(nn.Module):
    """M55: elu(x) + 1 is exactly 0 in bfloat16 where it should be 3e-4."""

    def forward(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        q, k = F.elu(q) + 1, F.elu(k) + 1
        return (q @ (k.t() @ v)) / (q @ k.sum(0, keepdim=True).t())


class FeatureMapSafe(nn.Module):
    """Repaired: the negative branch as an exponential."""

    def forward(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        q, k = (torch.where(x > 0, x + 1, torch.exp(torch.clip(x, max=0.0))) for x in (q, k))
        return (q @ (k.t() @ v)) / (q @ k.sum(0, keepdim=True).t())


class Normalised(nn.Module):
    """M56: the default epsilon of the framework's function, 1e-12, is 0 in float16."""

    def forward(self, x: Tensor) -> Tensor:
        return F.normalize(x)


class NormalisedSafe(nn.Module):
    """Repaired: an epsilon that float16 has."""

    def forward(self, x: Tensor) -> Tensor:
        return F.normalize(x, eps=1e-4)


class Descriptors(nn.Module):
    """M58: 1e-10 is added before a row is divided by its norm."""

    def forward(self, d: Tensor) -> Tensor:
        shifted = d + 1e-10
        return shifted / torch.sqrt((shifted * shifted).sum(1, keepdim=True))


class DescriptorsSafe(nn.Module):
    """Repaired: the norm in float32, and the epsilon in it."""

    def forward(self, d: Tensor) -> Tensor:
        wide = d.float()
        return (wide / torch.sqrt((wide * wide).sum(1, keepdim=True) + 1e-10)).half()


class Scores(nn.Module):
    """M59: scores stretched to [0, 1], which may all be the same."""

    def forward(self, s: Tensor) -> Tensor:
        low, high = s.amin(-1, keepdim=True), s.amax(-1, keepdim=True)
        return (s - low) / (high - low + 1e-8)


class ScoresSafe(nn.Module):
    """Repaired: the divisor is at least 1e-3."""

    def forward(self, s: Tensor) -> Tensor:
        low, high = s.amin(-1, keepdim=True), s.amax(-1, keepdim=True)
        return (s - low) / torch.clip(high - low, min=1e-3)


class Converted(nn.Module):
    """M62: two guarded divisions whose epsilons vanish when the model is converted."""

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        return x / torch.clip(y, min=1e-9) + x / (y + 1e-12)


class ConvertedSafe(nn.Module):
    """Repaired: the least normal float16 as epsilon."""

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        return x / torch.clip(y, min=6.104e-05) + x / (y + 6.104e-05)


class Standardised(nn.Module):
    """M63: 0 times the reciprocal root of 0."""

    def forward(self, x: Tensor) -> Tensor:
        return x * torch.rsqrt(x.var(-1, keepdim=True, correction=0) + 1e-9)


class StandardisedSafe(nn.Module):
    """Repaired: the variance in float32."""

    def forward(self, x: Tensor) -> Tensor:
        wide = x.float()
        return (wide * torch.rsqrt(wide.var(-1, keepdim=True, correction=0) + 1e-9)).half()


class Residual(nn.Module):
    """M67: the sum of a residual stream overflows, and the norm multiplies infinity by 0."""

    def forward(self, r: Tensor, ff: Tensor) -> Tensor:
        wide = (r + ff).float()
        return (wide * torch.rsqrt((wide * wide).mean(-1, keepdim=True) + 1e-6)).half()


class ResidualSafe(nn.Module):
    """Repaired: the sum in float32, clipped to what float16 holds."""

    def forward(self, r: Tensor, ff: Tensor) -> Tensor:
        wide = torch.clip(r.float() + ff.float(), -64504.0, 64504.0).half().float()
        return (wide * torch.rsqrt((wide * wide).mean(-1, keepdim=True) + 1e-6)).half()


class HalfSquares(nn.Module):
    """M69: squares in float16 overflow from 256 on, and the output is all 0."""

    def forward(self, x: Tensor) -> Tensor:
        return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-5)


class HalfSquaresSafe(nn.Module):
    """Repaired: squares in float32."""

    def forward(self, x: Tensor) -> Tensor:
        wide = x.float()
        return (wide * torch.rsqrt((wide * wide).mean(-1, keepdim=True) + 1e-5)).half()


class LongMean(nn.Module):
    """M71: a mean that became a sum and a count, both in float16."""

    def forward(self, x: Tensor) -> Tensor:
        count = torch.tensor(float(x.shape[0] * x.shape[1])).half()
        return x.sum() / count


class LongMeanSafe(nn.Module):
    """Repaired: in float32."""

    def forward(self, x: Tensor) -> Tensor:
        return x.float().mean().half()


class Growth(nn.Module):
    """M73: large gains after every norm push the residual stream past float16."""

    layers, clipped = 26, False

    def __init__(self) -> None:
        super().__init__()
        self.gains = nn.Parameter(torch.full((self.layers, 64), 1.0))

    def forward(self, h: Tensor) -> Tensor:
        for layer in range(self.layers):
            wide = h.float()
            normed = wide * torch.rsqrt((wide * wide).mean(-1, keepdim=True) + 1e-6)
            added = (normed * (1 + self.gains[layer])).half()
            h = torch.clip(h.float() + added.float(), -65504.0, 65504.0).half() if self.clipped else h + added
        return h


class GrowthSafe(Growth):
    """Repaired: clipped after every layer."""

    clipped = True


class HalfMask(nn.Module):
    """M74: -1e9 is -Inf in float16, and a row may be all padding."""

    def forward(self, s: Tensor, padding: Tensor) -> Tensor:
        mask = torch.where(padding, torch.tensor(-1e9), 0.0).half()
        return torch.softmax(s + mask, -1)


class HalfMaskSafe(nn.Module):
    """Repaired: a number that float16 has."""

    def forward(self, s: Tensor, padding: Tensor) -> Tensor:
        return torch.softmax(torch.where(padding, torch.full_like(s, -60000.0), s), -1)


class BlockSums(nn.Module):
    """M77: the sum of 32 activations, kept in float16."""

    def forward(self, x: Tensor) -> Tensor:
        return x.reshape(-1, 32).sum(1).half()


class BlockSumsSafe(nn.Module):
    """Repaired: clipped to what float16 holds."""

    def forward(self, x: Tensor) -> Tensor:
        return torch.clip(x.reshape(-1, 32).sum(1), -65504.0, 65504.0).half()


class Quantised(nn.Module):
    """M81: a scale that is 0 in float16 if the weights lie close together."""

    def forward(self, w: Tensor) -> Tensor:
        scale = ((w.amax(-1, keepdim=True) - w.amin(-1, keepdim=True)) / 15).half()
        return torch.round(w / scale)


class QuantisedSafe(nn.Module):
    """Repaired: the scale in float32, and at least 1e-7."""

    def forward(self, w: Tensor) -> Tensor:
        scale = (w.amax(-1, keepdim=True) - w.amin(-1, keepdim=True)) / 15
        return torch.round(w / torch.clip(scale, min=1e-7))


CASES = (
    Case(
        id="M37", title="1e-20 in half precision", source="sgl-project/sglang PR 31017", framework="PyTorch",
        defective=HalfShares, repaired=HalfSharesSafe, repair="the division in float32",
        inputs=(Input("w", (4, 8), (0.0, 1.0), "float16"),), codes=("NP103", "NP4"), trigger={"w": 0.0},
    ),
    Case(
        id="M42", title="scale of scales in an 8-bit float", source="NVIDIA/Model-Optimizer PR 1397", framework="PyTorch",
        defective=ScaleOfScales, repaired=ScaleOfScalesSafe, repair="at most 448 before the cast",
        inputs=(Input("block", (16,), (0.0, 1.0)), Input("most", (1,), (0.01, 100.0))), codes=("NP209",), masked=True,
        notes="PyTorch 2.13 saturates on a CPU, other casts give NaN.",
    ),
    Case(
        id="M55", title="elu(x) + 1 in bfloat16", source="fla-org/flash-linear-attention#1261", framework="PyTorch",
        defective=FeatureMap, repaired=FeatureMapSafe, repair="the negative branch as an exponential",
        inputs=tuple(Input(name, (6, 8), (-10.0, 10.0), "bfloat16") for name in "qkv"), codes=("NP103",), trigger={"q": -8.0},
    ),
    Case(
        id="M56", title="default epsilon of normalize in float16", source="pytorch/pytorch#32137", framework="PyTorch",
        defective=Normalised, repaired=NormalisedSafe, repair="an epsilon that float16 has",
        inputs=(Input("x", (4, 16), (-1.0, 1.0), "float16"),), codes=("NP103", "NP4"), trigger={"x": 0.0},
    ),
    Case(
        id="M58", title="1e-10 before a norm", source="kornia/kornia#4224", framework="PyTorch",
        defective=Descriptors, repaired=DescriptorsSafe, repair="the norm in float32 with the epsilon in it",
        inputs=(Input("d", (2, 128), (-1.0, 1.0), "float16"),), codes=("NP103", "NP4"), trigger={"d": 0.0},
    ),
    Case(
        id="M59", title="scores stretched to [0, 1] in float16", source="lightonai/pylate#239", framework="PyTorch",
        defective=Scores, repaired=ScoresSafe, repair="the divisor is at least 1e-3",
        inputs=(Input("s", (4, 16), (0.0, 32.0), "float16"),), codes=("NP103", "NP4"), trigger={"s": 3.0},
    ),
    Case(
        id="M62", title="guards that conversion removes", source="openvinotoolkit/openvino PR 8676", framework="ONNX",
        defective=Converted, repaired=ConvertedSafe, repair="the least normal float16 as epsilon",
        inputs=(Input("x", (8,), (0.0, 1.0), "float16"), Input("y", (8,), (0.0, 1.0), "float16")), codes=("NP103", "NP4"),
        trigger={"x": 0.0, "y": 0.0},
    ),
    Case(
        id="M63", title="0 times the reciprocal root of 0", source="pytorch/pytorch#183605", framework="PyTorch",
        defective=Standardised, repaired=StandardisedSafe, repair="the variance in float32",
        inputs=(Input("x", (3, 5), (-1.0, 1.0), "float16"),), codes=("NP104", "NP103", "NP4"), trigger={"x": 1e-10},
    ),
    Case(
        id="M67", title="residual stream past float16", source="huggingface/transformers PR 19229", framework="PyTorch",
        defective=Residual, repaired=ResidualSafe, repair="clipped to what float16 holds",
        inputs=(Input("r", (2, 64), (-60000.0, 60000.0), "float16"), Input("ff", (2, 64), (-60000.0, 60000.0), "float16")),
        codes=("NP203",), trigger={"r": 60000.0, "ff": 60000.0},
    ),
    Case(
        id="M69", title="squares of an RMS norm in float16", source="pytorch/pytorch PR 134106", framework="PyTorch",
        defective=HalfSquares, repaired=HalfSquaresSafe, repair="squares in float32",
        inputs=(Input("x", (2, 64), (-1000.0, 1000.0), "float16"),), codes=("NP204", "NP202", "NP207"), masked=True,
        notes="The infinity ends in 1 / inf: the output is all 0.",
    ),
    Case(
        id="M71", title="mean of 262,144 numbers in float16", source="microsoft/onnxconverter-common#323", framework="ONNX",
        defective=LongMean, repaired=LongMeanSafe, repair="in float32",
        inputs=(Input("x", (512, 512), (0.0, 1.0), "float16"),), codes=("NP207", "NP209"), trigger={"x": 0.5},
    ),
    Case(
        id="M73", title="gains that push a residual stream past float16", source="huggingface/transformers#39972",
        framework="PyTorch", defective=Growth, repaired=GrowthSafe, repair="clipped after every layer",
        inputs=(Input("h", (2, 64), (-1000.0, 1000.0), "float16"), Input("gains", (26, 64), (0.0, 500.0))), codes=("NP203",),
        trigger={"h": [[1000.0] + [0.0] * 63] * 2, "gains": 500.0}, notes="gains are weights.",
    ),
    Case(
        id="M74", title="-1e9 as a mask in float16", source="jundot/omlx PR 3633", framework="MLX",
        defective=HalfMask, repaired=HalfMaskSafe, repair="a number that float16 has",
        inputs=(Input("s", (2, 4, 8), (-20.0, 20.0), "float16"), Input("padding", (2, 1, 8), (0.0, 1.0), "bool")),
        codes=("NP209", "NP117"), trigger={"padding": True},
    ),
    Case(
        id="M77", title="sum of a block in half precision", source="ggml-org/llama.cpp PR 21652", framework="llama.cpp",
        defective=BlockSums, repaired=BlockSumsSafe, repair="clipped to what float16 holds",
        inputs=(Input("x", (4, 32), (-4000.0, 4000.0)),), codes=("NP209",), trigger={"x": 3000.0},
    ),
    Case(
        id="M81", title="quantisation scale that vanishes", source="intel/auto-round#207", framework="PyTorch",
        defective=Quantised, repaired=QuantisedSafe, repair="float32, and at least 1e-7",
        inputs=(Input("w", (4, 64), (-1.0, 1.0)),), codes=("NP103", "NP4"), trigger={"w": 1e-9},
    ),
)  # fmt: skip
