"""Chains of functions that only rise or fall."""

from __future__ import annotations

from .pairs import Pair

PAIRS = (
    Pair(
        name="log(1 - exp(-x))",
        facts=("monotone chains", "comparisons"),
        form="torch 18",
        source=(
            "torch.where(x > 0.6931, torch.log1p(-torch.exp(-x)), torch.log(-torch.expm1(-x)))",
            """
                x = x.clamp(min=1e-5)
                return torch.where(x > 0.6931, torch.log1p(-torch.exp(-x)), torch.log(-torch.expm1(-x)))""",
        ),
        why="PyTorch's exporter writes exp(x) - 1 for expm1, which loses 1e-9; from 1e-5 up it doesn't",
        ranges={"x": (1e-09, 50)},
        fails_at="log",
        breaks={"x": 1e-09},
        defective="""
            g (float[16] x) => (float[16] where) {
              val_0 = Constant<value = float {0.6931}>()
              gt = Greater(x, val_0)
              neg = Neg(x)
              exp = Exp(neg)
              neg_1 = Neg(exp)
              const = Constant<value = float const {1}>()
              const_cast = CastLike(const, neg_1)
              tmp = Add(neg_1, const_cast)
              log1p = Log(tmp)
              neg_2 = Neg(x)
              tmp_2 = Exp(neg_2)
              int64_1 = Constant<value = int64 int64_1 {1}>()
              int64_1_cast = CastLike(int64_1, tmp_2)
              expm1 = Sub(tmp_2, int64_1_cast)
              neg_3 = Neg(expm1)
              log = Log(neg_3)
              where = Where(gt, log1p, log)
            }""",
        repaired="""
            g (float[16] x) => (float[16] where) {
              val_0 = Constant<value = float {1e-05}>()
              val_1 = CastLike(val_0, x)
              clamp = Clip(x, val_1)
              val_2 = Constant<value = float {0.6931}>()
              gt = Greater(clamp, val_2)
              neg = Neg(clamp)
              exp = Exp(neg)
              neg_1 = Neg(exp)
              const = Constant<value = float const {1}>()
              const_cast = CastLike(const, neg_1)
              tmp = Add(neg_1, const_cast)
              log1p = Log(tmp)
              neg_2 = Neg(clamp)
              tmp_2 = Exp(neg_2)
              int64_1 = Constant<value = int64 int64_1 {1}>()
              int64_1_cast = CastLike(int64_1, tmp_2)
              expm1 = Sub(tmp_2, int64_1_cast)
              neg_3 = Neg(expm1)
              log = Log(neg_3)
              where = Where(gt, log1p, log)
            }""",
    ),
    Pair(
        name="inverse of a softplus",
        facts=("monotone chains",),
        form="torch 23",
        source=(
            "torch.log(torch.exp(x) - 1)",
            "x + torch.log(-torch.expm1(-x))",
        ),
        why="exp overflows; expm1(-x) is below 0 for x > 0",
        ranges={"x": (0.0001, 200)},
        fails_at="exp",
        breaks={"x": 100.00005},
        defective="""
            g (float[16] x) => (float[16] log) {
              exp = Exp(x)
              val_0 = Constant<value = int64 {1}>()
              scalar_tensor_default = Cast<to = 1>(val_0)
              sub = Sub(exp, scalar_tensor_default)
              log = Log(sub)
            }""",
        repaired="""
            g (float[16] x) => (float[16] add) {
              neg = Neg(x)
              tmp = Exp(neg)
              int64_1 = Constant<value = int64 int64_1 {1}>()
              int64_1_cast = CastLike(int64_1, tmp)
              expm1 = Sub(tmp, int64_1_cast)
              neg_1 = Neg(expm1)
              log = Log(neg_1)
              add = Add(x, log)
            }""",
    ),
    Pair(
        name="root of a logarithm",
        facts=("monotone chains", "x * x"),
        form="torch 18",
        source=(
            "torch.sqrt(torch.log(x * x))",
            "torch.sqrt(torch.log1p(x * x))",
        ),
        why="log(x * x) is negative below 1; log1p of a square isn't",
        ranges={"x": (-100, 100)},
        fails_at="log",
        breaks={"x": 0},
        defective="""
            g (float[16] x) => (float[16] sqrt) {
              mul = Mul(x, x)
              log = Log(mul)
              sqrt = Sqrt(log)
            }""",
        repaired="""
            g (float[16] x) => (float[16] sqrt) {
              mul = Mul(x, x)
              const = Constant<value = float const {1}>()
              const_cast = CastLike(const, mul)
              tmp = Add(mul, const_cast)
              log1p = Log(tmp)
              sqrt = Sqrt(log1p)
            }""",
    ),
    Pair(
        name="logarithm of a logarithm",
        facts=("monotone chains",),
        form="torch 23",
        source=(
            "torch.log(torch.log(x + 1))",
            "torch.log(torch.log(x + 2.7182818))",
        ),
        why="log(1) is 0, whose logarithm is -Inf; log(2.718) is above 0",
        ranges={"x": (0, 1000)},
        fails_at="log_1",
        breaks={"x": 0},
        defective="""
            g (float[16] x) => (float[16] log_1) {
              val_0 = Constant<value = int64 {1}>()
              scalar_tensor_default = Cast<to = 1>(val_0)
              add = Add(x, scalar_tensor_default)
              log = Log(add)
              log_1 = Log(log)
            }""",
        repaired="""
            g (float[16] x) => (float[16] log_1) {
              val_0 = Constant<value = float {2.7182817}>()
              add = Add(x, val_0)
              log = Log(add)
              log_1 = Log(log)
            }""",
    ),
    Pair(
        name="logarithm of a softplus",
        facts=("monotone chains",),
        form="torch 18",
        source=(
            "torch.log(F.softplus(x))",
            "torch.log(F.softplus(x) + 1e-6)",
        ),
        why="a softplus underflows to 0",
        ranges={"x": (-200, 200)},
        fails_at="log",
        breaks={"x": -200},
        defective="""
            g (float[16] x) => (float[16] log) {
              beta = Constant<value_float: float = 1>()
              beta_cast = CastLike(beta, x)
              self_scaled = Mul(x, beta_cast)
              tmp = Softplus(self_scaled)
              beta_0 = Constant<value_float: float = 1>()
              beta_0_cast = CastLike(beta_0, tmp)
              softplus_2 = Div(tmp, beta_0_cast)
              threshold = Constant<value_float: float = 20>()
              threshold_cast = CastLike(threshold, self_scaled)
              tmp_1 = Greater(self_scaled, threshold_cast)
              softplus = Where(tmp_1, x, softplus_2)
              log = Log(softplus)
            }""",
        repaired="""
            g (float[16] x) => (float[16] log) {
              beta = Constant<value_float: float = 1>()
              beta_cast = CastLike(beta, x)
              self_scaled = Mul(x, beta_cast)
              tmp = Softplus(self_scaled)
              beta_0 = Constant<value_float: float = 1>()
              beta_0_cast = CastLike(beta_0, tmp)
              softplus_2 = Div(tmp, beta_0_cast)
              threshold = Constant<value_float: float = 20>()
              threshold_cast = CastLike(threshold, self_scaled)
              tmp_1 = Greater(self_scaled, threshold_cast)
              softplus = Where(tmp_1, x, softplus_2)
              val_0 = Constant<value = float {1e-06}>()
              add = Add(softplus, val_0)
              log = Log(add)
            }""",
    ),
    Pair(
        name="thresholds in order",
        facts=("monotone chains", "ReLU splits"),
        form="torch 23",
        source=(
            """
                t = torch.cumsum(x, dim=-1)
                return 1 / (t[:, -1:] - t[:, :1])""",
            """
                t = torch.cumsum(F.softplus(x) + 1e-3, dim=-1)
                return 1 / (t[:, -1:] + t[:, :1])""",
        ),
        why="sums of positive steps stay positive",
        ranges={"x": (-50, 50)},
        fails_at="reciprocal",
        breaks={"x": 0},
        defective="""
            g (float[4,8] x) => (float[4,1] mul) {
              val_0 = Constant<value = int64 {-1}>()
              cumsum = CumSum<reverse = 0, exclusive = 0>(x, val_0)
              val_1 = Cast<to = 7>(val_0)
              val_2 = Constant<value_ints = [-1]>()
              val_3 = Reshape<allowzero = 0>(val_1, val_2)
              val_4 = Constant<value = int64 {9223372036854775807}>()
              val_5 = Cast<to = 7>(val_4)
              val_6 = Constant<value_ints = [-1]>()
              val_7 = Reshape<allowzero = 0>(val_5, val_6)
              val_8 = Constant<value = int64 {1}>()
              val_9 = Cast<to = 7>(val_8)
              val_10 = Constant<value_ints = [-1]>()
              val_11 = Reshape<allowzero = 0>(val_9, val_10)
              val_12 = Constant<value_ints = [1]>()
              slice_1 = Slice(cumsum, val_3, val_7, val_11, val_12)
              val_13 = Constant<value = int64 {0}>()
              val_14 = Cast<to = 7>(val_13)
              val_15 = Constant<value_ints = [-1]>()
              val_16 = Reshape<allowzero = 0>(val_14, val_15)
              val_17 = Cast<to = 7>(val_8)
              val_18 = Constant<value_ints = [-1]>()
              val_19 = Reshape<allowzero = 0>(val_17, val_18)
              val_20 = Cast<to = 7>(val_8)
              val_21 = Constant<value_ints = [-1]>()
              val_22 = Reshape<allowzero = 0>(val_20, val_21)
              val_23 = Constant<value_ints = [1]>()
              slice_2 = Slice(cumsum, val_16, val_19, val_22, val_23)
              sub = Sub(slice_1, slice_2)
              reciprocal = Reciprocal(sub)
              scalar_tensor_default = Cast<to = 1>(val_8)
              mul = Mul(reciprocal, scalar_tensor_default)
            }""",
        repaired="""
            g (float[4,8] x) => (float[4,1] mul) {
              beta = Constant<value_float: float = 1>()
              beta_cast = CastLike(beta, x)
              self_scaled = Mul(x, beta_cast)
              tmp = Softplus(self_scaled)
              beta_0 = Constant<value_float: float = 1>()
              beta_0_cast = CastLike(beta_0, tmp)
              softplus_2 = Div(tmp, beta_0_cast)
              threshold = Constant<value_float: float = 20>()
              threshold_cast = CastLike(threshold, self_scaled)
              tmp_1 = Greater(self_scaled, threshold_cast)
              softplus = Where(tmp_1, x, softplus_2)
              val_0 = Constant<value = float {0.001}>()
              add = Add(softplus, val_0)
              val_1 = Constant<value = int64 {-1}>()
              cumsum = CumSum<reverse = 0, exclusive = 0>(add, val_1)
              val_2 = Cast<to = 7>(val_1)
              val_3 = Constant<value_ints = [-1]>()
              val_4 = Reshape<allowzero = 0>(val_2, val_3)
              val_5 = Constant<value = int64 {9223372036854775807}>()
              val_6 = Cast<to = 7>(val_5)
              val_7 = Constant<value_ints = [-1]>()
              val_8 = Reshape<allowzero = 0>(val_6, val_7)
              val_9 = Constant<value = int64 {1}>()
              val_10 = Cast<to = 7>(val_9)
              val_11 = Constant<value_ints = [-1]>()
              val_12 = Reshape<allowzero = 0>(val_10, val_11)
              val_13 = Constant<value_ints = [1]>()
              slice_1 = Slice(cumsum, val_4, val_8, val_12, val_13)
              val_14 = Constant<value = int64 {0}>()
              val_15 = Cast<to = 7>(val_14)
              val_16 = Constant<value_ints = [-1]>()
              val_17 = Reshape<allowzero = 0>(val_15, val_16)
              val_18 = Cast<to = 7>(val_9)
              val_19 = Constant<value_ints = [-1]>()
              val_20 = Reshape<allowzero = 0>(val_18, val_19)
              val_21 = Cast<to = 7>(val_9)
              val_22 = Constant<value_ints = [-1]>()
              val_23 = Reshape<allowzero = 0>(val_21, val_22)
              val_24 = Constant<value_ints = [1]>()
              slice_2 = Slice(cumsum, val_17, val_20, val_23, val_24)
              add_1 = Add(slice_1, slice_2)
              reciprocal = Reciprocal(add_1)
              scalar_tensor_default = Cast<to = 1>(val_9)
              mul = Mul(reciprocal, scalar_tensor_default)
            }""",
    ),
    Pair(
        name="root of a cumulated square",
        facts=("x * x", "monotone chains"),
        form="JAX",
        source=(
            "1.0 / jnp.sqrt(jnp.cumsum(x * x, axis=-1))",
            "1.0 / jnp.sqrt(jnp.cumsum(x * x, axis=-1) + 1e-8)",
        ),
        why="no gradient yet: 1 / 0 in Adagrad",
        ranges={"x": (-10, 10)},
        fails_at="div",
        breaks={"x": 0},
        defective="""
            g (float[4,8] x) => (float[4,8] div) {
              mul = Mul(x, x)
              lit = Constant<value = int64 {1}> ()
              cumsum = CumSum(mul, lit)
              sqrt = Sqrt(cumsum)
              lit_1 = Constant<value = float {1}> ()
              div = Div(lit_1, sqrt)
            }""",
        repaired="""
            g (float[4,8] x) => (float[4,8] div) {
              mul = Mul(x, x)
              lit = Constant<value = int64 {1}> ()
              cumsum = CumSum(mul, lit)
              lit_1 = Constant<value = float {1e-08}> ()
              add = Add(cumsum, lit_1)
              sqrt = Sqrt(add)
              lit_2 = Constant<value = float {1}> ()
              div = Div(lit_2, sqrt)
            }""",
    ),
    Pair(
        name="power transform",
        facts=("monotone chains",),
        form="TensorFlow",
        source=(
            "(tf.pow(x, k) - 1) / k",
            """
                k = tf.maximum(k, .01)
                return (tf.pow(x, k) - 1) / k""",
        ),
        why="Box-Cox at an exponent of 0",
        ranges={"x": (0, 100), "k": (0, 2)},
        fails_at="truediv",
        breaks={"x": 100, "k": 0},
        defective="""
            g (float[16] x, float[1] k) => (float[16] truediv) {
              Pow = Pow(x, k)
              one = Constant<value = float {1}>()
              sub = Sub(Pow, one)
              truediv = Div(sub, k)
            }""",
        repaired="""
            g (float[16] x, float[1] k) => (float[16] truediv) {
              low = Constant<value = float {0.01}>()
              Maximum = Max(k, low)
              Pow = Pow(x, Maximum)
              one = Constant<value = float {1}>()
              sub = Sub(Pow, one)
              truediv = Div(sub, Maximum)
            }""",
    ),
    Pair(
        name="chance of at least one",
        facts=("monotone chains", "1 - p"),
        form="torch 18",
        source=(
            "torch.log(1 - torch.exp(-torch.exp(x)))",
            "torch.log(-torch.expm1(-torch.exp(x.clamp(-10, 4))))",
        ),
        why="1 - exp(-tiny) is 0; clipped, exp(x) is far from what float32 loses beside 1",
        ranges={"x": (-40, 40)},
        fails_at="log",
        breaks={"x": -18.5},
        defective="""
            g (float[16] x) => (float[16] log) {
              exp = Exp(x)
              neg = Neg(exp)
              exp_1 = Exp(neg)
              val_0 = Constant<value = int64 {1}>()
              scalar_tensor_default = Cast<to = 1>(val_0)
              sub = Sub(scalar_tensor_default, exp_1)
              log = Log(sub)
            }""",
        repaired="""
            g (float[16] x) => (float[16] log) {
              val_0 = Constant<value = int64 {-10}>()
              scalar_tensor_default = Cast<to = 1>(val_0)
              val_1 = Constant<value = int64 {4}>()
              scalar_tensor_default_1 = Cast<to = 1>(val_1)
              val_2 = CastLike(scalar_tensor_default, x)
              val_3 = Max(x, val_2)
              val_4 = CastLike(scalar_tensor_default_1, x)
              clamp = Min(val_3, val_4)
              exp = Exp(clamp)
              neg = Neg(exp)
              tmp = Exp(neg)
              int64_1 = Constant<value = int64 int64_1 {1}>()
              int64_1_cast = CastLike(int64_1, tmp)
              expm1 = Sub(tmp, int64_1_cast)
              neg_1 = Neg(expm1)
              log = Log(neg_1)
            }""",
    ),
)
