"""Samples made from uniform numbers."""

from __future__ import annotations

from .pairs import Pair

PAIRS = (
    Pair(
        name="Gumbel noise",
        facts=("monotone chains",),
        form="torch 18",
        source=(
            "-torch.log(-torch.log(u))",
            "-torch.log(-torch.log(u.clamp(1e-6, 1 - 1e-6)))",
        ),
        why="u = 0 and u = 1 both give an Inf",
        ranges={"u": (0, 1)},
        fails_at="log",
        breaks={"u": 0},
        defective="""
            g (float[16] u) => (float[16] neg_1) {
              log = Log(u)
              neg = Neg(log)
              log_1 = Log(neg)
              neg_1 = Neg(log_1)
            }""",
        repaired="""
            g (float[16] u) => (float[16] neg_1) {
              val_0 = Constant<value = float {1e-06}>()
              val_1 = CastLike(val_0, u)
              val_2 = Constant<value = float {0.999999}>()
              val_3 = CastLike(val_2, u)
              clamp = Clip(u, val_1, val_3)
              log = Log(clamp)
              neg = Neg(log)
              log_1 = Log(neg)
              neg_1 = Neg(log_1)
            }""",
    ),
    Pair(
        name="Gumbel noise with epsilons",
        facts=("monotone chains",),
        form="torch 23",
        source=(
            "-torch.log(-torch.log(u + 1e-20))",
            "-torch.log(-torch.log(u + 1e-20) + 1e-20)",
        ),
        why="log(1) is exactly 0; the second epsilon is for that",
        ranges={"u": (0, 1)},
        fails_at="log_1",
        breaks={"u": 1},
        defective="""
            g (float[16] u) => (float[16] neg_1) {
              val_0 = Constant<value = float {1e-20}>()
              add = Add(u, val_0)
              log = Log(add)
              neg = Neg(log)
              log_1 = Log(neg)
              neg_1 = Neg(log_1)
            }""",
        repaired="""
            g (float[16] u) => (float[16] neg_1) {
              val_0 = Constant<value = float {1e-20}>()
              add = Add(u, val_0)
              log = Log(add)
              neg = Neg(log)
              add_1 = Add(neg, val_0)
              log_1 = Log(add_1)
              neg_1 = Neg(log_1)
            }""",
    ),
    Pair(
        name="Gumbel of a jaxpr",
        facts=("monotone chains", "min and max"),
        form="JAX",
        source=(
            "-jnp.log(-jnp.log(u))",
            """
                t = jnp.finfo(jnp.float32).tiny
                return -jnp.log(-jnp.log(jnp.maximum(t, u * (1.0 - t) + t)))""",
        ),
        why="jax.random.gumbel draws from [tiny, 1): u = 0 doesn't occur, nor does 1",
        ranges={"u": (0, 0.99999988)},
        fails_at="log",
        breaks={"u": 0},
        defective="""
            g (float[16] u) => (float[16] neg_1) {
              log = Log(u)
              neg = Neg(log)
              log_1 = Log(neg)
              neg_1 = Neg(log_1)
            }""",
        repaired="""
            g (float[16] u) => (float[16] neg_1) {
              lit = Constant<value = float {1}> ()
              mul = Mul(u, lit)
              lit_1 = Constant<value = float {1.1754944e-38}> ()
              add = Add(mul, lit_1)
              lit_2 = Constant<value = float {1.1754944e-38}> ()
              max = Max(lit_2, add)
              log = Log(max)
              neg = Neg(log)
              log_1 = Log(neg)
              neg_1 = Neg(log_1)
            }""",
    ),
    Pair(
        name="Gumbel softmax",
        facts=("monotone chains", "sum(exp(x - max(x)))"),
        form="torch 18",
        source=(
            """
                g = -torch.log(-torch.log(u))
                return F.softmax((x + g) / 0.5, dim=-1)""",
            """
                g = -torch.log(-torch.log(u.clamp(1e-10, 0.999999)))
                return F.softmax((x + g) / 0.5, dim=-1)""",
        ),
        why="two infinite entries: Inf - Inf in the softmax",
        ranges={"x": (-50, 50), "u": (0, 1)},
        fails_at="log_1",
        breaks={"x": 1e-09, "u": 1},
        defective="""
            g (float[4,8] x, float[4,8] u) => (float[4,8] softmax) {
              log = Log(u)
              neg = Neg(log)
              log_1 = Log(neg)
              neg_1 = Neg(log_1)
              add = Add(x, neg_1)
              val_0 = Constant<value = float {0.5}>()
              div = Div(add, val_0)
              softmax = Softmax<axis = -1>(div)
            }""",
        repaired="""
            g (float[4,8] x, float[4,8] u) => (float[4,8] softmax) {
              val_0 = Constant<value = float {1e-10}>()
              val_1 = CastLike(val_0, u)
              val_2 = Constant<value = float {0.999999}>()
              val_3 = CastLike(val_2, u)
              clamp = Clip(u, val_1, val_3)
              log = Log(clamp)
              neg = Neg(log)
              log_1 = Log(neg)
              neg_1 = Neg(log_1)
              add = Add(x, neg_1)
              val_4 = Constant<value = float {0.5}>()
              div = Div(add, val_4)
              softmax = Softmax<axis = -1>(div)
            }""",
    ),
    Pair(
        name="Box-Muller",
        facts=("1 - p", "monotone chains"),
        form="torch 23",
        source=(
            "torch.sqrt(-2 * torch.log(u)) * torch.cos(6.2831853 * v)",
            "torch.sqrt(-2 * torch.log(1 - u)) * torch.cos(6.2831853 * v)",
        ),
        why="uniform numbers are in [0, 1): 1 - u is never 0, and its logarithm never above 0",
        ranges={"u": (0, 0.99999994), "v": (0, 1)},
        fails_at="log",
        breaks={"u": 0, "v": 0.5},
        defective="""
            g (float[16] u, float[16] v) => (float[16] mul_2) {
              log = Log(u)
              val_0 = Constant<value = int64 {-2}>()
              scalar_tensor_default = Cast<to = 1>(val_0)
              mul = Mul(log, scalar_tensor_default)
              sqrt = Sqrt(mul)
              val_1 = Constant<value = float {6.2831855}>()
              mul_1 = Mul(v, val_1)
              cos = Cos(mul_1)
              mul_2 = Mul(sqrt, cos)
            }""",
        repaired="""
            g (float[16] u, float[16] v) => (float[16] mul_2) {
              val_0 = Constant<value = int64 {1}>()
              scalar_tensor_default = Cast<to = 1>(val_0)
              sub = Sub(scalar_tensor_default, u)
              log = Log(sub)
              val_1 = Constant<value = int64 {-2}>()
              scalar_tensor_default_1 = Cast<to = 1>(val_1)
              mul = Mul(log, scalar_tensor_default_1)
              sqrt = Sqrt(mul)
              val_2 = Constant<value = float {6.2831855}>()
              mul_1 = Mul(v, val_2)
              cos = Cos(mul_1)
              mul_2 = Mul(sqrt, cos)
            }""",
    ),
    Pair(
        name="logistic noise",
        facts=("1 - p", "monotone chains"),
        form="torch 18",
        source=(
            "torch.log(u) - torch.log(1 - u)",
            """
                u = u.clamp(1e-6, 1 - 1e-6)
                return torch.log(u) - torch.log1p(-u)""",
        ),
        why="both ends give an Inf",
        ranges={"u": (0, 1)},
        fails_at="log",
        breaks={"u": 0},
        defective="""
            g (float[16] u) => (float[16] sub_1) {
              log = Log(u)
              val_0 = Constant<value = int64 {1}>()
              scalar_tensor_default = Cast<to = 1>(val_0)
              sub = Sub(scalar_tensor_default, u)
              log_1 = Log(sub)
              sub_1 = Sub(log, log_1)
            }""",
        repaired="""
            g (float[16] u) => (float[16] sub) {
              val_0 = Constant<value = float {1e-06}>()
              val_1 = CastLike(val_0, u)
              val_2 = Constant<value = float {0.999999}>()
              val_3 = CastLike(val_2, u)
              clamp = Clip(u, val_1, val_3)
              log = Log(clamp)
              neg = Neg(clamp)
              const = Constant<value = float const {1}>()
              const_cast = CastLike(const, neg)
              tmp = Add(neg, const_cast)
              log1p = Log(tmp)
              sub = Sub(log, log1p)
            }""",
    ),
    Pair(
        name="exponential race",
        facts=("monotone chains",),
        form="TensorFlow",
        source=(
            "p / -tf.math.log(u)",
            "p / -tf.math.log(tf.clip_by_value(u, 1e-10, 1 - 1e-7))",
        ),
        why="-log(1) is 0, and 0 / 0 follows",
        ranges={"u": (0, 1), "p": (0, 1)},
        fails_at="truediv",
        breaks={"u": 1, "p": 1},
        defective="""
            g (float[4,8] u, float[4,8] p) => (float[4,8] truediv) {
              Log = Log(u)
              Neg = Neg(Log)
              truediv = Div(p, Neg)
            }""",
        repaired="""
            g (float[4,8] u, float[4,8] p) => (float[4,8] truediv) {
              tiny = Constant<value = float {1e-10}>()
              top = Constant<value = float {0.9999999}>()
              Minimum = Min(u, top)
              clip_by_value = Max(Minimum, tiny)
              Log = Log(clip_by_value)
              Neg = Neg(Log)
              truediv = Div(p, Neg)
            }""",
    ),
)
