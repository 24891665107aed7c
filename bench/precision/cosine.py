"""Angles and distances."""

from __future__ import annotations

from .pairs import Pair

PAIRS = (
    Pair(
        name="cosine similarity",
        facts=("x * x",),
        form="torch 18",
        source=(
            "(a * b).sum(-1) / (a.norm(dim=-1) * b.norm(dim=-1))",
            "F.cosine_similarity(a, b, dim=-1)",
        ),
        why="a vector of length 0; F.cosine_similarity keeps lengths above 1e-8",
        ranges={"a": (-100, 100), "b": (-100, 100)},
        fails_at="div",
        breaks={"a": 0, "b": 100},
        defective="""
            g (float[4,16] a, float[4,16] b) => (float[4] div) {
              mul = Mul(a, b)
              val_0 = Constant<value = int64[1] {-1}>()
              sum_1 = ReduceSum<noop_with_empty_axes = 0, keepdims = 0>(mul, val_0)
              val_1 = Constant<value_ints = [-1]>()
              val_2 = Constant<value = int64[1] {-1}>()
              val_3 = Reshape<allowzero = 0>(val_2, val_1)
              linalg_vector_norm = ReduceL2<noop_with_empty_axes = 0, keepdims = 0>(a, val_3)
              val_4 = Constant<value_ints = [-1]>()
              val_5 = Reshape<allowzero = 0>(val_2, val_4)
              linalg_vector_norm_1 = ReduceL2<noop_with_empty_axes = 0, keepdims = 0>(b, val_5)
              mul_1 = Mul(linalg_vector_norm, linalg_vector_norm_1)
              div = Div(sum_1, mul_1)
            }""",
        repaired="""
            g (float[4,16] a, float[4,16] b) => (float[4] sum_1) {
              val_0 = Constant<value_ints = [-1]>()
              val_1 = Constant<value = int64[1] {-1}>()
              val_2 = Reshape<allowzero = 0>(val_1, val_0)
              linalg_vector_norm = ReduceL2<noop_with_empty_axes = 0, keepdims = 1>(a, val_2)
              clone = Identity(linalg_vector_norm)
              val_3 = Constant<value_ints = [-1]>()
              val_4 = Reshape<allowzero = 0>(val_1, val_3)
              linalg_vector_norm_1 = ReduceL2<noop_with_empty_axes = 0, keepdims = 1>(b, val_4)
              clone_1 = Identity(linalg_vector_norm_1)
              val_5 = Constant<value = float {1e-08}>()
              scalar_tensor = Cast<to = 1>(val_5)
              val_6 = CastLike(scalar_tensor, clone)
              clamp_min = Clip(clone, val_6)
              val_7 = CastLike(scalar_tensor, clone_1)
              clamp_min_1 = Clip(clone_1, val_7)
              div = Div(b, clamp_min_1)
              div_1 = Div(a, clamp_min)
              mul = Mul(div_1, div)
              val_8 = Constant<value = int64[1] {-1}>()
              sum_1 = ReduceSum<noop_with_empty_axes = 0, keepdims = 0>(mul, val_8)
            }""",
    ),
    Pair(
        name="angle of two vectors",
        facts=("normalised rows",),
        form="torch 23",
        source=(
            "torch.acos((F.normalize(a, dim=-1) * F.normalize(b, dim=-1)).sum(-1))",
            "torch.acos((F.normalize(a, dim=-1) * F.normalize(b, dim=-1)).sum(-1).clamp(-1 + 1e-7, 1 - 1e-7))",
        ),
        why="the cosine of a vector with itself rounds above 1; ArcFace clips it",
        ranges={"a": (-100, 100), "b": (-100, 100)},
        fails_at="acos",
        breaks={"a": 1e-09, "b": 0.0001},
        defective="""
            g (float[4,16] a, float[4,16] b) => (float[4] acos) {
              val_0 = Constant<value_ints = [-1]>()
              val_1 = Constant<value = int64[1] {-1}>()
              val_2 = Reshape<allowzero = 0>(val_1, val_0)
              linalg_vector_norm = ReduceL2<noop_with_empty_axes = 0, keepdims = 1>(a, val_2)
              val_3 = Constant<value = float {1e-12}>()
              val_4 = CastLike(val_3, linalg_vector_norm)
              clamp_min = Clip(linalg_vector_norm, val_4)
              val_6 = Constant<value_ints = [4]>()
              val_7 = Constant<value_ints = [16]>()
              val_8 = Concat<axis = 0>(val_6, val_7)
              expand = Expand(clamp_min, val_8)
              div = Div(a, expand)
              val_9 = Constant<value_ints = [-1]>()
              val_10 = Reshape<allowzero = 0>(val_1, val_9)
              linalg_vector_norm_1 = ReduceL2<noop_with_empty_axes = 0, keepdims = 1>(b, val_10)
              val_11 = CastLike(val_3, linalg_vector_norm_1)
              clamp_min_1 = Clip(linalg_vector_norm_1, val_11)
              val_13 = Constant<value_ints = [4]>()
              val_14 = Constant<value_ints = [16]>()
              val_15 = Concat<axis = 0>(val_13, val_14)
              expand_1 = Expand(clamp_min_1, val_15)
              div_1 = Div(b, expand_1)
              mul = Mul(div, div_1)
              val_16 = Constant<value = int64[1] {-1}>()
              sum_1 = ReduceSum<noop_with_empty_axes = 0, keepdims = 0>(mul, val_16)
              acos = Acos(sum_1)
            }""",
        repaired="""
            g (float[4,16] a, float[4,16] b) => (float[4] acos) {
              val_0 = Constant<value_ints = [-1]>()
              val_1 = Constant<value = int64[1] {-1}>()
              val_2 = Reshape<allowzero = 0>(val_1, val_0)
              linalg_vector_norm = ReduceL2<noop_with_empty_axes = 0, keepdims = 1>(a, val_2)
              val_3 = Constant<value = float {1e-12}>()
              val_4 = CastLike(val_3, linalg_vector_norm)
              clamp_min = Clip(linalg_vector_norm, val_4)
              val_6 = Constant<value_ints = [4]>()
              val_7 = Constant<value_ints = [16]>()
              val_8 = Concat<axis = 0>(val_6, val_7)
              expand = Expand(clamp_min, val_8)
              div = Div(a, expand)
              val_9 = Constant<value_ints = [-1]>()
              val_10 = Reshape<allowzero = 0>(val_1, val_9)
              linalg_vector_norm_1 = ReduceL2<noop_with_empty_axes = 0, keepdims = 1>(b, val_10)
              val_11 = CastLike(val_3, linalg_vector_norm_1)
              clamp_min_1 = Clip(linalg_vector_norm_1, val_11)
              val_13 = Constant<value_ints = [4]>()
              val_14 = Constant<value_ints = [16]>()
              val_15 = Concat<axis = 0>(val_13, val_14)
              expand_1 = Expand(clamp_min_1, val_15)
              div_1 = Div(b, expand_1)
              mul = Mul(div, div_1)
              val_16 = Constant<value = int64[1] {-1}>()
              sum_1 = ReduceSum<noop_with_empty_axes = 0, keepdims = 0>(mul, val_16)
              val_17 = Constant<value = float {-0.9999999}>()
              val_18 = CastLike(val_17, sum_1)
              val_19 = Constant<value = float {0.9999999}>()
              val_20 = CastLike(val_19, sum_1)
              clamp = Clip(sum_1, val_18, val_20)
              acos = Acos(clamp)
            }""",
    ),
    Pair(
        name="sine from a cosine",
        facts=("x * x",),
        form="torch 18",
        source=(
            """
                s = torch.sqrt(1.0 - torch.pow(c, 2))
                return c * 0.8 - s * 0.6""",
            """
                s = torch.sqrt((1.0 - torch.pow(c, 2)).clamp(0, 1))
                return c * 0.8 - s * 0.6""",
        ),
        why="a cosine just above 1; the difference is clipped",
        ranges={"c": (-1.0000002, 1.0000002)},
        fails_at="sqrt",
        breaks={"c": -1.0000002},
        defective="""
            g (float[8,10] c) => (float[8,10] sub_1) {
              val_0 = Constant<value = float {2}>()
              pow_1 = Pow(c, val_0)
              val_1 = Constant<value = float {1}>()
              sub = Sub(val_1, pow_1)
              sqrt = Sqrt(sub)
              val_2 = Constant<value = float {0.8}>()
              mul = Mul(c, val_2)
              val_3 = Constant<value = float {0.6}>()
              mul_1 = Mul(sqrt, val_3)
              sub_1 = Sub(mul, mul_1)
            }""",
        repaired="""
            g (float[8,10] c) => (float[8,10] sub_1) {
              val_0 = Constant<value = float {2}>()
              pow_1 = Pow(c, val_0)
              val_1 = Constant<value = float {1}>()
              sub = Sub(val_1, pow_1)
              val_2 = Constant<value = int64 {0}>()
              scalar_tensor_default = Cast<to = 1>(val_2)
              val_3 = Constant<value = int64 {1}>()
              scalar_tensor_default_1 = Cast<to = 1>(val_3)
              val_4 = CastLike(scalar_tensor_default, sub)
              val_5 = Max(sub, val_4)
              val_6 = CastLike(scalar_tensor_default_1, sub)
              clamp = Min(val_5, val_6)
              sqrt = Sqrt(clamp)
              val_7 = Constant<value = float {0.8}>()
              mul = Mul(c, val_7)
              val_8 = Constant<value = float {0.6}>()
              mul_1 = Mul(sqrt, val_8)
              sub_1 = Sub(mul, mul_1)
            }""",
    ),
    Pair(
        name="sine from a clipped cosine",
        facts=("x * x",),
        form="torch 23",
        source=(
            "torch.sqrt(1 - c * c)",
            """
                c = c.clamp(-1, 1)
                return torch.sqrt(1 - c * c)""",
        ),
        why="as above; a square of what lies in [-1, 1] is at most 1",
        ranges={"c": (-1.0000002, 1.0000002)},
        fails_at="sqrt",
        breaks={"c": -1.0000002},
        defective="""
            g (float[8,10] c) => (float[8,10] sqrt) {
              mul = Mul(c, c)
              val_0 = Constant<value = int64 {1}>()
              scalar_tensor_default = Cast<to = 1>(val_0)
              sub = Sub(scalar_tensor_default, mul)
              sqrt = Sqrt(sub)
            }""",
        repaired="""
            g (float[8,10] c) => (float[8,10] sqrt) {
              val_0 = Constant<value = int64 {-1}>()
              scalar_tensor_default = Cast<to = 1>(val_0)
              val_1 = Constant<value = int64 {1}>()
              scalar_tensor_default_1 = Cast<to = 1>(val_1)
              val_2 = CastLike(scalar_tensor_default, c)
              val_3 = Max(c, val_2)
              val_4 = CastLike(scalar_tensor_default_1, c)
              clamp = Min(val_3, val_4)
              mul = Mul(clamp, clamp)
              scalar_tensor_default_2 = Cast<to = 1>(val_1)
              sub = Sub(scalar_tensor_default_2, mul)
              sqrt = Sqrt(sub)
            }""",
    ),
    Pair(
        name="similarity of normalised vectors",
        facts=("x * x", "normalised rows"),
        form="TensorFlow",
        source=(
            "tf.reduce_sum(a * b, 1) / tf.sqrt(tf.reduce_sum(a ** 2, 1) * tf.reduce_sum(b ** 2, 1))",
            "tf.reduce_sum(tf.nn.l2_normalize(a, 1) * tf.nn.l2_normalize(b, 1), 1)",
        ),
        why="a vector of length 0; keras.losses.cosine_similarity normalises both",
        ranges={"a": (-100, 100), "b": (-100, 100)},
        fails_at="truediv",
        breaks={"a": 0, "b": 100},
        defective="""
            g (float[4,16] a, float[4,16] b) => (float[4] truediv) {
              axes = Constant<value = int64[1] {1}>()
              mul = Mul(a, b)
              Sum = ReduceSum<keepdims = 0>(mul, axes)
              Square = Mul(a, a)
              Sum_1 = ReduceSum<keepdims = 0>(Square, axes)
              Square_1 = Mul(b, b)
              Sum_2 = ReduceSum<keepdims = 0>(Square_1, axes)
              mul_1 = Mul(Sum_1, Sum_2)
              Sqrt = Sqrt(mul_1)
              truediv = Div(Sum, Sqrt)
            }""",
        repaired="""
            g (float[4,16] a, float[4,16] b) => (float[4] Sum_2) {
              axes = Constant<value = int64[1] {1}>()
              y = Constant<value = float {1e-12}>()
              Square = Mul(a, a)
              Sum = ReduceSum<keepdims = 1>(Square, axes)
              Maximum = Max(Sum, y)
              Sqrt = Sqrt(Maximum)
              Rsqrt = Reciprocal(Sqrt)
              l2_normalize = Mul(a, Rsqrt)
              Square_1 = Mul(b, b)
              Sum_1 = ReduceSum<keepdims = 1>(Square_1, axes)
              Maximum_1 = Max(Sum_1, y)
              Sqrt_1 = Sqrt(Maximum_1)
              Rsqrt_1 = Reciprocal(Sqrt_1)
              l2_normalize_1 = Mul(b, Rsqrt_1)
              mul = Mul(l2_normalize, l2_normalize_1)
              Sum_2 = ReduceSum<keepdims = 0>(mul, axes)
            }""",
    ),
    Pair(
        name="distances of all pairs",
        facts=("x * x", "min and max"),
        form="torch 18",
        source=(
            """
                d = (a * a).sum(1, keepdim=True) + (b * b).sum(1) - 2 * a @ b.t()
                return torch.sqrt(d)""",
            """
                d = (a * a).sum(1, keepdim=True) + (b * b).sum(1) - 2 * a @ b.t()
                return torch.sqrt(d.clamp(min=0))""",
        ),
        why="the expanded square rounds below 0; clipped, it doesn't",
        ranges={"a": (-10, 10), "b": (-10, 10)},
        fails_at="sqrt",
        breaks={"a": 0.0001, "b": 0.0001},
        defective="""
            g (float[6,8] a, float[5,8] b) => (float[6,5] sqrt) {
              mul = Mul(a, a)
              val_0 = Constant<value = int64[1] {1}>()
              sum_1 = ReduceSum<noop_with_empty_axes = 0, keepdims = 1>(mul, val_0)
              mul_1 = Mul(b, b)
              val_1 = Constant<value = int64[1] {1}>()
              sum_2 = ReduceSum<noop_with_empty_axes = 0, keepdims = 0>(mul_1, val_1)
              add = Add(sum_1, sum_2)
              val_2 = Constant<value = int64 {2}>()
              scalar_tensor_default = Cast<to = 1>(val_2)
              mul_2 = Mul(a, scalar_tensor_default)
              t = Transpose<perm = [1, 0]>(b)
              matmul = MatMul(mul_2, t)
              sub = Sub(add, matmul)
              sqrt = Sqrt(sub)
            }""",
        repaired="""
            g (float[6,8] a, float[5,8] b) => (float[6,5] sqrt) {
              mul = Mul(a, a)
              val_0 = Constant<value = int64[1] {1}>()
              sum_1 = ReduceSum<noop_with_empty_axes = 0, keepdims = 1>(mul, val_0)
              mul_1 = Mul(b, b)
              val_1 = Constant<value = int64[1] {1}>()
              sum_2 = ReduceSum<noop_with_empty_axes = 0, keepdims = 0>(mul_1, val_1)
              add = Add(sum_1, sum_2)
              val_2 = Constant<value = int64 {2}>()
              scalar_tensor_default = Cast<to = 1>(val_2)
              mul_2 = Mul(a, scalar_tensor_default)
              t = Transpose<perm = [1, 0]>(b)
              matmul = MatMul(mul_2, t)
              sub = Sub(add, matmul)
              val_3 = Constant<value = int64 {0}>()
              scalar_tensor_default_1 = Cast<to = 1>(val_3)
              val_4 = CastLike(scalar_tensor_default_1, sub)
              clamp = Max(sub, val_4)
              sqrt = Sqrt(clamp)
            }""",
    ),
    Pair(
        name="distances of pairs, one by one",
        facts=("x * x",),
        form="torch 23",
        source=(
            """
                d = (a ** 2 + b ** 2 - 2 * a * b).sum(-1)
                return torch.sqrt(d)""",
            """
                d = ((a - b) ** 2).sum(-1)
                return torch.sqrt(d)""",
        ),
        why="as above; a square of the difference has no sign to lose",
        ranges={"a": (-10, 10), "b": (-10, 10)},
        fails_at="sqrt",
        breaks={"a": [9.484, 9.483995] * 4, "b": [9.484, 9.484007] * 4},
        defective="""
            g (float[6,1,8] a, float[1,5,8] b) => (float[6,5] sqrt) {
              val_0 = Constant<value = float {2}>()
              pow_1 = Pow(a, val_0)
              val_1 = Constant<value = float {2}>()
              pow_2 = Pow(b, val_1)
              add = Add(pow_1, pow_2)
              val_2 = Constant<value = int64 {2}>()
              scalar_tensor_default = Cast<to = 1>(val_2)
              mul = Mul(a, scalar_tensor_default)
              mul_1 = Mul(mul, b)
              sub = Sub(add, mul_1)
              val_3 = Constant<value = int64[1] {-1}>()
              sum_1 = ReduceSum<noop_with_empty_axes = 0, keepdims = 0>(sub, val_3)
              sqrt = Sqrt(sum_1)
            }""",
        repaired="""
            g (float[6,1,8] a, float[1,5,8] b) => (float[6,5] sqrt) {
              sub = Sub(a, b)
              val_0 = Constant<value = float {2}>()
              pow_1 = Pow(sub, val_0)
              val_1 = Constant<value = int64[1] {-1}>()
              sum_1 = ReduceSum<noop_with_empty_axes = 0, keepdims = 0>(pow_1, val_1)
              sqrt = Sqrt(sum_1)
            }""",
    ),
    Pair(
        name="dot product of a vector with itself",
        facts=("x * x",),
        form="torch 18",
        source=(
            "torch.sqrt(x @ x.flip(1).t())",
            "torch.sqrt(x @ x.t())",
        ),
        why="the product with another vector can be negative; that with itself can't",
        ranges={"x": (-10, 10)},
        fails_at="sqrt",
        breaks={"x": [[0, -1, -1, 0, 0, 0, -1, -1, 0, 0, 0, 0, -10, 1, 0, -1]]},
        defective="""
            g (float[1,16] x) => (float[1,1] sqrt) {
              val_0 = Constant<value_ints = [-1]>()
              val_1 = Constant<value_ints = [-9223372036854775808]>()
              val_2 = Constant<value_ints = [1]>()
              flip = Slice(x, val_0, val_1, val_2, val_0)
              t = Transpose<perm = [1, 0]>(flip)
              matmul = MatMul(x, t)
              sqrt = Sqrt(matmul)
            }""",
        repaired="""
            g (float[1,16] x) => (float[1,1] sqrt) {
              t = Transpose<perm = [1, 0]>(x)
              matmul = MatMul(x, t)
              sqrt = Sqrt(matmul)
            }""",
    ),
    Pair(
        name="lengths by einsum",
        facts=("x * x",),
        form="torch 23",
        source=(
            "torch.sqrt(torch.einsum('bi,bi->b', x, x.roll(1, 0)))",
            "torch.sqrt(torch.einsum('bi,bi->b', x, x))",
        ),
        why="as above, by einsum",
        ranges={"x": (-10, 10)},
        fails_at="sqrt",
        breaks={
            "x": [
                [0, -1, -1, 0, 0, 0, -1, -1, 0, 0, 0, 0, -10, 1, 0, -1],
                [-10, 0, 0, 0, 10, -10, 0, -10, -1, -10, 0, 1, 1, 1, -10, -10],
                [-10, -10, 0, -1, 0, 0, -1, 0, 1, 1, 0, 0, 0, 1, 0, 0],
                [0, 0, 0, 0, 1, 0, 10, -1, 0, 0, -1, 1, 0, 1, 1, 0],
                [0, -10, 0, -1, 0, 0, -1, 0, 0, 0, -1, -1, 0, 0, 1, 0],
                [0, 0, 10, 0, -1, -10, -10, 1, 0, 1, 0, 0, 10, 0, 0, -10],
            ]
        },
        defective="""
            g (float[6,16] x) => (float[6] sqrt) {
              val_0 = Constant<value_ints = [0]>()
              val_1 = Shape<end = 1, start = 0>(x)
              val_2 = Constant<value_ints = [-1]>()
              val_3 = Mod<fmod = 0>(val_2, val_1)
              val_4 = Constant<value_ints = [0]>()
              val_5 = Slice(x, val_4, val_3, val_0)
              val_6 = Slice(x, val_3, val_1, val_0)
              roll = Concat<axis = 0>(val_6, val_5)
              einsum = Einsum<equation: string = "bi,bi->b">(x, roll)
              sqrt = Sqrt(einsum)
            }""",
        repaired="""
            g (float[6,16] x) => (float[6] sqrt) {
              einsum = Einsum<equation: string = "bi,bi->b">(x, x)
              sqrt = Sqrt(einsum)
            }""",
    ),
    Pair(
        name="distance in the Poincare ball",
        facts=("x * x", "comparisons"),
        form="torch 18",
        source=(
            """
                d = (u - v).pow(2).sum(-1)
                return torch.acosh(1 + 2 * d / ((1 - u.pow(2).sum(-1)) * (1 - v.pow(2).sum(-1))))""",
            """
                d = (u - v).pow(2).sum(-1)
                a = (1 - u.pow(2).sum(-1)).clamp(min=1e-5)
                b = (1 - v.pow(2).sum(-1)).clamp(min=1e-5)
                return torch.acosh(1 + 2 * d / (a * b))""",
        ),
        why="a point outside the ball makes the argument less than 1; the distances to the rim are clipped",
        ranges={"u": (-0.5, 0.5), "v": (-0.5, 0.5)},
        fails_at="acosh",
        breaks={"u": -0.5, "v": 1e-09},
        defective="""
            g (float[4,8] u, float[4,8] v) => (float[4] acosh) {
              sub = Sub(u, v)
              val_0 = Constant<value = float {2}>()
              pow_1 = Pow(sub, val_0)
              val_1 = Constant<value = int64[1] {-1}>()
              sum_1 = ReduceSum<noop_with_empty_axes = 0, keepdims = 0>(pow_1, val_1)
              val_2 = Constant<value = int64 {2}>()
              scalar_tensor_default = Cast<to = 1>(val_2)
              mul = Mul(sum_1, scalar_tensor_default)
              val_3 = Constant<value = float {2}>()
              pow_2 = Pow(u, val_3)
              val_4 = Constant<value = int64[1] {-1}>()
              sum_2 = ReduceSum<noop_with_empty_axes = 0, keepdims = 0>(pow_2, val_4)
              val_5 = Constant<value = int64 {1}>()
              scalar_tensor_default_1 = Cast<to = 1>(val_5)
              sub_1 = Sub(scalar_tensor_default_1, sum_2)
              val_6 = Constant<value = float {2}>()
              pow_3 = Pow(v, val_6)
              val_7 = Constant<value = int64[1] {-1}>()
              sum_3 = ReduceSum<noop_with_empty_axes = 0, keepdims = 0>(pow_3, val_7)
              scalar_tensor_default_2 = Cast<to = 1>(val_5)
              sub_2 = Sub(scalar_tensor_default_2, sum_3)
              mul_1 = Mul(sub_1, sub_2)
              div = Div(mul, mul_1)
              scalar_tensor_default_3 = Cast<to = 1>(val_5)
              add = Add(div, scalar_tensor_default_3)
              acosh = Acosh(add)
            }""",
        repaired="""
            g (float[4,8] u, float[4,8] v) => (float[4] acosh) {
              sub = Sub(u, v)
              val_0 = Constant<value = float {2}>()
              pow_1 = Pow(sub, val_0)
              val_1 = Constant<value = int64[1] {-1}>()
              sum_1 = ReduceSum<noop_with_empty_axes = 0, keepdims = 0>(pow_1, val_1)
              val_2 = Constant<value = float {2}>()
              pow_2 = Pow(u, val_2)
              val_3 = Constant<value = int64[1] {-1}>()
              sum_2 = ReduceSum<noop_with_empty_axes = 0, keepdims = 0>(pow_2, val_3)
              val_4 = Constant<value = int64 {1}>()
              scalar_tensor_default = Cast<to = 1>(val_4)
              sub_1 = Sub(scalar_tensor_default, sum_2)
              val_5 = Constant<value = float {1e-05}>()
              val_6 = CastLike(val_5, sub_1)
              clamp = Clip(sub_1, val_6)
              val_7 = Constant<value = float {2}>()
              pow_3 = Pow(v, val_7)
              val_8 = Constant<value = int64[1] {-1}>()
              sum_3 = ReduceSum<noop_with_empty_axes = 0, keepdims = 0>(pow_3, val_8)
              scalar_tensor_default_1 = Cast<to = 1>(val_4)
              sub_2 = Sub(scalar_tensor_default_1, sum_3)
              val_9 = CastLike(val_5, sub_2)
              clamp_1 = Clip(sub_2, val_9)
              val_10 = Constant<value = int64 {2}>()
              scalar_tensor_default_2 = Cast<to = 1>(val_10)
              mul = Mul(sum_1, scalar_tensor_default_2)
              mul_1 = Mul(clamp, clamp_1)
              div = Div(mul, mul_1)
              scalar_tensor_default_3 = Cast<to = 1>(val_4)
              add = Add(div, scalar_tensor_default_3)
              acosh = Acosh(add)
            }""",
    ),
)
