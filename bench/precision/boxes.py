"""Rectangles: how much they share, and how they are told."""

from __future__ import annotations

from .pairs import Pair

PAIRS = (
    Pair(
        name="intersection over union",
        facts=("min and max",),
        form="torch 18",
        source=(
            """
                x1 = torch.maximum(a[:, 0], b[:, 0])
                y1 = torch.maximum(a[:, 1], b[:, 1])
                x2 = torch.minimum(a[:, 0] + a[:, 2], b[:, 0] + b[:, 2])
                y2 = torch.minimum(a[:, 1] + a[:, 3], b[:, 1] + b[:, 3])
                i = (x2 - x1).clamp(min=0) * (y2 - y1).clamp(min=0)
                u = a[:, 2] * a[:, 3] + b[:, 2] * b[:, 3] - i
                return i / u""",
            """
                x1 = torch.maximum(a[:, 0], b[:, 0])
                y1 = torch.maximum(a[:, 1], b[:, 1])
                x2 = torch.minimum(a[:, 0] + a[:, 2], b[:, 0] + b[:, 2])
                y2 = torch.minimum(a[:, 1] + a[:, 3], b[:, 1] + b[:, 3])
                i = (x2 - x1).clamp(min=0) * (y2 - y1).clamp(min=0)
                u = a[:, 2] * a[:, 3] + b[:, 2] * b[:, 3]
                return i / (u - torch.minimum(i, u) + 1e-6)""",
        ),
        why="two empty boxes share 0 of 0; what is taken away is never more than there is",
        ranges={"a": (0, 100), "b": (0, 100)},
        fails_at="div",
        breaks={"a": 0, "b": 0},
        defective="""
            g (float[5,4] a, float[5,4] b) => (float[5] div) {
              val_0 = Constant<value = int64 {0}>()
              select = Gather<axis = 1>(a, val_0)
              select_1 = Gather<axis = 1>(b, val_0)
              maximum = Max(select, select_1)
              val_1 = Constant<value = int64 {1}>()
              select_2 = Gather<axis = 1>(a, val_1)
              select_3 = Gather<axis = 1>(b, val_1)
              maximum_1 = Max(select_2, select_3)
              select_4 = Gather<axis = 1>(a, val_0)
              val_2 = Constant<value = int64 {2}>()
              select_5 = Gather<axis = 1>(a, val_2)
              add = Add(select_4, select_5)
              select_6 = Gather<axis = 1>(b, val_0)
              select_7 = Gather<axis = 1>(b, val_2)
              add_1 = Add(select_6, select_7)
              minimum = Min(add, add_1)
              select_8 = Gather<axis = 1>(a, val_1)
              val_3 = Constant<value = int64 {3}>()
              select_9 = Gather<axis = 1>(a, val_3)
              add_2 = Add(select_8, select_9)
              select_10 = Gather<axis = 1>(b, val_1)
              select_11 = Gather<axis = 1>(b, val_3)
              add_3 = Add(select_10, select_11)
              minimum_1 = Min(add_2, add_3)
              sub = Sub(minimum, maximum)
              scalar_tensor_default = Cast<to = 1>(val_0)
              val_4 = CastLike(scalar_tensor_default, sub)
              clamp = Max(sub, val_4)
              sub_1 = Sub(minimum_1, maximum_1)
              scalar_tensor_default_1 = Cast<to = 1>(val_0)
              val_5 = CastLike(scalar_tensor_default_1, sub_1)
              clamp_1 = Max(sub_1, val_5)
              mul = Mul(clamp, clamp_1)
              select_12 = Gather<axis = 1>(a, val_2)
              select_13 = Gather<axis = 1>(a, val_3)
              mul_1 = Mul(select_12, select_13)
              select_14 = Gather<axis = 1>(b, val_2)
              select_15 = Gather<axis = 1>(b, val_3)
              mul_2 = Mul(select_14, select_15)
              add_4 = Add(mul_1, mul_2)
              sub_2 = Sub(add_4, mul)
              div = Div(mul, sub_2)
            }""",
        repaired="""
            g (float[5,4] a, float[5,4] b) => (float[5] div) {
              val_0 = Constant<value = int64 {0}>()
              select = Gather<axis = 1>(a, val_0)
              select_1 = Gather<axis = 1>(b, val_0)
              maximum = Max(select, select_1)
              val_1 = Constant<value = int64 {1}>()
              select_2 = Gather<axis = 1>(a, val_1)
              select_3 = Gather<axis = 1>(b, val_1)
              maximum_1 = Max(select_2, select_3)
              select_4 = Gather<axis = 1>(a, val_0)
              val_2 = Constant<value = int64 {2}>()
              select_5 = Gather<axis = 1>(a, val_2)
              add = Add(select_4, select_5)
              select_6 = Gather<axis = 1>(b, val_0)
              select_7 = Gather<axis = 1>(b, val_2)
              add_1 = Add(select_6, select_7)
              minimum = Min(add, add_1)
              select_8 = Gather<axis = 1>(a, val_1)
              val_3 = Constant<value = int64 {3}>()
              select_9 = Gather<axis = 1>(a, val_3)
              add_2 = Add(select_8, select_9)
              select_10 = Gather<axis = 1>(b, val_1)
              select_11 = Gather<axis = 1>(b, val_3)
              add_3 = Add(select_10, select_11)
              minimum_1 = Min(add_2, add_3)
              sub = Sub(minimum, maximum)
              scalar_tensor_default = Cast<to = 1>(val_0)
              val_4 = CastLike(scalar_tensor_default, sub)
              clamp = Max(sub, val_4)
              sub_1 = Sub(minimum_1, maximum_1)
              scalar_tensor_default_1 = Cast<to = 1>(val_0)
              val_5 = CastLike(scalar_tensor_default_1, sub_1)
              clamp_1 = Max(sub_1, val_5)
              mul = Mul(clamp, clamp_1)
              select_12 = Gather<axis = 1>(a, val_2)
              select_13 = Gather<axis = 1>(a, val_3)
              mul_1 = Mul(select_12, select_13)
              select_14 = Gather<axis = 1>(b, val_2)
              select_15 = Gather<axis = 1>(b, val_3)
              mul_2 = Mul(select_14, select_15)
              add_4 = Add(mul_1, mul_2)
              minimum_2 = Min(mul, add_4)
              sub_2 = Sub(add_4, minimum_2)
              val_6 = Constant<value = float {1e-06}>()
              add_5 = Add(sub_2, val_6)
              div = Div(mul, add_5)
            }""",
    ),
    Pair(
        name="intersection over union of corners",
        facts=("min and max",),
        form="torch 23",
        source=(
            """
                w = torch.minimum(a[:, 2], b[:, 2]) - torch.maximum(a[:, 0], b[:, 0])
                h = torch.minimum(a[:, 3], b[:, 3]) - torch.maximum(a[:, 1], b[:, 1])
                i = w.clamp(min=0) * h.clamp(min=0)
                s = (a[:, 2] - a[:, 0]) * (a[:, 3] - a[:, 1])
                t = (b[:, 2] - b[:, 0]) * (b[:, 3] - b[:, 1])
                return i / (s + t - i)""",
            """
                w = torch.minimum(a[:, 2], b[:, 2]) - torch.maximum(a[:, 0], b[:, 0])
                h = torch.minimum(a[:, 3], b[:, 3]) - torch.maximum(a[:, 1], b[:, 1])
                i = w.clamp(min=0) * h.clamp(min=0)
                s = (a[:, 2] - a[:, 0]).clamp(min=0) * (a[:, 3] - a[:, 1]).clamp(min=0)
                t = (b[:, 2] - b[:, 0]).clamp(min=0) * (b[:, 3] - b[:, 1]).clamp(min=0)
                return i / (s + t - i + 1e-7)""",
        ),
        why="two empty boxes; the part that two boxes share is no larger than either, which takes min(a, b) - max(c, d) <= a - c to see",
        ranges={"a": (0, 1), "b": (0, 1)},
        fails_at="div",
        breaks={"a": 1, "b": 1},
        defective="""
            g (float[5,4] a, float[5,4] b) => (float[5] div) {
              val_0 = Constant<value = int64 {2}>()
              select = Gather<axis = 1>(a, val_0)
              select_1 = Gather<axis = 1>(b, val_0)
              minimum = Min(select, select_1)
              val_1 = Constant<value = int64 {0}>()
              select_2 = Gather<axis = 1>(a, val_1)
              select_3 = Gather<axis = 1>(b, val_1)
              maximum = Max(select_2, select_3)
              sub = Sub(minimum, maximum)
              val_2 = Constant<value = int64 {3}>()
              select_4 = Gather<axis = 1>(a, val_2)
              select_5 = Gather<axis = 1>(b, val_2)
              minimum_1 = Min(select_4, select_5)
              val_3 = Constant<value = int64 {1}>()
              select_6 = Gather<axis = 1>(a, val_3)
              select_7 = Gather<axis = 1>(b, val_3)
              maximum_1 = Max(select_6, select_7)
              sub_1 = Sub(minimum_1, maximum_1)
              scalar_tensor_default = Cast<to = 1>(val_1)
              val_4 = CastLike(scalar_tensor_default, sub)
              clamp = Max(sub, val_4)
              scalar_tensor_default_1 = Cast<to = 1>(val_1)
              val_5 = CastLike(scalar_tensor_default_1, sub_1)
              clamp_1 = Max(sub_1, val_5)
              mul = Mul(clamp, clamp_1)
              select_8 = Gather<axis = 1>(a, val_0)
              select_9 = Gather<axis = 1>(a, val_1)
              sub_2 = Sub(select_8, select_9)
              select_10 = Gather<axis = 1>(a, val_2)
              select_11 = Gather<axis = 1>(a, val_3)
              sub_3 = Sub(select_10, select_11)
              mul_1 = Mul(sub_2, sub_3)
              select_12 = Gather<axis = 1>(b, val_0)
              select_13 = Gather<axis = 1>(b, val_1)
              sub_4 = Sub(select_12, select_13)
              select_14 = Gather<axis = 1>(b, val_2)
              select_15 = Gather<axis = 1>(b, val_3)
              sub_5 = Sub(select_14, select_15)
              mul_2 = Mul(sub_4, sub_5)
              add = Add(mul_1, mul_2)
              sub_6 = Sub(add, mul)
              div = Div(mul, sub_6)
            }""",
        repaired="""
            g (float[5,4] a, float[5,4] b) => (float[5] div) {
              val_0 = Constant<value = int64 {2}>()
              select = Gather<axis = 1>(a, val_0)
              select_1 = Gather<axis = 1>(b, val_0)
              minimum = Min(select, select_1)
              val_1 = Constant<value = int64 {0}>()
              select_2 = Gather<axis = 1>(a, val_1)
              select_3 = Gather<axis = 1>(b, val_1)
              maximum = Max(select_2, select_3)
              sub = Sub(minimum, maximum)
              val_2 = Constant<value = int64 {3}>()
              select_4 = Gather<axis = 1>(a, val_2)
              select_5 = Gather<axis = 1>(b, val_2)
              minimum_1 = Min(select_4, select_5)
              val_3 = Constant<value = int64 {1}>()
              select_6 = Gather<axis = 1>(a, val_3)
              select_7 = Gather<axis = 1>(b, val_3)
              maximum_1 = Max(select_6, select_7)
              sub_1 = Sub(minimum_1, maximum_1)
              scalar_tensor_default = Cast<to = 1>(val_1)
              val_4 = CastLike(scalar_tensor_default, sub)
              clamp = Max(sub, val_4)
              scalar_tensor_default_1 = Cast<to = 1>(val_1)
              val_5 = CastLike(scalar_tensor_default_1, sub_1)
              clamp_1 = Max(sub_1, val_5)
              mul = Mul(clamp, clamp_1)
              select_8 = Gather<axis = 1>(a, val_0)
              select_9 = Gather<axis = 1>(a, val_1)
              sub_2 = Sub(select_8, select_9)
              scalar_tensor_default_2 = Cast<to = 1>(val_1)
              val_6 = CastLike(scalar_tensor_default_2, sub_2)
              clamp_2 = Max(sub_2, val_6)
              select_10 = Gather<axis = 1>(a, val_2)
              select_11 = Gather<axis = 1>(a, val_3)
              sub_3 = Sub(select_10, select_11)
              scalar_tensor_default_3 = Cast<to = 1>(val_1)
              val_7 = CastLike(scalar_tensor_default_3, sub_3)
              clamp_3 = Max(sub_3, val_7)
              mul_1 = Mul(clamp_2, clamp_3)
              select_12 = Gather<axis = 1>(b, val_0)
              select_13 = Gather<axis = 1>(b, val_1)
              sub_4 = Sub(select_12, select_13)
              scalar_tensor_default_4 = Cast<to = 1>(val_1)
              val_8 = CastLike(scalar_tensor_default_4, sub_4)
              clamp_4 = Max(sub_4, val_8)
              select_14 = Gather<axis = 1>(b, val_2)
              select_15 = Gather<axis = 1>(b, val_3)
              sub_5 = Sub(select_14, select_15)
              scalar_tensor_default_5 = Cast<to = 1>(val_1)
              val_9 = CastLike(scalar_tensor_default_5, sub_5)
              clamp_5 = Max(sub_5, val_9)
              mul_2 = Mul(clamp_4, clamp_5)
              add = Add(mul_1, mul_2)
              sub_6 = Sub(add, mul)
              val_10 = Constant<value = float {1e-07}>()
              add_1 = Add(sub_6, val_10)
              div = Div(mul, add_1)
            }""",
    ),
    Pair(
        name="enclosing box",
        facts=("min and max",),
        form="torch 18",
        source=(
            """
                w = torch.maximum(a[:, 2], b[:, 2]) - torch.minimum(a[:, 0], b[:, 0])
                h = torch.maximum(a[:, 3], b[:, 3]) - torch.minimum(a[:, 1], b[:, 1])
                return (w * h - 1.0) / (w * h)""",
            """
                w = torch.maximum(a[:, 2], b[:, 2]) - torch.minimum(a[:, 0], b[:, 0])
                h = torch.maximum(a[:, 3], b[:, 3]) - torch.minimum(a[:, 1], b[:, 1])
                return (w * h - 1.0) / (w * h).clamp(min=1e-7)""",
        ),
        why="an enclosing box without area",
        ranges={"a": (0, 1), "b": (0, 1)},
        fails_at="div",
        breaks={"a": 1, "b": 1},
        defective="""
            g (float[5,4] a, float[5,4] b) => (float[5] div) {
              val_0 = Constant<value = int64 {2}>()
              select = Gather<axis = 1>(a, val_0)
              select_1 = Gather<axis = 1>(b, val_0)
              maximum = Max(select, select_1)
              val_1 = Constant<value = int64 {0}>()
              select_2 = Gather<axis = 1>(a, val_1)
              select_3 = Gather<axis = 1>(b, val_1)
              minimum = Min(select_2, select_3)
              sub = Sub(maximum, minimum)
              val_2 = Constant<value = int64 {3}>()
              select_4 = Gather<axis = 1>(a, val_2)
              select_5 = Gather<axis = 1>(b, val_2)
              maximum_1 = Max(select_4, select_5)
              val_3 = Constant<value = int64 {1}>()
              select_6 = Gather<axis = 1>(a, val_3)
              select_7 = Gather<axis = 1>(b, val_3)
              minimum_1 = Min(select_6, select_7)
              sub_1 = Sub(maximum_1, minimum_1)
              mul = Mul(sub, sub_1)
              val_4 = Constant<value = float {1}>()
              sub_2 = Sub(mul, val_4)
              mul_1 = Mul(sub, sub_1)
              div = Div(sub_2, mul_1)
            }""",
        repaired="""
            g (float[5,4] a, float[5,4] b) => (float[5] div) {
              val_0 = Constant<value = int64 {2}>()
              select = Gather<axis = 1>(a, val_0)
              select_1 = Gather<axis = 1>(b, val_0)
              maximum = Max(select, select_1)
              val_1 = Constant<value = int64 {0}>()
              select_2 = Gather<axis = 1>(a, val_1)
              select_3 = Gather<axis = 1>(b, val_1)
              minimum = Min(select_2, select_3)
              sub = Sub(maximum, minimum)
              val_2 = Constant<value = int64 {3}>()
              select_4 = Gather<axis = 1>(a, val_2)
              select_5 = Gather<axis = 1>(b, val_2)
              maximum_1 = Max(select_4, select_5)
              val_3 = Constant<value = int64 {1}>()
              select_6 = Gather<axis = 1>(a, val_3)
              select_7 = Gather<axis = 1>(b, val_3)
              minimum_1 = Min(select_6, select_7)
              sub_1 = Sub(maximum_1, minimum_1)
              mul = Mul(sub, sub_1)
              val_4 = Constant<value = float {1}>()
              sub_2 = Sub(mul, val_4)
              mul_1 = Mul(sub, sub_1)
              val_5 = Constant<value = float {1e-07}>()
              val_6 = CastLike(val_5, mul_1)
              clamp = Clip(mul_1, val_6)
              div = Div(sub_2, clamp)
            }""",
    ),
    Pair(
        name="aspect ratio",
        facts=("min and max", "monotone chains"),
        form="torch 23",
        source=(
            """
                w = a[:, 2] - a[:, 0]
                h = a[:, 3] - a[:, 1]
                return torch.atan(w / h)""",
            """
                w = (a[:, 2] - a[:, 0]).clamp(min=0)
                h = (a[:, 3] - a[:, 1]).clamp(min=0)
                return torch.atan(w / (h + 1e-7))""",
        ),
        why="0 / 0 in an empty box",
        ranges={"a": (0, 100), "b": (0, 100)},
        fails_at="div",
        breaks={"a": 20, "b": 0},
        defective="""
            g (float[5,4] a, float[5,4] b) => (float[5] atan) {
              val_0 = Constant<value = int64 {2}>()
              select = Gather<axis = 1>(a, val_0)
              val_1 = Constant<value = int64 {0}>()
              select_1 = Gather<axis = 1>(a, val_1)
              sub = Sub(select, select_1)
              val_2 = Constant<value = int64 {3}>()
              select_2 = Gather<axis = 1>(a, val_2)
              val_3 = Constant<value = int64 {1}>()
              select_3 = Gather<axis = 1>(a, val_3)
              sub_1 = Sub(select_2, select_3)
              div = Div(sub, sub_1)
              atan = Atan(div)
            }""",
        repaired="""
            g (float[5,4] a, float[5,4] b) => (float[5] atan) {
              val_0 = Constant<value = int64 {2}>()
              select = Gather<axis = 1>(a, val_0)
              val_1 = Constant<value = int64 {0}>()
              select_1 = Gather<axis = 1>(a, val_1)
              sub = Sub(select, select_1)
              scalar_tensor_default = Cast<to = 1>(val_1)
              val_2 = CastLike(scalar_tensor_default, sub)
              clamp = Max(sub, val_2)
              val_3 = Constant<value = int64 {3}>()
              select_2 = Gather<axis = 1>(a, val_3)
              val_4 = Constant<value = int64 {1}>()
              select_3 = Gather<axis = 1>(a, val_4)
              sub_1 = Sub(select_2, select_3)
              scalar_tensor_default_1 = Cast<to = 1>(val_1)
              val_5 = CastLike(scalar_tensor_default_1, sub_1)
              clamp_1 = Max(sub_1, val_5)
              val_6 = Constant<value = float {1e-07}>()
              add = Add(clamp_1, val_6)
              div = Div(clamp, add)
              atan = Atan(div)
            }""",
    ),
    Pair(
        name="size of a decoded box",
        facts=("monotone chains", "min and max"),
        form="torch 18",
        source=(
            "torch.exp(d[:, 2:]) * (a[:, 2:] - a[:, :2])",
            "torch.exp(d[:, 2:].clamp(max=4.135166556742356)) * (a[:, 2:] - a[:, :2])",
        ),
        why="exp overflows; torchvision cuts at log(1000 / 16)",
        ranges={"d": (-200, 200), "a": (0, 1000)},
        fails_at="exp",
        breaks={"d": 100, "a": 20},
        defective="""
            g (float[5,4] d, float[5,4] a) => (float[5,2] mul) {
              val_0 = Constant<value = int64 {2}>()
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
              slice_1 = Slice(d, val_3, val_7, val_11, val_12)
              exp = Exp(slice_1)
              val_13 = Cast<to = 7>(val_0)
              val_14 = Constant<value_ints = [-1]>()
              val_15 = Reshape<allowzero = 0>(val_13, val_14)
              val_16 = Cast<to = 7>(val_4)
              val_17 = Constant<value_ints = [-1]>()
              val_18 = Reshape<allowzero = 0>(val_16, val_17)
              val_19 = Cast<to = 7>(val_8)
              val_20 = Constant<value_ints = [-1]>()
              val_21 = Reshape<allowzero = 0>(val_19, val_20)
              val_22 = Constant<value_ints = [1]>()
              slice_2 = Slice(a, val_15, val_18, val_21, val_22)
              val_23 = Constant<value = int64 {0}>()
              val_24 = Cast<to = 7>(val_23)
              val_25 = Constant<value_ints = [-1]>()
              val_26 = Reshape<allowzero = 0>(val_24, val_25)
              val_27 = Cast<to = 7>(val_0)
              val_28 = Constant<value_ints = [-1]>()
              val_29 = Reshape<allowzero = 0>(val_27, val_28)
              val_30 = Cast<to = 7>(val_8)
              val_31 = Constant<value_ints = [-1]>()
              val_32 = Reshape<allowzero = 0>(val_30, val_31)
              val_33 = Constant<value_ints = [1]>()
              slice_3 = Slice(a, val_26, val_29, val_32, val_33)
              sub = Sub(slice_2, slice_3)
              mul = Mul(exp, sub)
            }""",
        repaired="""
            g (float[5,4] d, float[5,4] a) => (float[5,2] mul) {
              val_0 = Constant<value = int64 {2}>()
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
              slice_1 = Slice(d, val_3, val_7, val_11, val_12)
              val_13 = Constant<value = float {4.1351666}>()
              val_14 = CastLike(val_13, slice_1)
              clamp = Clip(slice_1, "", val_14)
              exp = Exp(clamp)
              val_15 = Cast<to = 7>(val_0)
              val_16 = Constant<value_ints = [-1]>()
              val_17 = Reshape<allowzero = 0>(val_15, val_16)
              val_18 = Cast<to = 7>(val_4)
              val_19 = Constant<value_ints = [-1]>()
              val_20 = Reshape<allowzero = 0>(val_18, val_19)
              val_21 = Cast<to = 7>(val_8)
              val_22 = Constant<value_ints = [-1]>()
              val_23 = Reshape<allowzero = 0>(val_21, val_22)
              val_24 = Constant<value_ints = [1]>()
              slice_2 = Slice(a, val_17, val_20, val_23, val_24)
              val_25 = Constant<value = int64 {0}>()
              val_26 = Cast<to = 7>(val_25)
              val_27 = Constant<value_ints = [-1]>()
              val_28 = Reshape<allowzero = 0>(val_26, val_27)
              val_29 = Cast<to = 7>(val_0)
              val_30 = Constant<value_ints = [-1]>()
              val_31 = Reshape<allowzero = 0>(val_29, val_30)
              val_32 = Cast<to = 7>(val_8)
              val_33 = Constant<value_ints = [-1]>()
              val_34 = Reshape<allowzero = 0>(val_32, val_33)
              val_35 = Constant<value_ints = [1]>()
              slice_3 = Slice(a, val_28, val_31, val_34, val_35)
              sub = Sub(slice_2, slice_3)
              mul = Mul(exp, sub)
            }""",
    ),
    Pair(
        name="logarithm of a size",
        facts=("min and max", "monotone chains"),
        form="JAX",
        source=(
            "jnp.log(g / a)",
            "jnp.log(jnp.maximum(g, 1e-3) / jnp.maximum(a, 1e-3))",
        ),
        why="sizes of 0",
        ranges={"g": (0, 1000), "a": (0, 1000)},
        fails_at="div",
        breaks={"g": 20, "a": 0},
        defective="""
            g (float[5,2] g, float[5,2] a) => (float[5,2] log) {
              div = Div(g, a)
              log = Log(div)
            }""",
        repaired="""
            g (float[5,2] g, float[5,2] a) => (float[5,2] log) {
              lit = Constant<value = float {0.001}> ()
              max = Max(g, lit)
              lit_1 = Constant<value = float {0.001}> ()
              max_1 = Max(a, lit_1)
              div = Div(max, max_1)
              log = Log(div)
            }""",
    ),
    Pair(
        name="divide_no_nan",
        facts=("comparisons", "integer ranges"),
        form="TensorFlow",
        source=(
            "tf.reduce_sum(x * m, 1) / n",
            "tf.math.divide_no_nan(tf.reduce_sum(x * m, 1), n)",
        ),
        why="a row without anything positive: 0 / 0; where the count is 0 the quotient isn't chosen, and a count that isn't 0 is at least 1",
        ranges={"x": (-10, 10)},
        fails_at="truediv",
        breaks={"x": 0},
        defective="""
            g (float[4,16] x) => (float[4] truediv) {
              zero = Constant<value = float {0}>()
              Greater = Greater(x, zero)
              Cast = Cast<to = 1>(Greater)
              mul = Mul(x, Cast)
              axes = Constant<value = int64[1] {1}>()
              Sum = ReduceSum<keepdims = 0>(mul, axes)
              Cast_1 = Cast<to = 6>(Greater)
              count_nonzero = ReduceSum<keepdims = 0>(Cast_1, axes)
              Cast_2 = Cast<to = 1>(count_nonzero)
              truediv = Div(Sum, Cast_2)
            }""",
        repaired="""
            g (float[4,16] x) => (float[4] div_no_nan) {
              zero = Constant<value = float {0}>()
              Greater = Greater(x, zero)
              Cast = Cast<to = 1>(Greater)
              mul = Mul(x, Cast)
              axes = Constant<value = int64[1] {1}>()
              Sum = ReduceSum<keepdims = 0>(mul, axes)
              Cast_1 = Cast<to = 6>(Greater)
              count_nonzero = ReduceSum<keepdims = 0>(Cast_1, axes)
              Cast_2 = Cast<to = 1>(count_nonzero)
              truediv = Div(Sum, Cast_2)
              Equal = Equal(Cast_2, zero)
              zeros = Constant<value = float[4] {0,0,0,0}>()
              div_no_nan = Where(Equal, zeros, truediv)
            }""",
    ),
)
