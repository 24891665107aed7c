"""Losses of a class."""

from __future__ import annotations

from .pairs import Pair

PAIRS = (
    Pair(
        name="cross entropy of a softmax",
        facts=("softmax rows", "known indices"),
        form="torch 18",
        source=(
            "-torch.log(F.softmax(x, dim=-1).gather(1, y.unsqueeze(1))).mean()",
            "F.cross_entropy(x, y)",
        ),
        why="the share of the right class underflows to 0",
        ranges={"x": (-200, 200), "y": (0, 9)},
        fails_at="log",
        breaks={"x": [-200, 200] * 5, "y": 6},
        defective="""
            g (float[4,10] x, int64[4] y) => (float neg) {
              softmax = Softmax<axis = -1>(x)
              val_0 = Constant<value = int64[1] {1}>()
              unsqueeze = Unsqueeze(y, val_0)
              val_1 = Cast<to = 7>(unsqueeze)
              gather = GatherElements<axis = 1>(softmax, val_1)
              log = Log(gather)
              val_2 = ReduceMean<noop_with_empty_axes = 0, keepdims = 1>(log)
              mean = Squeeze(val_2)
              neg = Neg(mean)
            }""",
        repaired="""
            g (float[4,10] x, int64[4] y) => (float cross_entropy_loss) {
              cross_entropy_loss = SoftmaxCrossEntropyLoss<ignore_index = -100, reduction: string = "mean">(x, y)
            }""",
    ),
    Pair(
        name="cross entropy by log_softmax",
        facts=("softmax rows", "sum(exp(x - max(x)))"),
        form="torch 23",
        source=(
            """
                p = x.exp() / x.exp().sum(1, keepdim=True)
                return F.nll_loss(torch.log(p), y)""",
            "F.nll_loss(x - x.logsumexp(1, keepdim=True), y)",
        ),
        why="shares underflow, sums don't",
        ranges={"x": (-80, 80), "y": (0, 9)},
        fails_at="log",
        breaks={"x": [-80, 80] * 5, "y": 6},
        defective="""
            g (float[4,10] x, int64[4] y) => (float nll_loss) {
              exp = Exp(x)
              exp_1 = Exp(x)
              val_0 = Constant<value = int64[1] {1}>()
              sum_1 = ReduceSum<noop_with_empty_axes = 0, keepdims = 1>(exp_1, val_0)
              div = Div(exp, sum_1)
              log = Log(div)
              nll_loss = NegativeLogLikelihoodLoss<ignore_index = -100, reduction: string = "mean">(log, y)
            }""",
        repaired="""
            g (float[4,10] x, int64[4] y) => (float nll_loss) {
              val_0 = Constant<value = int64[1] {1}>()
              logsumexp = ReduceLogSumExp<noop_with_empty_axes = 0, keepdims = 1>(x, val_0)
              sub = Sub(x, logsumexp)
              nll_loss = NegativeLogLikelihoodLoss<ignore_index = -100, reduction: string = "mean">(sub, y)
            }""",
    ),
    Pair(
        name="categorical cross entropy",
        facts=("x / sum(x)", "min and max"),
        form="TensorFlow",
        source=(
            "-tf.reduce_sum(y * tf.math.log(p / tf.reduce_sum(p, 1, keepdims=True)), 1)",
            "tf.keras.backend.categorical_crossentropy(y, p)",
        ),
        why="a class with probability 0; Keras clips after it divides by the sum (which softmax never makes 0)",
        ranges={"p": (0, 1), "y": (0, 1)},
        mended={"p": (1e-30, 1)},
        fails_at="truediv",
        breaks={"p": 0, "y": 0.5},
        defective="""
            g (float[4,10] p, float[4,10] y) => (float[4] Neg) {
              axes = Constant<value = int64[1] {1}>()
              Sum = ReduceSum<keepdims = 1>(p, axes)
              truediv = Div(p, Sum)
              Log = Log(truediv)
              mul = Mul(y, Log)
              Sum_1 = ReduceSum<keepdims = 0>(mul, axes)
              Neg = Neg(Sum_1)
            }""",
        repaired="""
            g (float[4,10] p, float[4,10] y) => (float[4] Neg) {
              axes = Constant<value = int64[1] {1}>()
              Sum = ReduceSum<keepdims = 1>(p, axes)
              truediv = Div(p, Sum)
              Const = Constant<value = float {0.9999999}>()
              Const_1 = Constant<value = float {1e-07}>()
              Minimum = Min(truediv, Const)
              clip_by_value = Max(Minimum, Const_1)
              Log = Log(clip_by_value)
              mul = Mul(y, Log)
              Sum_1 = ReduceSum<keepdims = 0>(mul, axes)
              Neg = Neg(Sum_1)
            }""",
    ),
    Pair(
        name="sparse cross entropy",
        facts=("softmax rows",),
        form="TensorFlow",
        source=(
            "-tf.reduce_sum(tf.one_hot(y, 10) * tf.math.log(tf.nn.softmax(x)), 1)",
            "tf.nn.sparse_softmax_cross_entropy_with_logits(y, x)",
        ),
        why="0 * log(0) for a class that isn't asked for; tf.nn.sparse_softmax_cross_entropy_with_logits keeps logarithms finite",
        ranges={"x": (-200, 200), "y": (0, 9)},
        fails_at="Log",
        breaks={"x": [-200, 200] * 5, "y": 6},
        defective="""
            g (float[4,10] x, int64[4] y) => (float[4] Neg) {
              Softmax = Softmax<axis = -1>(x)
              Log = Log(Softmax)
              depth = Constant<value = int64[1] {10}>()
              values = Constant<value = float[2] {0, 1}>()
              one_hot = OneHot<axis = -1>(y, depth, values)
              mul = Mul(one_hot, Log)
              axes = Constant<value = int64[1] {1}>()
              Sum = ReduceSum<keepdims = 0>(mul, axes)
              Neg = Neg(Sum)
            }""",
        repaired="""
            g (float[4,10] x, int64[4] y) => (float[4] Neg) {
              LogSoftmax = LogSoftmax<axis = -1>(x)
              depth = Constant<value = int64[1] {10}>()
              values = Constant<value = float[2] {0, 1}>()
              one_hot = OneHot<axis = -1>(y, depth, values)
              mul = Mul(one_hot, LogSoftmax)
              axes = Constant<value = int64[1] {1}>()
              Sum = ReduceSum<keepdims = 0>(mul, axes)
              Neg = Neg(Sum)
            }""",
    ),
    Pair(
        name="cross entropy of optax",
        facts=("x - max(x)", "sum(exp(x - max(x)))"),
        form="JAX",
        source=(
            "-jnp.sum(y * jnp.log(jnp.exp(x) / jnp.sum(jnp.exp(x), -1, keepdims=True)), -1)",
            """
                z = x - jax.lax.stop_gradient(jnp.max(x, -1, keepdims=True))
                n = jnp.log(jnp.sum(jnp.exp(z), -1))
                return n - jnp.sum(z * y, -1)""",
        ),
        why="Inf / Inf; shifted logits have a sum of at least 1",
        ranges={"x": (-200, 200), "y": (0, 1)},
        fails_at="div",
        breaks={"x": -200, "y": 1e-09},
        defective="""
            g (float[4,10] x, float[4,10] y) => (float[4] neg) {
              exp = Exp(x)
              exp_1 = Exp(x)
              lit = Constant<value = int64[1] {1}> ()
              reducesum = ReduceSum<keepdims = 0> (exp_1, lit)
              lit_1 = Constant<value = int64[2] {4,1}> ()
              reshape = Reshape(reducesum, lit_1)
              div = Div(exp, reshape)
              log = Log(div)
              mul = Mul(y, log)
              lit_2 = Constant<value = int64[1] {1}> ()
              reducesum_1 = ReduceSum<keepdims = 0> (mul, lit_2)
              neg = Neg(reducesum_1)
            }""",
        repaired="""
            g (float[4,10] x, float[4,10] y) => (float[4] sub_1) {
              lit = Constant<value = int64[1] {1}> ()
              reducemax = ReduceMax<keepdims = 0> (x, lit)
              lit_1 = Constant<value = int64[2] {4,1}> ()
              reshape = Reshape(reducemax, lit_1)
              identity = Identity(reshape)
              sub = Sub(x, identity)
              exp = Exp(sub)
              lit_2 = Constant<value = int64[1] {1}> ()
              reducesum = ReduceSum<keepdims = 0> (exp, lit_2)
              log = Log(reducesum)
              mul = Mul(sub, y)
              lit_3 = Constant<value = int64[1] {1}> ()
              reducesum_1 = ReduceSum<keepdims = 0> (mul, lit_3)
              sub_1 = Sub(log, reducesum_1)
            }""",
    ),
    Pair(
        name="loss over what counts",
        facts=("comparisons", "min and max"),
        form="torch 18",
        source=(
            "(l * m).sum() / m.sum()",
            "(l * m).sum() / m.sum().clamp(min=1)",
        ),
        why="a batch in which nothing counts",
        ranges={"l": (0, 100), "m": (0, 1)},
        fails_at="div",
        breaks={"l": 100, "m": 0},
        defective="""
            g (float[4,16] l, float[4,16] m) => (float div) {
              mul = Mul(l, m)
              sum_1 = ReduceSum<noop_with_empty_axes = 0, keepdims = 0>(mul)
              sum_2 = ReduceSum<noop_with_empty_axes = 0, keepdims = 0>(m)
              div = Div(sum_1, sum_2)
            }""",
        repaired="""
            g (float[4,16] l, float[4,16] m) => (float div) {
              mul = Mul(l, m)
              sum_1 = ReduceSum<noop_with_empty_axes = 0, keepdims = 0>(mul)
              sum_2 = ReduceSum<noop_with_empty_axes = 0, keepdims = 0>(m)
              val_0 = Constant<value = int64 {1}>()
              scalar_tensor_default = Cast<to = 1>(val_0)
              val_1 = CastLike(scalar_tensor_default, sum_2)
              clamp = Max(sum_2, val_1)
              div = Div(sum_1, clamp)
            }""",
    ),
    Pair(
        name="loss over targets that aren't ignored",
        facts=("comparisons", "integer ranges"),
        form="torch 23",
        source=(
            """
                k = (y != -100).float()
                return (l * k).sum() / k.sum()""",
            """
                k = (y != -100).float()
                return (l * k).sum() / (k.sum() + 1e-8)""",
        ),
        why="all targets are ignored",
        ranges={"l": (0, 100), "y": (-100, 9)},
        fails_at="div",
        breaks={"l": 1, "y": -100},
        defective="""
            g (float[16] l, int64[16] y) => (float div) {
              val_0 = Constant<value = int64 {-100}>()
              val_1 = Equal(y, val_0)
              ne = Not(val_1)
              _to_copy = Cast<to = 1>(ne)
              mul = Mul(l, _to_copy)
              sum_1 = ReduceSum<noop_with_empty_axes = 0, keepdims = 0>(mul)
              sum_2 = ReduceSum<noop_with_empty_axes = 0, keepdims = 0>(_to_copy)
              div = Div(sum_1, sum_2)
            }""",
        repaired="""
            g (float[16] l, int64[16] y) => (float div) {
              val_0 = Constant<value = int64 {-100}>()
              val_1 = Equal(y, val_0)
              ne = Not(val_1)
              _to_copy = Cast<to = 1>(ne)
              mul = Mul(l, _to_copy)
              sum_1 = ReduceSum<noop_with_empty_axes = 0, keepdims = 0>(mul)
              sum_2 = ReduceSum<noop_with_empty_axes = 0, keepdims = 0>(_to_copy)
              val_2 = Constant<value = float {1e-08}>()
              add = Add(sum_2, val_2)
              div = Div(sum_1, add)
            }""",
    ),
    Pair(
        name="perplexity",
        facts=("min and max", "monotone chains"),
        form="torch 18",
        source=(
            "torch.exp(l.mean())",
            "torch.exp(l.mean().clamp(max=80))",
        ),
        why="the exponential of a loss that hasn't fallen yet",
        ranges={"l": (0, 1000)},
        fails_at="exp",
        breaks={"l": 500},
        defective="""
            g (float[16] l) => (float exp) {
              val_0 = ReduceMean<noop_with_empty_axes = 0, keepdims = 1>(l)
              mean = Squeeze(val_0)
              exp = Exp(mean)
            }""",
        repaired="""
            g (float[16] l) => (float exp) {
              val_0 = ReduceMean<noop_with_empty_axes = 0, keepdims = 1>(l)
              mean = Squeeze(val_0)
              val_1 = Constant<value = int64 {80}>()
              scalar_tensor_default = Cast<to = 1>(val_1)
              val_2 = CastLike(scalar_tensor_default, mean)
              clamp = Min(mean, val_2)
              exp = Exp(clamp)
            }""",
    ),
    Pair(
        name="label smoothing",
        facts=("sum(exp(x - max(x)))",),
        form="torch 23",
        source=(
            """
                p = torch.softmax(x, -1)
                return F.nll_loss(p.log(), y) * 0.9 - 0.1 * p.log().mean()""",
            """
                l = torch.log_softmax(x, -1)
                return F.nll_loss(l, y) * 0.9 - 0.1 * l.mean()""",
        ),
        why="the mean is over all classes, those with the share 0 too",
        ranges={"x": (-200, 200), "y": (0, 9)},
        fails_at="log",
        breaks={"x": [-200, 200] * 5, "y": 6},
        defective="""
            g (float[4,10] x, int64[4] y) => (float sub) {
              softmax = Softmax<axis = -1>(x)
              log = Log(softmax)
              nll_loss = NegativeLogLikelihoodLoss<ignore_index = -100, reduction: string = "mean">(log, y)
              val_0 = Constant<value = float {0.9}>()
              mul = Mul(nll_loss, val_0)
              log_1 = Log(softmax)
              val_1 = ReduceMean<noop_with_empty_axes = 0, keepdims = 1>(log_1)
              mean = Squeeze(val_1)
              val_2 = Constant<value = float {0.1}>()
              mul_1 = Mul(mean, val_2)
              sub = Sub(mul, mul_1)
            }""",
        repaired="""
            g (float[4,10] x, int64[4] y) => (float sub) {
              log_softmax = LogSoftmax<axis = -1>(x)
              nll_loss = NegativeLogLikelihoodLoss<ignore_index = -100, reduction: string = "mean">(log_softmax, y)
              val_0 = Constant<value = float {0.9}>()
              mul = Mul(nll_loss, val_0)
              val_1 = ReduceMean<noop_with_empty_axes = 0, keepdims = 1>(log_softmax)
              mean = Squeeze(val_1)
              val_2 = Constant<value = float {0.1}>()
              mul_1 = Mul(mean, val_2)
              sub = Sub(mul, mul_1)
            }""",
    ),
)
