"""Sums of squares in formulas that need them positive."""

from __future__ import annotations

from .pairs import Pair

PAIRS = (
    Pair(
        name="length of a complex number",
        facts=("x * x",),
        form="torch 18",
        source=(
            "re / torch.sqrt(re ** 2 + im ** 2)",
            "re / torch.sqrt(re ** 2 + im ** 2 + 1e-12)",
        ),
        why="0 / 0 at the origin",
        ranges={"re": (-100, 100), "im": (-100, 100)},
        fails_at="div",
        breaks={"re": 0, "im": 0},
        defective="""
            g (float[16] re, float[16] im) => (float[16] div) {
              val_0 = Constant<value = float {2}>()
              pow_1 = Pow(re, val_0)
              val_1 = Constant<value = float {2}>()
              pow_2 = Pow(im, val_1)
              add = Add(pow_1, pow_2)
              sqrt = Sqrt(add)
              div = Div(re, sqrt)
            }""",
        repaired="""
            g (float[16] re, float[16] im) => (float[16] div) {
              val_0 = Constant<value = float {2}>()
              pow_1 = Pow(re, val_0)
              val_1 = Constant<value = float {2}>()
              pow_2 = Pow(im, val_1)
              add = Add(pow_1, pow_2)
              val_2 = Constant<value = float {1e-12}>()
              add_1 = Add(add, val_2)
              sqrt = Sqrt(add_1)
              div = Div(re, sqrt)
            }""",
    ),
    Pair(
        name="robust loss",
        facts=("x * x",),
        form="torch 23",
        source=(
            "torch.log(1 + x * y)",
            "torch.log(1 + x * x)",
        ),
        why="a product of two values can be below -1, a square can't",
        ranges={"x": (-10, 10), "y": (-10, 10)},
        fails_at="log",
        breaks={"x": 10, "y": -10},
        defective="""
            g (float[16] x, float[16] y) => (float[16] log) {
              mul = Mul(x, y)
              val_0 = Constant<value = int64 {1}>()
              scalar_tensor_default = Cast<to = 1>(val_0)
              add = Add(mul, scalar_tensor_default)
              log = Log(add)
            }""",
        repaired="""
            g (float[16] x, float[16] y) => (float[16] log) {
              mul = Mul(x, x)
              val_0 = Constant<value = int64 {1}>()
              scalar_tensor_default = Cast<to = 1>(val_0)
              add = Add(mul, scalar_tensor_default)
              log = Log(add)
            }""",
    ),
    Pair(
        name="Charbonnier loss",
        facts=("x * x",),
        form="TensorFlow",
        source=(
            "tf.sqrt((x - y) * (x + y) + 1e-6)",
            "tf.sqrt(tf.math.squared_difference(x, y) + 1e-6)",
        ),
        why="x^2 - y^2 can be negative",
        ranges={"x": (-10, 10), "y": (-10, 10)},
        fails_at="Sqrt",
        breaks={"x": 0, "y": -10},
        defective="""
            g (float[16] x, float[16] y) => (float[16] Sqrt) {
              sub = Sub(x, y)
              add = Add(x, y)
              mul = Mul(sub, add)
              eps = Constant<value = float {1e-06}>()
              add_1 = Add(mul, eps)
              Sqrt = Sqrt(add_1)
            }""",
        repaired="""
            g (float[16] x, float[16] y) => (float[16] Sqrt) {
              sub = Sub(x, y)
              SquaredDifference = Mul(sub, sub)
              eps = Constant<value = float {1e-06}>()
              add = Add(SquaredDifference, eps)
              Sqrt = Sqrt(add)
            }""",
    ),
    Pair(
        name="student's kernel",
        facts=("x * x",),
        form="JAX",
        source=(
            """
                d = jnp.sum(x * x, -1)[:, None] - 2 * x @ c.T + jnp.sum(c * c, -1)
                q = 1.0 / d
                return q / jnp.sum(q, -1, keepdims=True)""",
            """
                d = jnp.sum((x[:, None, :] - c[None, :, :]) ** 2, -1)
                q = 1.0 / (1.0 + d)
                return q / jnp.sum(q, -1, keepdims=True)""",
        ),
        why="a point on a centre has the distance 0; 1 + d is at least 1",
        ranges={"x": (-10, 10), "c": (-10, 10)},
        fails_at="div",
        breaks={"x": -1, "c": -1},
        defective="""
            g (float[6,8] x, float[3,8] c) => (float[6,3] div_1) {
              mul = Mul(x, x)
              lit = Constant<value = int64[1] {1}> ()
              reducesum = ReduceSum<keepdims = 0> (mul, lit)
              lit_1 = Constant<value = int64[2] {6,1}> ()
              reshape = Reshape(reducesum, lit_1)
              lit_2 = Constant<value = float {2}> ()
              mul_1 = Mul(lit_2, x)
              transpose = Transpose<perm = [1, 0]> (c)
              einsum = Einsum<equation: string = "ab,bc->ac"> (mul_1, transpose)
              sub = Sub(reshape, einsum)
              mul_2 = Mul(c, c)
              lit_3 = Constant<value = int64[1] {1}> ()
              reducesum_1 = ReduceSum<keepdims = 0> (mul_2, lit_3)
              lit_4 = Constant<value = int64[2] {1,3}> ()
              reshape_1 = Reshape(reducesum_1, lit_4)
              add = Add(sub, reshape_1)
              lit_5 = Constant<value = float {1}> ()
              div = Div(lit_5, add)
              lit_6 = Constant<value = int64[1] {1}> ()
              reducesum_2 = ReduceSum<keepdims = 0> (div, lit_6)
              lit_7 = Constant<value = int64[2] {6,1}> ()
              reshape_2 = Reshape(reducesum_2, lit_7)
              div_1 = Div(div, reshape_2)
            }""",
        repaired="""
            g (float[6,8] x, float[3,8] c) => (float[6,3] div_1) {
              lit = Constant<value = int64[3] {6,1,8}> ()
              reshape = Reshape(x, lit)
              lit_1 = Constant<value = int64[3] {1,3,8}> ()
              reshape_1 = Reshape(c, lit_1)
              sub = Sub(reshape, reshape_1)
              mul = Mul(sub, sub)
              lit_2 = Constant<value = int64[1] {2}> ()
              reducesum = ReduceSum<keepdims = 0> (mul, lit_2)
              lit_3 = Constant<value = float {1}> ()
              add = Add(lit_3, reducesum)
              lit_4 = Constant<value = float {1}> ()
              div = Div(lit_4, add)
              lit_5 = Constant<value = int64[1] {1}> ()
              reducesum_1 = ReduceSum<keepdims = 0> (div, lit_5)
              lit_6 = Constant<value = int64[2] {6,1}> ()
              reshape_2 = Reshape(reducesum_1, lit_6)
              div_1 = Div(div, reshape_2)
            }""",
    ),
    Pair(
        name="even powers",
        facts=("x * x",),
        form="torch 18",
        source=(
            "torch.sqrt(x ** 4 - x ** 2)",
            "torch.sqrt(x ** 4 + x ** 2)",
        ),
        why="x^4 < x^2 below 1; even powers aren't negative",
        ranges={"x": (-10, 10)},
        fails_at="sqrt",
        breaks={"x": 1e-09},
        defective="""
            g (float[16] x) => (float[16] sqrt) {
              val_0 = Constant<value = float {4}>()
              pow_1 = Pow(x, val_0)
              val_1 = Constant<value = float {2}>()
              pow_2 = Pow(x, val_1)
              sub = Sub(pow_1, pow_2)
              sqrt = Sqrt(sub)
            }""",
        repaired="""
            g (float[16] x) => (float[16] sqrt) {
              val_0 = Constant<value = float {4}>()
              pow_1 = Pow(x, val_0)
              val_1 = Constant<value = float {2}>()
              pow_2 = Pow(x, val_1)
              add = Add(pow_1, pow_2)
              sqrt = Sqrt(add)
            }""",
    ),
    Pair(
        name="gradient penalty",
        facts=("x * x",),
        form="torch 23",
        source=(
            """
                n = torch.sqrt(torch.sum(g ** 2, dim=(1, 2)))
                return ((n - 1) ** 2 / n).mean()""",
            """
                n = torch.sqrt(torch.sum(g ** 2, dim=(1, 2)) + 1e-12)
                return ((n - 1) ** 2 / n).mean()""",
        ),
        why="a gradient of 0 has the norm 0",
        ranges={"g": (-100, 100)},
        fails_at="div",
        breaks={"g": 0},
        defective="""
            g (float[4,3,8] g) => (float mean) {
              val_0 = Constant<value = float {2}>()
              pow_1 = Pow(g, val_0)
              val_1 = Constant<value = int64[2] {1,2}>()
              sum_1 = ReduceSum<noop_with_empty_axes = 0, keepdims = 0>(pow_1, val_1)
              sqrt = Sqrt(sum_1)
              val_2 = Constant<value = int64 {1}>()
              scalar_tensor_default = Cast<to = 1>(val_2)
              sub = Sub(sqrt, scalar_tensor_default)
              val_3 = Constant<value = float {2}>()
              pow_2 = Pow(sub, val_3)
              div = Div(pow_2, sqrt)
              val_4 = ReduceMean<noop_with_empty_axes = 0, keepdims = 1>(div)
              mean = Squeeze(val_4)
            }""",
        repaired="""
            g (float[4,3,8] g) => (float mean) {
              val_0 = Constant<value = float {2}>()
              pow_1 = Pow(g, val_0)
              val_1 = Constant<value = int64[2] {1,2}>()
              sum_1 = ReduceSum<noop_with_empty_axes = 0, keepdims = 0>(pow_1, val_1)
              val_2 = Constant<value = float {1e-12}>()
              add = Add(sum_1, val_2)
              sqrt = Sqrt(add)
              val_3 = Constant<value = int64 {1}>()
              scalar_tensor_default = Cast<to = 1>(val_3)
              sub = Sub(sqrt, scalar_tensor_default)
              val_4 = Constant<value = float {2}>()
              pow_2 = Pow(sub, val_4)
              div = Div(pow_2, sqrt)
              val_5 = ReduceMean<noop_with_empty_axes = 0, keepdims = 1>(div)
              mean = Squeeze(val_5)
            }""",
    ),
)
