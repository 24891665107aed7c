"""All records, as one explicit value."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from nanproof.ops import (
    activations,
    arithmetic,
    attention,
    batch_norm,
    beyond,
    bit_cast,
    bitwise,
    cast,
    comparison,
    contributed,
    convolution,
    deformable,
    detection,
    determinant,
    einsum,
    exponential,
    filling,
    folding,
    gathering,
    gemm,
    integer_products,
    logical,
    losses,
    matmul,
    normalization,
    optionals,
    padding,
    pooling,
    positions,
    power,
    products,
    quantization,
    random,
    rectifiers,
    recurrent,
    reductions,
    remainder,
    resizing,
    rotary,
    rounding,
    row_norm,
    sampling,
    scattering,
    selecting,
    selection,
    sequences,
    shaping,
    slicing,
    softmax,
    spectral,
    strings,
    training,
    trigonometric,
    variadic,
)
from nanproof.ops.record import Op

OPS: tuple[Op, ...] = (
    *activations.OPS,
    *arithmetic.OPS,
    *attention.OPS,
    *batch_norm.OPS,
    *beyond.OPS,
    *bit_cast.OPS,
    *bitwise.OPS,
    *cast.OPS,
    *comparison.OPS,
    *contributed.OPS,
    *convolution.OPS,
    *deformable.OPS,
    *detection.OPS,
    *determinant.OPS,
    *einsum.OPS,
    *exponential.OPS,
    *filling.OPS,
    *folding.OPS,
    *gathering.OPS,
    *gemm.OPS,
    *integer_products.OPS,
    *logical.OPS,
    *losses.OPS,
    *matmul.OPS,
    *normalization.OPS,
    *optionals.OPS,
    *padding.OPS,
    *pooling.OPS,
    *positions.OPS,
    *power.OPS,
    *products.OPS,
    *quantization.OPS,
    *random.OPS,
    *rectifiers.OPS,
    *recurrent.OPS,
    *reductions.OPS,
    *remainder.OPS,
    *resizing.OPS,
    *rotary.OPS,
    *rounding.OPS,
    *row_norm.OPS,
    *sampling.OPS,
    *scattering.OPS,
    *selecting.OPS,
    *selection.OPS,
    *sequences.OPS,
    *shaping.OPS,
    *slicing.OPS,
    *softmax.OPS,
    *spectral.OPS,
    *strings.OPS,
    *training.OPS,
    *trigonometric.OPS,
    *variadic.OPS,
)


def _by_name(ops: tuple[Op, ...]) -> Mapping[tuple[str, str], Op]:
    table: dict[tuple[str, str], Op] = {}
    for op in ops:
        key = (op.domain, op.name)
        if key in table:
            raise ValueError(f"two records for {op.domain or 'ai.onnx'}.{op.name}")
        table[key] = op
    return MappingProxyType(table)


_TABLE = _by_name(OPS)


def lookup(domain: str, name: str) -> Op | None:
    """The record of an operator, None where there is none yet."""
    return _TABLE.get(("" if domain == "ai.onnx" else domain, name))
