"""What a ReLU splits, and what its parts add up to."""

from __future__ import annotations

from .pairs import Pair

PAIRS = (
    Pair(
        name="absolute value of two rectifiers",
        facts=("ReLU splits",),
        form="torch 18",
        source=(
            "torch.log(F.relu(x) + F.relu(-x))",
            "torch.log(F.relu(x) + F.relu(-x) + 1e-6)",
        ),
        why="both are 0 at 0",
        ranges={"x": (-10, 10)},
        fails_at="log",
        breaks={"x": 0},
        defective="""
            g (float[16] x) => (float[16] log) {
              relu = Relu(x)
              neg = Neg(x)
              relu_1 = Relu(neg)
              add = Add(relu, relu_1)
              log = Log(add)
            }""",
        repaired="""
            g (float[16] x) => (float[16] log) {
              relu = Relu(x)
              neg = Neg(x)
              relu_1 = Relu(neg)
              add = Add(relu, relu_1)
              val_0 = Constant<value = float {1e-06}>()
              add_1 = Add(add, val_0)
              log = Log(add_1)
            }""",
    ),
    Pair(
        name="stable logistic by a rectifier",
        facts=("ReLU splits", "monotone chains"),
        form="torch 23",
        source=(
            "torch.log(1 + torch.exp(x))",
            """
                m = F.relu(x)
                return m + torch.log(torch.exp(-m) + torch.exp(x - m))""",
        ),
        why="of -max(x, 0) and x - max(x, 0), one is 0",
        ranges={"x": (-500, 500)},
        fails_at="exp",
        breaks={"x": 100},
        defective="""
            g (float[16] x) => (float[16] log) {
              exp = Exp(x)
              val_0 = Constant<value = int64 {1}>()
              scalar_tensor_default = Cast<to = 1>(val_0)
              add = Add(exp, scalar_tensor_default)
              log = Log(add)
            }""",
        repaired="""
            g (float[16] x) => (float[16] add_1) {
              relu = Relu(x)
              neg = Neg(relu)
              exp = Exp(neg)
              sub = Sub(x, relu)
              exp_1 = Exp(sub)
              add = Add(exp, exp_1)
              log = Log(add)
              add_1 = Add(relu, log)
            }""",
    ),
    Pair(
        name="positive part of a share",
        facts=("ReLU splits", "x / sum(x)"),
        form="torch 18",
        source=(
            """
                p = F.relu(x)
                return p / p.sum(-1, keepdim=True)""",
            """
                p = F.relu(x) + 1e-4
                return torch.log(1.001 - p / p.sum(-1, keepdim=True))""",
        ),
        why="all can be 0; a share is at most 1",
        ranges={"x": (-10, 10)},
        fails_at="div",
        breaks={"x": 0},
        defective="""
            g (float[4,16] x) => (float[4,16] div) {
              relu = Relu(x)
              val_0 = Constant<value = int64[1] {-1}>()
              sum_1 = ReduceSum<noop_with_empty_axes = 0, keepdims = 1>(relu, val_0)
              div = Div(relu, sum_1)
            }""",
        repaired="""
            g (float[4,16] x) => (float[4,16] log) {
              relu = Relu(x)
              val_0 = Constant<value = float {1e-04}>()
              add = Add(relu, val_0)
              val_1 = Constant<value = int64[1] {-1}>()
              sum_1 = ReduceSum<noop_with_empty_axes = 0, keepdims = 1>(add, val_1)
              div = Div(add, sum_1)
              val_2 = Constant<value = float {1.001}>()
              sub = Sub(val_2, div)
              log = Log(sub)
            }""",
    ),
    Pair(
        name="leaky rectifier by hand",
        facts=("ReLU splits",),
        form="torch 23",
        source=(
            "1 / (F.relu(x) - 0.01 * F.relu(-x))",
            "1 / (F.relu(x) + 0.01 * F.relu(-x) + 1e-3)",
        ),
        why="the slope's sign: a divisor of both signs, or of one",
        ranges={"x": (-10, 10)},
        fails_at="reciprocal",
        breaks={"x": 0},
        defective="""
            g (float[16] x) => (float[16] mul_1) {
              relu = Relu(x)
              neg = Neg(x)
              relu_1 = Relu(neg)
              val_0 = Constant<value = float {0.01}>()
              mul = Mul(relu_1, val_0)
              sub = Sub(relu, mul)
              reciprocal = Reciprocal(sub)
              val_1 = Constant<value = int64 {1}>()
              scalar_tensor_default = Cast<to = 1>(val_1)
              mul_1 = Mul(reciprocal, scalar_tensor_default)
            }""",
        repaired="""
            g (float[16] x) => (float[16] mul_1) {
              relu = Relu(x)
              neg = Neg(x)
              relu_1 = Relu(neg)
              val_0 = Constant<value = float {0.01}>()
              mul = Mul(relu_1, val_0)
              add = Add(relu, mul)
              val_1 = Constant<value = float {0.001}>()
              add_1 = Add(add, val_1)
              reciprocal = Reciprocal(add_1)
              val_2 = Constant<value = int64 {1}>()
              scalar_tensor_default = Cast<to = 1>(val_2)
              mul_1 = Mul(reciprocal, scalar_tensor_default)
            }""",
    ),
    Pair(
        name="rest of a rectifier",
        facts=("ReLU splits",),
        form="TensorFlow",
        source=(
            "tf.sqrt(x - tf.nn.relu(x))",
            "tf.sqrt(tf.nn.relu(x) - x)",
        ),
        why="x - relu(x) is never positive, relu(x) - x never negative",
        ranges={"x": (-10, 10)},
        fails_at="Sqrt",
        breaks={"x": -1},
        defective="""
            g (float[16] x) => (float[16] Sqrt) {
              Relu = Relu(x)
              sub = Sub(x, Relu)
              Sqrt = Sqrt(sub)
            }""",
        repaired="""
            g (float[16] x) => (float[16] Sqrt) {
              Relu = Relu(x)
              sub = Sub(Relu, x)
              Sqrt = Sqrt(sub)
            }""",
    ),
    Pair(
        name="rectifiers that cancel",
        facts=("ReLU splits",),
        form="JAX",
        source=(
            "1.0 / (jax.nn.relu(x) + jax.nn.relu(-x) - jnp.abs(x))",
            "1.0 / (1.0 + jax.nn.relu(x) - jax.nn.relu(-x) - x)",
        ),
        why="relu(x) - relu(-x) is x",
        ranges={"x": (-10, 10)},
        fails_at="div",
        breaks={"x": 0},
        defective="""
            g (float[16] x) => (float[16] div) {
              lit = Constant<value = float {0}> ()
              max = Max(x, lit)
              neg = Neg(x)
              lit_1 = Constant<value = float {0}> ()
              max_1 = Max(neg, lit_1)
              add = Add(max, max_1)
              abs = Abs(x)
              sub = Sub(add, abs)
              lit_2 = Constant<value = float {1}> ()
              div = Div(lit_2, sub)
            }""",
        repaired="""
            g (float[16] x) => (float[16] div) {
              lit = Constant<value = float {0}> ()
              max = Max(x, lit)
              lit_1 = Constant<value = float {1}> ()
              add = Add(lit_1, max)
              neg = Neg(x)
              lit_2 = Constant<value = float {0}> ()
              max_1 = Max(neg, lit_2)
              sub = Sub(add, max_1)
              sub_1 = Sub(sub, x)
              lit_3 = Constant<value = float {1}> ()
              div = Div(lit_3, sub_1)
            }""",
    ),
    Pair(
        name="exponential of a capped value",
        facts=("ReLU splits",),
        form="torch 18",
        source=(
            "torch.exp(x)",
            "torch.exp(80 - F.relu(80 - x))",
        ),
        why="min(x, 80) written with a ReLU: x - max(x - 80, 0)",
        ranges={"x": (-500, 500)},
        fails_at="exp",
        breaks={"x": 100},
        defective="""
            g (float[16] x) => (float[16] exp) {
              exp = Exp(x)
            }""",
        repaired="""
            g (float[16] x) => (float[16] exp) {
              val_0 = Constant<value = int64 {80}>()
              scalar_tensor_default = Cast<to = 1>(val_0)
              sub = Sub(scalar_tensor_default, x)
              relu = Relu(sub)
              scalar_tensor_default_1 = Cast<to = 1>(val_0)
              sub_1 = Sub(scalar_tensor_default_1, relu)
              exp = Exp(sub_1)
            }""",
    ),
)
