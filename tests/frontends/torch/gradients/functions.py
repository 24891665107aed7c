"""Functions of tensors: activations, pooling, padding, indexing, shapes, linear algebra."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from .case import Case, Function2, of, weighed


def _two(name: str, function: object, first: tuple[int, ...], second: tuple[int, ...]) -> Case:
    def make() -> tuple[nn.Module, tuple[Tensor, ...], object]:
        return Function2(function), (torch.randn(first).requires_grad_(), torch.randn(second).requires_grad_()), weighed  # type: ignore[arg-type]

    return Case(name, make)  # type: ignore[arg-type]


def _index(x: Tensor) -> Tensor:
    return x[torch.tensor([0, 2, 1, 0]), torch.tensor([1, 1, 3, 0])]


def _written(x: Tensor) -> Tensor:
    y = torch.zeros_like(x)
    y[1:] = x[:-1] * 2.0
    return y


def _grid(x: Tensor) -> Tensor:
    theta = torch.tensor([[[0.9, 0.1, 0.0], [-0.1, 0.8, 0.1]]]).expand(x.shape[0], 2, 3)
    return F.grid_sample(x, F.affine_grid(theta, list(x.shape), align_corners=False), align_corners=False)


ACTIVATIONS: tuple[Case, ...] = (
    of("relu", F.relu), of("leaky_relu", F.leaky_relu), of("relu6", lambda x: F.relu6(x * 5)), of("elu", F.elu),
    of("celu", F.celu), of("selu", F.selu), of("gelu", F.gelu), of("gelu tanh", lambda x: F.gelu(x, approximate="tanh")),
    of("silu", F.silu), of("mish", F.mish), of("softplus", F.softplus), of("softsign", F.softsign),
    of("logsigmoid", F.logsigmoid), of("hardtanh", F.hardtanh), of("hardsigmoid", lambda x: F.hardsigmoid(x * 2)),
    of("hardswish", lambda x: F.hardswish(x * 2)), of("hardshrink", F.hardshrink), of("softshrink", F.softshrink),
    of("tanhshrink", F.tanhshrink), of("threshold", lambda x: F.threshold(x, 0.1, 0.2)), of("glu", F.glu, 3, 6),
    of("softmax", lambda x: F.softmax(x, -1)), of("log_softmax", lambda x: F.log_softmax(x, 0)),
    of("softmin", lambda x: F.softmin(x, -1)), of("logsumexp", lambda x: torch.logsumexp(x, -1)),
    of("sigmoid", torch.sigmoid), of("tanh", torch.tanh),
)  # fmt: skip
MATHEMATICS: tuple[Case, ...] = (
    of("exp", torch.exp), of("expm1", torch.expm1), of("log", torch.log, low=0.1), of("log1p", torch.log1p, low=-0.5),
    of("sqrt", torch.sqrt, low=0.1), of("rsqrt", torch.rsqrt, low=0.1), of("reciprocal", torch.reciprocal, low=0.5),
    of("pow 3", lambda x: x**3), of("pow 2.5", lambda x: x**2.5, low=0.1), of("abs", torch.abs), of("sign", lambda x: x * torch.sign(x)),
    of("sin and cos", lambda x: torch.sin(x) * torch.cos(x)), of("tan", torch.tan, low=-1.0, high=1.0),
    of("asin", torch.asin, low=-0.9, high=0.9), of("acos", torch.acos, low=-0.9, high=0.9), of("atan", torch.atan),
    of("sinh", torch.sinh), of("cosh", torch.cosh), of("asinh", torch.asinh), of("acosh", torch.acosh, low=1.1, high=3.0),
    of("atanh", torch.atanh, low=-0.9, high=0.9), of("erf", torch.erf), of("xlogy", lambda x: torch.xlogy(x, x), low=0.1),
    _two("atan2", torch.atan2, (3, 4), (3, 4)), _two("hypot", torch.hypot, (3, 4), (3, 4)),
    _two("logaddexp", torch.logaddexp, (3, 4), (3, 4)), _two("maximum", torch.maximum, (3, 4), (3, 4)),
    _two("division", torch.div, (3, 4), (4,)), _two("pow of tensors", lambda x, y: x.abs() ** y, (3, 4), (3, 4)),
    of("clamp", lambda x: x.clamp(-1.0, 1.0)), of("nan_to_num", torch.nan_to_num), of("frac", torch.frac),
    of("lgamma", torch.lgamma, low=0.5, high=3.0, unsupported="lgamma"),
    of("erfinv", torch.erfinv, low=-0.9, high=0.9, unsupported="erf_inv"),
)  # fmt: skip
REDUCTIONS: tuple[Case, ...] = (
    of("sum", lambda x: x.sum(-1)), of("mean", lambda x: x.mean(0)), of("prod", lambda x: x.prod(-1)),
    of("max over an axis", lambda x: x.max(-1).values), of("max of all", lambda x: x.max()[None]), of("amin", lambda x: x.amin(0)),
    of("median", lambda x: x.median(-1).values), of("std", lambda x: x.std(-1)), of("var", lambda x: x.var(0, unbiased=False)),
    of("norm", lambda x: x.norm(dim=-1)), of("norm 1", lambda x: x.norm(p=1, dim=-1)), of("norm 3", lambda x: x.norm(p=3, dim=-1)),
    of("normalize", lambda x: F.normalize(x, dim=-1)), of("cumsum", lambda x: x.cumsum(-1)), of("cumprod", lambda x: x.cumprod(-1)),
    of("topk", lambda x: x.topk(2, -1).values), of("sort", lambda x: x.sort(-1).values),
    of("cosine similarity", lambda x: F.cosine_similarity(x, x.flip(0), dim=-1)), of("cdist", lambda x: torch.cdist(x, x[:2] + 0.5)),
    of("pairwise distance", lambda x: F.pairwise_distance(x, x.flip(0))),
    of("pdist", torch.pdist),
)  # fmt: skip
SPATIAL: tuple[Case, ...] = (
    of("max_pool1d", lambda x: F.max_pool1d(x, 2), 2, 3, 8), of("max_pool2d", lambda x: F.max_pool2d(x, 2), 2, 3, 6, 6),
    of("max_pool2d that overlaps", lambda x: F.max_pool2d(x, 3, 2, 1), 2, 3, 7, 7), of("avg_pool1d", lambda x: F.avg_pool1d(x, 2), 2, 3, 8),
    of("avg_pool2d", lambda x: F.avg_pool2d(x, 2), 2, 3, 6, 6), of("avg_pool2d with padding", lambda x: F.avg_pool2d(x, 3, 2, 1), 2, 3, 7, 7),
    of("avg_pool3d", lambda x: F.avg_pool3d(x, 2), 1, 2, 4, 4, 4),
    of("adaptive_avg_pool2d", lambda x: F.adaptive_avg_pool2d(x, (2, 3)), 2, 3, 6, 6),
    of("adaptive_avg_pool2d uneven", lambda x: F.adaptive_avg_pool2d(x, 3), 2, 3, 7, 8),
    of("adaptive_max_pool2d", lambda x: F.adaptive_max_pool2d(x, 2), 2, 3, 6, 6),
    of("lp_pool2d", lambda x: F.lp_pool2d(x, 2, 2), 2, 3, 6, 6, low=0.2),
    of("interpolate nearest", lambda x: F.interpolate(x, scale_factor=2.0), 2, 3, 4, 4),
    of("interpolate bilinear", lambda x: F.interpolate(x, size=(7, 5), mode="bilinear", align_corners=False), 2, 3, 4, 4),
    of("pad", lambda x: F.pad(x, (1, 2, 0, 1))), of("pad reflect", lambda x: F.pad(x, (1, 1, 1, 1), mode="reflect"), 1, 2, 5, 5),
    of("pad replicate", lambda x: F.pad(x, (1, 1, 1, 1), mode="replicate"), 1, 2, 5, 5),
    of("pad circular", lambda x: F.pad(x, (1, 1, 1, 1), mode="circular"), 1, 2, 5, 5),
    of("pixel_shuffle", lambda x: F.pixel_shuffle(x, 2), 1, 4, 3, 3), of("unfold", lambda x: F.unfold(x, 2), 1, 2, 4, 4),
    of("fold", lambda x: F.fold(F.unfold(x, 2), (4, 4), 2), 1, 2, 4, 4),
    of("grid_sample", _grid, 2, 3, 5, 5),
)  # fmt: skip
SHAPES: tuple[Case, ...] = (
    of("reshape and transpose", lambda x: x.reshape(5, 3).t() * x), of("expand", lambda x: x[:, None].expand(3, 4, 5) * 2.0),
    of("split and cat", lambda x: torch.cat([part * i for i, part in enumerate(x.split(2, 1))], 1)), of("stack", lambda x: torch.stack((x, x * x))),
    of("slice", lambda x: x[1:, ::2]), of("flip and roll", lambda x: x.flip(-1) * x.roll(1, 0)), of("indexing by tensors", _index),
    of("gather", lambda x: x.gather(1, torch.tensor([[0, 0], [1, 2], [4, 3]]))),
    of("index_select", lambda x: x.index_select(0, torch.tensor([2, 0, 0]))),
    of("scatter_add", lambda x: torch.zeros(3, 5).scatter_add(1, torch.tensor([[0, 1, 0, 2, 2]] * 3), x)),
    of("masked_fill", lambda x: x.masked_fill(x > 0.5, 0.0)), of("masked softmax", lambda x: x.masked_fill(x > 1.5, -torch.inf).softmax(-1)),
    of("where", lambda x: torch.where(x > 0, x * x, -x)), of("tril", lambda x: x.tril() * 2.0), of("diagonal", lambda x: x.diagonal() * 2.0),
    of("in place", lambda x: (x * 2.0).add_(1.0).mul_(x)), of("write to a slice", _written),
    of("detach", lambda x: x * x.detach()), of("repeat_interleave", lambda x: x.repeat_interleave(2, 0)), of("unbind", lambda x: x.unbind(0)[1] * 2),
)  # fmt: skip
ALGEBRA: tuple[Case, ...] = (
    _two("matmul", torch.matmul, (3, 4), (4, 2)), _two("bmm", torch.bmm, (2, 3, 4), (2, 4, 2)),
    _two("einsum", lambda x, y: torch.einsum("bij,bkj->bik", x, y), (2, 3, 4), (2, 5, 4)), _two("outer", torch.outer, (3,), (4,)),
    _two("cross", torch.linalg.cross, (5, 3), (5, 3)),
    of("inverse", lambda x: torch.linalg.inv(x + 5 * torch.eye(3)), 3, 3, unsupported="inv"),
    of("svd", lambda x: torch.linalg.svd(x, full_matrices=False)[0], 4, 3, unsupported="svd"),
    of("cholesky", lambda x: torch.linalg.cholesky(x @ x.t() + torch.eye(3)), 3, 3, unsupported="cholesky"),
    of("fft", lambda x: torch.fft.rfft(x).abs(), unsupported="fft"),
)  # fmt: skip


CASES: tuple[Case, ...] = (*ACTIVATIONS, *MATHEMATICS, *REDUCTIONS, *SPATIAL, *SHAPES, *ALGEBRA)
