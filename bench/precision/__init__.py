"""Small graphs in pairs, one defective and one repaired: what the tool flags, and what it can prove.

Every family is a file of its own. The graphs are what exporters write for what people write; none is shaped after
what the tool can do, and the tool sees no name of a pair.
"""

from __future__ import annotations

from collections.abc import Mapping

from . import (
    attention,
    bce,
    boxes,
    cache,
    complements,
    cosine,
    cross_entropy,
    divergence,
    focal,
    gather,
    gelu,
    group_norm,
    guards,
    gumbel,
    integers,
    layer_norm,
    logsumexp,
    monotone,
    normalize,
    order,
    rectifier,
    rotary,
    same_value,
    softmax,
    squares,
    variance,
)
from .pairs import Pair

FAMILIES: Mapping[str, tuple[Pair, ...]] = {
    "softmax": softmax.PAIRS,
    "logsumexp": logsumexp.PAIRS,
    "layer_norm": layer_norm.PAIRS,
    "group_norm": group_norm.PAIRS,
    "normalize": normalize.PAIRS,
    "variance": variance.PAIRS,
    "cosine": cosine.PAIRS,
    "cross_entropy": cross_entropy.PAIRS,
    "bce": bce.PAIRS,
    "divergence": divergence.PAIRS,
    "focal": focal.PAIRS,
    "gumbel": gumbel.PAIRS,
    "attention": attention.PAIRS,
    "rotary": rotary.PAIRS,
    "gelu": gelu.PAIRS,
    "boxes": boxes.PAIRS,
    "cache": cache.PAIRS,
    "guards": guards.PAIRS,
    "complements": complements.PAIRS,
    "rectifier": rectifier.PAIRS,
    "order": order.PAIRS,
    "monotone": monotone.PAIRS,
    "integers": integers.PAIRS,
    "gather": gather.PAIRS,
    "same_value": same_value.PAIRS,
    "squares": squares.PAIRS,
}

__all__ = ["FAMILIES", "Pair"]
