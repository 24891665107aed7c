"""Vectors brought to unit length."""

from __future__ import annotations

from .pairs import Pair

PAIRS = (
    Pair(
        name="unit vectors",
        facts=("normalised rows",),
        form="torch 18",
        source=(
            "x / x.norm(dim=-1, keepdim=True)",
            "F.normalize(x, dim=-1)",
        ),
        why="a row of zeros has the norm 0; F.normalize keeps it above 1e-12",
        ranges={"x": (-1000, 1000)},
        fails_at="div",
        breaks={"x": 0},
        defective="""
            g (float[8,16] x) => (float[8,16] div) {
              val_0 = Constant<value_ints = [-1]>()
              val_1 = Constant<value = int64[1] {-1}>()
              val_2 = Reshape<allowzero = 0>(val_1, val_0)
              linalg_vector_norm = ReduceL2<noop_with_empty_axes = 0, keepdims = 1>(x, val_2)
              div = Div(x, linalg_vector_norm)
            }""",
        repaired="""
            g (float[8,16] x) => (float[8,16] div) {
              val_0 = Constant<value_ints = [-1]>()
              val_1 = Constant<value = int64[1] {-1}>()
              val_2 = Reshape<allowzero = 0>(val_1, val_0)
              linalg_vector_norm = ReduceL2<noop_with_empty_axes = 0, keepdims = 1>(x, val_2)
              val_3 = Constant<value = float {1e-12}>()
              val_4 = CastLike(val_3, linalg_vector_norm)
              clamp_min = Clip(linalg_vector_norm, val_4)
              val_6 = Constant<value_ints = [8]>()
              val_7 = Constant<value_ints = [16]>()
              val_8 = Concat<axis = 0>(val_6, val_7)
              expand = Expand(clamp_min, val_8)
              div = Div(x, expand)
            }""",
    ),
    Pair(
        name="l2_normalize",
        facts=("x * x", "normalised rows"),
        form="TensorFlow",
        source=(
            "x * tf.math.rsqrt(tf.reduce_sum(tf.square(x), 1, keepdims=True))",
            "tf.nn.l2_normalize(x, 1)",
        ),
        why="0 * Inf in a row of zeros; tf.nn.l2_normalize keeps the sum above 1e-12",
        ranges={"x": (-1000, 1000)},
        fails_at="Rsqrt",
        breaks={"x": 0},
        defective="""
            g (float[8,16] x) => (float[8,16] l2_normalize) {
              Square = Mul(x, x)
              axes = Constant<value = int64[1] {1}>()
              Sum = ReduceSum<keepdims = 1>(Square, axes)
              Sqrt = Sqrt(Sum)
              Rsqrt = Reciprocal(Sqrt)
              l2_normalize = Mul(x, Rsqrt)
            }""",
        repaired="""
            g (float[8,16] x) => (float[8,16] l2_normalize) {
              Square = Mul(x, x)
              axes = Constant<value = int64[1] {1}>()
              Sum = ReduceSum<keepdims = 1>(Square, axes)
              y = Constant<value = float {1e-12}>()
              Maximum = Max(Sum, y)
              Sqrt = Sqrt(Maximum)
              Rsqrt = Reciprocal(Sqrt)
              l2_normalize = Mul(x, Rsqrt)
            }""",
    ),
    Pair(
        name="weight normalisation",
        facts=("normalised rows", "x * x"),
        form="torch 18",
        source=(
            "torch.exp(g * v / v.norm(dim=1, keepdim=True))",
            "torch.exp(g * F.normalize(v, dim=1))",
        ),
        why="a direction of length 0; normalised, an entry stays within 1",
        ranges={"v": (-100, 100), "g": (0, 20)},
        fails_at="div",
        breaks={"v": 0, "g": 0},
        defective="""
            g (float[8,16] v, float[8,1] g) => (float[8,16] exp) {
              mul = Mul(g, v)
              val_0 = Constant<value_ints = [-1]>()
              val_1 = Constant<value = int64[1] {1}>()
              val_2 = Reshape<allowzero = 0>(val_1, val_0)
              linalg_vector_norm = ReduceL2<noop_with_empty_axes = 0, keepdims = 1>(v, val_2)
              div = Div(mul, linalg_vector_norm)
              exp = Exp(div)
            }""",
        repaired="""
            g (float[8,16] v, float[8,1] g) => (float[8,16] exp) {
              val_0 = Constant<value_ints = [-1]>()
              val_1 = Constant<value = int64[1] {1}>()
              val_2 = Reshape<allowzero = 0>(val_1, val_0)
              linalg_vector_norm = ReduceL2<noop_with_empty_axes = 0, keepdims = 1>(v, val_2)
              val_3 = Constant<value = float {1e-12}>()
              val_4 = CastLike(val_3, linalg_vector_norm)
              clamp_min = Clip(linalg_vector_norm, val_4)
              val_6 = Constant<value_ints = [8]>()
              val_7 = Constant<value_ints = [16]>()
              val_8 = Concat<axis = 0>(val_6, val_7)
              expand = Expand(clamp_min, val_8)
              div = Div(v, expand)
              mul = Mul(g, div)
              exp = Exp(mul)
            }""",
    ),
    Pair(
        name="scaled cosine logits",
        facts=("normalised rows",),
        form="torch 23",
        source=(
            "torch.exp(torch.exp(s) * q)",
            "torch.exp(torch.clamp(s, max=4.0).exp() * F.normalize(q, dim=-1))",
        ),
        why="a learned scale of exp(100) overflows; Swin keeps it below 100 and its vectors at unit length",
        ranges={"q": (-10, 10), "s": (-10, 100)},
        fails_at="exp",
        breaks={"q": 10, "s": 100},
        defective="""
            g (float[4,8] q, float[1] s) => (float[4,8] exp_1) {
              exp = Exp(s)
              mul = Mul(exp, q)
              exp_1 = Exp(mul)
            }""",
        repaired="""
            g (float[4,8] q, float[1] s) => (float[4,8] exp_1) {
              val_0 = Constant<value = float {4}>()
              val_1 = CastLike(val_0, s)
              clamp = Clip(s, "", val_1)
              exp = Exp(clamp)
              val_2 = Constant<value_ints = [-1]>()
              val_3 = Constant<value = int64[1] {-1}>()
              val_4 = Reshape<allowzero = 0>(val_3, val_2)
              linalg_vector_norm = ReduceL2<noop_with_empty_axes = 0, keepdims = 1>(q, val_4)
              val_5 = Constant<value = float {1e-12}>()
              val_6 = CastLike(val_5, linalg_vector_norm)
              clamp_min = Clip(linalg_vector_norm, val_6)
              val_8 = Constant<value_ints = [4]>()
              val_9 = Constant<value_ints = [8]>()
              val_10 = Concat<axis = 0>(val_8, val_9)
              expand = Expand(clamp_min, val_10)
              div = Div(q, expand)
              mul = Mul(exp, div)
              exp_1 = Exp(mul)
            }""",
    ),
    Pair(
        name="norm of a jaxpr",
        facts=("x * x", "comparisons"),
        form="JAX",
        source=(
            "x / jnp.linalg.norm(x, axis=-1, keepdims=True)",
            """
                n = jnp.linalg.norm(x, axis=-1, keepdims=True)
                return x / jnp.where(n == 0.0, 1.0, n)""",
        ),
        why="0 / 0 in a row of zeros; a norm of 0 is replaced by 1",
        ranges={"x": (-1000, 1000)},
        fails_at="div",
        breaks={"x": 0},
        defective="""
            g (float[8,16] x) => (float[8,16] div) {
              mul = Mul(x, x)
              lit = Constant<value = int64[1] {1}> ()
              reducesum = ReduceSum<keepdims = 0> (mul, lit)
              lit_1 = Constant<value = int64[2] {8,1}> ()
              reshape = Reshape(reducesum, lit_1)
              sqrt = Sqrt(reshape)
              div = Div(x, sqrt)
            }""",
        repaired="""
            g (float[8,16] x) => (float[8,16] div) {
              mul = Mul(x, x)
              lit = Constant<value = int64[1] {1}> ()
              reducesum = ReduceSum<keepdims = 0> (mul, lit)
              lit_1 = Constant<value = int64[2] {8,1}> ()
              reshape = Reshape(reducesum, lit_1)
              sqrt = Sqrt(reshape)
              lit_2 = Constant<value = float {0}> ()
              equal = Equal(sqrt, lit_2)
              lit_3 = Constant<value = float {1}> ()
              cast = Cast<to = 1> (lit_3)
              lit_4 = Constant<value = int64[2] {1,1}> ()
              reshape_1 = Reshape(cast, lit_4)
              lit_5 = Constant<value = int64[2] {8,1}> ()
              expand = Expand(reshape_1, lit_5)
              where = Where(equal, expand, sqrt)
              div = Div(x, where)
            }""",
    ),
    Pair(
        name="safe_norm of optax",
        facts=("x * x", "comparisons"),
        form="JAX",
        source=(
            """
                n = jnp.sqrt(jnp.sum(x * x, -1, keepdims=True))
                return 1.0 / n""",
            """
                n = jnp.sqrt(jnp.sum(x * x, -1, keepdims=True))
                y = jnp.where(n <= 1e-3, jnp.ones_like(x), x)
                return 1.0 / jnp.where(n <= 1e-3, 1e-3, jnp.sqrt(jnp.sum(y * y, -1, keepdims=True)))""",
        ),
        why="a norm of 0; rows that short are replaced before the root is taken, and the result by 1e-3",
        ranges={"x": (-1000, 1000)},
        fails_at="div",
        breaks={"x": 0},
        defective="""
            g (float[8,16] x) => (float[8,1] div) {
              mul = Mul(x, x)
              lit = Constant<value = int64[1] {1}> ()
              reducesum = ReduceSum<keepdims = 0> (mul, lit)
              lit_1 = Constant<value = int64[2] {8,1}> ()
              reshape = Reshape(reducesum, lit_1)
              sqrt = Sqrt(reshape)
              lit_2 = Constant<value = float {1}> ()
              div = Div(lit_2, sqrt)
            }""",
        repaired="""
            g (float[8,16] x) => (float[8,1] div) {
              mul = Mul(x, x)
              lit = Constant<value = int64[1] {1}> ()
              reducesum = ReduceSum<keepdims = 0> (mul, lit)
              lit_1 = Constant<value = int64[2] {8,1}> ()
              reshape = Reshape(reducesum, lit_1)
              sqrt = Sqrt(reshape)
              lit_2 = Constant<value = float {0.001}> ()
              lessorequal = LessOrEqual(sqrt, lit_2)
              lit_3 = Constant<value = float {1}> ()
              lit_4 = Constant<value = int64[2] {1,1}> ()
              reshape_1 = Reshape(lit_3, lit_4)
              lit_5 = Constant<value = int64[2] {8,16}> ()
              expand = Expand(reshape_1, lit_5)
              lit_6 = Constant<value = int64[2] {8,16}> ()
              expand_1 = Expand(lessorequal, lit_6)
              where = Where(expand_1, expand, x)
              lit_7 = Constant<value = float {0.001}> ()
              lessorequal_1 = LessOrEqual(sqrt, lit_7)
              mul_1 = Mul(where, where)
              lit_8 = Constant<value = int64[1] {1}> ()
              reducesum_1 = ReduceSum<keepdims = 0> (mul_1, lit_8)
              lit_9 = Constant<value = int64[2] {8,1}> ()
              reshape_2 = Reshape(reducesum_1, lit_9)
              sqrt_1 = Sqrt(reshape_2)
              lit_10 = Constant<value = float {0.001}> ()
              cast = Cast<to = 1> (lit_10)
              lit_11 = Constant<value = int64[2] {1,1}> ()
              reshape_3 = Reshape(cast, lit_11)
              lit_12 = Constant<value = int64[2] {8,1}> ()
              expand_2 = Expand(reshape_3, lit_12)
              where_1 = Where(lessorequal_1, expand_2, sqrt_1)
              lit_13 = Constant<value = float {1}> ()
              div = Div(lit_13, where_1)
            }""",
    ),
)
