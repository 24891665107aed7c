"""Random numbers: which ones differs from run to run, so that only their range is kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx import TensorProto

from nanproof.frontends.tensorflow.context import Context, Translation
from nanproof.frontends.tensorflow.tensors import onnx_kind
from nanproof.frontends.tensorflow.values import Opaque, Tensor, Value

if TYPE_CHECKING:
    from nanproof.frontends.tensorflow.graph import Call


def _canvas(c: Context, call: Call, shape: Tensor, name: str = "dtype") -> Tensor:
    """A tensor of the right shape and type, for ONNX's operators that draw something like it."""
    kind = onnx_kind(call.get(name, 1)) or TensorProto.FLOAT
    return c.op("Expand", c.const(0, kind), c.vector(shape))


def _uniform(c: Context, call: Call, shape: Tensor, *_: Value) -> Tensor:
    return c.op("RandomUniformLike", _canvas(c, call, shape))


def _normal(c: Context, call: Call, shape: Tensor, *_: Value) -> Tensor:
    return c.op("RandomNormalLike", _canvas(c, call, shape))


def _truncated(c: Context, call: Call, shape: Tensor, *_: Value) -> Tensor:
    """Drawn again where it is further than two from 0; here it is cut there, which has the same range."""
    drawn = c.op("RandomNormalLike", _canvas(c, call, shape))
    return c.op("Clip", drawn, c.like(-2, drawn), c.like(2, drawn))


def _integers(c: Context, call: Call, shape: Tensor, *rest: Tensor) -> Tensor:
    """Whole numbers from low (rest[-2]) up to below high (rest[-1])."""
    low, high = rest[-2:]
    drawn = c.op("RandomUniformLike", c.op("Expand", c.const(0.0, TensorProto.FLOAT), c.vector(shape)))
    span = c.op("Cast", c.op("Sub", high, low), to=TensorProto.FLOAT)
    steps = c.op("Cast", c.op("Floor", c.op("Mul", drawn, span)), to=low.kind)
    return c.op("Min", c.op("Add", low, steps), c.op("Sub", high, c.like(1, low)))


def _key(c: Context, call: Call, *_: Value) -> list[Value]:
    return [Opaque("key"), Opaque("counter"), Opaque("algorithm")]


def _multinomial(c: Context, call: Call, logits: Tensor, count: Tensor, *_: Value) -> Tensor:
    size = c.needed(count, "the number of samples")[0]
    kind = onnx_kind(call.get("output_dtype", 9)) or TensorProto.INT64
    drawn = c.op("Multinomial", logits, sample_size=size, dtype=TensorProto.INT32)
    return c.cast(drawn, kind)


TRANSLATIONS: dict[str, Translation] = {
    "Multinomial": _multinomial,
    "RandomStandardNormal": _normal,
    "RandomUniform": _uniform,
    "RandomUniformInt": _integers,
    "StatelessMultinomial": _multinomial,
    "StatelessRandomGetKeyCounter": _key,
    "StatelessRandomGetKeyCounterAlg": _key,
    "StatelessRandomNormal": _normal,
    "StatelessRandomNormalV2": _normal,
    "StatelessRandomUniform": _uniform,
    "StatelessRandomUniformInt": _integers,
    "StatelessRandomUniformIntV2": _integers,
    "StatelessRandomUniformV2": _uniform,
    "StatelessTruncatedNormal": _truncated,
    "StatelessTruncatedNormalV2": _truncated,
    "TruncatedNormal": _truncated,
}

HANDLES: frozenset[str] = frozenset(name for name in TRANSLATIONS if name.startswith("Stateless"))
"""Seeds, keys and counters are no tensors of the model."""
