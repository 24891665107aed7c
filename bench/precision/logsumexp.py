"""The logarithm of a sum of exponentials."""

from __future__ import annotations

from .pairs import Pair

PAIRS = (
    Pair(
        name="logsumexp over a row",
        facts=("x - max(x)", "sum(exp(x - max(x)))"),
        form="torch 18",
        source=(
            "torch.log(torch.exp(x).sum(-1))",
            """
                m = x.amax(-1, keepdim=True)
                return m.squeeze(-1) + torch.log(torch.exp(x - m).sum(-1))""",
        ),
        why="the sum overflows, or is 0 where all exponentials underflow",
        ranges={"x": (-1000, 1000)},
        fails_at="log",
        breaks={"x": -1000},
        defective="""
            g (float[4,8] x) => (float[4] log) {
              exp = Exp(x)
              val_0 = Constant<value = int64[1] {-1}>()
              sum_1 = ReduceSum<noop_with_empty_axes = 0, keepdims = 0>(exp, val_0)
              log = Log(sum_1)
            }""",
        repaired="""
            g (float[4,8] x) => (float[4] add) {
              val_0 = Constant<value = int64[1] {-1}>()
              amax = ReduceMax<keepdims = 1>(x, val_0)
              squeeze = Squeeze(amax, val_0)
              sub = Sub(x, amax)
              exp = Exp(sub)
              val_1 = Constant<value = int64[1] {-1}>()
              sum_1 = ReduceSum<noop_with_empty_axes = 0, keepdims = 0>(exp, val_1)
              log = Log(sum_1)
              add = Add(squeeze, log)
            }""",
    ),
    Pair(
        name="logmeanexp",
        facts=("x - max(x)", "sum(exp(x - max(x)))", "monotone chains"),
        form="torch 23",
        source=(
            "torch.log(torch.exp(x).mean(-1))",
            """
                m = x.max(dim=-1, keepdim=True).values
                return (m + torch.log(torch.mean(torch.exp(x - m), dim=-1, keepdim=True))).squeeze(-1)""",
        ),
        why="as a logsumexp; the mean of 8 shifted exponentials is at least 1/8",
        ranges={"x": (-500, 500)},
        fails_at="log",
        breaks={"x": -500},
        defective="""
            g (float[4,8] x) => (float[4] log) {
              exp = Exp(x)
              val_0 = Constant<value_ints = [-1]>()
              val_1 = Constant<value = int64[1] {-1}>()
              val_2 = Reshape<allowzero = 0>(val_1, val_0)
              mean = ReduceMean<noop_with_empty_axes = 0, keepdims = 0>(exp, val_2)
              log = Log(mean)
            }""",
        repaired="""
            g (float[4,8] x) => (float[4] squeeze) {
              val_0 = Constant<value_ints = [-1]>()
              val_1 = Constant<value = int64 {-1}>()
              val_2 = Reshape<allowzero = 0>(val_1, val_0)
              getitem = ReduceMax<noop_with_empty_axes = 0, keepdims = 1>(x, val_2)
              sub = Sub(x, getitem)
              exp = Exp(sub)
              val_3 = Constant<value_ints = [-1]>()
              val_4 = Constant<value = int64[1] {-1}>()
              val_5 = Reshape<allowzero = 0>(val_4, val_3)
              mean = ReduceMean<noop_with_empty_axes = 0, keepdims = 1>(exp, val_5)
              log = Log(mean)
              add = Add(getitem, log)
              squeeze = Squeeze(add, val_4)
            }""",
    ),
    Pair(
        name="reduce_logsumexp",
        facts=("x - max(x)", "sum(exp(x - max(x)))", "comparisons"),
        form="TensorFlow",
        source=(
            "tf.math.log(tf.reduce_sum(tf.exp(x), 1))",
            "tf.reduce_logsumexp(x, 1)",
        ),
        why="as above; TensorFlow replaces an infinite maximum by 0, which finite inputs never need",
        ranges={"x": (-1000, 1000)},
        fails_at="Log",
        breaks={"x": -1000},
        defective="""
            g (float[4,8] x) => (float[4] Log) {
              Exp = Exp(x)
              axes = Constant<value = int64[1] {1}>()
              Sum = ReduceSum<keepdims = 0>(Exp, axes)
              Log = Log(Sum)
            }""",
        repaired="""
            g (float[4,8] x) => (float[4] add) {
              Max = ReduceMax<axes = [1], keepdims = 1>(x)
              IsInf = IsInf(Max)
              IsNaN = IsNaN(Max)
              Or = Or(IsInf, IsNaN)
              IsFinite = Not(Or)
              zeros_like = Constant<value = float[1] {0}>()
              SelectV2 = Where(IsFinite, Max, zeros_like)
              sub = Sub(x, SelectV2)
              Exp = Exp(sub)
              axes = Constant<value = int64[1] {1}>()
              Sum = ReduceSum<keepdims = 0>(Exp, axes)
              Log = Log(Sum)
              shape = Constant<value = int64[1] {4}>()
              Reshape = Reshape(SelectV2, shape)
              add = Add(Log, Reshape)
            }""",
    ),
    Pair(
        name="logsumexp of a jaxpr",
        facts=("x - max(x)", "sum(exp(x - max(x)))", "comparisons"),
        form="JAX",
        source=(
            "jnp.log(jnp.sum(jnp.exp(x), axis=-1))",
            "jax.nn.logsumexp(x, axis=-1)",
        ),
        why="as above; JAX replaces an infinite maximum by 0",
        ranges={"x": (-1000, 1000)},
        fails_at="log",
        breaks={"x": -1000},
        defective="""
            g (float[4,8] x) => (float[4] log) {
              exp = Exp(x)
              lit = Constant<value = int64[1] {1}> ()
              reducesum = ReduceSum<keepdims = 0> (exp, lit)
              log = Log(reducesum)
            }""",
        repaired="""
            g (float[4,8] x) => (float[4] add) {
              lit = Constant<value = int64[1] {1}> ()
              reducemax = ReduceMax<keepdims = 0> (x, lit)
              lit_1 = Constant<value = float {-inf}> ()
              max = Max(lit_1, reducemax)
              isinf = IsInf(max)
              isnan = IsNaN(max)
              or = Or(isinf, isnan)
              not = Not(or)
              lit_2 = Constant<value = float {0}> ()
              lit_3 = Constant<value = int64[1] {1}> ()
              reshape = Reshape(lit_2, lit_3)
              lit_4 = Constant<value = int64[1] {4}> ()
              expand = Expand(reshape, lit_4)
              where = Where(not, max, expand)
              identity = Identity(where)
              lit_5 = Constant<value = int64[2] {4,1}> ()
              reshape_1 = Reshape(identity, lit_5)
              sub = Sub(x, reshape_1)
              exp = Exp(sub)
              lit_6 = Constant<value = int64[1] {1}> ()
              reducesum = ReduceSum<keepdims = 0> (exp, lit_6)
              sign = Sign(reducesum)
              abs = Abs(reducesum)
              log = Log(abs)
              add = Add(log, identity)
            }""",
    ),
    Pair(
        name="log_softmax of a jaxpr",
        facts=("x - max(x)", "sum(exp(x - max(x)))"),
        form="JAX",
        source=(
            "jnp.log(jax.nn.softmax(x))",
            "jax.nn.log_softmax(x)",
        ),
        why="a share that underflows has the logarithm -Inf; the sum of the shifted exponentials is at least 1",
        ranges={"x": (-1000, 1000)},
        fails_at="log",
        breaks={"x": [-1000, 1000] * 4},
        defective="""
            g (float[4,8] x) => (float[4,8] log) {
              lit = Constant<value = int64[1] {1}> ()
              reducemax = ReduceMax<keepdims = 0> (x, lit)
              lit_1 = Constant<value = float {-inf}> ()
              max = Max(lit_1, reducemax)
              lit_2 = Constant<value = int64[2] {4,1}> ()
              reshape = Reshape(max, lit_2)
              identity = Identity(reshape)
              sub = Sub(x, identity)
              exp = Exp(sub)
              lit_3 = Constant<value = int64[1] {1}> ()
              reducesum = ReduceSum<keepdims = 0> (exp, lit_3)
              lit_4 = Constant<value = int64[2] {4,1}> ()
              reshape_1 = Reshape(reducesum, lit_4)
              div = Div(exp, reshape_1)
              log = Log(div)
            }""",
        repaired="""
            g (float[4,8] x) => (float[4,8] sub_1) {
              lit = Constant<value = int64[1] {1}> ()
              reducemax = ReduceMax<keepdims = 0> (x, lit)
              lit_1 = Constant<value = float {-inf}> ()
              max = Max(lit_1, reducemax)
              lit_2 = Constant<value = int64[2] {4,1}> ()
              reshape = Reshape(max, lit_2)
              identity = Identity(reshape)
              sub = Sub(x, identity)
              exp = Exp(sub)
              lit_3 = Constant<value = int64[1] {1}> ()
              reducesum = ReduceSum<keepdims = 0> (exp, lit_3)
              lit_4 = Constant<value = int64[2] {4,1}> ()
              reshape_1 = Reshape(reducesum, lit_4)
              log = Log(reshape_1)
              sub_1 = Sub(sub, log)
            }""",
    ),
    Pair(
        name="logaddexp of two",
        facts=("min and max", "sum(exp(x - max(x)))"),
        form="torch 18",
        source=(
            "torch.log(torch.exp(a) + torch.exp(b))",
            """
                m = torch.maximum(a, b)
                return m + torch.log(torch.exp(a - m) + torch.exp(b - m))""",
        ),
        why="of a - max(a, b) and b - max(a, b), one is 0 and the other not above it",
        ranges={"a": (-500, 500), "b": (-500, 500)},
        fails_at="exp_1",
        breaks={"a": 0, "b": 500},
        defective="""
            g (float[16] a, float[16] b) => (float[16] log) {
              exp = Exp(a)
              exp_1 = Exp(b)
              add = Add(exp, exp_1)
              log = Log(add)
            }""",
        repaired="""
            g (float[16] a, float[16] b) => (float[16] add_1) {
              maximum = Max(a, b)
              sub = Sub(a, maximum)
              exp = Exp(sub)
              sub_1 = Sub(b, maximum)
              exp_1 = Exp(sub_1)
              add = Add(exp, exp_1)
              log = Log(add)
              add_1 = Add(maximum, log)
            }""",
    ),
    Pair(
        name="softplus of a jaxpr",
        facts=("monotone chains", "min and max"),
        form="JAX",
        source=(
            "jnp.log(1.0 + jnp.exp(x))",
            "jax.nn.softplus(x)",
        ),
        why="exp overflows; logaddexp(x, 0) is max(x, 0) + log1p(exp(-|x|))",
        ranges={"x": (-1000, 1000)},
        fails_at="exp",
        breaks={"x": 100},
        defective="""
            g (float[16] x) => (float[16] log) {
              exp = Exp(x)
              lit = Constant<value = float {1}> ()
              add = Add(lit, exp)
              log = Log(add)
            }""",
        repaired="""
            g (float[16] x) => (float[16] where) {
              lit = Constant<value = float {0}> ()
              max = Max(x, lit)
              sub = Sub(x, lit)
              equal = Equal(sub, sub)
              not = Not(equal)
              add = Add(x, lit)
              abs = Abs(sub)
              neg = Neg(abs)
              exp = Exp(neg)
              lit_1 = Constant<value = float {1}> ()
              add_1 = Add(exp, lit_1)
              log = Log(add_1)
              add_2 = Add(max, log)
              where = Where(not, add, add_2)
            }""",
    ),
)
