"""Layer normalisation and its kin, written out."""

from __future__ import annotations

from .pairs import Pair

PAIRS = (
    Pair(
        name="layer norm by hand",
        facts=("mean((x - m)^2)", "the same value twice"),
        form="torch 18",
        source=(
            """
                m = x.mean(-1, keepdim=True)
                v = ((x - m) ** 2).mean(-1, keepdim=True)
                return (x - m) / torch.sqrt(v)""",
            """
                m = x.mean(-1, keepdim=True)
                v = ((x - m) ** 2).mean(-1, keepdim=True)
                return (x - m) / torch.sqrt(v + 1e-5)""",
        ),
        why="a row of one value has the variance 0; a mean of squares plus an epsilon is above 0",
        ranges={"x": (-100, 100)},
        fails_at="div",
        breaks={"x": 1},
        defective="""
            g (float[4,16] x) => (float[4,16] div) {
              val_0 = Constant<value_ints = [-1]>()
              val_1 = Constant<value = int64[1] {-1}>()
              val_2 = Reshape<allowzero = 0>(val_1, val_0)
              mean = ReduceMean<noop_with_empty_axes = 0, keepdims = 1>(x, val_2)
              sub = Sub(x, mean)
              val_3 = Constant<value = float {2}>()
              pow_1 = Pow(sub, val_3)
              val_4 = Constant<value_ints = [-1]>()
              val_5 = Reshape<allowzero = 0>(val_1, val_4)
              mean_1 = ReduceMean<noop_with_empty_axes = 0, keepdims = 1>(pow_1, val_5)
              sub_1 = Sub(x, mean)
              sqrt = Sqrt(mean_1)
              div = Div(sub_1, sqrt)
            }""",
        repaired="""
            g (float[4,16] x) => (float[4,16] div) {
              val_0 = Constant<value_ints = [-1]>()
              val_1 = Constant<value = int64[1] {-1}>()
              val_2 = Reshape<allowzero = 0>(val_1, val_0)
              mean = ReduceMean<noop_with_empty_axes = 0, keepdims = 1>(x, val_2)
              sub = Sub(x, mean)
              val_3 = Constant<value = float {2}>()
              pow_1 = Pow(sub, val_3)
              val_4 = Constant<value_ints = [-1]>()
              val_5 = Reshape<allowzero = 0>(val_1, val_4)
              mean_1 = ReduceMean<noop_with_empty_axes = 0, keepdims = 1>(pow_1, val_5)
              sub_1 = Sub(x, mean)
              val_6 = Constant<value = float {1e-05}>()
              add = Add(mean_1, val_6)
              sqrt = Sqrt(add)
              div = Div(sub_1, sqrt)
            }""",
    ),
    Pair(
        name="layer norm by var",
        facts=("mean((x - m)^2)",),
        form="torch 23",
        source=(
            "(x - x.mean(-1, keepdim=True)) / x.std(-1, keepdim=True)",
            "(x - x.mean(-1, keepdim=True)) / (x.std(-1, keepdim=True) + 1e-6)",
        ),
        why="a row of one value has the standard deviation 0",
        ranges={"x": (-100, 100)},
        fails_at="div",
        breaks={"x": 1},
        defective="""
            g (float[4,16] x) => (float[4,16] div) {
              val_0 = Constant<value_ints = [-1]>()
              val_1 = Constant<value = int64[1] {-1}>()
              val_2 = Reshape<allowzero = 0>(val_1, val_0)
              mean = ReduceMean<noop_with_empty_axes = 0, keepdims = 1>(x, val_2)
              sub = Sub(x, mean)
              val_3 = Constant<value = int64[1] {1}>()
              val_4 = ReduceMean<noop_with_empty_axes = 0, keepdims = 1>(x, val_3)
              val_5 = Sub(x, val_4)
              val_6 = Mul(val_5, val_5)
              val_7 = ReduceMean<noop_with_empty_axes = 0, keepdims = 0>(val_6, val_3)
              val_8 = Shape<start = 0>(x)
              val_9 = Gather<axis = 0>(val_8, val_3)
              val_10 = ReduceProd<noop_with_empty_axes = 0, keepdims = 0>(val_9)
              val_11 = CastLike(val_10, x)
              val_12 = Mul(val_7, val_11)
              val_13 = Constant<value = float {1}>()
              val_14 = CastLike(val_13, x)
              val_15 = Sub(val_11, val_14)
              var = Div(val_12, val_15)
              val_16 = Shape<end = 1, start = 0>(var)
              val_17 = Constant<value_ints = [-1]>()
              val_18 = Reshape<allowzero = 0>(val_16, val_17)
              val_19 = Constant<value_ints = [1]>()
              val_20 = Concat<axis = 0>(val_18, val_19)
              val_21 = Reshape<allowzero = 0>(var, val_20)
              val_22 = Constant<value = int64[2] {4,1}>()
              broadcast_in_dim = Expand(val_21, val_22)
              sqrt = Sqrt(broadcast_in_dim)
              div = Div(sub, sqrt)
            }""",
        repaired="""
            g (float[4,16] x) => (float[4,16] div) {
              val_0 = Constant<value_ints = [-1]>()
              val_1 = Constant<value = int64[1] {-1}>()
              val_2 = Reshape<allowzero = 0>(val_1, val_0)
              mean = ReduceMean<noop_with_empty_axes = 0, keepdims = 1>(x, val_2)
              sub = Sub(x, mean)
              val_3 = Constant<value = int64[1] {1}>()
              val_4 = ReduceMean<noop_with_empty_axes = 0, keepdims = 1>(x, val_3)
              val_5 = Sub(x, val_4)
              val_6 = Mul(val_5, val_5)
              val_7 = ReduceMean<noop_with_empty_axes = 0, keepdims = 0>(val_6, val_3)
              val_8 = Shape<start = 0>(x)
              val_9 = Gather<axis = 0>(val_8, val_3)
              val_10 = ReduceProd<noop_with_empty_axes = 0, keepdims = 0>(val_9)
              val_11 = CastLike(val_10, x)
              val_12 = Mul(val_7, val_11)
              val_13 = Constant<value = float {1}>()
              val_14 = CastLike(val_13, x)
              val_15 = Sub(val_11, val_14)
              var = Div(val_12, val_15)
              val_16 = Shape<end = 1, start = 0>(var)
              val_17 = Constant<value_ints = [-1]>()
              val_18 = Reshape<allowzero = 0>(val_16, val_17)
              val_19 = Constant<value_ints = [1]>()
              val_20 = Concat<axis = 0>(val_18, val_19)
              val_21 = Reshape<allowzero = 0>(var, val_20)
              val_22 = Constant<value = int64[2] {4,1}>()
              broadcast_in_dim = Expand(val_21, val_22)
              sqrt = Sqrt(broadcast_in_dim)
              val_23 = Constant<value = float {1e-06}>()
              add = Add(sqrt, val_23)
              div = Div(sub, add)
            }""",
    ),
    Pair(
        name="exponential of a layer norm",
        facts=("normalised rows",),
        form="torch 18",
        source=(
            "torch.exp(x - x.mean(-1, keepdim=True))",
            "torch.exp(F.layer_norm(x, (64,)))",
        ),
        why="centred values are as large as the inputs; normalised ones stay within sqrt(64)",
        ranges={"x": (-1000, 1000)},
        fails_at="exp",
        breaks={"x": [-1000, 1000] * 32},
        defective="""
            g (float[4,64] x) => (float[4,64] exp) {
              val_0 = Constant<value_ints = [-1]>()
              val_1 = Constant<value = int64[1] {-1}>()
              val_2 = Reshape<allowzero = 0>(val_1, val_0)
              mean = ReduceMean<noop_with_empty_axes = 0, keepdims = 1>(x, val_2)
              sub = Sub(x, mean)
              exp = Exp(sub)
            }""",
        repaired="""
            g (float[4,64] x) => (float[4,64] exp) {
              val_0 = Constant<value = float {1}>()
              val_1 = Shape<start = -1>(x)
              val_2 = Expand(val_0, val_1)
              layer_norm = LayerNormalization<stash_type = 1, epsilon: float = 1e-05, axis = -1>(x, val_2)
              exp = Exp(layer_norm)
            }""",
    ),
    Pair(
        name="exponential of a layer norm by hand",
        facts=("normalised rows", "mean((x - m)^2)", "the same value twice"),
        form="torch 23",
        source=(
            """
                d = x - x.mean(-1, keepdim=True)
                return torch.exp(d)""",
            """
                d = x - x.mean(-1, keepdim=True)
                v = d.pow(2).mean(-1, keepdim=True)
                return torch.exp(d * torch.rsqrt(v + 1e-5))""",
        ),
        why="as above, with rsqrt",
        ranges={"x": (-1000, 1000)},
        fails_at="exp",
        breaks={"x": [-1000, 1000] * 32},
        defective="""
            g (float[4,64] x) => (float[4,64] exp) {
              val_0 = Constant<value_ints = [-1]>()
              val_1 = Constant<value = int64[1] {-1}>()
              val_2 = Reshape<allowzero = 0>(val_1, val_0)
              mean = ReduceMean<noop_with_empty_axes = 0, keepdims = 1>(x, val_2)
              sub = Sub(x, mean)
              exp = Exp(sub)
            }""",
        repaired="""
            g (float[4,64] x) => (float[4,64] exp) {
              val_0 = Constant<value_ints = [-1]>()
              val_1 = Constant<value = int64[1] {-1}>()
              val_2 = Reshape<allowzero = 0>(val_1, val_0)
              mean = ReduceMean<noop_with_empty_axes = 0, keepdims = 1>(x, val_2)
              sub = Sub(x, mean)
              val_3 = Constant<value = float {2}>()
              pow_1 = Pow(sub, val_3)
              val_4 = Constant<value_ints = [-1]>()
              val_5 = Reshape<allowzero = 0>(val_1, val_4)
              mean_1 = ReduceMean<noop_with_empty_axes = 0, keepdims = 1>(pow_1, val_5)
              val_6 = Constant<value = float {1e-05}>()
              add = Add(mean_1, val_6)
              val_7 = Sqrt(add)
              rsqrt = Reciprocal(val_7)
              mul = Mul(sub, rsqrt)
              exp = Exp(mul)
            }""",
    ),
    Pair(
        name="RMS norm of a language model",
        facts=("x * x", "normalised rows"),
        form="torch 18",
        source=(
            """
                v = x.pow(2).mean(-1, keepdim=True)
                return torch.exp(x * torch.rsqrt(v))""",
            """
                v = x.pow(2).mean(-1, keepdim=True)
                return torch.exp(x * torch.rsqrt(v + 1e-6))""",
        ),
        why="a row of zeros has the mean square 0, and 0 * Inf is NaN",
        ranges={"x": (-10000.0, 10000.0)},
        fails_at="rsqrt",
        breaks={"x": 0},
        defective="""
            g (float[2,5,64] x) => (float[2,5,64] exp) {
              val_0 = Constant<value = float {2}>()
              pow_1 = Pow(x, val_0)
              val_1 = Constant<value_ints = [-1]>()
              val_2 = Constant<value = int64[1] {-1}>()
              val_3 = Reshape<allowzero = 0>(val_2, val_1)
              mean = ReduceMean<noop_with_empty_axes = 0, keepdims = 1>(pow_1, val_3)
              val_4 = Sqrt(mean)
              rsqrt = Reciprocal(val_4)
              mul = Mul(x, rsqrt)
              exp = Exp(mul)
            }""",
        repaired="""
            g (float[2,5,64] x) => (float[2,5,64] exp) {
              val_0 = Constant<value = float {2}>()
              pow_1 = Pow(x, val_0)
              val_1 = Constant<value_ints = [-1]>()
              val_2 = Constant<value = int64[1] {-1}>()
              val_3 = Reshape<allowzero = 0>(val_2, val_1)
              mean = ReduceMean<noop_with_empty_axes = 0, keepdims = 1>(pow_1, val_3)
              val_4 = Constant<value = float {1e-06}>()
              add = Add(mean, val_4)
              val_5 = Sqrt(add)
              rsqrt = Reciprocal(val_5)
              mul = Mul(x, rsqrt)
              exp = Exp(mul)
            }""",
    ),
    Pair(
        name="RMS norm as one node",
        facts=("normalised rows",),
        form="torch 23",
        source=(
            "torch.exp(x / x.pow(2).mean(-1, keepdim=True).sqrt())",
            "torch.exp(F.rms_norm(x, (64,), eps=1e-6))",
        ),
        why="0 / 0 in a row of zeros; from opset 23 the module is one operator",
        ranges={"x": (-10000.0, 10000.0)},
        fails_at="div",
        breaks={"x": 0},
        defective="""
            g (float[2,5,64] x) => (float[2,5,64] exp) {
              val_0 = Constant<value = float {2}>()
              pow_1 = Pow(x, val_0)
              val_1 = Constant<value_ints = [-1]>()
              val_2 = Constant<value = int64[1] {-1}>()
              val_3 = Reshape<allowzero = 0>(val_2, val_1)
              mean = ReduceMean<noop_with_empty_axes = 0, keepdims = 1>(pow_1, val_3)
              sqrt = Sqrt(mean)
              div = Div(x, sqrt)
              exp = Exp(div)
            }""",
        repaired="""
            g (float[2,5,64] x) => (float[2,5,64] exp) {
              val_0 = Shape<start = 0>(x)
              val_1 = ConstantOfShape<value = float[1] {1}>(val_0)
              rms_norm = RMSNormalization<stash_type = 1, epsilon: float = 1e-06, axis = -1>(x, val_1)
              exp = Exp(rms_norm)
            }""",
    ),
    Pair(
        name="moments and batch_normalization",
        facts=("mean((x - m)^2)",),
        form="TensorFlow",
        source=(
            "tf.nn.batch_normalization(x, m, tf.reduce_mean(x * x, 1, keepdims=True) - m * m, None, None, 1e-3)",
            "tf.nn.batch_normalization(x, *tf.nn.moments(x, 1, keepdims=True), None, None, 1e-3)",
        ),
        why="E[x^2] - E[x]^2 rounds below -0.001; tf.nn.moments takes squared differences",
        ranges={"x": (-5000, 5000)},
        fails_at="Sqrt",
        breaks={"x": [1779.263, 1779.2633] * 8},
        defective="""
            g (float[4,16] x) => (float[4,16] add_1) {
              mean = ReduceMean<axes = [1], keepdims = 1>(x)
              Square = Mul(x, x)
              mean_square = ReduceMean<axes = [1], keepdims = 1>(Square)
              Square_1 = Mul(mean, mean)
              variance = Sub(mean_square, Square_1)
              epsilon = Constant<value = float {0.001}>()
              add = Add(variance, epsilon)
              Sqrt = Sqrt(add)
              Rsqrt = Reciprocal(Sqrt)
              mul = Mul(x, Rsqrt)
              mul_1 = Mul(mean, Rsqrt)
              Neg = Neg(mul_1)
              add_1 = Add(mul, Neg)
            }""",
        repaired="""
            g (float[4,16] x) => (float[4,16] add_1) {
              mean = ReduceMean<axes = [1], keepdims = 1>(x)
              Sub = Sub(x, mean)
              SquaredDifference = Mul(Sub, Sub)
              variance = ReduceMean<axes = [1], keepdims = 1>(SquaredDifference)
              epsilon = Constant<value = float {0.001}>()
              add = Add(variance, epsilon)
              Sqrt = Sqrt(add)
              Rsqrt = Reciprocal(Sqrt)
              mul = Mul(x, Rsqrt)
              mul_1 = Mul(mean, Rsqrt)
              Neg = Neg(mul_1)
              add_1 = Add(mul, Neg)
            }""",
    ),
    Pair(
        name="layer norm with a fast variance",
        facts=("x * x", "min and max"),
        form="JAX",
        source=(
            """
                m = jnp.mean(x, -1, keepdims=True)
                v = jnp.mean(jnp.square(x), -1, keepdims=True) - jnp.square(m)
                return (x - m) * jax.lax.rsqrt(v + 1e-6)""",
            """
                m = jnp.mean(x, -1, keepdims=True)
                v = jnp.maximum(0.0, jnp.mean(jnp.square(x), -1, keepdims=True) - jnp.square(m))
                return (x - m) * jax.lax.rsqrt(v + 1e-6)""",
        ),
        why="E[x^2] - E[x]^2 rounds below the epsilon; flax cuts it at 0",
        ranges={"x": (-1000, 1000)},
        fails_at="sqrt",
        breaks={"x": [759.302, 759.3017] * 8},
        defective="""
            g (float[4,16] x) => (float[4,16] mul_2) {
              lit = Constant<value = int64[1] {1}> ()
              reducesum = ReduceSum<keepdims = 0> (x, lit)
              lit_1 = Constant<value = int64[2] {4,1}> ()
              reshape = Reshape(reducesum, lit_1)
              lit_2 = Constant<value = float {16}> ()
              div = Div(reshape, lit_2)
              mul = Mul(x, x)
              lit_3 = Constant<value = int64[1] {1}> ()
              reducesum_1 = ReduceSum<keepdims = 0> (mul, lit_3)
              lit_4 = Constant<value = int64[2] {4,1}> ()
              reshape_1 = Reshape(reducesum_1, lit_4)
              lit_5 = Constant<value = float {16}> ()
              div_1 = Div(reshape_1, lit_5)
              mul_1 = Mul(div, div)
              sub = Sub(div_1, mul_1)
              sub_1 = Sub(x, div)
              lit_6 = Constant<value = float {1e-06}> ()
              add = Add(sub, lit_6)
              sqrt = Sqrt(add)
              reciprocal = Reciprocal(sqrt)
              mul_2 = Mul(sub_1, reciprocal)
            }""",
        repaired="""
            g (float[4,16] x) => (float[4,16] mul_2) {
              lit = Constant<value = int64[1] {1}> ()
              reducesum = ReduceSum<keepdims = 0> (x, lit)
              lit_1 = Constant<value = int64[2] {4,1}> ()
              reshape = Reshape(reducesum, lit_1)
              lit_2 = Constant<value = float {16}> ()
              div = Div(reshape, lit_2)
              mul = Mul(x, x)
              lit_3 = Constant<value = int64[1] {1}> ()
              reducesum_1 = ReduceSum<keepdims = 0> (mul, lit_3)
              lit_4 = Constant<value = int64[2] {4,1}> ()
              reshape_1 = Reshape(reducesum_1, lit_4)
              lit_5 = Constant<value = float {16}> ()
              div_1 = Div(reshape_1, lit_5)
              mul_1 = Mul(div, div)
              sub = Sub(div_1, mul_1)
              lit_6 = Constant<value = float {0}> ()
              max = Max(lit_6, sub)
              sub_1 = Sub(x, div)
              lit_7 = Constant<value = float {1e-06}> ()
              add = Add(max, lit_7)
              sqrt = Sqrt(add)
              reciprocal = Reciprocal(sqrt)
              mul_2 = Mul(sub_1, reciprocal)
            }""",
    ),
    Pair(
        name="standardize of a jaxpr",
        facts=("x * x", "min and max"),
        form="JAX",
        source=(
            """
                m = jnp.mean(x, -1, keepdims=True)
                return (x - m) / jnp.sqrt(jnp.mean(x * x, -1, keepdims=True) - m * m + 1e-5)""",
            "jax.nn.standardize(x)",
        ),
        why="as above; jax.nn.standardize cuts it at 0",
        ranges={"x": (-1000, 1000)},
        fails_at="sqrt",
        breaks={"x": [759.302, 759.3017] * 8},
        defective="""
            g (float[4,16] x) => (float[4,16] div_2) {
              lit = Constant<value = int64[1] {1}> ()
              reducesum = ReduceSum<keepdims = 0> (x, lit)
              lit_1 = Constant<value = int64[2] {4,1}> ()
              reshape = Reshape(reducesum, lit_1)
              lit_2 = Constant<value = float {16}> ()
              div = Div(reshape, lit_2)
              sub = Sub(x, div)
              mul = Mul(x, x)
              lit_3 = Constant<value = int64[1] {1}> ()
              reducesum_1 = ReduceSum<keepdims = 0> (mul, lit_3)
              lit_4 = Constant<value = int64[2] {4,1}> ()
              reshape_1 = Reshape(reducesum_1, lit_4)
              lit_5 = Constant<value = float {16}> ()
              div_1 = Div(reshape_1, lit_5)
              mul_1 = Mul(div, div)
              sub_1 = Sub(div_1, mul_1)
              lit_6 = Constant<value = float {1e-05}> ()
              add = Add(sub_1, lit_6)
              sqrt = Sqrt(add)
              div_2 = Div(sub, sqrt)
            }""",
        repaired="""
            g (float[4,16] x) => (float[4,16] mul_2) {
              lit = Constant<value = int64[1] {1}> ()
              reducesum = ReduceSum<keepdims = 0> (x, lit)
              lit_1 = Constant<value = int64[2] {4,1}> ()
              reshape = Reshape(reducesum, lit_1)
              lit_2 = Constant<value = float {16}> ()
              div = Div(reshape, lit_2)
              mul = Mul(x, x)
              lit_3 = Constant<value = int64[1] {1}> ()
              reducesum_1 = ReduceSum<keepdims = 0> (mul, lit_3)
              lit_4 = Constant<value = int64[2] {4,1}> ()
              reshape_1 = Reshape(reducesum_1, lit_4)
              lit_5 = Constant<value = float {16}> ()
              div_1 = Div(reshape_1, lit_5)
              mul_1 = Mul(div, div)
              sub = Sub(div_1, mul_1)
              lit_6 = Constant<value = int32 {0}> ()
              cast = Cast<to = 1> (lit_6)
              max = Max(cast, sub)
              sub_1 = Sub(x, div)
              lit_7 = Constant<value = float {1e-05}> ()
              add = Add(max, lit_7)
              sqrt = Sqrt(add)
              reciprocal = Reciprocal(sqrt)
              mul_2 = Mul(sub_1, reciprocal)
            }""",
    ),
)
