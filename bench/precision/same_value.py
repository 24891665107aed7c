"""The same value computed twice, perhaps in another order."""

from __future__ import annotations

from .pairs import Pair

PAIRS = (
    Pair(
        name="product of two sums",
        facts=("the same value twice", "x * x"),
        form="torch 18",
        source=(
            "torch.sqrt((a + b) * (b - a))",
            "torch.sqrt((a + b) * (b + a))",
        ),
        why="a + b and b + a are the same number, so that their product is a square",
        ranges={"a": (-100, 100), "b": (-100, 100)},
        fails_at="sqrt",
        breaks={"a": 60, "b": 40},
        defective="""
            g (float[16] a, float[16] b) => (float[16] sqrt) {
              add = Add(a, b)
              sub = Sub(b, a)
              mul = Mul(add, sub)
              sqrt = Sqrt(mul)
            }""",
        repaired="""
            g (float[16] a, float[16] b) => (float[16] sqrt) {
              add = Add(a, b)
              add_1 = Add(b, a)
              mul = Mul(add, add_1)
              sqrt = Sqrt(mul)
            }""",
    ),
    Pair(
        name="softmax whose parts are computed apart",
        facts=("the same value twice", "sum(exp(x - max(x)))", "x / sum(x)"),
        form="torch 23",
        source=(
            "torch.log(1.5 - torch.exp(x) / torch.exp(x.flip(-1)).sum(-1, keepdim=True))",
            "torch.log(1.5 - torch.exp(x - x.amax(-1, keepdim=True)) / torch.exp(x - x.amax(-1, keepdim=True)).sum(-1, keepdim=True))",
        ),
        why="numerator and divisor are computed by two calls of the same function",
        ranges={"x": (-100, 100)},
        fails_at="exp",
        breaks={"x": 100},
        defective="""
            g (float[4,8] x) => (float[4,8] log) {
              exp = Exp(x)
              val_0 = Constant<value_ints = [-1]>()
              val_1 = Constant<value_ints = [-9223372036854775808]>()
              val_2 = Constant<value_ints = [-1]>()
              flip = Slice(x, val_0, val_1, val_2, val_0)
              exp_1 = Exp(flip)
              val_3 = Constant<value = int64[1] {-1}>()
              sum_1 = ReduceSum<noop_with_empty_axes = 0, keepdims = 1>(exp_1, val_3)
              div = Div(exp, sum_1)
              val_4 = Constant<value = float {1.5}>()
              sub = Sub(val_4, div)
              log = Log(sub)
            }""",
        repaired="""
            g (float[4,8] x) => (float[4,8] log) {
              val_0 = Constant<value = int64[1] {-1}>()
              amax = ReduceMax<keepdims = 1>(x, val_0)
              sub = Sub(x, amax)
              exp = Exp(sub)
              amax_1 = ReduceMax<keepdims = 1>(x, val_0)
              sub_1 = Sub(x, amax_1)
              exp_1 = Exp(sub_1)
              val_1 = Constant<value = int64[1] {-1}>()
              sum_1 = ReduceSum<noop_with_empty_axes = 0, keepdims = 1>(exp_1, val_1)
              div = Div(exp, sum_1)
              val_2 = Constant<value = float {1.5}>()
              sub_2 = Sub(val_2, div)
              log = Log(sub_2)
            }""",
    ),
    Pair(
        name="dot product of two spellings",
        facts=("the same value twice", "x * x"),
        form="JAX",
        source=(
            "jnp.sqrt(jnp.sum((x + y) * (x - y), -1))",
            "jnp.sqrt(jnp.sum((x + y) * (y + x), -1))",
        ),
        why="as above, in a sum",
        ranges={"x": (-10, 10), "y": (-10, 10)},
        fails_at="sqrt",
        breaks={"x": 0, "y": -10},
        defective="""
            g (float[4,16] x, float[4,16] y) => (float[4] sqrt) {
              add = Add(x, y)
              sub = Sub(x, y)
              mul = Mul(add, sub)
              lit = Constant<value = int64[1] {1}> ()
              reducesum = ReduceSum<keepdims = 0> (mul, lit)
              sqrt = Sqrt(reducesum)
            }""",
        repaired="""
            g (float[4,16] x, float[4,16] y) => (float[4] sqrt) {
              add = Add(x, y)
              add_1 = Add(y, x)
              mul = Mul(add, add_1)
              lit = Constant<value = int64[1] {1}> ()
              reducesum = ReduceSum<keepdims = 0> (mul, lit)
              sqrt = Sqrt(reducesum)
            }""",
    ),
    Pair(
        name="covariance with itself",
        facts=("the same value twice", "mean((x - m)^2)", "x * x"),
        form="TensorFlow",
        source=(
            "tf.sqrt(cov(x - tf.reduce_mean(x, 1, True), x - tf.reduce_mean(x, 0, True)))",
            "tf.sqrt(cov(x - tf.reduce_mean(x, 1, True), x - tf.reduce_mean(x, 1, True)))",
        ),
        why="tf.function keeps both calls of reduce_mean",
        ranges={"x": (-10, 10)},
        fails_at="Sqrt",
        breaks={
            "x": [
                [0, 1, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, -1, 0, 1],
                [0, 10, -1, 0, 0, 0, 1, -10, 0, 0, 0, -1, 10, 0, 0, 0],
                [1, 10, 10, 1, 1, 10, 0, 0, 10, 0, 1, 0, -1, 0, 0, 0],
                [10, 0, 0, -1, -1, 1, 1, 1, -10, 0, -1, -1, -10, 0, -1, 10],
            ]
        },
        defective="""
            g (float[4,16] x) => (float[4] Sqrt) {
              mean = ReduceMean<axes = [1], keepdims = 1>(x)
              sub = Sub(x, mean)
              mean_1 = ReduceMean<axes = [0], keepdims = 1>(x)
              sub_1 = Sub(x, mean_1)
              mul = Mul(sub, sub_1)
              Mean = ReduceMean<axes = [1], keepdims = 0>(mul)
              Sqrt = Sqrt(Mean)
            }""",
        repaired="""
            g (float[4,16] x) => (float[4] Sqrt) {
              mean = ReduceMean<axes = [1], keepdims = 1>(x)
              sub = Sub(x, mean)
              mean_1 = ReduceMean<axes = [1], keepdims = 1>(x)
              sub_1 = Sub(x, mean_1)
              mul = Mul(sub, sub_1)
              Mean = ReduceMean<axes = [1], keepdims = 0>(mul)
              Sqrt = Sqrt(Mean)
            }""",
    ),
)
