"""Modules of many kinds, each with example inputs, as people write them."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional


class Convolutional(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2), nn.Dropout(0.5)
        )
        self.head = nn.Linear(4, 5)

    def forward(self, image: Tensor) -> Tensor:
        return self.head(functional.adaptive_avg_pool2d(self.features(image), 1).flatten(1))


class Recurrent(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(11, 6)
        self.lstm = nn.LSTM(6, 4, batch_first=True, bidirectional=True)
        self.head = nn.Linear(8, 3)

    def forward(self, tokens: Tensor) -> tuple[Tensor, Tensor]:
        out, (h, _) = self.lstm(self.embedding(tokens))
        return self.head(out[:, -1]), h


class Attention(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.block = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
        self.cross = nn.MultiheadAttention(8, 2, batch_first=True)

    def forward(self, x: Tensor) -> Tensor:
        h = self.block(x)
        return self.cross(h, x, x, need_weights=False)[0]


class Decoding(nn.Module):
    """A decoder with masks of its own making; torch.nn compares the values of the one on its targets."""

    def __init__(self) -> None:
        super().__init__()
        self.transformer = nn.Transformer(8, 2, 1, 2, 16, batch_first=True)

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        causal = torch.triu(torch.full((target.shape[1], target.shape[1]), float("-inf")), diagonal=1)
        return self.transformer(source, target, tgt_mask=causal)


class Squashed(nn.Module):
    """The log probability of an action and the entropy of another: torch.distributions looks at all arguments."""

    def __init__(self) -> None:
        super().__init__()
        self.mean, self.logits = nn.Linear(4, 2), nn.Linear(4, 3)

    def forward(self, state: Tensor, noise: Tensor) -> tuple[Tensor, Tensor]:
        normal = torch.distributions.Normal(self.mean(state), torch.ones(2))
        action = torch.tanh(normal.mean + noise)
        likely = normal.log_prob(action) - torch.log(1 - action.pow(2) + 1e-6)
        return likely.sum(-1), torch.distributions.Categorical(logits=self.logits(state)).entropy()


class Causal(nn.Module):
    def forward(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        return functional.scaled_dot_product_attention(q, k, v, is_causal=True)


class Branching(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return torch.cond(x.sum() > 0, lambda x: x * 2, lambda x: x - 1, (x,))


class Looping(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        def more(i: Tensor, x: Tensor) -> Tensor:
            return i < 4

        def body(i: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
            return i + 1, torch.sin(x) + 1

        return torch.while_loop(more, body, (torch.tensor(0), x))[1]


class Scanning(nn.Module):
    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        from torch._higher_order_ops.scan import scan

        def step(carry: Tensor, row: Tensor) -> tuple[Tensor, Tensor]:
            carry = carry * 0.5 + row
            return carry, torch.tanh(carry)

        last, rows = scan(step, torch.zeros(3), x)
        return last, rows


class Buffered(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("scale", torch.tensor([1.0, 2.0, 4.0]))
        self.register_buffer("hidden", torch.tensor([0.5]), persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        return x * self.scale + self.hidden + torch.tensor([1.0, 2.0, 3.0])


class Tied(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(7, 4)
        self.head = nn.Linear(4, 7, bias=False)
        self.head.weight = self.embedding.weight

    def forward(self, tokens: Tensor) -> Tensor:
        return self.head(self.embedding(tokens))


class Nested(nn.Module):
    """Takes a dict and a keyword input, and returns a dict."""

    def forward(
        self, batch: dict[str, Tensor], scale: float = 1.0, *, shift: Tensor | None = None
    ) -> dict[str, Tensor]:
        h = batch["a"] @ batch["b"] * scale
        return {"sum": h if shift is None else h + shift, "product": batch["a"] * 2}
