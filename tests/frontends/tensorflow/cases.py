"""Functions that use every operator the front end translates, with inputs: the framework itself says what they compute."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Array = Any


@dataclass(frozen=True)
class Case:
    """A function of tensors, and arrays to call it with. ``open_batch``: the first axis of every input stays open."""

    make: Callable[[Any], Callable[..., Any]]
    inputs: tuple[Array, ...]
    open_batch: bool = True
    tolerance: float = 1e-5


RNG = np.random.default_rng(11)


def floats(*shape: int, low: float = -2.0, high: float = 2.0) -> Array:
    return RNG.uniform(low, high, shape).astype(np.float32)


def ints(limit: int, *shape: int, low: int = 0) -> Array:
    return RNG.integers(low, limit, shape).astype(np.int32)


X = floats(3, 4)
Y = floats(3, 4)
P = floats(3, 4, low=0.1, high=0.9)
IMAGE = floats(2, 7, 6, 3)
SMALL = floats(3, 3, 3, 4)
DEPTH = floats(3, 3, 3, 2)
VOLUME = floats(2, 5, 4, 6, 2)


def _unary(name: str, inputs: Array = X, **how: Any) -> Case:
    return Case(lambda tf: lambda x: getattr(tf.raw_ops, name)(**{_FIRST.get(name, "x"): x}), (inputs,), **how)


def _array(tf: Any) -> Callable[..., Any]:
    def function(x: Any) -> Any:
        array = tf.TensorArray(tf.float32, 4)
        for i in tf.range(4):
            array = array.write(i, x * tf.cast(i, tf.float32))
        return (
            array.stack(),
            array.read(2),
            array.gather([3, 0]),
            array.size(),
            tf.TensorArray(tf.float32, 3).unstack(x[:3]).read(1),
        )

    return function


def _pushed(tf: Any) -> Callable[..., Any]:
    def function(x: Any) -> Any:
        held = tf.raw_ops.EmptyTensorList(
            element_shape=tf.constant([-1, 4]), max_num_elements=-1, element_dtype=tf.float32
        )
        held = tf.raw_ops.TensorListPushBack(input_handle=held, tensor=x)
        held = tf.raw_ops.TensorListPushBack(input_handle=held, tensor=-x)
        left, last = tf.raw_ops.TensorListPopBack(input_handle=held, element_shape=[-1, 4], element_dtype=tf.float32)
        return last, tf.raw_ops.TensorListLength(input_handle=left)

    return function


_FIRST = dict.fromkeys(("Elu", "Relu", "Relu6", "Selu", "Softplus", "Softsign", "LeakyRelu"), "features")
UNARY = [
    "Abs", "Atan", "Asinh", "Ceil", "Cos", "Elu", "Erf", "Erfc", "Exp", "Expm1", "Floor", "IsFinite", "IsInf", "IsNan", "LeakyRelu",
    "Neg", "Relu", "Relu6", "Rint", "Round", "Selu", "Sigmoid", "Sign", "Sin", "Sinh", "Cosh", "Softplus", "Softsign", "Square", "Tan",
    "Tanh", "Reciprocal", "Inv",
]  # fmt: skip
POSITIVE = ["Log", "Log1p", "Rsqrt", "Sqrt", "Asin", "Acos", "Atanh"]
BINARY = [
    "Add", "AddV2", "Atan2", "Div", "DivNoNan", "FloorDiv", "FloorMod", "Greater", "GreaterEqual", "Less", "LessEqual", "Maximum",
    "Minimum", "Mul", "MulNoNan", "RealDiv", "SquaredDifference", "Sub", "Xdivy", "Equal", "NotEqual", "ApproximateEqual", "Mod",
    "TruncateMod",
]  # fmt: skip
LOGICAL = ["LogicalAnd", "LogicalOr"]
BITWISE = ["BitwiseAnd", "BitwiseOr", "BitwiseXor"]

CASES: dict[str, Case] = {
    **{name: _unary(name) for name in UNARY},
    **{name: _unary(name, P) for name in POSITIVE},
    "Acosh": _unary("Acosh", P + 1),
    **{
        name: Case(lambda tf, name=name: lambda x, y: getattr(tf.raw_ops, name)(x=x, y=y), (X, np.where(Y > 1, 0, Y)))
        for name in BINARY
        if name not in {"FloorDiv", "FloorMod", "Div", "RealDiv", "Mod", "TruncateMod", "MulNoNan"}
    },
    **{
        name: Case(lambda tf, name=name: lambda x, y: getattr(tf.raw_ops, name)(x=x, y=y), (X, Y))
        for name in ("FloorDiv", "FloorMod", "Div", "RealDiv", "Mod", "TruncateMod", "MulNoNan")
    },
    **{
        name: Case(lambda tf, name=name: lambda x, y: getattr(tf.raw_ops, name)(x=x > 0, y=y > 0), (X, Y)) for name in LOGICAL
    },
    **{
        name: Case(lambda tf, name=name: lambda x, y: getattr(tf.raw_ops, name)(x=x, y=y), (ints(99, 3, 4), ints(99, 3, 4)))
        for name in BITWISE
    },
    "Invert": Case(lambda tf: tf.bitwise.invert, (ints(99, 3),)),
    "integer division": Case(lambda tf: lambda x, y: (x // y, x % y, tf.truncatediv(x, y)), (ints(9, 4, 3, low=-9), np.int32([[2, -3, 4]] * 4))),
    "broadcast": Case(lambda tf: lambda x, y: x * y[:, :1] + y[:1], (X, Y)),
    "Pow": Case(lambda tf: tf.pow, (P, Y)),
    "Xlogy": Case(lambda tf: lambda x, y: tf.math.xlogy(tf.nn.relu(x), y) + tf.math.xlog1py(tf.nn.relu(x), y), (X, P)),
    "LogicalNot": Case(lambda tf: lambda x: tf.logical_not(x > 0), (X,)),
    "AddN": Case(lambda tf: lambda x, y: tf.add_n([x, y, x]), (X, Y)),
    "Select": Case(lambda tf: lambda x, y: tf.raw_ops.Select(condition=x[:, 0] > 0, x=x, y=y), (X, Y)),
    "SelectV2": Case(lambda tf: lambda x, y: tf.where(x > 0, x, y), (X, Y)),
    "ClipByValue": Case(lambda tf: lambda x: (tf.raw_ops.ClipByValue(t=x, clip_value_min=-1.0, clip_value_max=0.5), tf.raw_ops.ClipByValue(t=x, clip_value_min=x - 1, clip_value_max=x)), (X,)),
    "Cast": Case(lambda tf: lambda x: (tf.cast(x, tf.int32), tf.cast(x, tf.float16), tf.cast(x > 0, tf.float32)), (X,)),
    # reductions
    **{
        name: Case(lambda tf, name=name: lambda x: (getattr(tf, name)(x), getattr(tf, name)(x, 1), getattr(tf, name)(x, [0], keepdims=True), getattr(tf, name)(x, [])), (P,))
        for name in ("reduce_sum", "reduce_mean", "reduce_max", "reduce_min", "reduce_prod")
    },
    "reduce_all": Case(lambda tf: lambda x: (tf.reduce_all(x > 0, 1), tf.reduce_any(x > 0)), (X,)),
    "reduce_euclidean_norm": Case(lambda tf: lambda x: tf.math.reduce_euclidean_norm(x, 1), (X,)),
    "integer mean": Case(lambda tf: lambda x: tf.reduce_mean(x, 1), (ints(9, 3, 4),)),
    "argmax": Case(lambda tf: lambda x: (tf.argmax(x, 1), tf.argmin(x, -1, output_type=tf.int32)), (X,)),
    "cumsum": Case(lambda tf: lambda x: (tf.cumsum(x, 1), tf.cumsum(x, 0, exclusive=True, reverse=True)), (X,)),
    "cumprod": Case(lambda tf: lambda x: tf.math.cumprod(x, 1), (X,)),
    "l2_loss": Case(lambda tf: tf.nn.l2_loss, (X,)),
    "moments": Case(lambda tf: lambda x: tf.nn.moments(x, [1]), (X,)),
    "logsumexp": Case(lambda tf: lambda x: tf.reduce_logsumexp(x, 1), (X,)),
    # products
    "matmul": Case(lambda tf: lambda x, y: (tf.matmul(x, y, transpose_b=True), tf.matmul(x, y, transpose_a=True)), (X, Y)),
    "batch_matmul": Case(lambda tf: lambda x, y: (tf.matmul(x, y), tf.matmul(x, x, adjoint_b=True)), (floats(2, 3, 4), floats(2, 4, 5))),
    "BatchMatMul": Case(lambda tf: lambda x, y: tf.raw_ops.BatchMatMul(x=x, y=y, adj_x=False, adj_y=False), (floats(2, 3, 4), floats(2, 4, 5))),
    "BatchMatMulV3": Case(lambda tf: lambda x, y: tf.raw_ops.BatchMatMulV3(x=x, y=y, Tout=tf.float32), (floats(2, 3, 4), floats(2, 4, 5))),
    "einsum": Case(lambda tf: lambda x, y: tf.einsum("abc,acd->abd", x, y), (floats(2, 3, 4), floats(2, 4, 5))),
    "bias": Case(lambda tf: lambda x: (tf.nn.bias_add(x, [1.0, 2.0, 3.0]), tf.raw_ops.BiasAddV1(value=x, bias=[1.0, 2.0, 3.0])), (IMAGE,)),
    "bias in front": Case(lambda tf: lambda x: tf.raw_ops.BiasAddGrad(out_backprop=x, data_format="NCHW"), (IMAGE,)),
    "cross": Case(lambda tf: tf.linalg.cross, (floats(4, 3), floats(4, 3))),
    "det": Case(lambda tf: tf.linalg.det, (floats(2, 3, 3),)),
    # shapes
    "shape": Case(lambda tf: lambda x: (tf.shape(x), tf.size(x), tf.rank(x), *tf.shape_n([x, x[:, 0]])), (X,)),
    "reshape": Case(lambda tf: lambda x: (tf.reshape(x, [-1, 2]), tf.reshape(x, [tf.shape(x)[0], 2, 2]), tf.reshape(x, [-1])), (X,)),
    "transpose": Case(lambda tf: lambda x: tf.transpose(x, [0, 3, 1, 2]), (IMAGE,)),
    "expand and squeeze": Case(lambda tf: lambda x: (tf.squeeze(tf.expand_dims(x, 1), [1]), tf.expand_dims(x, -1)), (X,)),
    "broadcast_to": Case(lambda tf: lambda x: tf.broadcast_to(x[:, None], [tf.shape(x)[0], 5, 4]), (X,)),
    "broadcast_dynamic_shape": Case(lambda tf: lambda x: tf.broadcast_to(x[:, None], tf.broadcast_dynamic_shape(tf.shape(x[:, None]), tf.constant([1, 5, 4]))), (X,)),
    "ensure_shape": Case(lambda tf: lambda x: tf.ensure_shape(x, [None, 4]), (X,)),
    "invert_permutation": Case(lambda tf: lambda x: tf.transpose(x, tf.math.invert_permutation([0, 2, 3, 1])), (IMAGE,)),
    "concat": Case(lambda tf: lambda x, y: (tf.concat([x, y], 1), tf.concat([x, y], 0), tf.raw_ops.Concat(concat_dim=1, values=[x, y])), (X, Y)),
    "stack": Case(lambda tf: lambda x, y: (tf.stack([x, y], 1), *tf.unstack(x, axis=1)), (X, Y)),
    "split": Case(lambda tf: lambda x: (*tf.split(x, 2, 1), *tf.split(x, [1, -1], 1)), (X,)),
    "tile": Case(lambda tf: lambda x: tf.tile(x, [1, 3]), (X,)),
    "slice": Case(lambda tf: lambda x: (tf.slice(x, [0, 1], [-1, 2]), tf.slice(x, [1, 0], [tf.shape(x)[0] - 1, 3])), (X,)),
    "strided": Case(lambda tf: lambda x: (x[:, 1], x[0], x[..., -1], x[:, ::-1], x[1:, None, ::2], x[-1:, ..., None], x[tf.shape(x)[0] - 2 :]), (X,)),
    "strided image": Case(lambda tf: lambda x: (x[..., 1:3, :2], x[:, 2:-1, ..., None, 0], x[:, -3:, ::-2]), (IMAGE,)),
    "fill": Case(lambda tf: lambda x: (tf.fill([tf.shape(x)[0], 2], 3.0), tf.zeros_like(x), tf.ones_like(x), tf.fill([2], x[0, 0])), (X,)),
    "range": Case(lambda tf: lambda x: (tf.range(tf.shape(x)[0]), tf.range(1.0, 4.0, 0.5)), (X,)),
    "linspace": Case(lambda tf: lambda x: tf.raw_ops.LinSpace(start=x[0, 0], stop=x[0, 1], num=5), (X,)),
    "one_hot": Case(lambda tf: lambda x: (tf.one_hot(x, 5), tf.one_hot(x, 4, 2.0, -1.0, axis=0)), (ints(4, 3, 2),)),
    # indices
    "gather": Case(lambda tf: lambda x, i: (tf.gather(x, i), tf.gather(x, [1, 0], axis=1), tf.raw_ops.Gather(params=x, indices=i)), (X, ints(3, 2))),
    "gather in batches": Case(lambda tf: lambda x, i: (tf.gather(x, i, batch_dims=1), tf.gather(x, i, axis=2, batch_dims=1)), (floats(3, 4, 5), ints(4, 3, 2))),
    "gather_nd": Case(lambda tf: lambda x, i: (tf.gather_nd(x, i), tf.gather_nd(x, i[:, :1], batch_dims=1)), (floats(3, 4, 5), ints(3, 3, 2))),
    "scatter_nd": Case(lambda tf: lambda x: tf.scatter_nd([[2], [0], [2]], x, [5, 4]), (X,)),
    "tensor_scatter": Case(
        lambda tf: lambda x: (
            tf.tensor_scatter_nd_update(x, [[2], [0]], x[:2]), tf.tensor_scatter_nd_add(x, [[2], [2]], x[:2]),
            tf.tensor_scatter_nd_max(x, [[2]], x[:1]), tf.tensor_scatter_nd_min(x, [[2]], x[:1]),
        ),
        (X,),
    ),
    "where": Case(lambda tf: lambda x: tf.where(x > 0), (X,)),
    "top_k": Case(lambda tf: lambda x: tuple(tf.math.top_k(x, 2)), (X,)),
    "in_top_k": Case(lambda tf: lambda x, t: (tf.math.in_top_k(t, x, 2), tf.raw_ops.InTopK(predictions=x, targets=t, k=1)), (X, ints(4, 3))),
    "unique": Case(lambda tf: lambda x: tuple(tf.unique(x)), (ints(4, 9),)),
    "diagonals": Case(
        lambda tf: lambda x: (
            tf.linalg.diag(x), tf.linalg.diag_part(tf.linalg.matmul(x, x, transpose_b=True)[:, :3]), tf.linalg.set_diag(x[:, :3], x[:, 0]),
            tf.raw_ops.MatrixDiag(diagonal=x), tf.raw_ops.Diag(diagonal=x[0]), tf.raw_ops.MatrixDiagPart(input=x),
            tf.raw_ops.MatrixSetDiag(input=x, diagonal=x[:, 1]), tf.raw_ops.MatrixDiagV2(diagonal=x, k=0, num_rows=-1, num_cols=-1, padding_value=0.0),
            tf.raw_ops.MatrixDiagPartV2(input=x, k=0, padding_value=0.0), tf.raw_ops.MatrixSetDiagV2(input=x, diagonal=x[:, 1], k=0),
            tf.raw_ops.DiagPart(input=x[:, :3]),
        ),
        (X,),
        open_batch=False,
    ),
    "band": Case(lambda tf: lambda x: (tf.linalg.band_part(x, -1, 0), tf.linalg.band_part(x, 1, 1), tf.linalg.band_part(x, 0, -1)), (X,)),
    "segments": Case(lambda tf: lambda x: (tf.math.unsorted_segment_sum(x, [2, 0, 2], 4), tf.math.segment_sum(x, [0, 0, 1])), (X,)),
    "bincount": Case(lambda tf: lambda x: tf.raw_ops.Bincount(arr=x, size=6, weights=tf.constant([], tf.float32)), (ints(5, 9),)),
    # moving
    "pad": Case(lambda tf: lambda x: (tf.pad(x, [[0, 0], [1, 2]]), tf.pad(x, [[1, 0], [0, 1]], constant_values=2.0), tf.pad(x, [[0, 0], [1, 2]], "REFLECT"), tf.pad(x, [[0, 0], [1, 2]], "SYMMETRIC")), (X,)),
    "reverse": Case(lambda tf: lambda x: (tf.reverse(x, [1]), tf.raw_ops.Reverse(tensor=x, dims=[False, True])), (X,)),
    "reverse_sequence": Case(lambda tf: lambda x, n: (tf.reverse_sequence(x, n, seq_axis=1), tf.reverse_sequence(x, n, seq_axis=2)), (floats(3, 4, 4), ints(5, 3, low=1))),
    "roll": Case(lambda tf: lambda x: tf.roll(x, [1, -2], [0, 1]), (X,)),
    "space and depth": Case(lambda tf: lambda x: (tf.nn.space_to_depth(x, 2), tf.nn.depth_to_space(x, 2)), (floats(2, 4, 6, 4),)),
    "space and batch": Case(lambda tf: lambda x: tf.batch_to_space(tf.space_to_batch(x, [2, 2], [[1, 1], [0, 0]]), [2, 2], [[0, 1], [1, 0]]), (floats(2, 4, 6, 3),)),
    "resize": Case(lambda tf: lambda x: (tf.image.resize(x, [9, 4]), tf.image.resize(x, [9, 4], "nearest"), tf.image.resize(x, [14, 12], "bicubic")), (IMAGE,), True, 1e-4),
    "resize of old": Case(
        lambda tf: lambda x: (
            tf.raw_ops.ResizeBilinear(images=x, size=[14, 12]), tf.raw_ops.ResizeBilinear(images=x, size=[14, 12], align_corners=True),
            tf.raw_ops.ResizeNearestNeighbor(images=x, size=[9, 4]), tf.raw_ops.ResizeNearestNeighbor(images=x, size=[9, 4], align_corners=True),
        ),
        (IMAGE,),
    ),
    # windows
    **{
        f"conv2d {padding} {stride} {dilation}": Case(
            lambda tf, how=(stride, padding, dilation): lambda x, w: tf.nn.conv2d(x, w, how[0], how[1], dilations=how[2]), (IMAGE, SMALL), False
        )
        for padding, stride, dilation in (("SAME", 1, 1), ("SAME", 2, 1), ("VALID", 1, 2), ("VALID", 2, 1), ([[0, 0], [1, 2], [0, 1], [0, 0]], 1, 1))
    },
    "conv2d of an open batch": Case(lambda tf: lambda x: tf.nn.conv2d(x, tf.constant(SMALL), 2, "SAME"), (IMAGE,)),
    "conv2d in groups": Case(lambda tf: lambda x: tf.nn.conv2d(x, tf.constant(floats(3, 3, 2, 6)), 1, "SAME"), (floats(2, 5, 5, 4),)),
    "conv1d": Case(lambda tf: lambda x: tf.nn.conv1d(x, tf.constant(floats(3, 2, 4)), 1, "SAME"), (floats(2, 5, 2),)),
    "conv3d": Case(lambda tf: lambda x: tf.nn.conv3d(x, tf.constant(floats(2, 3, 2, 2, 3)), [1, 2, 1, 1, 1], "SAME"), (VOLUME,)),
    "depthwise": Case(lambda tf: lambda x: tf.nn.depthwise_conv2d(x, tf.constant(DEPTH), [1, 2, 2, 1], "SAME"), (IMAGE,)),
    "conv transposed": Case(
        lambda tf: lambda x: (
            tf.nn.conv2d_transpose(x, tf.constant(floats(3, 3, 5, 3)), [tf.shape(x)[0], 14, 12, 5], 2, "SAME"),
            tf.nn.conv2d_transpose(x, tf.constant(floats(3, 3, 5, 3)), [tf.shape(x)[0], 9, 8, 5], 1, "VALID"),
        ),
        (IMAGE,),
    ),
    "max_pool": Case(lambda tf: lambda x: (tf.nn.max_pool2d(x, 2, 2, "SAME"), tf.nn.max_pool2d(x, 3, 1, "VALID"), tf.raw_ops.MaxPoolV2(input=x, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="VALID")), (IMAGE,)),
    "avg_pool": Case(lambda tf: lambda x: (tf.nn.avg_pool2d(x, 2, 2, "SAME"), tf.nn.avg_pool2d(x, 3, 1, "VALID")), (IMAGE,)),
    "pool3d": Case(lambda tf: lambda x: (tf.nn.max_pool3d(x, 2, 2, "SAME"), tf.nn.avg_pool3d(x, 2, 2, "VALID")), (VOLUME,)),
    "max_pool_with_argmax": Case(lambda tf: lambda x: tuple(tf.nn.max_pool_with_argmax(x, 2, 2, "SAME")) + tuple(tf.nn.max_pool_with_argmax(x, 2, 2, "VALID", include_batch_in_index=True)), (IMAGE,)),
    # normalisation and losses
    "batch_norm": Case(lambda tf: lambda x: tf.raw_ops.FusedBatchNormV3(x=x, scale=[1.0, 2.0, 3.0], offset=[0.0, 1.0, 2.0], mean=[0.1, 0.2, 0.3], variance=[1.0, 2.0, 0.5], is_training=False, epsilon=1e-3)[0], (IMAGE,)),
    "batch_norm in training": Case(lambda tf: lambda x: tf.raw_ops.FusedBatchNormV3(x=x, scale=[1.0, 2.0, 3.0], offset=[0.0, 1.0, 2.0], mean=[], variance=[], is_training=True, epsilon=1e-3)[:3], (IMAGE,)),
    "batch_norm with averages": Case(lambda tf: lambda x: tf.raw_ops.FusedBatchNormV3(x=x, scale=[1.0, 2.0, 3.0], offset=[0.0, 1.0, 2.0], mean=[0.1, 0.2, 0.3], variance=[1.0, 2.0, 0.5], is_training=True, epsilon=1e-3, exponential_avg_factor=0.1)[:3], (IMAGE,)),
    "batch_norm of old": Case(lambda tf: lambda x: (tf.raw_ops.FusedBatchNorm(x=x, scale=[1.0, 2.0, 3.0], offset=[0.0, 1.0, 2.0], mean=[], variance=[], is_training=True)[0], tf.raw_ops.FusedBatchNormV2(x=x, scale=[1.0, 2.0, 3.0], offset=[0.0, 1.0, 2.0], mean=[], variance=[], is_training=True)[0]), (IMAGE,)),
    "lrn": Case(lambda tf: lambda x: tf.nn.local_response_normalization(x, 2, 1.0, 0.5, 0.75), (floats(2, 4, 4, 7),)),
    "softmax": Case(lambda tf: lambda x: (tf.nn.softmax(x), tf.nn.log_softmax(x)), (X,)),
    "cross entropy": Case(lambda tf: lambda x, y: tf.nn.softmax_cross_entropy_with_logits(y, x), (X, P)),
    "sparse cross entropy": Case(lambda tf: lambda x, y: tf.nn.sparse_softmax_cross_entropy_with_logits(y, x), (X, ints(4, 3))),
    "sigmoid cross entropy": Case(lambda tf: lambda x, y: tf.nn.sigmoid_cross_entropy_with_logits(y, x), (X, P)),
    "gelu": Case(lambda tf: lambda x: (tf.nn.gelu(x), tf.nn.gelu(x, True), tf.nn.swish(x)), (X,)),
    "checked": Case(lambda tf: lambda x: tf.debugging.check_numerics(tf.stop_gradient(tf.identity(x)), "no"), (X,)),
    # flow
    "branch": Case(lambda tf: lambda x: tf.cond(tf.reduce_sum(x) > 0, lambda: tf.math.log(x * x + 1), lambda: -x), (X,)),
    "choice": Case(lambda tf: lambda x: tf.switch_case(tf.cast(tf.reduce_sum(x), tf.int32), [lambda: x, lambda: -x, lambda: 2 * x]), (X,)),
    "loop": Case(lambda tf: lambda x: tf.while_loop(lambda i, y: i < 5, lambda i, y: (i + 1, y * 0.5 + x), (0, x))[1], (X,)),
    "loop by data": Case(lambda tf: lambda x: tf.while_loop(lambda y: tf.reduce_sum(tf.abs(y)) > 1.0, lambda y: (y * 0.5,), (x,))[0], (X,)),
    "array": Case(_array, (X,)),
    "pushed": Case(_pushed, (X,)),
    "map": Case(lambda tf: lambda x: tf.map_fn(lambda row: tf.reduce_sum(row) * row, x), (X,)),
    "scan": Case(lambda tf: lambda x: tf.scan(lambda a, b: a * 0.5 + b, x), (X,)),
}  # fmt: skip


def _gradient(function: Callable[[Any], Callable[..., Any]], *inputs: Array, **how: Any) -> Case:
    def make(tf: Any) -> Callable[..., Any]:
        inner = function(tf)

        def gradients(*given: Any) -> Any:
            with tf.GradientTape() as tape:
                for one in given:
                    tape.watch(one)
                value = inner(*given)
            return [one for one in tape.gradient(value, given) if one is not None]

        return gradients

    return Case(make, inputs, **how)


GRADIENTS: dict[str, Case] = {
    **{
        f"{name} gradient": _gradient(lambda tf, name=name: lambda x: getattr(tf.nn, name)(x) * x, X)
        for name in ("elu", "leaky_relu", "relu", "relu6", "selu", "sigmoid", "softplus", "softsign", "tanh", "gelu", "softmax", "log_softmax")
    },
    **{
        f"{name} gradient": _gradient(lambda tf, name=name: lambda x: getattr(tf.math, name)(x) * x, P)
        for name in ("sqrt", "rsqrt", "reciprocal", "log", "exp", "log1p", "square", "sin", "erf", "asin", "pow")
        if name != "pow"
    },
    "inv gradient": Case(lambda tf: lambda y, dy: (tf.raw_ops.InvGrad(y=y, dy=dy), tf.raw_ops.ReciprocalGrad(y=y, dy=dy)), (P, X)),
    "pow gradient": _gradient(lambda tf: tf.pow, P, Y),
    "broadcast gradient": _gradient(lambda tf: lambda x, y: x * y / (y * y + 1.0), floats(3, 1), floats(3, 4)),
    "matmul gradient": _gradient(lambda tf: lambda x: tf.reduce_mean(tf.matmul(x, tf.constant(floats(4, 5))) ** 2), X),
    "bias gradient": _gradient(lambda tf: lambda x, b: tf.nn.bias_add(x, b) ** 2, X, floats(4), open_batch=False),
    "dense": _gradient(
        lambda tf: lambda x, w: tf.nn.softmax_cross_entropy_with_logits(tf.one_hot([0, 1, 2], 3), tf.nn.relu(x @ w)), X, floats(4, 3), open_batch=False
    ),
    "sparse loss gradient": _gradient(lambda tf: lambda x: tf.nn.sparse_softmax_cross_entropy_with_logits([1, 0, 3], x), X),
    **{
        f"conv2d {padding} {stride} gradient": _gradient(
            lambda tf, how=(stride, padding): lambda x, w: tf.nn.conv2d(x, w, how[0], how[1]) ** 2, IMAGE, SMALL, open_batch=False, tolerance=1e-4
        )
        for padding, stride in (("SAME", 1), ("SAME", 2), ("VALID", 1), ("VALID", 2))
    },
    "conv2d of an open batch gradient": _gradient(lambda tf: lambda x: tf.nn.conv2d(x, tf.constant(SMALL), 2, "SAME") ** 2, IMAGE, tolerance=1e-4),
    "conv3d gradient": _gradient(lambda tf: lambda x, w: tf.nn.conv3d(x, w, [1, 1, 1, 1, 1], "SAME") ** 2, VOLUME, floats(2, 3, 2, 2, 3), open_batch=False, tolerance=1e-4),
    **{
        f"depthwise {padding} {stride} gradient": _gradient(
            lambda tf, how=(stride, padding): lambda x, w: tf.nn.depthwise_conv2d(x, w, [1, how[0], how[0], 1], how[1]) ** 2,
            IMAGE, DEPTH, open_batch=False, tolerance=1e-4,
        )
        for padding, stride in (("SAME", 1), ("VALID", 2))
    },
    "max_pool gradient": _gradient(lambda tf: lambda x: tf.nn.max_pool2d(x, 3, 2, "SAME") ** 2 * 0.5, IMAGE),
    "avg_pool gradient": _gradient(lambda tf: lambda x: tf.nn.avg_pool2d(x, 3, 2, "SAME") ** 2, IMAGE),
    "pool3d gradient": _gradient(lambda tf: lambda x: tf.reduce_sum(tf.nn.max_pool3d(x, 2, 2, "SAME")) + tf.reduce_sum(tf.nn.avg_pool3d(x, 2, 2, "VALID") ** 2), VOLUME),
    **{
        f"batch_norm {training} gradient": _gradient(
            lambda tf, training=training: lambda x, scale, offset: tf.raw_ops.FusedBatchNormV3(
                x=x, scale=scale, offset=offset, mean=[] if training else [0.1, 0.2, 0.3], variance=[] if training else [1.0, 2.0, 0.5],
                is_training=training, epsilon=1e-3,
            )[0] ** 2,
            IMAGE, floats(3), floats(3), open_batch=False, tolerance=1e-4,
        )
        for training in (True, False)
    },
    "batch_norm of old gradient": Case(
        lambda tf: lambda x, dy: (
            tf.raw_ops.FusedBatchNormGrad(y_backprop=dy, x=x, scale=[1.0, 2.0, 3.0], reserve_space_1=[0.1, 0.2, 0.3], reserve_space_2=[1.0, 2.0, 0.5], is_training=False)[0],
            tf.raw_ops.FusedBatchNormGradV2(y_backprop=dy, x=x, scale=[1.0, 2.0, 3.0], reserve_space_1=[0.1, 0.2, 0.3], reserve_space_2=[1.0, 2.0, 0.5], is_training=False)[0],
        ),
        (IMAGE, floats(2, 7, 6, 3)),
    ),
    "slicing gradient": _gradient(lambda tf: lambda x: tf.reduce_sum(x[:, 1] ** 2) + tf.reduce_sum(x[1:, ::2] ** 2) + tf.reduce_sum(tf.slice(x, [0, 1], [2, 2]) ** 3), X),
    "ellipsis gradient": _gradient(lambda tf: lambda x: tf.reduce_sum(x[..., -1] ** 2) + tf.reduce_sum(x[:, None, 1:3] ** 2), X),
    "concat gradient": _gradient(lambda tf: lambda x, y: tf.concat([x, y], 1) ** 2, X, Y),
    "reductions gradient": _gradient(lambda tf: lambda x: tf.reduce_sum(x, 1) ** 2 + tf.reduce_mean(x, 1) ** 2 + tf.reduce_prod(x, 1), P),
    "max gradient": _gradient(lambda tf: lambda x: tf.reduce_max(x, 1) + tf.maximum(x, 0.5)[:, 0], X),
    "norm gradient": _gradient(lambda tf: lambda x: tf.linalg.l2_normalize(x, 1), X),
    "xlogy gradient": _gradient(lambda tf: lambda x, y: tf.math.xlogy(x, y) + tf.math.divide_no_nan(x, y), P, P),
    "gather gradient": _gradient(lambda tf: lambda x: tf.convert_to_tensor(tf.reduce_sum(tf.gather_nd(x, [[0, 1], [2, 3]]) ** 2)), X),
    "where gradient": _gradient(lambda tf: lambda x: tf.where(x > 0, tf.math.log(x), x), P),
    "stack gradient": _gradient(lambda tf: lambda x, y: tf.stack([x, y], 1) ** 2, X, Y),
    "loop gradient": _gradient(lambda tf: lambda x: tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, tf.tanh(y) + x), (0, x))[1], X),
    "branch gradient": _gradient(lambda tf: lambda x: tf.cond(tf.reduce_sum(x) > 0, lambda: x * x, lambda: -x), X),
}  # fmt: skip
