"""What functions and methods of tensor libraries compute, in ONNX's words: data for reading Python source.

One table serves PyTorch, NumPy, JAX, TensorFlow and Keras: what they share a name for means the same, but for how a
parameter is called. Only what a pattern may look for is listed; everything else is read as an unknown function.
"""

from __future__ import annotations

from dataclasses import dataclass

NAMESPACES = frozenset({
    "torch", "torch.nn.functional", "torch.special", "torch.linalg", "numpy", "numpy.linalg", "jax.numpy", "jax.nn",
    "jax.numpy.linalg", "jax.scipy.special", "jax.lax", "tensorflow", "tensorflow.math", "tensorflow.nn",
    "tensorflow.linalg", "keras.ops",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Word:
    """A function of tensors.

    op        what it computes: an operator of ONNX, or one of the compositions of ``sketch``
    operands  the names of its tensors, by position; ``|`` separates what libraries call the same
    settings  the names of its other parameters, by position
    """

    op: str
    operands: tuple[str, ...] = ("input|x|a|self",)
    settings: tuple[str, ...] = ()


_X = "input|x|a|self|logits|tensor|features|input_tensor|arr"
_AXIS, _KEEP = "dim|axis|axes", "keepdim|keepdims"


def _unary(op: str, *names: str) -> dict[str, Word]:
    return {name: Word(op, (_X,)) for name in names}


def _binary(op: str, *names: str) -> dict[str, Word]:
    return {name: Word(op, (_X, "other|y|b|x2|exponent")) for name in names}


def _reduction(op: str, *names: str) -> dict[str, Word]:
    return {name: Word(op, (_X,), (_AXIS, _KEEP)) for name in names}


def _moving(*names: str) -> dict[str, Word]:
    return {name: Word("Reshape", (_X,), ("rest",)) for name in names}


FUNCTIONS: dict[str, Word] = {
    **_unary("Log", "log"),
    **_unary("Exp", "exp"),
    **_unary("Sqrt", "sqrt"),
    **_unary("Abs", "abs", "absolute"),
    **_unary("Neg", "neg", "negative"),
    **_unary("Sigmoid", "sigmoid", "expit"),
    **_unary("Tanh", "tanh"),
    **_unary("Relu", "relu"),
    **_unary("Reciprocal", "reciprocal"),
    **_unary("Acos", "acos", "arccos"),
    **_unary("Asin", "asin", "arcsin"),
    **_unary("Acosh", "acosh", "arccosh"),
    **_unary("Atanh", "atanh", "arctanh"),
    **_unary("Atan", "atan", "arctan"),
    **_unary("Softplus", "softplus"),
    **_unary("Sinh", "sinh"),
    **_unary("Cosh", "cosh"),
    **_unary("@log1p", "log1p"),
    **_unary("@expm1", "expm1"),
    **_unary("@rsqrt", "rsqrt"),
    **_unary("@square", "square"),
    **_binary("Add", "add"),
    **_binary("Sub", "sub", "subtract"),
    **_binary("Mul", "mul", "multiply"),
    **_binary("Div", "div", "divide", "true_divide", "truediv"),
    **_binary("Pow", "pow", "power"),
    **_binary("MatMul", "matmul", "mm", "bmm", "dot"),
    **_binary("Max", "maximum"),
    **_binary("Min", "minimum"),
    **_binary("Atan2", "atan2", "arctan2"),
    **_binary("Mod", "fmod", "remainder", "mod"),
    **_reduction("ReduceSum", "sum", "reduce_sum"),
    **_reduction("ReduceMean", "mean", "reduce_mean"),
    **_reduction("ReduceLogSumExp", "logsumexp", "reduce_logsumexp"),
    **_reduction("ReduceMax", "amax", "reduce_max"),
    **_reduction("ReduceMin", "amin", "reduce_min"),
    **_reduction("@std", "std"),
    **_reduction("@var", "var"),
    "softmax": Word("Softmax", (_X,), (_AXIS,)),
    "log_softmax": Word("LogSoftmax", (_X,), (_AXIS,)),
    "norm": Word("@norm", (_X,), ("p|ord", _AXIS, _KEEP)),
    "vector_norm": Word("@norm", (_X,), ("p|ord", _AXIS, _KEEP)),
    "clamp": Word("Clip", (_X, "min|a_min|clip_value_min", "max|a_max|clip_value_max")),
    "clip": Word("Clip", (_X, "min|a_min|clip_value_min", "max|a_max|clip_value_max")),
    "clip_by_value": Word("Clip", (_X, "clip_value_min", "clip_value_max")),
    "clamp_min": Word("Max", (_X, "min")),
    "clamp_max": Word("Min", (_X, "max")),
    "where": Word("Where", ("condition|cond", "input|x", "other|y")),
    "masked_fill": Word("@masked_fill", (_X, "mask", "value")),
    "gather": Word("GatherElements", (_X,), ("rest", "rest2")),
    "take_along_dim": Word("GatherElements", (_X,), ("rest", "rest2")),
    "take_along_axis": Word("GatherElements", (_X,), ("rest", "rest2")),
    "index_select": Word("Gather", (_X,), ("rest", "rest2")),
    **_moving(
        "reshape", "view", "flatten", "squeeze", "unsqueeze", "expand", "expand_as", "permute", "transpose", "t",
        "contiguous", "broadcast_to", "repeat", "tile", "expand_dims", "swapaxes", "view_as", "ravel",
    ),
    **{name: Word("Cast", (_X,), ("rest",)) for name in ("to", "float", "double", "half", "bfloat16", "astype", "cast",
                                                         "type_as")},
}  # fmt: skip

LAYERS: dict[str, str] = {
    "Softmax": "Softmax", "LogSoftmax": "LogSoftmax", "Sigmoid": "Sigmoid", "Tanh": "Tanh", "ReLU": "Relu",
    "Softplus": "Softplus", "Identity": "Identity",
}  # fmt: skip
"""Layers of torch.nn that are nothing but a function."""
MOVES = frozenset({"Reshape", "Cast", "GatherElements", "Gather", "Slice", "Identity"})


def word_of(full: str) -> Word | None:
    """The meaning of a function by its full name."""
    module, _, name = full.rpartition(".")
    return FUNCTIONS.get(name) if module in NAMESPACES else None
