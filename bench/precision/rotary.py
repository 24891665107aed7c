"""Positions told by angles."""

from __future__ import annotations

from .pairs import Pair

PAIRS = (
    Pair(
        name="rotary embedding",
        facts=("min and max", "monotone chains"),
        form="torch 18",
        source=(
            """
                f = 1.0 / (base ** (torch.arange(0, 8, 2).float() / 8))
                a = torch.arange(6).float()[:, None] * f[None, :]
                a = torch.cat((a, a), dim=-1)
                r = torch.cat((-q[..., 4:], q[..., :4]), dim=-1)
                return q * a.cos() + r * a.sin()""",
            """
                f = 1.0 / (base.clamp(min=1.0) ** (torch.arange(0, 8, 2).float() / 8))
                a = torch.arange(6).float()[:, None] * f[None, :]
                a = torch.cat((a, a), dim=-1)
                r = torch.cat((-q[..., 4:], q[..., :4]), dim=-1)
                return q * a.cos() + r * a.sin()""",
        ),
        why="a base of 0 has the power 0",
        ranges={"q": (-100, 100), "base": (0, 10000)},
        fails_at="reciprocal",
        breaks={"q": 40, "base": 0},
        defective="""
            g (float[1,6,8] q, float[1] base) => (float[1,6,8] add) {
              val_0 = Constant<value = int64 {0}>()
              val_1 = Constant<value = int64 {8}>()
              val_2 = Constant<value = int64 {2}>()
              arange = Range(val_0, val_1, val_2)
              _to_copy = Cast<to = 1>(arange)
              scalar_tensor_default = Cast<to = 1>(val_1)
              div = Div(_to_copy, scalar_tensor_default)
              pow_1 = Pow(base, div)
              reciprocal = Reciprocal(pow_1)
              val_3 = Constant<value = float {1}>()
              mul = Mul(reciprocal, val_3)
              val_4 = Constant<value = float {0}>()
              val_5 = Constant<value = int64 {6}>()
              val_6 = CastLike(val_4, val_5)
              val_7 = CastLike(val_3, val_5)
              arange_1 = Range(val_6, val_5, val_7)
              _to_copy_1 = Cast<to = 1>(arange_1)
              val_8 = Constant<value = int64[1] {1}>()
              unsqueeze = Unsqueeze(_to_copy_1, val_8)
              val_9 = Constant<value = int64[1] {0}>()
              unsqueeze_1 = Unsqueeze(mul, val_9)
              mul_1 = Mul(unsqueeze, unsqueeze_1)
              cat = Concat<axis = -1>(mul_1, mul_1)
              val_10 = Constant<value = int64 {4}>()
              val_11 = Cast<to = 7>(val_10)
              val_12 = Constant<value_ints = [-1]>()
              val_13 = Reshape<allowzero = 0>(val_11, val_12)
              val_14 = Constant<value = int64 {9223372036854775807}>()
              val_15 = Cast<to = 7>(val_14)
              val_16 = Constant<value_ints = [-1]>()
              val_17 = Reshape<allowzero = 0>(val_15, val_16)
              val_18 = Cast<to = 7>(val_2)
              val_19 = Constant<value_ints = [-1]>()
              val_20 = Reshape<allowzero = 0>(val_18, val_19)
              val_21 = Constant<value_ints = [1]>()
              slice_1 = Slice(q, val_13, val_17, val_20, val_21)
              neg = Neg(slice_1)
              val_22 = Cast<to = 7>(val_0)
              val_23 = Constant<value_ints = [-1]>()
              val_24 = Reshape<allowzero = 0>(val_22, val_23)
              val_25 = Cast<to = 7>(val_10)
              val_26 = Constant<value_ints = [-1]>()
              val_27 = Reshape<allowzero = 0>(val_25, val_26)
              val_28 = Cast<to = 7>(val_2)
              val_29 = Constant<value_ints = [-1]>()
              val_30 = Reshape<allowzero = 0>(val_28, val_29)
              val_31 = Constant<value_ints = [1]>()
              slice_2 = Slice(q, val_24, val_27, val_30, val_31)
              cat_1 = Concat<axis = -1>(neg, slice_2)
              cos = Cos(cat)
              mul_2 = Mul(q, cos)
              sin = Sin(cat)
              mul_3 = Mul(cat_1, sin)
              add = Add(mul_2, mul_3)
            }""",
        repaired="""
            g (float[1,6,8] q, float[1] base) => (float[1,6,8] add) {
              val_0 = Constant<value = float {1}>()
              val_1 = CastLike(val_0, base)
              clamp = Clip(base, val_1)
              val_2 = Constant<value = int64 {0}>()
              val_3 = Constant<value = int64 {8}>()
              val_4 = Constant<value = int64 {2}>()
              arange = Range(val_2, val_3, val_4)
              _to_copy = Cast<to = 1>(arange)
              scalar_tensor_default = Cast<to = 1>(val_3)
              div = Div(_to_copy, scalar_tensor_default)
              pow_1 = Pow(clamp, div)
              reciprocal = Reciprocal(pow_1)
              mul = Mul(reciprocal, val_0)
              val_5 = Constant<value = float {0}>()
              val_6 = Constant<value = int64 {6}>()
              val_7 = CastLike(val_5, val_6)
              val_8 = CastLike(val_0, val_6)
              arange_1 = Range(val_7, val_6, val_8)
              _to_copy_1 = Cast<to = 1>(arange_1)
              val_9 = Constant<value = int64[1] {1}>()
              unsqueeze = Unsqueeze(_to_copy_1, val_9)
              val_10 = Constant<value = int64[1] {0}>()
              unsqueeze_1 = Unsqueeze(mul, val_10)
              mul_1 = Mul(unsqueeze, unsqueeze_1)
              cat = Concat<axis = -1>(mul_1, mul_1)
              val_11 = Constant<value = int64 {4}>()
              val_12 = Cast<to = 7>(val_11)
              val_13 = Constant<value_ints = [-1]>()
              val_14 = Reshape<allowzero = 0>(val_12, val_13)
              val_15 = Constant<value = int64 {9223372036854775807}>()
              val_16 = Cast<to = 7>(val_15)
              val_17 = Constant<value_ints = [-1]>()
              val_18 = Reshape<allowzero = 0>(val_16, val_17)
              val_19 = Cast<to = 7>(val_4)
              val_20 = Constant<value_ints = [-1]>()
              val_21 = Reshape<allowzero = 0>(val_19, val_20)
              val_22 = Constant<value_ints = [1]>()
              slice_1 = Slice(q, val_14, val_18, val_21, val_22)
              neg = Neg(slice_1)
              val_23 = Cast<to = 7>(val_2)
              val_24 = Constant<value_ints = [-1]>()
              val_25 = Reshape<allowzero = 0>(val_23, val_24)
              val_26 = Cast<to = 7>(val_11)
              val_27 = Constant<value_ints = [-1]>()
              val_28 = Reshape<allowzero = 0>(val_26, val_27)
              val_29 = Cast<to = 7>(val_4)
              val_30 = Constant<value_ints = [-1]>()
              val_31 = Reshape<allowzero = 0>(val_29, val_30)
              val_32 = Constant<value_ints = [1]>()
              slice_2 = Slice(q, val_25, val_28, val_31, val_32)
              cat_1 = Concat<axis = -1>(neg, slice_2)
              cos = Cos(cat)
              mul_2 = Mul(q, cos)
              sin = Sin(cat)
              mul_3 = Mul(cat_1, sin)
              add = Add(mul_2, mul_3)
            }""",
    ),
    Pair(
        name="rotary embedding stretched to a length",
        facts=("integer ranges", "min and max"),
        form="torch 23",
        source=(
            """
                n = p.max() + 1
                b = 10000.0 * ((8.0 * n / 64) - 7.0) ** (8 / 6)
                f = 1.0 / (b ** (torch.arange(0, 8, 2).float() / 8))
                a = p.float()[..., None] * f
                a = torch.cat((a, a), dim=-1)
                return q * a.cos() + q * a.sin()""",
            """
                n = torch.maximum(p.max() + 1, torch.tensor(64))
                b = 10000.0 * ((8.0 * n / 64) - 7.0) ** (8 / 6)
                f = 1.0 / (b ** (torch.arange(0, 8, 2).float() / 8))
                a = p.float()[..., None] * f
                a = torch.cat((a, a), dim=-1)
                return q * a.cos() + q * a.sin()""",
        ),
        why="a sequence shorter than trained for has a negative base; transformers takes the length as at least that",
        ranges={"q": (-100, 100), "p": (0, 511)},
        fails_at="pow_1",
        breaks={"q": 0, "p": 0},
        defective="""
            g (float[1,6,8] q, int64[1,6] p) => (float[1,6,8] add_1) {
              max_1 = ReduceMax<noop_with_empty_axes = 0, keepdims = 0>(p)
              val_0 = Constant<value = int64 {1}>()
              add = Add(max_1, val_0)
              convert_element_type_default = Cast<to = 1>(add)
              val_1 = Constant<value = float {8}>()
              mul = Mul(convert_element_type_default, val_1)
              val_2 = Constant<value = int64 {64}>()
              scalar_tensor_default = Cast<to = 1>(val_2)
              div = Div(mul, scalar_tensor_default)
              val_3 = Constant<value = float {7}>()
              sub = Sub(div, val_3)
              val_4 = Constant<value = float {1.3333334}>()
              pow_1 = Pow(sub, val_4)
              val_5 = Constant<value = float {10000}>()
              mul_1 = Mul(pow_1, val_5)
              val_6 = Constant<value = int64 {0}>()
              val_7 = Constant<value = int64 {8}>()
              val_8 = Constant<value = int64 {2}>()
              arange = Range(val_6, val_7, val_8)
              _to_copy = Cast<to = 1>(arange)
              scalar_tensor_default_1 = Cast<to = 1>(val_7)
              div_1 = Div(_to_copy, scalar_tensor_default_1)
              pow_2 = Pow(mul_1, div_1)
              reciprocal = Reciprocal(pow_2)
              val_9 = Constant<value = float {1}>()
              mul_2 = Mul(reciprocal, val_9)
              _to_copy_1 = Cast<to = 1>(p)
              val_10 = Constant<value = int64[1] {2}>()
              unsqueeze = Unsqueeze(_to_copy_1, val_10)
              mul_3 = Mul(unsqueeze, mul_2)
              cat = Concat<axis = -1>(mul_3, mul_3)
              cos = Cos(cat)
              mul_4 = Mul(q, cos)
              sin = Sin(cat)
              mul_5 = Mul(q, sin)
              add_1 = Add(mul_4, mul_5)
            }""",
        repaired="""
            g (float[1,6,8] q, int64[1,6] p) => (float[1,6,8] add_1)
              <int64 lifted_tensor_0 =  {64}>
            {
              max_1 = ReduceMax<noop_with_empty_axes = 0, keepdims = 0>(p)
              val_0 = Constant<value = int64 {1}>()
              add = Add(max_1, val_0)
              clone = Identity(lifted_tensor_0)
              maximum = Max(add, clone)
              convert_element_type_default = Cast<to = 1>(maximum)
              val_1 = Constant<value = float {8}>()
              mul = Mul(convert_element_type_default, val_1)
              val_2 = Constant<value = int64 {64}>()
              scalar_tensor_default = Cast<to = 1>(val_2)
              div = Div(mul, scalar_tensor_default)
              val_3 = Constant<value = float {7}>()
              sub = Sub(div, val_3)
              val_4 = Constant<value = float {1.3333334}>()
              pow_1 = Pow(sub, val_4)
              val_5 = Constant<value = float {10000}>()
              mul_1 = Mul(pow_1, val_5)
              val_6 = Constant<value = int64 {0}>()
              val_7 = Constant<value = int64 {8}>()
              val_8 = Constant<value = int64 {2}>()
              arange = Range(val_6, val_7, val_8)
              _to_copy = Cast<to = 1>(arange)
              scalar_tensor_default_1 = Cast<to = 1>(val_7)
              div_1 = Div(_to_copy, scalar_tensor_default_1)
              pow_2 = Pow(mul_1, div_1)
              reciprocal = Reciprocal(pow_2)
              val_9 = Constant<value = float {1}>()
              mul_2 = Mul(reciprocal, val_9)
              _to_copy_1 = Cast<to = 1>(p)
              val_10 = Constant<value = int64[1] {2}>()
              unsqueeze = Unsqueeze(_to_copy_1, val_10)
              mul_3 = Mul(unsqueeze, mul_2)
              cat = Concat<axis = -1>(mul_3, mul_3)
              cos = Cos(cat)
              mul_4 = Mul(q, cos)
              sin = Sin(cat)
              mul_5 = Mul(q, sin)
              add_1 = Add(mul_4, mul_5)
            }""",
    ),
    Pair(
        name="frequencies by exponentials",
        facts=("monotone chains",),
        form="JAX",
        source=(
            """
                f = jnp.exp(-jnp.arange(4) / s)
                a = jnp.arange(6)[:, None] * f[None, :]
                return x + jnp.concatenate([jnp.sin(a), jnp.cos(a)], axis=-1)""",
            """
                f = jnp.exp(-jnp.arange(4) / jnp.maximum(s, 0.1))
                a = jnp.arange(6)[:, None] * f[None, :]
                return x + jnp.concatenate([jnp.sin(a), jnp.cos(a)], axis=-1)""",
        ),
        why="0 / 0 at a scale of 0; the scale is kept above 0.1",
        ranges={"x": (-10, 10), "s": (0, 10)},
        fails_at="div",
        breaks={"x": 1, "s": 0},
        defective="""
            g (float[6,8] x, float[1] s) => (float[6,8] add) {
              lit = Constant<value = int32[4] {0,1,2,3}> ()
              neg = Neg(lit)
              cast = Cast<to = 1> (neg)
              div = Div(cast, s)
              exp = Exp(div)
              lit_1 = Constant<value = int32[6] {0,1,2,3,4,5}> ()
              lit_2 = Constant<value = int64[2] {6,1}> ()
              reshape = Reshape(lit_1, lit_2)
              lit_3 = Constant<value = int64[2] {1,4}> ()
              reshape_1 = Reshape(exp, lit_3)
              cast_1 = Cast<to = 1> (reshape)
              mul = Mul(cast_1, reshape_1)
              sin = Sin(mul)
              cos = Cos(mul)
              concat = Concat<axis = 1> (sin, cos)
              add = Add(x, concat)
            }""",
        repaired="""
            g (float[6,8] x, float[1] s) => (float[6,8] add) {
              lit = Constant<value = int32[4] {0,1,2,3}> ()
              neg = Neg(lit)
              lit_1 = Constant<value = float {0.1}> ()
              max = Max(s, lit_1)
              cast = Cast<to = 1> (neg)
              div = Div(cast, max)
              exp = Exp(div)
              lit_2 = Constant<value = int32[6] {0,1,2,3,4,5}> ()
              lit_3 = Constant<value = int64[2] {6,1}> ()
              reshape = Reshape(lit_2, lit_3)
              lit_4 = Constant<value = int64[2] {1,4}> ()
              reshape_1 = Reshape(exp, lit_4)
              cast_1 = Cast<to = 1> (reshape)
              mul = Mul(cast_1, reshape_1)
              sin = Sin(mul)
              cos = Cos(mul)
              concat = Concat<axis = 1> (sin, cos)
              add = Add(x, concat)
            }""",
    ),
    Pair(
        name="rotary embedding with decay",
        facts=("monotone chains",),
        form="torch 18",
        source=(
            """
                s = ((torch.arange(0, 8, 2).float() + 3.2) / 11.2)
                d = s[None, :] ** (p[:, None])
                return q / torch.cat((d, d), dim=-1)""",
            """
                s = ((torch.arange(0, 8, 2).float() + 3.2) / 11.2)
                d = s[None, :] ** (p[:, None].clamp(-64, 64) / 8)
                return q / torch.cat((d, d), dim=-1)""",
        ),
        why="xPos: a share to the power of a far position underflows to 0",
        ranges={"q": (-100, 100), "p": (-512, 512)},
        fails_at="div_1",
        breaks={"q": 0, "p": 512},
        defective="""
            g (float[1,6,8] q, float[6] p) => (float[1,6,8] div_1) {
              val_0 = Constant<value = int64 {0}>()
              val_1 = Constant<value = int64 {8}>()
              val_2 = Constant<value = int64 {2}>()
              arange = Range(val_0, val_1, val_2)
              _to_copy = Cast<to = 1>(arange)
              val_3 = Constant<value = float {3.2}>()
              add = Add(_to_copy, val_3)
              val_4 = Constant<value = float {11.2}>()
              div = Div(add, val_4)
              val_5 = Constant<value = int64[1] {0}>()
              unsqueeze = Unsqueeze(div, val_5)
              val_6 = Constant<value = int64[1] {1}>()
              unsqueeze_1 = Unsqueeze(p, val_6)
              pow_1 = Pow(unsqueeze, unsqueeze_1)
              cat = Concat<axis = -1>(pow_1, pow_1)
              div_1 = Div(q, cat)
            }""",
        repaired="""
            g (float[1,6,8] q, float[6] p) => (float[1,6,8] div_2) {
              val_0 = Constant<value = int64 {0}>()
              val_1 = Constant<value = int64 {8}>()
              val_2 = Constant<value = int64 {2}>()
              arange = Range(val_0, val_1, val_2)
              _to_copy = Cast<to = 1>(arange)
              val_3 = Constant<value = float {3.2}>()
              add = Add(_to_copy, val_3)
              val_4 = Constant<value = float {11.2}>()
              div = Div(add, val_4)
              val_5 = Constant<value = int64[1] {0}>()
              unsqueeze = Unsqueeze(div, val_5)
              val_6 = Constant<value = int64[1] {1}>()
              unsqueeze_1 = Unsqueeze(p, val_6)
              val_7 = Constant<value = int64 {-64}>()
              scalar_tensor_default = Cast<to = 1>(val_7)
              val_8 = Constant<value = int64 {64}>()
              scalar_tensor_default_1 = Cast<to = 1>(val_8)
              val_9 = CastLike(scalar_tensor_default, unsqueeze_1)
              val_10 = Max(unsqueeze_1, val_9)
              val_11 = CastLike(scalar_tensor_default_1, unsqueeze_1)
              clamp = Min(val_10, val_11)
              scalar_tensor_default_2 = Cast<to = 1>(val_1)
              div_1 = Div(clamp, scalar_tensor_default_2)
              pow_1 = Pow(unsqueeze, div_1)
              cat = Concat<axis = -1>(pow_1, pow_1)
              div_2 = Div(q, cat)
            }""",
    ),
)
