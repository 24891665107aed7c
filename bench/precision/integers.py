"""Counts, sizes and positions."""

from __future__ import annotations

from .pairs import Pair

PAIRS = (
    Pair(
        name="mean by a size",
        facts=("integer ranges",),
        form="torch 18",
        source=(
            "x.sum(0) / (x.shape[0] - 1)",
            "x.sum(0) / x.shape[0]",
        ),
        why="a batch of 1 has N - 1 = 0",
        ranges={"x": (-10, 10)},
        dims={"N": (1, 64)},
        sizes={"N": 1},
        fails_at="div",
        breaks={"x": 0},
        defective="""
            g (float[N,8] x) => (float[8] div) {
              val_0 = Shape<end = 1, start = 0>(x)
              sym_size_int_1 = Squeeze(val_0)
              val_1 = Constant<value = int64[1] {0}>()
              sum_1 = ReduceSum<noop_with_empty_axes = 0, keepdims = 0>(x, val_1)
              val_2 = Constant<value = int64 {1}>()
              sub = Sub(sym_size_int_1, val_2)
              scalar_tensor_default = Cast<to = 1>(sub)
              div = Div(sum_1, scalar_tensor_default)
            }""",
        repaired="""
            g (float[N,8] x) => (float[8] div) {
              val_0 = Shape<end = 1, start = 0>(x)
              sym_size_int_1 = Squeeze(val_0)
              val_1 = Constant<value = int64[1] {0}>()
              sum_1 = ReduceSum<noop_with_empty_axes = 0, keepdims = 0>(x, val_1)
              scalar_tensor_default = Cast<to = 1>(sym_size_int_1)
              div = Div(sum_1, scalar_tensor_default)
            }""",
    ),
    Pair(
        name="mean by a size that is guarded",
        facts=("integer ranges", "min and max"),
        form="torch 23",
        source=(
            """
                n = torch.tensor(x.shape[0] - 1)
                return x.sum(0) / n""",
            """
                n = torch.tensor(x.shape[0] - 1)
                return x.sum(0) / n.clamp(min=1)""",
        ),
        why="as above; at least 1",
        ranges={"x": (-10, 10)},
        dims={"N": (1, 64)},
        sizes={"N": 1},
        fails_at="div",
        breaks={"x": 0},
        defective="""
            g (float[N,8] x) => (float[8] div) {
              val_0 = Shape<end = 1, start = 0>(x)
              sym_size_int_1 = Squeeze(val_0)
              val_1 = Constant<value = int64 {1}>()
              sub = Sub(sym_size_int_1, val_1)
              scalar_tensor = Cast<to = 7>(sub)
              val_2 = Constant<value = int64[1] {0}>()
              sum_1 = ReduceSum<noop_with_empty_axes = 0, keepdims = 0>(x, val_2)
              convert_element_type_default = Cast<to = 1>(scalar_tensor)
              div = Div(sum_1, convert_element_type_default)
            }""",
        repaired="""
            g (float[N,8] x) => (float[8] div) {
              val_0 = Shape<end = 1, start = 0>(x)
              sym_size_int_1 = Squeeze(val_0)
              val_1 = Constant<value = int64 {1}>()
              sub = Sub(sym_size_int_1, val_1)
              scalar_tensor = Cast<to = 7>(sub)
              val_2 = Constant<value = int64[1] {0}>()
              sum_1 = ReduceSum<noop_with_empty_axes = 0, keepdims = 0>(x, val_2)
              val_3 = CastLike(val_1, scalar_tensor)
              clamp = Clip(scalar_tensor, val_3)
              convert_element_type_default = Cast<to = 1>(clamp)
              div = Div(sum_1, convert_element_type_default)
            }""",
    ),
    Pair(
        name="rank of the best",
        facts=("integer ranges",),
        form="torch 18",
        source=(
            "1 / x.argmax(-1).float()",
            "1 / (x.argmax(-1).float() + 1)",
        ),
        why="the best may be first, at position 0",
        ranges={"x": (-10, 10)},
        fails_at="reciprocal",
        breaks={"x": 0},
        defective="""
            g (float[4,16] x) => (float[4] mul) {
              argmax = ArgMax<select_last_index = 0, keepdims = 0, axis = -1>(x)
              _to_copy = Cast<to = 1>(argmax)
              reciprocal = Reciprocal(_to_copy)
              val_0 = Constant<value = int64 {1}>()
              scalar_tensor_default = Cast<to = 1>(val_0)
              mul = Mul(reciprocal, scalar_tensor_default)
            }""",
        repaired="""
            g (float[4,16] x) => (float[4] mul) {
              argmax = ArgMax<select_last_index = 0, keepdims = 0, axis = -1>(x)
              _to_copy = Cast<to = 1>(argmax)
              val_0 = Constant<value = int64 {1}>()
              scalar_tensor_default = Cast<to = 1>(val_0)
              add = Add(_to_copy, scalar_tensor_default)
              reciprocal = Reciprocal(add)
              scalar_tensor_default_1 = Cast<to = 1>(val_0)
              mul = Mul(reciprocal, scalar_tensor_default_1)
            }""",
    ),
    Pair(
        name="position in a window",
        facts=("integer ranges",),
        form="torch 23",
        source=(
            "1 / (i % 4).float()",
            "1 / ((i % 4) + 1).float()",
        ),
        why="a remainder is at least 0, and below the divisor",
        ranges={"i": (0, 1000)},
        fails_at="reciprocal",
        breaks={"i": 0},
        defective="""
            g (int64[8] i) => (float[8] mul) {
              val_0 = Constant<value = int64 {4}>()
              remainder = Mod<fmod = 0>(i, val_0)
              _to_copy = Cast<to = 1>(remainder)
              reciprocal = Reciprocal(_to_copy)
              val_1 = Constant<value = int64 {1}>()
              scalar_tensor_default = Cast<to = 1>(val_1)
              mul = Mul(reciprocal, scalar_tensor_default)
            }""",
        repaired="""
            g (int64[8] i) => (float[8] mul) {
              val_0 = Constant<value = int64 {4}>()
              remainder = Mod<fmod = 0>(i, val_0)
              val_1 = Constant<value = int64 {1}>()
              add = Add(remainder, val_1)
              _to_copy = Cast<to = 1>(add)
              reciprocal = Reciprocal(_to_copy)
              scalar_tensor_default = Cast<to = 1>(val_1)
              mul = Mul(reciprocal, scalar_tensor_default)
            }""",
    ),
    Pair(
        name="logarithm of a length",
        facts=("integer ranges", "monotone chains"),
        form="torch 18",
        source=(
            "x / math.log(1) if False else x / torch.log(torch.tensor(float(1)) * x.shape[1])",
            "x / torch.log(torch.tensor(float(1)) * (x.shape[1] + 1))",
        ),
        why="a sequence of 1 has the logarithm 0",
        ranges={"x": (-10, 10)},
        dims={"T": (1, 512)},
        sizes={"T": 1},
        fails_at="div",
        breaks={"x": 0},
        defective="""
            g (float[1,T,8] x) => (float[1,T,8] div)
              <float lifted_tensor_0 =  {1}>
            {
              val_0 = Shape<end = 2, start = 1>(x)
              sym_size_int_1 = Squeeze(val_0)
              clone = Identity(lifted_tensor_0)
              scalar_tensor_default = Cast<to = 1>(sym_size_int_1)
              mul = Mul(clone, scalar_tensor_default)
              log = Log(mul)
              div = Div(x, log)
            }""",
        repaired="""
            g (float[1,T,8] x) => (float[1,T,8] div)
              <float lifted_tensor_0 =  {1}>
            {
              val_0 = Shape<end = 2, start = 1>(x)
              sym_size_int_1 = Squeeze(val_0)
              clone = Identity(lifted_tensor_0)
              val_1 = Constant<value = int64 {1}>()
              add = Add(sym_size_int_1, val_1)
              scalar_tensor_default = Cast<to = 1>(add)
              mul = Mul(clone, scalar_tensor_default)
              log = Log(mul)
              div = Div(x, log)
            }""",
    ),
    Pair(
        name="size as a float",
        facts=("integer ranges",),
        form="TensorFlow",
        source=(
            "tf.reduce_sum(x, 0) / (tf.cast(tf.size(x), tf.float32) - 4)",
            "tf.reduce_sum(x, 0) / tf.cast(tf.size(x), tf.float32)",
        ),
        why="tf.size - 4 of a batch of 1 is 0; the size itself is at least 4",
        ranges={"x": (-10, 10)},
        dims={"N": (1, 64)},
        sizes={"N": 1},
        fails_at="truediv",
        breaks={"x": 0},
        defective="""
            g (float[N,4] x) => (float[4] truediv) {
              axes = Constant<value = int64[1] {0}>()
              Sum = ReduceSum<keepdims = 0>(x, axes)
              Size = Size(x)
              Cast = Cast<to = 1>(Size)
              four = Constant<value = float {4}>()
              sub = Sub(Cast, four)
              truediv = Div(Sum, sub)
            }""",
        repaired="""
            g (float[N,4] x) => (float[4] truediv) {
              axes = Constant<value = int64[1] {0}>()
              Sum = ReduceSum<keepdims = 0>(x, axes)
              Size = Size(x)
              Cast = Cast<to = 1>(Size)
              truediv = Div(Sum, Cast)
            }""",
    ),
    Pair(
        name="count of what is asked for",
        facts=("integer ranges", "comparisons"),
        form="torch 23",
        source=(
            """
                n = (x > 0).sum(-1, keepdim=True)
                return x / n""",
            """
                n = (x > 0).sum(-1, keepdim=True)
                return x / (n + 1)""",
        ),
        why="a count can be 0, and is never negative",
        ranges={"x": (-10, 10)},
        fails_at="div",
        breaks={"x": 0},
        defective="""
            g (float[4,16] x) => (float[4,16] div) {
              val_0 = Constant<value = int64 {0}>()
              scalar_tensor_default = Cast<to = 1>(val_0)
              gt = Greater(x, scalar_tensor_default)
              convert_element_type_default = Cast<to = 7>(gt)
              val_1 = Constant<value = int64[1] {-1}>()
              sum_1 = ReduceSum<noop_with_empty_axes = 0, keepdims = 1>(convert_element_type_default, val_1)
              convert_element_type_default_1 = Cast<to = 1>(sum_1)
              div = Div(x, convert_element_type_default_1)
            }""",
        repaired="""
            g (float[4,16] x) => (float[4,16] div) {
              val_0 = Constant<value = int64 {0}>()
              scalar_tensor_default = Cast<to = 1>(val_0)
              gt = Greater(x, scalar_tensor_default)
              convert_element_type_default = Cast<to = 7>(gt)
              val_1 = Constant<value = int64[1] {-1}>()
              sum_1 = ReduceSum<noop_with_empty_axes = 0, keepdims = 1>(convert_element_type_default, val_1)
              val_2 = Constant<value = int64 {1}>()
              add = Add(sum_1, val_2)
              convert_element_type_default_1 = Cast<to = 1>(add)
              div = Div(x, convert_element_type_default_1)
            }""",
    ),
    Pair(
        name="bucket of a distance",
        facts=("integer ranges", "monotone chains"),
        form="torch 18",
        source=(
            """
                n = d.float()
                return 8 + (torch.log(n / 8) / math.log(16) * 8)""",
            """
                n = torch.max(d, torch.ones_like(d) * 8).float()
                return 8 + (torch.log(n / 8) / math.log(16) * 8)""",
        ),
        why="T5's buckets: a distance of 0 has no logarithm; only large ones are looked up",
        ranges={"d": (0, 128)},
        fails_at="log",
        breaks={"d": 0},
        defective="""
            g (int64[8] d) => (float[8] add) {
              _to_copy = Cast<to = 1>(d)
              val_0 = Constant<value = int64 {8}>()
              scalar_tensor_default = Cast<to = 1>(val_0)
              div = Div(_to_copy, scalar_tensor_default)
              log = Log(div)
              val_1 = Constant<value = float {2.7725887}>()
              div_1 = Div(log, val_1)
              scalar_tensor_default_1 = Cast<to = 1>(val_0)
              mul = Mul(div_1, scalar_tensor_default_1)
              scalar_tensor_default_2 = Cast<to = 1>(val_0)
              add = Add(mul, scalar_tensor_default_2)
            }""",
        repaired="""
            g (int64[8] d) => (float[8] add) {
              val_0 = Constant<value = int64 {1}>()
              val_1 = CastLike(val_0, d)
              val_2 = Shape<start = 0>(d)
              ones_like = Expand(val_1, val_2)
              val_3 = Constant<value = int64 {8}>()
              mul = Mul(ones_like, val_3)
              maximum = Max(d, mul)
              _to_copy = Cast<to = 1>(maximum)
              scalar_tensor_default = Cast<to = 1>(val_3)
              div = Div(_to_copy, scalar_tensor_default)
              log = Log(div)
              val_4 = Constant<value = float {2.7725887}>()
              div_1 = Div(log, val_4)
              scalar_tensor_default_1 = Cast<to = 1>(val_3)
              mul_1 = Mul(div_1, scalar_tensor_default_1)
              scalar_tensor_default_2 = Cast<to = 1>(val_3)
              add = Add(mul_1, scalar_tensor_default_2)
            }""",
    ),
    Pair(
        name="inverse frequency of classes",
        facts=("integer ranges",),
        form="JAX",
        source=(
            """
                c = jnp.sum(jax.nn.one_hot(y, 4), axis=0)
                return 16.0 / (4.0 * c)""",
            """
                c = jnp.sum(jax.nn.one_hot(y, 4), axis=0)
                return 16.0 / (4.0 * jnp.maximum(c, 1.0))""",
        ),
        why="a class that doesn't occur",
        ranges={"y": (0, 3)},
        fails_at="div",
        breaks={"y": 0},
        defective="""
            g (int32[16] y) => (float[4] div) {
              lit = Constant<value = int64[2] {16,1}> ()
              reshape = Reshape(y, lit)
              lit_1 = Constant<value = int32[1,4] {0,1,2,3}> ()
              equal = Equal(reshape, lit_1)
              cast = Cast<to = 1> (equal)
              lit_2 = Constant<value = int64[1] {0}> ()
              reducesum = ReduceSum<keepdims = 0> (cast, lit_2)
              lit_3 = Constant<value = float {4}> ()
              mul = Mul(lit_3, reducesum)
              lit_4 = Constant<value = float {16}> ()
              div = Div(lit_4, mul)
            }""",
        repaired="""
            g (int32[16] y) => (float[4] div) {
              lit = Constant<value = int64[2] {16,1}> ()
              reshape = Reshape(y, lit)
              lit_1 = Constant<value = int32[1,4] {0,1,2,3}> ()
              equal = Equal(reshape, lit_1)
              cast = Cast<to = 1> (equal)
              lit_2 = Constant<value = int64[1] {0}> ()
              reducesum = ReduceSum<keepdims = 0> (cast, lit_2)
              lit_3 = Constant<value = float {1}> ()
              max = Max(reducesum, lit_3)
              lit_4 = Constant<value = float {4}> ()
              mul = Mul(lit_4, max)
              lit_5 = Constant<value = float {16}> ()
              div = Div(lit_5, mul)
            }""",
    ),
)
