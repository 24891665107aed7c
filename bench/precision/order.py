"""Largest and smallest elements."""

from __future__ import annotations

from .pairs import Pair

PAIRS = (
    Pair(
        name="scaled to [0, 1]",
        facts=("min and max",),
        form="torch 18",
        source=(
            """
                lo = x.amin(-1, keepdim=True)
                hi = x.amax(-1, keepdim=True)
                return (x - lo) / (hi - lo)""",
            """
                lo = x.amin(-1, keepdim=True)
                hi = x.amax(-1, keepdim=True)
                return (x - lo) / (hi - lo + 1e-6)""",
        ),
        why="a row of one value: 0 / 0; the largest is never below the smallest",
        ranges={"x": (-100, 100)},
        fails_at="div",
        breaks={"x": 1},
        defective="""
            g (float[4,16] x) => (float[4,16] div) {
              val_0 = Constant<value = int64[1] {-1}>()
              amin = ReduceMin<keepdims = 1>(x, val_0)
              amax = ReduceMax<keepdims = 1>(x, val_0)
              sub = Sub(x, amin)
              sub_1 = Sub(amax, amin)
              div = Div(sub, sub_1)
            }""",
        repaired="""
            g (float[4,16] x) => (float[4,16] div) {
              val_0 = Constant<value = int64[1] {-1}>()
              amin = ReduceMin<keepdims = 1>(x, val_0)
              amax = ReduceMax<keepdims = 1>(x, val_0)
              sub = Sub(x, amin)
              sub_1 = Sub(amax, amin)
              val_1 = Constant<value = float {1e-06}>()
              add = Add(sub_1, val_1)
              div = Div(sub, add)
            }""",
    ),
    Pair(
        name="root of a spread",
        facts=("min and max",),
        form="torch 23",
        source=(
            "torch.sqrt(x.max(dim=-1).values - x.mean(-1) * 1.0001)",
            "torch.sqrt(x.max(dim=-1).values - x.min(dim=-1).values)",
        ),
        why="a mean can round above the maximum; the minimum is never above it",
        ranges={"x": (-100, 100)},
        fails_at="sqrt",
        breaks={"x": 1},
        defective="""
            g (float[4,16] x) => (float[4] sqrt) {
              val_0 = Constant<value_ints = [-1]>()
              val_1 = Constant<value = int64 {-1}>()
              val_2 = Reshape<allowzero = 0>(val_1, val_0)
              getitem = ReduceMax<noop_with_empty_axes = 0, keepdims = 0>(x, val_2)
              val_3 = Constant<value_ints = [-1]>()
              val_4 = Constant<value = int64[1] {-1}>()
              val_5 = Reshape<allowzero = 0>(val_4, val_3)
              mean = ReduceMean<noop_with_empty_axes = 0, keepdims = 0>(x, val_5)
              val_6 = Constant<value = float {1.0001}>()
              mul = Mul(mean, val_6)
              sub = Sub(getitem, mul)
              sqrt = Sqrt(sub)
            }""",
        repaired="""
            g (float[4,16] x) => (float[4] sqrt) {
              val_0 = Constant<value_ints = [-1]>()
              val_1 = Constant<value = int64 {-1}>()
              val_2 = Reshape<allowzero = 0>(val_1, val_0)
              getitem = ReduceMax<noop_with_empty_axes = 0, keepdims = 0>(x, val_2)
              val_3 = Constant<value_ints = [-1]>()
              val_4 = Reshape<allowzero = 0>(val_1, val_3)
              getitem_2 = ReduceMin<noop_with_empty_axes = 0, keepdims = 0>(x, val_4)
              sub = Sub(getitem, getitem_2)
              sqrt = Sqrt(sub)
            }""",
    ),
    Pair(
        name="range of a tensor",
        facts=("min and max",),
        form="TensorFlow",
        source=(
            "(x - tf.reduce_min(x)) / (tf.reduce_max(x) - tf.reduce_min(x))",
            "(x - tf.reduce_min(x)) / (tf.reduce_max(x) - tf.reduce_min(x) + 1e-7)",
        ),
        why="an image of one colour",
        ranges={"x": (0, 255)},
        fails_at="truediv",
        breaks={"x": 127.5},
        defective="""
            g (float[4,16] x) => (float[4,16] truediv) {
              Min = ReduceMin<axes = [0, 1], keepdims = 0>(x)
              Max = ReduceMax<axes = [0, 1], keepdims = 0>(x)
              sub = Sub(x, Min)
              sub_1 = Sub(Max, Min)
              truediv = Div(sub, sub_1)
            }""",
        repaired="""
            g (float[4,16] x) => (float[4,16] truediv) {
              Min = ReduceMin<axes = [0, 1], keepdims = 0>(x)
              Max = ReduceMax<axes = [0, 1], keepdims = 0>(x)
              sub = Sub(x, Min)
              sub_1 = Sub(Max, Min)
              eps = Constant<value = float {1e-07}>()
              add = Add(sub_1, eps)
              truediv = Div(sub, add)
            }""",
    ),
    Pair(
        name="step of a quantiser",
        facts=("min and max",),
        form="torch 18",
        source=(
            """
                s = (x.max() - x.min()) / 255
                return torch.round(x / s)""",
            """
                s = ((x.max() - x.min()) / 255).clamp(min=1e-8)
                return torch.round(x / s)""",
        ),
        why="a tensor of one value has the step 0",
        ranges={"x": (-100, 100)},
        fails_at="div_1",
        breaks={"x": 1},
        defective="""
            g (float[4,16] x) => (float[4,16] round_1) {
              max_1 = ReduceMax<noop_with_empty_axes = 0, keepdims = 0>(x)
              min_1 = ReduceMin<noop_with_empty_axes = 0, keepdims = 0>(x)
              sub = Sub(max_1, min_1)
              val_0 = Constant<value = int64 {255}>()
              scalar_tensor_default = Cast<to = 1>(val_0)
              div = Div(sub, scalar_tensor_default)
              div_1 = Div(x, div)
              round_1 = Round(div_1)
            }""",
        repaired="""
            g (float[4,16] x) => (float[4,16] round_1) {
              max_1 = ReduceMax<noop_with_empty_axes = 0, keepdims = 0>(x)
              min_1 = ReduceMin<noop_with_empty_axes = 0, keepdims = 0>(x)
              sub = Sub(max_1, min_1)
              val_0 = Constant<value = int64 {255}>()
              scalar_tensor_default = Cast<to = 1>(val_0)
              div = Div(sub, scalar_tensor_default)
              val_1 = Constant<value = float {1e-08}>()
              val_2 = CastLike(val_1, div)
              clamp = Clip(div, val_2)
              div_1 = Div(x, clamp)
              round_1 = Round(div_1)
            }""",
    ),
    Pair(
        name="larger less smaller",
        facts=("min and max", "the same value twice"),
        form="torch 23",
        source=(
            "torch.sqrt(a - torch.minimum(b, b * 0.5 + a))",
            "torch.sqrt(torch.maximum(a, b) - torch.minimum(b, a))",
        ),
        why="the larger of two is never below the smaller, in whatever order they are named",
        ranges={"a": (-100, 100), "b": (-100, 100)},
        fails_at="sqrt",
        breaks={"a": 0, "b": 100},
        defective="""
            g (float[16] a, float[16] b) => (float[16] sqrt) {
              val_0 = Constant<value = float {0.5}>()
              mul = Mul(b, val_0)
              add = Add(mul, a)
              minimum = Min(b, add)
              sub = Sub(a, minimum)
              sqrt = Sqrt(sub)
            }""",
        repaired="""
            g (float[16] a, float[16] b) => (float[16] sqrt) {
              maximum = Max(a, b)
              minimum = Min(b, a)
              sub = Sub(maximum, minimum)
              sqrt = Sqrt(sub)
            }""",
    ),
    Pair(
        name="gap of the two best",
        facts=("min and max",),
        form="torch 18",
        source=(
            """
                v, _ = x.topk(2, dim=-1)
                return torch.sqrt(v[:, 1] - v[:, 0])""",
            """
                v, _ = x.topk(2, dim=-1)
                return torch.sqrt(v[:, 0] - v[:, 1])""",
        ),
        why="the values of a top-k fall",
        ranges={"x": (-100, 100)},
        fails_at="sqrt",
        breaks={
            "x": [
                [100, 25, 0, -100, 57, -52, 75, -88],
                [0, 0, -18, 59, 60, 100, 0, 1],
                [-40, 16, -40, 100, 0, 88, -27, 100],
                [-40, 85, 100, 91, 0, -15, 24, 100],
            ]
        },
        defective="""
            g (float[4,8] x) => (float[4] sqrt) {
              val_0 = Constant<value = int64[1] {2}>()
              getitem, topk__1 = TopK<sorted = 1, largest = 1, axis = -1>(x, val_0)
              val_1 = Constant<value = int64 {1}>()
              select = Gather<axis = 1>(getitem, val_1)
              val_2 = Constant<value = int64 {0}>()
              select_1 = Gather<axis = 1>(getitem, val_2)
              sub = Sub(select, select_1)
              sqrt = Sqrt(sub)
            }""",
        repaired="""
            g (float[4,8] x) => (float[4] sqrt) {
              val_0 = Constant<value = int64[1] {2}>()
              getitem, topk__1 = TopK<sorted = 1, largest = 1, axis = -1>(x, val_0)
              val_1 = Constant<value = int64 {0}>()
              select = Gather<axis = 1>(getitem, val_1)
              val_2 = Constant<value = int64 {1}>()
              select_1 = Gather<axis = 1>(getitem, val_2)
              sub = Sub(select, select_1)
              sqrt = Sqrt(sub)
            }""",
    ),
    Pair(
        name="peak at 1",
        facts=("min and max",),
        form="JAX",
        source=(
            "jnp.log(1.5 - x / jnp.max(jnp.abs(x), -1, keepdims=True))",
            "jnp.log(1.5 - x / (jnp.max(jnp.abs(x), -1, keepdims=True) + 1e-6))",
        ),
        why="silence is 0 / 0; nothing is larger than the largest, so that the quotient is at most 1",
        ranges={"x": (-100, 100)},
        fails_at="div",
        breaks={"x": 0},
        defective="""
            g (float[4,16] x) => (float[4,16] log) {
              abs = Abs(x)
              lit = Constant<value = int64[1] {1}> ()
              reducemax = ReduceMax<keepdims = 0> (abs, lit)
              lit_1 = Constant<value = int64[2] {4,1}> ()
              reshape = Reshape(reducemax, lit_1)
              div = Div(x, reshape)
              lit_2 = Constant<value = float {1.5}> ()
              sub = Sub(lit_2, div)
              log = Log(sub)
            }""",
        repaired="""
            g (float[4,16] x) => (float[4,16] log) {
              abs = Abs(x)
              lit = Constant<value = int64[1] {1}> ()
              reducemax = ReduceMax<keepdims = 0> (abs, lit)
              lit_1 = Constant<value = int64[2] {4,1}> ()
              reshape = Reshape(reducemax, lit_1)
              lit_2 = Constant<value = float {1e-06}> ()
              add = Add(reshape, lit_2)
              div = Div(x, add)
              lit_3 = Constant<value = float {1.5}> ()
              sub = Sub(lit_3, div)
              log = Log(sub)
            }""",
    ),
    Pair(
        name="distance to the best",
        facts=("x - max(x)", "min and max"),
        form="torch 23",
        source=(
            "torch.log(x.amax(-1, keepdim=True) - x)",
            "torch.log1p(x.amax(-1, keepdim=True) - x)",
        ),
        why="the best is at distance 0 from itself; 1 + that is at least 1",
        ranges={"x": (-1000, 1000)},
        fails_at="log",
        breaks={"x": 1},
        defective="""
            g (float[4,16] x) => (float[4,16] log) {
              val_0 = Constant<value = int64[1] {-1}>()
              amax = ReduceMax<keepdims = 1>(x, val_0)
              sub = Sub(amax, x)
              log = Log(sub)
            }""",
        repaired="""
            g (float[4,16] x) => (float[4,16] log1p) {
              val_0 = Constant<value = int64[1] {-1}>()
              amax = ReduceMax<keepdims = 1>(x, val_0)
              sub = Sub(amax, x)
              const = Constant<value = float const {1}>()
              const_cast = CastLike(const, sub)
              tmp = Add(sub, const_cast)
              log1p = Log(tmp)
            }""",
    ),
    Pair(
        name="root of a distance to the least",
        facts=("min and max",),
        form="TensorFlow",
        source=(
            "tf.sqrt(x - tf.reduce_max(x, 1, keepdims=True))",
            "tf.sqrt(x - tf.reduce_min(x, 1, keepdims=True))",
        ),
        why="taken from the wrong end, the difference is never positive",
        ranges={"x": (-100, 100)},
        fails_at="Sqrt",
        breaks={"x": [-100, 100] * 8},
        defective="""
            g (float[4,16] x) => (float[4,16] Sqrt) {
              Max = ReduceMax<axes = [1], keepdims = 1>(x)
              sub = Sub(x, Max)
              Sqrt = Sqrt(sub)
            }""",
        repaired="""
            g (float[4,16] x) => (float[4,16] Sqrt) {
              Min = ReduceMin<axes = [1], keepdims = 1>(x)
              sub = Sub(x, Min)
              Sqrt = Sqrt(sub)
            }""",
    ),
)
