"""Softmax written out, in the ways in which people write it before they learn of the operator."""

from __future__ import annotations

from .pairs import Pair

PAIRS = (
    Pair(
        name="softmax over a row",
        facts=("x - max(x)", "sum(exp(x - max(x)))", "x / sum(x)"),
        form="torch 18",
        source=(
            """
                e = torch.exp(x)
                return e / e.sum(-1, keepdim=True)""",
            """
                e = torch.exp(x - x.amax(-1, keepdim=True))
                return e / e.sum(-1, keepdim=True)""",
        ),
        why="exp(89) is past float32, and Inf / Inf is NaN; less the maximum, the sum is at least exp(0)",
        ranges={"x": (-1000, 1000)},
        fails_at="div",
        breaks={"x": -1000},
        defective="""
            g (float[4,8] x) => (float[4,8] div) {
              exp = Exp(x)
              val_0 = Constant<value = int64[1] {-1}>()
              sum_1 = ReduceSum<noop_with_empty_axes = 0, keepdims = 1>(exp, val_0)
              div = Div(exp, sum_1)
            }""",
        repaired="""
            g (float[4,8] x) => (float[4,8] div) {
              val_0 = Constant<value = int64[1] {-1}>()
              amax = ReduceMax<keepdims = 1>(x, val_0)
              sub = Sub(x, amax)
              exp = Exp(sub)
              val_1 = Constant<value = int64[1] {-1}>()
              sum_1 = ReduceSum<noop_with_empty_axes = 0, keepdims = 1>(exp, val_1)
              div = Div(exp, sum_1)
            }""",
    ),
    Pair(
        name="softmax with the maximum by dim",
        facts=("x - max(x)", "sum(exp(x - max(x)))", "x / sum(x)"),
        form="torch 23",
        source=(
            """
                t = torch.exp(x)
                s = torch.sum(t, dim=1, keepdim=True)
                return t / s""",
            """
                m, _ = torch.max(x, dim=1, keepdim=True)
                t = torch.exp(x - m)
                s = torch.sum(t, dim=1, keepdim=True)
                return t / s""",
        ),
        why="exp overflows; torch.max with a dim gives ReduceMax beside ArgMax",
        ranges={"x": (-1000000.0, 1000000.0)},
        fails_at="div",
        breaks={"x": -1000000.0},
        defective="""
            g (float[4,8] x) => (float[4,8] div) {
              exp = Exp(x)
              val_0 = Constant<value = int64[1] {1}>()
              sum_1 = ReduceSum<noop_with_empty_axes = 0, keepdims = 1>(exp, val_0)
              div = Div(exp, sum_1)
            }""",
        repaired="""
            g (float[4,8] x) => (float[4,8] div) {
              val_0 = Constant<value_ints = [-1]>()
              val_1 = Constant<value = int64 {1}>()
              val_2 = Reshape<allowzero = 0>(val_1, val_0)
              getitem = ReduceMax<noop_with_empty_axes = 0, keepdims = 1>(x, val_2)
              sub = Sub(x, getitem)
              exp = Exp(sub)
              val_3 = Constant<value = int64[1] {1}>()
              sum_1 = ReduceSum<noop_with_empty_axes = 0, keepdims = 1>(exp, val_3)
              div = Div(exp, sum_1)
            }""",
    ),
    Pair(
        name="softmax with a temperature",
        facts=("x - max(x)", "sum(exp(x - max(x)))", "monotone chains"),
        form="torch 18",
        source=(
            """
                z = x / t
                z = z - z.amax(-1, keepdim=True)
                e = z.exp()
                return e / e.sum(-1, keepdim=True)""",
            """
                z = x / t.clamp(min=0.05)
                z = z - z.amax(-1, keepdim=True)
                e = z.exp()
                return e / e.sum(-1, keepdim=True)""",
        ),
        why="a temperature that is learned or annealed reaches 0; it is kept above 0.05",
        ranges={"x": (-100, 100), "t": (0, 10)},
        fails_at="div",
        breaks={"x": 1, "t": 0},
        defective="""
            g (float[4,8] x, float[1] t) => (float[4,8] div_1) {
              div = Div(x, t)
              val_0 = Constant<value = int64[1] {-1}>()
              amax = ReduceMax<keepdims = 1>(div, val_0)
              sub = Sub(div, amax)
              exp = Exp(sub)
              val_1 = Constant<value = int64[1] {-1}>()
              sum_1 = ReduceSum<noop_with_empty_axes = 0, keepdims = 1>(exp, val_1)
              div_1 = Div(exp, sum_1)
            }""",
        repaired="""
            g (float[4,8] x, float[1] t) => (float[4,8] div_1) {
              val_0 = Constant<value = float {0.05}>()
              val_1 = CastLike(val_0, t)
              clamp = Clip(t, val_1)
              div = Div(x, clamp)
              val_2 = Constant<value = int64[1] {-1}>()
              amax = ReduceMax<keepdims = 1>(div, val_2)
              sub = Sub(div, amax)
              exp = Exp(sub)
              val_3 = Constant<value = int64[1] {-1}>()
              sum_1 = ReduceSum<noop_with_empty_axes = 0, keepdims = 1>(exp, val_3)
              div_1 = Div(exp, sum_1)
            }""",
    ),
    Pair(
        name="softmax over channels",
        facts=("x - max(x)", "sum(exp(x - max(x)))", "x / sum(x)"),
        form="TensorFlow",
        source=(
            "tf.exp(x) / tf.reduce_sum(tf.exp(x), -1, keepdims=True)",
            """
                e = tf.exp(x - tf.reduce_max(x, -1, keepdims=True))
                return e / tf.reduce_sum(e, -1, keepdims=True)""",
        ),
        why="tf.exp overflows; tf.reduce_max is taken away first",
        ranges={"x": (-300, 300)},
        fails_at="truediv",
        breaks={"x": -300},
        defective="""
            g (float[2,5,5,3] x) => (float[2,5,5,3] truediv) {
              Exp = Exp(x)
              axes = Constant<value = int64[1] {3}>()
              Sum = ReduceSum<keepdims = 1>(Exp, axes)
              truediv = Div(Exp, Sum)
            }""",
        repaired="""
            g (float[2,5,5,3] x) => (float[2,5,5,3] truediv) {
              Max = ReduceMax<axes = [3], keepdims = 1>(x)
              sub = Sub(x, Max)
              Exp = Exp(sub)
              axes = Constant<value = int64[1] {3}>()
              Sum = ReduceSum<keepdims = 1>(Exp, axes)
              truediv = Div(Exp, Sum)
            }""",
    ),
    Pair(
        name="softmax of a jaxpr",
        facts=("x - max(x)", "sum(exp(x - max(x)))", "x / sum(x)"),
        form="JAX",
        source=(
            """
                e = jnp.exp(x)
                return e / jnp.sum(e, axis=-1, keepdims=True)""",
            "jax.nn.softmax(x)",
        ),
        why="exp overflows; jax.nn.softmax takes the maximum away, through Max(-Inf, .), Reshape and stop_gradient",
        ranges={"x": (-1000, 1000)},
        fails_at="div",
        breaks={"x": -1000},
        defective="""
            g (float[4,8] x) => (float[4,8] div) {
              exp = Exp(x)
              lit = Constant<value = int64[1] {1}> ()
              reducesum = ReduceSum<keepdims = 0> (exp, lit)
              lit_1 = Constant<value = int64[2] {4,1}> ()
              reshape = Reshape(reducesum, lit_1)
              div = Div(exp, reshape)
            }""",
        repaired="""
            g (float[4,8] x) => (float[4,8] div) {
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
            }""",
    ),
    Pair(
        name="softmax of what is chosen",
        facts=("x - max(x)", "sum(exp(x - max(x)))", "comparisons"),
        form="JAX",
        source=(
            """
                z = jnp.where(m, x, -jnp.inf)
                e = jnp.exp(z - jnp.max(z, -1, keepdims=True))
                return e / jnp.sum(e, -1, keepdims=True)""",
            """
                e = jnp.where(m, jnp.exp(x - jnp.max(x, -1, keepdims=True)), 0.0)
                return e / (jnp.sum(e, -1, keepdims=True) + 1e-9)""",
        ),
        why="a row of which nothing is chosen: -Inf less -Inf; masked after exp, its sum is 0, plus an epsilon",
        ranges={"x": (-30, 30), "m": (0, 1)},
        fails_at="sub",
        breaks={"x": -30, "m": 0},
        defective="""
            g (float[4,8] x, bool[4,8] m) => (float[4,8] div) {
              lit = Constant<value = float {-inf}> ()
              cast = Cast<to = 1> (lit)
              lit_1 = Constant<value = int64[2] {1,1}> ()
              reshape = Reshape(cast, lit_1)
              lit_2 = Constant<value = int64[2] {4,8}> ()
              expand = Expand(reshape, lit_2)
              where = Where(m, x, expand)
              lit_3 = Constant<value = int64[1] {1}> ()
              reducemax = ReduceMax<keepdims = 0> (where, lit_3)
              lit_4 = Constant<value = int64[2] {4,1}> ()
              reshape_1 = Reshape(reducemax, lit_4)
              sub = Sub(where, reshape_1)
              exp = Exp(sub)
              lit_5 = Constant<value = int64[1] {1}> ()
              reducesum = ReduceSum<keepdims = 0> (exp, lit_5)
              lit_6 = Constant<value = int64[2] {4,1}> ()
              reshape_2 = Reshape(reducesum, lit_6)
              div = Div(exp, reshape_2)
            }""",
        repaired="""
            g (float[4,8] x, bool[4,8] m) => (float[4,8] div) {
              lit = Constant<value = int64[1] {1}> ()
              reducemax = ReduceMax<keepdims = 0> (x, lit)
              lit_1 = Constant<value = int64[2] {4,1}> ()
              reshape = Reshape(reducemax, lit_1)
              sub = Sub(x, reshape)
              exp = Exp(sub)
              lit_2 = Constant<value = float {0}> ()
              cast = Cast<to = 1> (lit_2)
              lit_3 = Constant<value = int64[2] {1,1}> ()
              reshape_1 = Reshape(cast, lit_3)
              lit_4 = Constant<value = int64[2] {4,8}> ()
              expand = Expand(reshape_1, lit_4)
              where = Where(m, exp, expand)
              lit_5 = Constant<value = int64[1] {1}> ()
              reducesum = ReduceSum<keepdims = 0> (where, lit_5)
              lit_6 = Constant<value = int64[2] {4,1}> ()
              reshape_2 = Reshape(reducesum, lit_6)
              lit_7 = Constant<value = float {1e-09}> ()
              add = Add(reshape_2, lit_7)
              div = Div(where, add)
            }""",
    ),
    Pair(
        name="entropy of a softmax",
        facts=("softmax rows", "monotone chains"),
        form="torch 23",
        source=(
            """
                p = F.softmax(x, dim=-1)
                return -(p * torch.log(p)).sum(-1)""",
            "-(F.softmax(x, dim=-1) * F.log_softmax(x, dim=-1)).sum(-1)",
        ),
        why="a softmax reaches 0 once logits differ by 104, and 0 * log(0) is NaN; log_softmax stays finite",
        ranges={"x": (-1000, 1000)},
        fails_at="log",
        breaks={"x": [-1000, 1000] * 4},
        defective="""
            g (float[4,8] x) => (float[4] neg) {
              softmax = Softmax<axis = -1>(x)
              log = Log(softmax)
              mul = Mul(softmax, log)
              val_0 = Constant<value = int64[1] {-1}>()
              sum_1 = ReduceSum<noop_with_empty_axes = 0, keepdims = 0>(mul, val_0)
              neg = Neg(sum_1)
            }""",
        repaired="""
            g (float[4,8] x) => (float[4] neg) {
              softmax = Softmax<axis = -1>(x)
              log_softmax = LogSoftmax<axis = -1>(x)
              mul = Mul(softmax, log_softmax)
              val_0 = Constant<value = int64[1] {-1}>()
              sum_1 = ReduceSum<noop_with_empty_axes = 0, keepdims = 0>(mul, val_0)
              neg = Neg(sum_1)
            }""",
    ),
    Pair(
        name="pooling by weights",
        facts=("softmax rows", "x / sum(x)"),
        form="torch 18",
        source=(
            """
                a = F.relu(w)
                return (a.unsqueeze(-1) * x).sum(1) / a.sum(1, keepdim=True)""",
            """
                a = F.softmax(w, dim=-1)
                return (a.unsqueeze(-1) * x).sum(1) / a.sum(1, keepdim=True)""",
        ),
        why="weights of a ReLU can all be 0; those of a softmax sum to 1",
        ranges={"x": (-10, 10), "w": (-50, 50)},
        fails_at="div",
        breaks={"x": 1, "w": -50},
        defective="""
            g (float[4,16,8] x, float[4,16] w) => (float[4,8] div) {
              relu = Relu(w)
              val_0 = Constant<value = int64[1] {-1}>()
              unsqueeze = Unsqueeze(relu, val_0)
              mul = Mul(unsqueeze, x)
              val_1 = Constant<value = int64[1] {1}>()
              sum_1 = ReduceSum<noop_with_empty_axes = 0, keepdims = 0>(mul, val_1)
              val_2 = Constant<value = int64[1] {1}>()
              sum_2 = ReduceSum<noop_with_empty_axes = 0, keepdims = 1>(relu, val_2)
              div = Div(sum_1, sum_2)
            }""",
        repaired="""
            g (float[4,16,8] x, float[4,16] w) => (float[4,8] div) {
              softmax = Softmax<axis = -1>(w)
              val_0 = Constant<value = int64[1] {-1}>()
              unsqueeze = Unsqueeze(softmax, val_0)
              mul = Mul(unsqueeze, x)
              val_1 = Constant<value = int64[1] {1}>()
              sum_1 = ReduceSum<noop_with_empty_axes = 0, keepdims = 0>(mul, val_1)
              val_2 = Constant<value = int64[1] {1}>()
              sum_2 = ReduceSum<noop_with_empty_axes = 0, keepdims = 1>(softmax, val_2)
              div = Div(sum_1, sum_2)
            }""",
    ),
    Pair(
        name="routing to the best experts",
        facts=("softmax rows", "x / sum(x)"),
        form="torch 18",
        source=(
            """
                p = torch.sigmoid(x * 4)
                v, i = p.topk(2, dim=-1)
                return v / v.sum(-1, keepdim=True)""",
            """
                p = torch.softmax(x * 4, dim=-1)
                v, i = p.topk(2, dim=-1)
                return v / v.sum(-1, keepdim=True)""",
        ),
        why="sigmoid scores of a token can all be 0; of a softmax's row, the largest of 8 is at least 1/8",
        ranges={"x": (-20, 20)},
        fails_at="div",
        breaks={"x": -18.5},
        defective="""
            g (float[6,8] x) => (float[6,2] div) {
              val_0 = Constant<value = int64 {4}>()
              scalar_tensor_default = Cast<to = 1>(val_0)
              mul = Mul(x, scalar_tensor_default)
              sigmoid = Sigmoid(mul)
              val_1 = Constant<value = int64[1] {2}>()
              getitem, topk__1 = TopK<sorted = 1, largest = 1, axis = -1>(sigmoid, val_1)
              val_2 = Constant<value = int64[1] {-1}>()
              sum_1 = ReduceSum<noop_with_empty_axes = 0, keepdims = 1>(getitem, val_2)
              div = Div(getitem, sum_1)
            }""",
        repaired="""
            g (float[6,8] x) => (float[6,2] div) {
              val_0 = Constant<value = int64 {4}>()
              scalar_tensor_default = Cast<to = 1>(val_0)
              mul = Mul(x, scalar_tensor_default)
              softmax = Softmax<axis = -1>(mul)
              val_1 = Constant<value = int64[1] {2}>()
              getitem, topk__1 = TopK<sorted = 1, largest = 1, axis = -1>(softmax, val_1)
              val_2 = Constant<value = int64[1] {-1}>()
              sum_1 = ReduceSum<noop_with_empty_axes = 0, keepdims = 1>(getitem, val_2)
              div = Div(getitem, sum_1)
            }""",
    ),
    Pair(
        name="routing with a floor",
        facts=("x / sum(x)",),
        form="torch 23",
        source=(
            """
                p = torch.sigmoid(x)
                v, i = p.topk(2, dim=-1)
                return v / v.sum(-1, keepdim=True)""",
            """
                p = torch.sigmoid(x)
                v, i = p.topk(2, dim=-1)
                return v / (v.sum(-1, keepdim=True) + 1e-20)""",
        ),
        why="all scores can be 0; an epsilon of 1e-20 is enough in float32",
        ranges={"x": (-60, 60)},
        fails_at="div",
        breaks={"x": -40},
        defective="""
            g (float[6,8] x) => (float[6,2] div) {
              sigmoid = Sigmoid(x)
              val_0 = Constant<value = int64[1] {2}>()
              getitem, topk__1 = TopK<sorted = 1, largest = 1, axis = -1>(sigmoid, val_0)
              val_1 = Constant<value = int64[1] {-1}>()
              sum_1 = ReduceSum<noop_with_empty_axes = 0, keepdims = 1>(getitem, val_1)
              div = Div(getitem, sum_1)
            }""",
        repaired="""
            g (float[6,8] x) => (float[6,2] div) {
              sigmoid = Sigmoid(x)
              val_0 = Constant<value = int64[1] {2}>()
              getitem, topk__1 = TopK<sorted = 1, largest = 1, axis = -1>(sigmoid, val_0)
              val_1 = Constant<value = int64[1] {-1}>()
              sum_1 = ReduceSum<noop_with_empty_axes = 0, keepdims = 1>(getitem, val_1)
              val_2 = Constant<value = float {1e-20}>()
              add = Add(sum_1, val_2)
              div = Div(getitem, add)
            }""",
    ),
)
