"""Variances, standard deviations and what is made of them."""

from __future__ import annotations

from .pairs import Pair

PAIRS = (
    Pair(
        name="standard deviation as a difference of means",
        facts=("mean((x - m)^2)", "x * x"),
        form="torch 18",
        source=(
            "torch.sqrt((x * x).mean(-1) - x.mean(-1) ** 2)",
            "torch.sqrt(((x - x.mean(-1, keepdim=True)) ** 2).mean(-1))",
        ),
        why="E[x^2] - E[x]^2 rounds below 0; a mean of squares doesn't",
        ranges={"x": (-100, 100)},
        fails_at="sqrt",
        breaks={"x": [59.788, 59.788017] * 8},
        defective="""
            g (float[4,16] x) => (float[4] sqrt) {
              mul = Mul(x, x)
              val_0 = Constant<value_ints = [-1]>()
              val_1 = Constant<value = int64[1] {-1}>()
              val_2 = Reshape<allowzero = 0>(val_1, val_0)
              mean = ReduceMean<noop_with_empty_axes = 0, keepdims = 0>(mul, val_2)
              val_3 = Constant<value_ints = [-1]>()
              val_4 = Reshape<allowzero = 0>(val_1, val_3)
              mean_1 = ReduceMean<noop_with_empty_axes = 0, keepdims = 0>(x, val_4)
              val_5 = Constant<value = float {2}>()
              pow_1 = Pow(mean_1, val_5)
              sub = Sub(mean, pow_1)
              sqrt = Sqrt(sub)
            }""",
        repaired="""
            g (float[4,16] x) => (float[4] sqrt) {
              val_0 = Constant<value_ints = [-1]>()
              val_1 = Constant<value = int64[1] {-1}>()
              val_2 = Reshape<allowzero = 0>(val_1, val_0)
              mean = ReduceMean<noop_with_empty_axes = 0, keepdims = 1>(x, val_2)
              sub = Sub(x, mean)
              val_3 = Constant<value = float {2}>()
              pow_1 = Pow(sub, val_3)
              val_4 = Constant<value_ints = [-1]>()
              val_5 = Reshape<allowzero = 0>(val_1, val_4)
              mean_1 = ReduceMean<noop_with_empty_axes = 0, keepdims = 0>(pow_1, val_5)
              sqrt = Sqrt(mean_1)
            }""",
    ),
    Pair(
        name="variance of two differences",
        facts=("the same value twice", "x * x"),
        form="torch 23",
        source=(
            "torch.sqrt(((x - x.mean(-1, keepdim=True)) * (x - x.mean(0, keepdim=True))).mean(-1))",
            "torch.sqrt(((x - x.mean(-1, keepdim=True)) * (x - x.mean(-1, keepdim=True))).mean(-1))",
        ),
        why="two different means: the product can be negative; the same difference computed twice is a square",
        ranges={"x": (-10, 10)},
        fails_at="sqrt",
        breaks={
            "x": [
                [0, 1, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, -1, 0, 1],
                [0, 10, -1, 0, 0, 0, 1, -10, 0, 0, 0, -1, 10, 0, 0, 0],
                [1, 10, 10, 1, 1, 10, 0, 0, 10, 0, 1, 0, -1, 0, 0, 0],
                [10, 0, 0, -1, -1, 1, 1, 1, -10, 0, -1, -1, -10, 0, -1, 10],
            ]
        },
        defective="""
            g (float[4,16] x) => (float[4] sqrt) {
              val_0 = Constant<value_ints = [-1]>()
              val_1 = Constant<value = int64[1] {-1}>()
              val_2 = Reshape<allowzero = 0>(val_1, val_0)
              mean = ReduceMean<noop_with_empty_axes = 0, keepdims = 1>(x, val_2)
              sub = Sub(x, mean)
              val_3 = Constant<value_ints = [-1]>()
              val_4 = Constant<value = int64[1] {0}>()
              val_5 = Reshape<allowzero = 0>(val_4, val_3)
              mean_1 = ReduceMean<noop_with_empty_axes = 0, keepdims = 1>(x, val_5)
              sub_1 = Sub(x, mean_1)
              mul = Mul(sub, sub_1)
              val_6 = Constant<value_ints = [-1]>()
              val_7 = Reshape<allowzero = 0>(val_1, val_6)
              mean_2 = ReduceMean<noop_with_empty_axes = 0, keepdims = 0>(mul, val_7)
              sqrt = Sqrt(mean_2)
            }""",
        repaired="""
            g (float[4,16] x) => (float[4] sqrt) {
              val_0 = Constant<value_ints = [-1]>()
              val_1 = Constant<value = int64[1] {-1}>()
              val_2 = Reshape<allowzero = 0>(val_1, val_0)
              mean = ReduceMean<noop_with_empty_axes = 0, keepdims = 1>(x, val_2)
              sub = Sub(x, mean)
              val_3 = Constant<value_ints = [-1]>()
              val_4 = Reshape<allowzero = 0>(val_1, val_3)
              mean_1 = ReduceMean<noop_with_empty_axes = 0, keepdims = 1>(x, val_4)
              sub_1 = Sub(x, mean_1)
              mul = Mul(sub, sub_1)
              val_5 = Constant<value_ints = [-1]>()
              val_6 = Reshape<allowzero = 0>(val_1, val_5)
              mean_2 = ReduceMean<noop_with_empty_axes = 0, keepdims = 0>(mul, val_6)
              sqrt = Sqrt(mean_2)
            }""",
    ),
    Pair(
        name="logarithm of a standard deviation",
        facts=("mean((x - m)^2)",),
        form="torch 18",
        source=(
            "torch.log(x.std(-1))",
            "torch.log(x.std(-1) + 1e-6)",
        ),
        why="log(0) for a row of one value",
        ranges={"x": (-100, 100)},
        fails_at="log",
        breaks={"x": 1},
        defective="""
            g (float[4,16] x) => (float[4] log) {
              val_0 = Constant<value = int64[1] {1}>()
              val_1 = ReduceMean<noop_with_empty_axes = 0, keepdims = 1>(x, val_0)
              val_2 = Sub(x, val_1)
              val_3 = Mul(val_2, val_2)
              val_4 = ReduceMean<noop_with_empty_axes = 0, keepdims = 0>(val_3, val_0)
              val_5 = Shape<start = 0>(x)
              val_6 = Gather<axis = 0>(val_5, val_0)
              val_7 = ReduceProd<noop_with_empty_axes = 0, keepdims = 0>(val_6)
              val_8 = CastLike(val_7, x)
              val_9 = Mul(val_4, val_8)
              val_10 = Constant<value = float {1}>()
              val_11 = CastLike(val_10, x)
              val_12 = Sub(val_8, val_11)
              var = Div(val_9, val_12)
              sqrt = Sqrt(var)
              log = Log(sqrt)
            }""",
        repaired="""
            g (float[4,16] x) => (float[4] log) {
              val_0 = Constant<value = int64[1] {1}>()
              val_1 = ReduceMean<noop_with_empty_axes = 0, keepdims = 1>(x, val_0)
              val_2 = Sub(x, val_1)
              val_3 = Mul(val_2, val_2)
              val_4 = ReduceMean<noop_with_empty_axes = 0, keepdims = 0>(val_3, val_0)
              val_5 = Shape<start = 0>(x)
              val_6 = Gather<axis = 0>(val_5, val_0)
              val_7 = ReduceProd<noop_with_empty_axes = 0, keepdims = 0>(val_6)
              val_8 = CastLike(val_7, x)
              val_9 = Mul(val_4, val_8)
              val_10 = Constant<value = float {1}>()
              val_11 = CastLike(val_10, x)
              val_12 = Sub(val_8, val_11)
              var = Div(val_9, val_12)
              sqrt = Sqrt(var)
              val_13 = Constant<value = float {1e-06}>()
              add = Add(sqrt, val_13)
              log = Log(add)
            }""",
    ),
    Pair(
        name="variance of an open batch",
        facts=("integer ranges", "mean((x - m)^2)"),
        form="torch 18",
        source=(
            "x.var(0)",
            "x.var(0, correction=0)",
        ),
        why="a batch of 1 divides 0 by 0; without Bessel's correction it divides by N",
        ranges={"x": (-10, 10)},
        dims={"N": (1, 64)},
        sizes={"N": 1},
        fails_at="var",
        breaks={"x": 0},
        defective="""
            g (float[N,4] x) => (float[4] var) {
              val_0 = Constant<value = int64[1] {0}>()
              val_1 = ReduceMean<noop_with_empty_axes = 0, keepdims = 1>(x, val_0)
              val_2 = Sub(x, val_1)
              val_3 = Mul(val_2, val_2)
              val_4 = ReduceMean<noop_with_empty_axes = 0, keepdims = 0>(val_3, val_0)
              val_5 = Shape<start = 0>(x)
              val_6 = Gather<axis = 0>(val_5, val_0)
              val_7 = ReduceProd<noop_with_empty_axes = 0, keepdims = 0>(val_6)
              val_8 = CastLike(val_7, x)
              val_9 = Mul(val_4, val_8)
              val_10 = Constant<value = float {1}>()
              val_11 = CastLike(val_10, x)
              val_12 = Sub(val_8, val_11)
              var = Div(val_9, val_12)
            }""",
        repaired="""
            g (float[N,4] x) => (float[4] var) {
              val_0 = Constant<value = int64[1] {0}>()
              val_1 = ReduceMean<noop_with_empty_axes = 0, keepdims = 1>(x, val_0)
              val_2 = Sub(x, val_1)
              val_3 = Mul(val_2, val_2)
              var = ReduceMean<noop_with_empty_axes = 0, keepdims = 0>(val_3, val_0)
            }""",
    ),
    Pair(
        name="reduce_std",
        facts=("mean((x - m)^2)", "x * x"),
        form="TensorFlow",
        source=(
            "(x - tf.reduce_mean(x)) / tf.math.reduce_std(x)",
            "tf.image.per_image_standardization(x)",
        ),
        why="an image of one colour has the standard deviation 0; tf.image.per_image_standardization keeps it above 1/sqrt(n)",
        ranges={"x": (0, 1)},
        fails_at="truediv",
        breaks={"x": 0},
        defective="""
            g (float[4,16] x) => (float[4,16] truediv) {
              reduce_mean = ReduceMean<axes = [1], keepdims = 1>(x)
              sub = Sub(x, reduce_mean)
              Square = Mul(sub, sub)
              reduce_variance = ReduceMean<axes = [1], keepdims = 1>(Square)
              reduce_std = Sqrt(reduce_variance)
              truediv = Div(sub, reduce_std)
            }""",
        repaired="""
            g (float[4,16] x) => (float[4,16] truediv) {
              reduce_mean = ReduceMean<axes = [1], keepdims = 1>(x)
              sub = Sub(x, reduce_mean)
              Square = Mul(sub, sub)
              reduce_variance = ReduceMean<axes = [1], keepdims = 1>(Square)
              reduce_std = Sqrt(reduce_variance)
              y = Constant<value = float {0.25}>()
              Maximum = Max(reduce_std, y)
              truediv = Div(sub, Maximum)
            }""",
    ),
    Pair(
        name="variance of a jaxpr",
        facts=("mean((x - m)^2)", "the same value twice"),
        form="JAX",
        source=(
            "(x - jnp.mean(x, -1, keepdims=True)) / jnp.std(x, axis=-1, keepdims=True)",
            "(x - jnp.mean(x, -1, keepdims=True)) / jnp.sqrt(jnp.var(x, axis=-1, keepdims=True) + 1e-5)",
        ),
        why="0 / 0 in a row of one value; jnp.var brings a where with a NaN that is never chosen",
        ranges={"x": (-100, 100)},
        fails_at="div_3",
        breaks={"x": 1},
        defective="""
            g (float[4,16] x) => (float[4,16] div_3) {
              lit = Constant<value = int64[1] {1}> ()
              reducesum = ReduceSum<keepdims = 0> (x, lit)
              lit_1 = Constant<value = int64[2] {4,1}> ()
              reshape = Reshape(reducesum, lit_1)
              lit_2 = Constant<value = float {16}> ()
              div = Div(reshape, lit_2)
              sub = Sub(x, div)
              lit_3 = Constant<value = int32 {0}> ()
              lit_4 = Constant<value = int64[1] {1}> ()
              reducesum_1 = ReduceSum<keepdims = 0> (x, lit_4)
              lit_5 = Constant<value = int64[2] {4,1}> ()
              reshape_1 = Reshape(reducesum_1, lit_5)
              lit_6 = Constant<value = float {16}> ()
              div_1 = Div(reshape_1, lit_6)
              sub_1 = Sub(x, div_1)
              mul = Mul(sub_1, sub_1)
              cast = Cast<to = 1> (lit_3)
              lit_7 = Constant<value = float {16}> ()
              sub_2 = Sub(lit_7, cast)
              lit_8 = Constant<value = int64[1] {1}> ()
              reducesum_2 = ReduceSum<keepdims = 0> (mul, lit_8)
              lit_9 = Constant<value = int64[2] {4,1}> ()
              reshape_2 = Reshape(reducesum_2, lit_9)
              div_2 = Div(reshape_2, sub_2)
              lit_10 = Constant<value = float {0}> ()
              greater = Greater(sub_2, lit_10)
              lit_11 = Constant<value = float {nan}> ()
              cast_1 = Cast<to = 1> (lit_11)
              lit_12 = Constant<value = int64[2] {1,1}> ()
              reshape_3 = Reshape(cast_1, lit_12)
              lit_13 = Constant<value = int64[2] {4,1}> ()
              expand = Expand(reshape_3, lit_13)
              where = Where(greater, div_2, expand)
              sqrt = Sqrt(where)
              div_3 = Div(sub, sqrt)
            }""",
        repaired="""
            g (float[4,16] x) => (float[4,16] div_3) {
              lit = Constant<value = int64[1] {1}> ()
              reducesum = ReduceSum<keepdims = 0> (x, lit)
              lit_1 = Constant<value = int64[2] {4,1}> ()
              reshape = Reshape(reducesum, lit_1)
              lit_2 = Constant<value = float {16}> ()
              div = Div(reshape, lit_2)
              sub = Sub(x, div)
              lit_3 = Constant<value = int32 {0}> ()
              lit_4 = Constant<value = int64[1] {1}> ()
              reducesum_1 = ReduceSum<keepdims = 0> (x, lit_4)
              lit_5 = Constant<value = int64[2] {4,1}> ()
              reshape_1 = Reshape(reducesum_1, lit_5)
              lit_6 = Constant<value = float {16}> ()
              div_1 = Div(reshape_1, lit_6)
              sub_1 = Sub(x, div_1)
              mul = Mul(sub_1, sub_1)
              cast = Cast<to = 1> (lit_3)
              lit_7 = Constant<value = float {16}> ()
              sub_2 = Sub(lit_7, cast)
              lit_8 = Constant<value = int64[1] {1}> ()
              reducesum_2 = ReduceSum<keepdims = 0> (mul, lit_8)
              lit_9 = Constant<value = int64[2] {4,1}> ()
              reshape_2 = Reshape(reducesum_2, lit_9)
              div_2 = Div(reshape_2, sub_2)
              lit_10 = Constant<value = float {0}> ()
              greater = Greater(sub_2, lit_10)
              lit_11 = Constant<value = float {nan}> ()
              cast_1 = Cast<to = 1> (lit_11)
              lit_12 = Constant<value = int64[2] {1,1}> ()
              reshape_3 = Reshape(cast_1, lit_12)
              lit_13 = Constant<value = int64[2] {4,1}> ()
              expand = Expand(reshape_3, lit_13)
              where = Where(greater, div_2, expand)
              lit_14 = Constant<value = float {1e-05}> ()
              add = Add(where, lit_14)
              sqrt = Sqrt(add)
              div_3 = Div(sub, sqrt)
            }""",
    ),
    Pair(
        name="running variance",
        facts=("x * x",),
        form="torch 18",
        source=(
            """
                d = x - m
                v = 0.9 * v + 0.1 * d * (x + m)
                return d / torch.sqrt(v + 1e-5)""",
            """
                d = x - m
                v = 0.9 * v + 0.1 * d * d
                return d / torch.sqrt(v + 1e-5)""",
        ),
        why="a product of two different factors can be negative; d * d can't, though it is written 0.1 * d * d",
        ranges={"x": (-10, 10), "m": (-10, 10), "v": (0, 100)},
        fails_at="sqrt",
        breaks={"x": 0.0001, "m": 1, "v": 0.0001},
        defective="""
            g (float[16] x, float[16] m, float[16] v) => (float[16] div) {
              sub = Sub(x, m)
              val_0 = Constant<value = float {0.9}>()
              mul = Mul(v, val_0)
              val_1 = Constant<value = float {0.1}>()
              mul_1 = Mul(sub, val_1)
              add = Add(x, m)
              mul_2 = Mul(mul_1, add)
              add_1 = Add(mul, mul_2)
              val_2 = Constant<value = float {1e-05}>()
              add_2 = Add(add_1, val_2)
              sqrt = Sqrt(add_2)
              div = Div(sub, sqrt)
            }""",
        repaired="""
            g (float[16] x, float[16] m, float[16] v) => (float[16] div) {
              sub = Sub(x, m)
              val_0 = Constant<value = float {0.9}>()
              mul = Mul(v, val_0)
              val_1 = Constant<value = float {0.1}>()
              mul_1 = Mul(sub, val_1)
              mul_2 = Mul(mul_1, sub)
              add = Add(mul, mul_2)
              val_2 = Constant<value = float {1e-05}>()
              add_1 = Add(add, val_2)
              sqrt = Sqrt(add_1)
              div = Div(sub, sqrt)
            }""",
    ),
    Pair(
        name="step of Adam",
        facts=("x * x",),
        form="torch 23",
        source=(
            """
                m = 0.9 * m + 0.1 * g
                v = 0.999 * v + 0.001 * g * g
                return m / torch.sqrt(v)""",
            """
                m = 0.9 * m + 0.1 * g
                v = 0.999 * v + 0.001 * g * g
                return m / (torch.sqrt(v) + 1e-8)""",
        ),
        why="no gradient yet: 0 / 0; the epsilon is added to the root",
        ranges={"g": (-10, 10), "m": (-10, 10), "v": (0, 100)},
        fails_at="div",
        breaks={"g": 0, "m": 0, "v": 0},
        defective="""
            g (float[16] g, float[16] m, float[16] v) => (float[16] div) {
              val_0 = Constant<value = float {0.9}>()
              mul = Mul(m, val_0)
              val_1 = Constant<value = float {0.1}>()
              mul_1 = Mul(g, val_1)
              add = Add(mul, mul_1)
              val_2 = Constant<value = float {0.999}>()
              mul_2 = Mul(v, val_2)
              val_3 = Constant<value = float {0.001}>()
              mul_3 = Mul(g, val_3)
              mul_4 = Mul(mul_3, g)
              add_1 = Add(mul_2, mul_4)
              sqrt = Sqrt(add_1)
              div = Div(add, sqrt)
            }""",
        repaired="""
            g (float[16] g, float[16] m, float[16] v) => (float[16] div) {
              val_0 = Constant<value = float {0.9}>()
              mul = Mul(m, val_0)
              val_1 = Constant<value = float {0.1}>()
              mul_1 = Mul(g, val_1)
              add = Add(mul, mul_1)
              val_2 = Constant<value = float {0.999}>()
              mul_2 = Mul(v, val_2)
              val_3 = Constant<value = float {0.001}>()
              mul_3 = Mul(g, val_3)
              mul_4 = Mul(mul_3, g)
              add_1 = Add(mul_2, mul_4)
              sqrt = Sqrt(add_1)
              val_4 = Constant<value = float {1e-08}>()
              add_2 = Add(sqrt, val_4)
              div = Div(add, add_2)
            }""",
    ),
)
