"""Normalisation over groups of channels, over images, and of weights."""

from __future__ import annotations

from .pairs import Pair

PAIRS = (
    Pair(
        name="group norm by hand",
        facts=("mean((x - m)^2)",),
        form="torch 18",
        source=(
            """
                g = x.reshape(2, 4, -1)
                m = g.mean(-1, keepdim=True)
                v = (g * g).mean(-1, keepdim=True) - m * m
                return ((g - m) / torch.sqrt(v + 1e-5)).reshape(2, 8, 4, 4)""",
            """
                g = x.reshape(2, 4, -1)
                m = g.mean(-1, keepdim=True)
                v = g.var(-1, keepdim=True, unbiased=False)
                return ((g - m) / torch.sqrt(v + 1e-5)).reshape(2, 8, 4, 4)""",
        ),
        why="E[x^2] - E[x]^2 rounds below the epsilon; var sums squares",
        ranges={"x": (-500, 500)},
        fails_at="sqrt",
        breaks={"x": [379.651, 379.65085] * 2},
        defective="""
            g (float[2,8,4,4] x) => (float[2,8,4,4] view_1) {
              val_1 = Constant<value_ints = [2]>()
              val_2 = Constant<value_ints = [4]>()
              val_3 = Constant<value_ints = [-1]>()
              val_4 = Concat<axis = 0>(val_1, val_2, val_3)
              view = Reshape<allowzero = 1>(x, val_4)
              val_5 = Constant<value_ints = [-1]>()
              val_6 = Constant<value = int64[1] {-1}>()
              val_7 = Reshape<allowzero = 0>(val_6, val_5)
              mean = ReduceMean<noop_with_empty_axes = 0, keepdims = 1>(view, val_7)
              mul = Mul(view, view)
              val_8 = Constant<value_ints = [-1]>()
              val_9 = Reshape<allowzero = 0>(val_6, val_8)
              mean_1 = ReduceMean<noop_with_empty_axes = 0, keepdims = 1>(mul, val_9)
              mul_1 = Mul(mean, mean)
              sub = Sub(mean_1, mul_1)
              sub_1 = Sub(view, mean)
              val_10 = Constant<value = float {1e-05}>()
              add = Add(sub, val_10)
              sqrt = Sqrt(add)
              div = Div(sub_1, sqrt)
              val_12 = Constant<value_ints = [2]>()
              val_13 = Constant<value_ints = [8]>()
              val_14 = Constant<value_ints = [4]>()
              val_15 = Constant<value_ints = [4]>()
              val_16 = Concat<axis = 0>(val_12, val_13, val_14, val_15)
              view_1 = Reshape<allowzero = 1>(div, val_16)
            }""",
        repaired="""
            g (float[2,8,4,4] x) => (float[2,8,4,4] view_1) {
              val_1 = Constant<value_ints = [2]>()
              val_2 = Constant<value_ints = [4]>()
              val_3 = Constant<value_ints = [-1]>()
              val_4 = Concat<axis = 0>(val_1, val_2, val_3)
              view = Reshape<allowzero = 1>(x, val_4)
              val_5 = Constant<value_ints = [-1]>()
              val_6 = Constant<value = int64[1] {-1}>()
              val_7 = Reshape<allowzero = 0>(val_6, val_5)
              mean = ReduceMean<noop_with_empty_axes = 0, keepdims = 1>(view, val_7)
              val_8 = Constant<value = int64[1] {2}>()
              val_9 = ReduceMean<noop_with_empty_axes = 0, keepdims = 1>(view, val_8)
              val_10 = Sub(view, val_9)
              val_11 = Mul(val_10, val_10)
              var = ReduceMean<noop_with_empty_axes = 0, keepdims = 0>(val_11, val_8)
              val_12 = Shape<end = 1, start = 0>(var)
              val_13 = Shape<end = 2, start = 1>(var)
              val_14 = Constant<value_ints = [-1]>()
              val_15 = Reshape<allowzero = 0>(val_12, val_14)
              val_16 = Reshape<allowzero = 0>(val_13, val_14)
              val_17 = Constant<value_ints = [1]>()
              val_18 = Concat<axis = 0>(val_15, val_16, val_17)
              val_19 = Reshape<allowzero = 0>(var, val_18)
              val_20 = Constant<value = int64[3] {2,4,1}>()
              broadcast_in_dim = Expand(val_19, val_20)
              sub = Sub(view, mean)
              val_21 = Constant<value = float {1e-05}>()
              add = Add(broadcast_in_dim, val_21)
              sqrt = Sqrt(add)
              div = Div(sub, sqrt)
              val_23 = Constant<value_ints = [2]>()
              val_24 = Constant<value_ints = [8]>()
              val_25 = Constant<value_ints = [4]>()
              val_26 = Constant<value_ints = [4]>()
              val_27 = Concat<axis = 0>(val_23, val_24, val_25, val_26)
              view_1 = Reshape<allowzero = 1>(div, val_27)
            }""",
    ),
    Pair(
        name="exponential of a group norm",
        facts=("normalised rows",),
        form="torch 18",
        source=(
            "torch.exp(x - x.mean((2, 3), keepdim=True))",
            "torch.exp(F.group_norm(x, 4))",
        ),
        why="a group has 32 values, so that normalised ones stay within sqrt(32)",
        ranges={"x": (-500, 500)},
        fails_at="exp",
        breaks={"x": [-500, 500] * 2},
        defective="""
            g (float[2,8,4,4] x) => (float[2,8,4,4] exp) {
              val_0 = Constant<value_ints = [-1]>()
              val_1 = Constant<value = int64[2] {2,3}>()
              val_2 = Reshape<allowzero = 0>(val_1, val_0)
              mean = ReduceMean<noop_with_empty_axes = 0, keepdims = 1>(x, val_2)
              sub = Sub(x, mean)
              exp = Exp(sub)
            }""",
        repaired="""
            g (float[2,8,4,4] x) => (float[2,8,4,4] exp) {
              val_0 = Constant<value_floats: floats = [1]>()
              val_1 = Shape<end = 2, start = 1>(x)
              val_2 = Expand(val_0, val_1)
              val_3 = Constant<value_floats: floats = [0]>()
              val_4 = Shape<end = 2, start = 1>(x)
              val_5 = Expand(val_3, val_4)
              val_6 = Constant<value_ints = [-1]>()
              val_7 = Constant<value = int64 {4}>()
              val_8 = Reshape<allowzero = 0>(val_7, val_6)
              val_9 = Constant<value_ints = [0]>()
              val_10 = Concat<axis = 0>(val_9, val_8, val_6)
              val_11 = Reshape<allowzero = 0>(x, val_10)
              val_12 = Constant<value_float: float = 1>()
              val_13 = CastLike(val_12, x)
              val_14 = Expand(val_13, val_8)
              val_15 = Constant<value_float: float = 0>()
              val_16 = CastLike(val_15, x)
              val_17 = Expand(val_16, val_8)
              val_18 = InstanceNormalization<epsilon: float = 1e-05>(val_11, val_14, val_17)
              val_19 = Shape<start = 0>(x)
              val_20 = Reshape<allowzero = 0>(val_18, val_19)
              val_21 = Constant<value_int = 1>()
              val_22 = Sub(val_7, val_21)
              val_23 = Range(val_21, val_22, val_21)
              val_24 = Unsqueeze(val_2, val_23)
              val_25 = Unsqueeze(val_5, val_23)
              val_26 = CastLike(val_24, val_20)
              val_27 = Mul(val_20, val_26)
              val_28 = CastLike(val_25, val_27)
              group_norm = Add(val_27, val_28)
              exp = Exp(group_norm)
            }""",
    ),
    Pair(
        name="instance norm into a square",
        facts=("normalised rows",),
        form="torch 18",
        source=(
            """
                d = x - x.mean((2, 3), keepdim=True)
                return torch.sinh(d)""",
            "torch.sinh(F.instance_norm(x))",
        ),
        why="of 64 values of an instance, normalised ones stay within 8",
        ranges={"x": (-2000, 2000)},
        fails_at="sinh",
        breaks={"x": [-2000, 2000] * 4},
        defective="""
            g (float[2,3,8,8] x) => (float[2,3,8,8] sinh) {
              val_0 = Constant<value_ints = [-1]>()
              val_1 = Constant<value = int64[2] {2,3}>()
              val_2 = Reshape<allowzero = 0>(val_1, val_0)
              mean = ReduceMean<noop_with_empty_axes = 0, keepdims = 1>(x, val_2)
              sub = Sub(x, mean)
              sinh = Sinh(sub)
            }""",
        repaired="""
            g (float[2,3,8,8] x) => (float[2,3,8,8] sinh) {
              val_0 = Constant<value_floats: floats = [1]>()
              val_1 = Shape<end = 2, start = 1>(x)
              val_2 = Expand(val_0, val_1)
              val_3 = CastLike(val_2, x)
              val_4 = Constant<value_floats: floats = [0]>()
              val_5 = Shape<end = 2, start = 1>(x)
              val_6 = Expand(val_4, val_5)
              val_7 = CastLike(val_6, x)
              instance_norm = InstanceNormalization<epsilon: float = 1e-05>(x, val_3, val_7)
              sinh = Sinh(instance_norm)
            }""",
    ),
    Pair(
        name="standardised weights",
        facts=("mean((x - m)^2)",),
        form="torch 23",
        source=(
            """
                m = w.mean((1, 2, 3), keepdim=True)
                s = w.std((1, 2, 3), keepdim=True)
                return F.conv2d(x, (w - m) / s)""",
            """
                m = w.mean((1, 2, 3), keepdim=True)
                s = w.std((1, 2, 3), keepdim=True)
                return F.conv2d(x, (w - m) / (s + 1e-5))""",
        ),
        why="a filter of one value has the standard deviation 0",
        ranges={"x": (-10, 10), "w": (-1, 1)},
        fails_at="div",
        breaks={"x": 0, "w": -1},
        defective="""
            g (float[1,3,8,8] x, float[4,3,3,3] w) => (float[1,4,6,6] conv2d) {
              val_0 = Constant<value_ints = [-1]>()
              val_1 = Constant<value = int64[3] {1,2,3}>()
              val_2 = Reshape<allowzero = 0>(val_1, val_0)
              mean = ReduceMean<noop_with_empty_axes = 0, keepdims = 1>(w, val_2)
              val_3 = ReduceMean<noop_with_empty_axes = 0, keepdims = 1>(w, val_1)
              val_4 = Sub(w, val_3)
              val_5 = Mul(val_4, val_4)
              val_6 = ReduceMean<noop_with_empty_axes = 0, keepdims = 0>(val_5, val_1)
              val_7 = Shape<start = 0>(w)
              val_8 = Gather<axis = 0>(val_7, val_1)
              val_9 = ReduceProd<noop_with_empty_axes = 0, keepdims = 0>(val_8)
              val_10 = CastLike(val_9, w)
              val_11 = Mul(val_6, val_10)
              val_12 = Constant<value = float {1}>()
              val_13 = CastLike(val_12, w)
              val_14 = Sub(val_10, val_13)
              var = Div(val_11, val_14)
              val_15 = Shape<end = 1, start = 0>(var)
              val_16 = Constant<value_ints = [-1]>()
              val_17 = Reshape<allowzero = 0>(val_15, val_16)
              val_18 = Constant<value_ints = [1]>()
              val_19 = Constant<value_ints = [1]>()
              val_20 = Constant<value_ints = [1]>()
              val_21 = Concat<axis = 0>(val_17, val_18, val_19, val_20)
              val_22 = Reshape<allowzero = 0>(var, val_21)
              val_23 = Constant<value = int64[4] {4,1,1,1}>()
              broadcast_in_dim = Expand(val_22, val_23)
              sqrt = Sqrt(broadcast_in_dim)
              sub = Sub(w, mean)
              div = Div(sub, sqrt)
              val_24 = Shape<end = 1, start = 0>(div)
              val_25 = Constant<value_ints = [1]>()
              val_26 = Expand(val_24, val_25)
              val_27 = Constant<value = float {0}>()
              val_28 = CastLike(val_27, x)
              val_29 = Expand(val_28, val_26)
              conv2d = Conv<group = 1, pads = [0, 0, 0, 0], auto_pad: string = "NOTSET", strides = [1, 1], dilations = [1, 1], kernel_shape = [3, 3]>(x, div, val_29)
            }""",
        repaired="""
            g (float[1,3,8,8] x, float[4,3,3,3] w) => (float[1,4,6,6] conv2d) {
              val_0 = Constant<value_ints = [-1]>()
              val_1 = Constant<value = int64[3] {1,2,3}>()
              val_2 = Reshape<allowzero = 0>(val_1, val_0)
              mean = ReduceMean<noop_with_empty_axes = 0, keepdims = 1>(w, val_2)
              val_3 = ReduceMean<noop_with_empty_axes = 0, keepdims = 1>(w, val_1)
              val_4 = Sub(w, val_3)
              val_5 = Mul(val_4, val_4)
              val_6 = ReduceMean<noop_with_empty_axes = 0, keepdims = 0>(val_5, val_1)
              val_7 = Shape<start = 0>(w)
              val_8 = Gather<axis = 0>(val_7, val_1)
              val_9 = ReduceProd<noop_with_empty_axes = 0, keepdims = 0>(val_8)
              val_10 = CastLike(val_9, w)
              val_11 = Mul(val_6, val_10)
              val_12 = Constant<value = float {1}>()
              val_13 = CastLike(val_12, w)
              val_14 = Sub(val_10, val_13)
              var = Div(val_11, val_14)
              val_15 = Shape<end = 1, start = 0>(var)
              val_16 = Constant<value_ints = [-1]>()
              val_17 = Reshape<allowzero = 0>(val_15, val_16)
              val_18 = Constant<value_ints = [1]>()
              val_19 = Constant<value_ints = [1]>()
              val_20 = Constant<value_ints = [1]>()
              val_21 = Concat<axis = 0>(val_17, val_18, val_19, val_20)
              val_22 = Reshape<allowzero = 0>(var, val_21)
              val_23 = Constant<value = int64[4] {4,1,1,1}>()
              broadcast_in_dim = Expand(val_22, val_23)
              sqrt = Sqrt(broadcast_in_dim)
              sub = Sub(w, mean)
              val_24 = Constant<value = float {1e-05}>()
              add = Add(sqrt, val_24)
              div = Div(sub, add)
              val_25 = Shape<end = 1, start = 0>(div)
              val_26 = Constant<value_ints = [1]>()
              val_27 = Expand(val_25, val_26)
              val_28 = Constant<value = float {0}>()
              val_29 = CastLike(val_28, x)
              val_30 = Expand(val_29, val_27)
              conv2d = Conv<group = 1, pads = [0, 0, 0, 0], auto_pad: string = "NOTSET", strides = [1, 1], dilations = [1, 1], kernel_shape = [3, 3]>(x, div, val_30)
            }""",
    ),
)
