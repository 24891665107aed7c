"""Layers of torch.nn."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from .case import Case, layer, normal, whole


class TiedWeights(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(7, 4)
        self.head = nn.Linear(4, 7, bias=False)
        self.head.weight = self.embedding.weight

    def forward(self, tokens: Tensor) -> Tensor:
        return self.head(self.embedding(tokens))


class UnusedWeight(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.used, self.idle = nn.Linear(4, 3), nn.Linear(4, 3)

    def forward(self, x: Tensor) -> Tensor:
        return self.used(x)


class Frozen(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.body, self.head = nn.Linear(4, 5), nn.Linear(5, 3)
        self.body.requires_grad_(False)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(torch.tanh(self.body(x)))


class Attend(nn.Module):
    def __init__(self, mask: bool = False, causal: bool = False) -> None:
        super().__init__()
        self.qkv, self.mask, self.causal = nn.Linear(8, 24), mask, causal

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = self.qkv(x).unflatten(-1, (3, 2, 4)).permute(2, 0, 3, 1, 4)
        mask = torch.ones(x.shape[1], x.shape[1]).tril() > 0 if self.mask else None
        return F.scaled_dot_product_attention(q, k, v, attn_mask=mask, is_causal=self.causal)


class SelfAttention(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.attention = nn.MultiheadAttention(8, 2, batch_first=True)

    def forward(self, x: Tensor) -> Tensor:
        return self.attention(x, x, x)[0]


CASES: tuple[Case, ...] = (
    layer("Linear", lambda: nn.Linear(4, 3), normal(5, 4)),
    layer("Linear without bias", lambda: nn.Linear(4, 3, bias=False), normal(2, 5, 4)),
    layer("Bilinear", lambda: nn.Bilinear(3, 4, 2), normal(5, 3), normal(5, 4)),
    layer("Embedding", lambda: nn.Embedding(7, 4), whole(7, 3, 5)),
    layer("Embedding with padding", lambda: nn.Embedding(7, 4, padding_idx=0), whole(7, 3, 5)),
    layer("tied weights", TiedWeights, whole(7, 3, 5)),
    layer("an unused weight", UnusedWeight, normal(5, 4)),
    layer("frozen weights", Frozen, normal(5, 4)),
    layer("Conv1d", lambda: nn.Conv1d(3, 4, 3, padding=1), normal(2, 3, 9)),
    layer("Conv2d", lambda: nn.Conv2d(3, 4, 3), normal(2, 3, 8, 8)),
    layer("Conv2d with stride", lambda: nn.Conv2d(3, 4, 3, stride=2, padding=1), normal(2, 3, 9, 8)),
    layer("Conv2d dilated", lambda: nn.Conv2d(2, 4, 3, dilation=2, padding=2), normal(2, 2, 8, 8)),
    layer("Conv2d in groups", lambda: nn.Conv2d(4, 6, 3, groups=2), normal(2, 4, 7, 7)),
    layer("Conv2d depthwise", lambda: nn.Conv2d(4, 4, 3, groups=4, bias=False), normal(2, 4, 7, 7)),
    layer("Conv3d", lambda: nn.Conv3d(2, 3, 2), normal(1, 2, 4, 5, 4)),
    layer("ConvTranspose1d", lambda: nn.ConvTranspose1d(3, 2, 3, stride=2), normal(2, 3, 5)),
    layer("ConvTranspose2d", lambda: nn.ConvTranspose2d(3, 2, 3, stride=2, padding=1, output_padding=1), normal(2, 3, 4, 4)),
    layer("BatchNorm1d", lambda: nn.BatchNorm1d(4), normal(6, 4)),
    layer("BatchNorm2d", lambda: nn.BatchNorm2d(3), normal(4, 3, 5, 5)),
    layer("BatchNorm2d in eval", lambda: nn.BatchNorm2d(3), normal(4, 3, 5, 5), mode="eval"),
    layer("BatchNorm2d without affine", lambda: nn.Sequential(nn.Conv2d(2, 3, 1), nn.BatchNorm2d(3, affine=False)), normal(4, 2, 5, 5)),
    layer("LayerNorm", lambda: nn.LayerNorm(6), normal(3, 5, 6)),
    layer("LayerNorm over two axes", lambda: nn.LayerNorm((5, 6)), normal(3, 5, 6)),
    layer("GroupNorm", lambda: nn.GroupNorm(2, 4), normal(3, 4, 5, 5)),
    layer("InstanceNorm2d", lambda: nn.InstanceNorm2d(3, affine=True), normal(2, 3, 5, 5)),
    layer("RMSNorm", lambda: nn.RMSNorm(6), normal(3, 5, 6)),
    layer("LocalResponseNorm", lambda: nn.Sequential(nn.Conv2d(4, 4, 1), nn.LocalResponseNorm(2)), normal(2, 4, 5, 5)),
    layer("weight norm", lambda: nn.utils.parametrizations.weight_norm(nn.Linear(4, 3)), normal(5, 4)),
    layer("RNN", lambda: nn.RNN(4, 3, batch_first=True), normal(2, 5, 4)),
    layer("LSTM", lambda: nn.LSTM(4, 3, batch_first=True), normal(2, 5, 4)),
    layer("LSTM in two directions", lambda: nn.LSTM(4, 3, num_layers=2, bidirectional=True), normal(5, 2, 4)),
    layer("GRU", lambda: nn.GRU(4, 3), normal(5, 2, 4)),
    layer("LSTMCell", lambda: nn.LSTMCell(4, 3), normal(5, 4)),
    layer("GRUCell", lambda: nn.GRUCell(4, 3), normal(5, 4)),
    layer("attention by formula", Attend, normal(2, 5, 8)),
    layer("attention with a mask", lambda: Attend(mask=True), normal(2, 5, 8)),
    layer("causal attention", lambda: Attend(causal=True), normal(2, 5, 8)),
    layer("MultiheadAttention", SelfAttention, normal(2, 5, 8)),
    layer("TransformerEncoderLayer", lambda: nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True), normal(2, 5, 8)),
    layer("TransformerDecoderLayer", lambda: nn.TransformerDecoderLayer(8, 2, 16, dropout=0.0), normal(3, 2, 8), normal(4, 2, 8)),
    layer("PReLU", lambda: nn.PReLU(4), normal(3, 4, 5)),
    layer("Dropout", lambda: nn.Sequential(nn.Linear(4, 3), nn.Dropout(0.5)), normal(5, 4), random=True),
    layer("AlphaDropout", lambda: nn.Sequential(nn.Linear(4, 3), nn.AlphaDropout(0.5)), normal(5, 4), random=True),
    layer("Dropout2d", lambda: nn.Sequential(nn.Conv2d(3, 4, 3), nn.Dropout2d(0.5)), normal(5, 3, 6, 6), random=True),
    layer("RReLU", lambda: nn.Sequential(nn.Linear(4, 3), nn.RReLU()), normal(5, 4), random=True),
    layer("EmbeddingBag by sums", lambda: nn.EmbeddingBag(7, 4, mode="sum", padding_idx=2), whole(7, 3, 5)),
    layer("EmbeddingBag of the largest", lambda: nn.EmbeddingBag(7, 4, mode="max"), whole(7, 3, 5), unsupported="embedding_bag"),
    layer("EmbeddingBag", lambda: nn.EmbeddingBag(7, 4, mode="mean"), whole(7, 3, 5)),
)  # fmt: skip
