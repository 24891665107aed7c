"""Divergences between distributions."""

from __future__ import annotations

from .pairs import Pair

PAIRS = (
    Pair(
        name="divergence of two softmaxes",
        facts=("softmax rows",),
        form="torch 18",
        source=(
            """
                p = a.softmax(-1)
                q = b.softmax(-1)
                return (p * torch.log(p / q)).sum(-1)""",
            "F.kl_div(b.log_softmax(-1), a.log_softmax(-1), reduction='none', log_target=True).sum(-1)",
        ),
        why="shares that underflow: 0 / 0, or log(0); logarithms of them stay finite",
        ranges={"a": (-150, 150), "b": (-150, 150)},
        fails_at="div",
        breaks={"a": [-150, 150] * 4, "b": [-150, 150] * 4},
        defective="""
            g (float[4,8] a, float[4,8] b) => (float[4] sum_1) {
              softmax = Softmax<axis = -1>(a)
              softmax_1 = Softmax<axis = -1>(b)
              div = Div(softmax, softmax_1)
              log = Log(div)
              mul = Mul(softmax, log)
              val_0 = Constant<value = int64[1] {-1}>()
              sum_1 = ReduceSum<noop_with_empty_axes = 0, keepdims = 0>(mul, val_0)
            }""",
        repaired="""
            g (float[4,8] a, float[4,8] b) => (float[4] sum_1) {
              log_softmax = LogSoftmax<axis = -1>(b)
              log_softmax_1 = LogSoftmax<axis = -1>(a)
              sub = Sub(log_softmax_1, log_softmax)
              exp = Exp(log_softmax_1)
              mul = Mul(exp, sub)
              val_0 = Constant<value = int64[1] {-1}>()
              sum_1 = ReduceSum<noop_with_empty_axes = 0, keepdims = 0>(mul, val_0)
            }""",
    ),
    Pair(
        name="divergence of a latent",
        facts=("x * x", "min and max"),
        form="torch 23",
        source=(
            "-0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())",
            """
                logvar = logvar.clamp(-30, 20)
                return -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())""",
        ),
        why="exp of a log-variance overflows",
        ranges={"mu": (-100, 100), "logvar": (-200, 200)},
        fails_at="exp",
        breaks={"mu": 0, "logvar": 200},
        defective="""
            g (float[4,8] mu, float[4,8] logvar) => (float mul) {
              val_0 = Constant<value = int64 {1}>()
              scalar_tensor_default = Cast<to = 1>(val_0)
              add = Add(logvar, scalar_tensor_default)
              val_1 = Constant<value = float {2}>()
              pow_1 = Pow(mu, val_1)
              sub = Sub(add, pow_1)
              exp = Exp(logvar)
              sub_1 = Sub(sub, exp)
              sum_1 = ReduceSum<noop_with_empty_axes = 0, keepdims = 0>(sub_1)
              val_2 = Constant<value = float {-0.5}>()
              mul = Mul(sum_1, val_2)
            }""",
        repaired="""
            g (float[4,8] mu, float[4,8] logvar) => (float mul) {
              val_0 = Constant<value = int64 {-30}>()
              scalar_tensor_default = Cast<to = 1>(val_0)
              val_1 = Constant<value = int64 {20}>()
              scalar_tensor_default_1 = Cast<to = 1>(val_1)
              val_2 = CastLike(scalar_tensor_default, logvar)
              val_3 = Max(logvar, val_2)
              val_4 = CastLike(scalar_tensor_default_1, logvar)
              clamp = Min(val_3, val_4)
              val_5 = Constant<value = int64 {1}>()
              scalar_tensor_default_2 = Cast<to = 1>(val_5)
              add = Add(clamp, scalar_tensor_default_2)
              val_6 = Constant<value = float {2}>()
              pow_1 = Pow(mu, val_6)
              sub = Sub(add, pow_1)
              exp = Exp(clamp)
              sub_1 = Sub(sub, exp)
              sum_1 = ReduceSum<noop_with_empty_axes = 0, keepdims = 0>(sub_1)
              val_7 = Constant<value = float {-0.5}>()
              mul = Mul(sum_1, val_7)
            }""",
    ),
    Pair(
        name="sample of a latent",
        facts=("monotone chains",),
        form="torch 18",
        source=(
            "mu + e * torch.exp(logvar)",
            "mu + e * torch.exp(0.5 * torch.tanh(logvar / 10) * 10)",
        ),
        why="exp of a log-variance overflows; a tanh keeps it within 10",
        ranges={"mu": (-100, 100), "logvar": (-200, 200), "e": (-6, 6)},
        fails_at="exp",
        breaks={"mu": 0.0001, "logvar": 200, "e": 0.0001},
        defective="""
            g (float[4,8] mu, float[4,8] logvar, float[4,8] e) => (float[4,8] add) {
              exp = Exp(logvar)
              mul = Mul(e, exp)
              add = Add(mu, mul)
            }""",
        repaired="""
            g (float[4,8] mu, float[4,8] logvar, float[4,8] e) => (float[4,8] add) {
              val_0 = Constant<value = int64 {10}>()
              scalar_tensor_default = Cast<to = 1>(val_0)
              div = Div(logvar, scalar_tensor_default)
              tanh = Tanh(div)
              val_1 = Constant<value = float {0.5}>()
              mul = Mul(tanh, val_1)
              scalar_tensor_default_1 = Cast<to = 1>(val_0)
              mul_1 = Mul(mul, scalar_tensor_default_1)
              exp = Exp(mul_1)
              mul_2 = Mul(e, exp)
              add = Add(mu, mul_2)
            }""",
    ),
    Pair(
        name="divergence of Keras",
        facts=("min and max",),
        form="TensorFlow",
        source=(
            "tf.reduce_sum(y * tf.math.log(y / p), 1)",
            "tf.keras.losses.kl_divergence(y, p)",
        ),
        why="0 / 0; Keras clips both to [1e-7, 1]",
        ranges={"y": (0, 1), "p": (0, 1)},
        fails_at="truediv",
        breaks={"y": 1e-09, "p": 0},
        defective="""
            g (float[4,8] y, float[4,8] p) => (float[4] Sum) {
              truediv = Div(y, p)
              Log = Log(truediv)
              mul = Mul(y, Log)
              axes = Constant<value = int64[1] {1}>()
              Sum = ReduceSum<keepdims = 0>(mul, axes)
            }""",
        repaired="""
            g (float[4,8] y, float[4,8] p) => (float[4] Sum) {
              Const = Constant<value = float {1e-07}>()
              one = Constant<value = float {1}>()
              Minimum = Min(y, one)
              clip_by_value = Max(Minimum, Const)
              Minimum_1 = Min(p, one)
              clip_by_value_1 = Max(Minimum_1, Const)
              truediv = Div(clip_by_value, clip_by_value_1)
              Log = Log(truediv)
              mul = Mul(clip_by_value, Log)
              axes = Constant<value = int64[1] {1}>()
              Sum = ReduceSum<keepdims = 0>(mul, axes)
            }""",
    ),
    Pair(
        name="relative entropy",
        facts=("comparisons",),
        form="JAX",
        source=(
            "p * jnp.log(p / q)",
            "jnp.where(p > 0, p * (jnp.log(jnp.where(p > 0, p, 1.0)) - jnp.log(q)), 0.0)",
        ),
        why="0 * log(0); the logarithm is taken where p > 0",
        ranges={"p": (0, 1), "q": (1e-06, 1)},
        fails_at="log",
        breaks={"p": 0, "q": 0.0001},
        defective="""
            g (float[16] p, float[16] q) => (float[16] mul) {
              div = Div(p, q)
              log = Log(div)
              mul = Mul(p, log)
            }""",
        repaired="""
            g (float[16] p, float[16] q) => (float[16] where_1) {
              lit = Constant<value = float {0}> ()
              greater = Greater(p, lit)
              lit_1 = Constant<value = float {0}> ()
              greater_1 = Greater(p, lit_1)
              lit_2 = Constant<value = float {1}> ()
              cast = Cast<to = 1> (lit_2)
              lit_3 = Constant<value = int64[1] {1}> ()
              reshape = Reshape(cast, lit_3)
              lit_4 = Constant<value = int64[1] {16}> ()
              expand = Expand(reshape, lit_4)
              where = Where(greater_1, p, expand)
              log = Log(where)
              log_1 = Log(q)
              sub = Sub(log, log_1)
              mul = Mul(p, sub)
              lit_5 = Constant<value = float {0}> ()
              cast_1 = Cast<to = 1> (lit_5)
              lit_6 = Constant<value = int64[1] {1}> ()
              reshape_1 = Reshape(cast_1, lit_6)
              lit_7 = Constant<value = int64[1] {16}> ()
              expand_1 = Expand(reshape_1, lit_7)
              where_1 = Where(greater, mul, expand_1)
            }""",
    ),
    Pair(
        name="divergence to the mean",
        facts=("comparisons", "softmax rows"),
        form="torch 23",
        source=(
            """
                p = a.softmax(-1)
                q = b.softmax(-1)
                m = 0.5 * (p + q)
                return (p * (p / m).log() + q * (q / m).log()).sum(-1)""",
            """
                p = a.softmax(-1)
                q = b.softmax(-1)
                m = 0.5 * (p + q)
                return (torch.xlogy(p, p) + torch.xlogy(q, q) - (p + q) * torch.log(m + 1e-12)).sum(-1)""",
        ),
        why="0 * log(0), and 0 / 0 where both are 0; xlogy gives 0 there",
        ranges={"a": (-150, 150), "b": (-150, 150)},
        fails_at="log_1",
        breaks={"a": [59.55, -15.44] * 4, "b": [89.68, -79.35] * 4},
        defective="""
            g (float[4,8] a, float[4,8] b) => (float[4] sum_1) {
              softmax = Softmax<axis = -1>(a)
              softmax_1 = Softmax<axis = -1>(b)
              add = Add(softmax, softmax_1)
              val_0 = Constant<value = float {0.5}>()
              mul = Mul(add, val_0)
              div = Div(softmax, mul)
              log = Log(div)
              mul_1 = Mul(softmax, log)
              div_1 = Div(softmax_1, mul)
              log_1 = Log(div_1)
              mul_2 = Mul(softmax_1, log_1)
              add_1 = Add(mul_1, mul_2)
              val_1 = Constant<value = int64[1] {-1}>()
              sum_1 = ReduceSum<noop_with_empty_axes = 0, keepdims = 0>(add_1, val_1)
            }""",
        repaired="""
            g (float[4,8] a, float[4,8] b) => (float[4] sum_1) {
              softmax = Softmax<axis = -1>(a)
              softmax_1 = Softmax<axis = -1>(b)
              add = Add(softmax, softmax_1)
              val_0 = Constant<value = float {0.5}>()
              mul = Mul(add, val_0)
              nans = IsNaN(softmax)
              int64_0 = Constant<value = int64 int64_0 {0}>()
              int64_0_cast = CastLike(int64_0, softmax)
              zeros = Equal(softmax, int64_0_cast)
              tmp = Log(softmax)
              xlogy_2 = Mul(softmax, tmp)
              xlogy_with_nans = Where(nans, softmax, xlogy_2)
              xlogy = Where(zeros, softmax, xlogy_with_nans)
              nans_2 = IsNaN(softmax_1)
              int64_0_2 = Constant<value = int64 int64_0 {0}>()
              int64_0_cast_2 = CastLike(int64_0_2, softmax_1)
              zeros_2 = Equal(softmax_1, int64_0_cast_2)
              tmp_2 = Log(softmax_1)
              xlogy_3 = Mul(softmax_1, tmp_2)
              xlogy_with_nans_2 = Where(nans_2, softmax_1, xlogy_3)
              xlogy_1 = Where(zeros_2, softmax_1, xlogy_with_nans_2)
              add_1 = Add(xlogy, xlogy_1)
              add_2 = Add(softmax, softmax_1)
              val_1 = Constant<value = float {1e-12}>()
              add_3 = Add(mul, val_1)
              log = Log(add_3)
              mul_1 = Mul(add_2, log)
              sub = Sub(add_1, mul_1)
              val_2 = Constant<value = int64[1] {-1}>()
              sum_1 = ReduceSum<noop_with_empty_axes = 0, keepdims = 0>(sub, val_2)
            }""",
    ),
    Pair(
        name="likelihood of a Gaussian",
        facts=("x * x", "min and max"),
        form="torch 18",
        source=(
            "0.5 * (torch.log(v) + (x - mu) ** 2 / v)",
            """
                v = v.clamp(min=1e-6)
                return 0.5 * (torch.log(v) + (x - mu) ** 2 / v)""",
        ),
        why="a variance of 0; F.gaussian_nll_loss clips it",
        ranges={"x": (-10, 10), "mu": (-10, 10), "v": (0, 10)},
        fails_at="log",
        breaks={"x": -10, "mu": -10, "v": 0},
        defective="""
            g (float[16] x, float[16] mu, float[16] v) => (float[16] mul) {
              log = Log(v)
              sub = Sub(x, mu)
              val_0 = Constant<value = float {2}>()
              pow_1 = Pow(sub, val_0)
              div = Div(pow_1, v)
              add = Add(log, div)
              val_1 = Constant<value = float {0.5}>()
              mul = Mul(add, val_1)
            }""",
        repaired="""
            g (float[16] x, float[16] mu, float[16] v) => (float[16] mul) {
              val_0 = Constant<value = float {1e-06}>()
              val_1 = CastLike(val_0, v)
              clamp = Clip(v, val_1)
              log = Log(clamp)
              sub = Sub(x, mu)
              val_2 = Constant<value = float {2}>()
              pow_1 = Pow(sub, val_2)
              div = Div(pow_1, clamp)
              add = Add(log, div)
              val_3 = Constant<value = float {0.5}>()
              mul = Mul(add, val_3)
            }""",
    ),
    Pair(
        name="entropy by hand",
        facts=("x / sum(x)", "monotone chains"),
        form="torch 23",
        source=(
            """
                p = c / c.sum(-1, keepdim=True)
                return -(p * torch.log(p)).sum(-1)""",
            """
                p = c / (c.sum(-1, keepdim=True) + 1e-8)
                return -(p * torch.log(p + 1e-8)).sum(-1)""",
        ),
        why="a bin without counts: 0 * log(0)",
        ranges={"c": (0, 1000)},
        fails_at="div",
        breaks={"c": 0},
        defective="""
            g (float[4,16] c) => (float[4] neg) {
              val_0 = Constant<value = int64[1] {-1}>()
              sum_1 = ReduceSum<noop_with_empty_axes = 0, keepdims = 1>(c, val_0)
              div = Div(c, sum_1)
              log = Log(div)
              mul = Mul(div, log)
              val_1 = Constant<value = int64[1] {-1}>()
              sum_2 = ReduceSum<noop_with_empty_axes = 0, keepdims = 0>(mul, val_1)
              neg = Neg(sum_2)
            }""",
        repaired="""
            g (float[4,16] c) => (float[4] neg) {
              val_0 = Constant<value = int64[1] {-1}>()
              sum_1 = ReduceSum<noop_with_empty_axes = 0, keepdims = 1>(c, val_0)
              val_1 = Constant<value = float {1e-08}>()
              add = Add(sum_1, val_1)
              div = Div(c, add)
              add_1 = Add(div, val_1)
              log = Log(add_1)
              mul = Mul(div, log)
              val_2 = Constant<value = int64[1] {-1}>()
              sum_2 = ReduceSum<noop_with_empty_axes = 0, keepdims = 0>(mul, val_2)
              neg = Neg(sum_2)
            }""",
    ),
)
