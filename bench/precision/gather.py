"""Tables and the range of what is looked up in them."""

from __future__ import annotations

from .pairs import Pair

PAIRS = (
    Pair(
        name="padding row of a table",
        facts=("known indices",),
        form="torch 18",
        source=(
            "1 / torch.tensor([0.0, 1.0, 2.0, 3.0, 4.0])[i]",
            "1 / torch.tensor([0.0, 1.0, 2.0, 3.0, 4.0])[i.clamp(min=1)]",
        ),
        why="row 0 is padding and holds 0; rows from 1 on don't",
        ranges={"i": (0, 4)},
        fails_at="reciprocal",
        breaks={"i": 0},
        defective="""
            g (int64[8] i) => (float[8] mul)
              <float[5] lifted_tensor_0 =  {0,1,2,3,4}>
            {
              clone = Identity(lifted_tensor_0)
              val_0 = Transpose<perm = [0]>(clone)
              val_1 = Max(i)
              val_2 = Shape<start = 0>(val_1)
              val_3 = Expand(i, val_2)
              val_4 = Constant<value = int64[1] {-1}>()
              val_5 = Unsqueeze(val_3, val_4)
              val_6 = Concat<axis = -1>(val_5)
              val_7 = GatherND<batch_dims = 0>(val_0, val_6)
              index = Transpose<perm = [0]>(val_7)
              reciprocal = Reciprocal(index)
              val_8 = Constant<value = int64 {1}>()
              scalar_tensor_default = Cast<to = 1>(val_8)
              mul = Mul(reciprocal, scalar_tensor_default)
            }""",
        repaired="""
            g (int64[8] i) => (float[8] mul)
              <float[5] lifted_tensor_0 =  {0,1,2,3,4}>
            {
              clone = Identity(lifted_tensor_0)
              val_0 = Constant<value = int64 {1}>()
              val_1 = CastLike(val_0, i)
              clamp = Clip(i, val_1)
              val_2 = Transpose<perm = [0]>(clone)
              val_3 = Max(clamp)
              val_4 = Shape<start = 0>(val_3)
              val_5 = Expand(clamp, val_4)
              val_6 = Constant<value = int64[1] {-1}>()
              val_7 = Unsqueeze(val_5, val_6)
              val_8 = Concat<axis = -1>(val_7)
              val_9 = GatherND<batch_dims = 0>(val_2, val_8)
              index = Transpose<perm = [0]>(val_9)
              reciprocal = Reciprocal(index)
              scalar_tensor_default = Cast<to = 1>(val_0)
              mul = Mul(reciprocal, scalar_tensor_default)
            }""",
    ),
    Pair(
        name="noise schedule",
        facts=("known indices",),
        form="torch 23",
        source=(
            """
                a = torch.tensor([1.0, 0.9, 0.7, 0.5, 0.3, 0.1, 0.01, 0.0])[t].unsqueeze(-1)
                return x / a.sqrt()""",
            """
                a = torch.tensor([1.0, 0.9, 0.7, 0.5, 0.3, 0.1, 0.01, 0.0])[t].unsqueeze(-1)
                return x / a.sqrt()""",
        ),
        why="the last step of a schedule with no signal left; the steps before it have some",
        ranges={"t": (0, 7), "x": (-10, 10)},
        mended={"t": (0, 6)},
        fails_at="div",
        breaks={"t": 7, "x": 1},
        defective="""
            g (int64[4] t, float[4,8] x) => (float[4,8] div)
              <float[8] lifted_tensor_0 =  {1,0.9,0.7,0.5,0.3,0.1,0.01,0}>
            {
              clone = Identity(lifted_tensor_0)
              val_0 = Transpose<perm = [0]>(clone)
              val_1 = Max(t)
              val_2 = Shape<start = 0>(val_1)
              val_3 = Expand(t, val_2)
              val_4 = Constant<value = int64[1] {-1}>()
              val_5 = Unsqueeze(val_3, val_4)
              val_6 = Concat<axis = -1>(val_5)
              val_7 = GatherND<batch_dims = 0>(val_0, val_6)
              index = Transpose<perm = [0]>(val_7)
              unsqueeze = Unsqueeze(index, val_4)
              sqrt = Sqrt(unsqueeze)
              div = Div(x, sqrt)
            }""",
        repaired="""
            g (int64[4] t, float[4,8] x) => (float[4,8] div)
              <float[8] lifted_tensor_0 =  {1,0.9,0.7,0.5,0.3,0.1,0.01,0}>
            {
              clone = Identity(lifted_tensor_0)
              val_0 = Transpose<perm = [0]>(clone)
              val_1 = Max(t)
              val_2 = Shape<start = 0>(val_1)
              val_3 = Expand(t, val_2)
              val_4 = Constant<value = int64[1] {-1}>()
              val_5 = Unsqueeze(val_3, val_4)
              val_6 = Concat<axis = -1>(val_5)
              val_7 = GatherND<batch_dims = 0>(val_0, val_6)
              index = Transpose<perm = [0]>(val_7)
              unsqueeze = Unsqueeze(index, val_4)
              sqrt = Sqrt(unsqueeze)
              div = Div(x, sqrt)
            }""",
    ),
    Pair(
        name="weights of classes",
        facts=("known indices",),
        form="torch 18",
        source=(
            """
                w = torch.tensor([0.0, 1.0, 2.0, 0.5])[y]
                return (l * w).sum() / w.sum()""",
            """
                w = torch.tensor([0.0, 1.0, 2.0, 0.5])[y % 3 + 1]
                return (l * w).sum() / w.sum()""",
        ),
        why="a batch of nothing but the ignored class 0",
        ranges={"l": (0, 10), "y": (0, 3)},
        fails_at="div",
        breaks={"l": 0.0001, "y": 0},
        defective="""
            g (float[8] l, int64[8] y) => (float div)
              <float[4] lifted_tensor_0 =  {0,1,2,0.5}>
            {
              clone = Identity(lifted_tensor_0)
              val_0 = Transpose<perm = [0]>(clone)
              val_1 = Max(y)
              val_2 = Shape<start = 0>(val_1)
              val_3 = Expand(y, val_2)
              val_4 = Constant<value = int64[1] {-1}>()
              val_5 = Unsqueeze(val_3, val_4)
              val_6 = Concat<axis = -1>(val_5)
              val_7 = GatherND<batch_dims = 0>(val_0, val_6)
              index = Transpose<perm = [0]>(val_7)
              mul = Mul(l, index)
              sum_1 = ReduceSum<noop_with_empty_axes = 0, keepdims = 0>(mul)
              sum_2 = ReduceSum<noop_with_empty_axes = 0, keepdims = 0>(index)
              div = Div(sum_1, sum_2)
            }""",
        repaired="""
            g (float[8] l, int64[8] y) => (float div)
              <float[4] lifted_tensor_0 =  {0,1,2,0.5}>
            {
              clone = Identity(lifted_tensor_0)
              val_0 = Constant<value = int64 {3}>()
              remainder = Mod<fmod = 0>(y, val_0)
              val_1 = Constant<value = int64 {1}>()
              add = Add(remainder, val_1)
              val_2 = Transpose<perm = [0]>(clone)
              val_3 = Max(add)
              val_4 = Shape<start = 0>(val_3)
              val_5 = Expand(add, val_4)
              val_6 = Constant<value = int64[1] {-1}>()
              val_7 = Unsqueeze(val_5, val_6)
              val_8 = Concat<axis = -1>(val_7)
              val_9 = GatherND<batch_dims = 0>(val_2, val_8)
              index = Transpose<perm = [0]>(val_9)
              mul = Mul(l, index)
              sum_1 = ReduceSum<noop_with_empty_axes = 0, keepdims = 0>(mul)
              sum_2 = ReduceSum<noop_with_empty_axes = 0, keepdims = 0>(index)
              div = Div(sum_1, sum_2)
            }""",
    ),
    Pair(
        name="table of an embedding",
        facts=("known indices", "x * x"),
        form="torch 23",
        source=(
            """
                e = F.embedding(i, torch.tensor([[0.0, 0.0], [1.0, 2.0], [3.0, 4.0]]))
                return e / e.norm(dim=-1, keepdim=True)""",
            """
                e = F.embedding(i % 2 + 1, torch.tensor([[0.0, 0.0], [1.0, 2.0], [3.0, 4.0]]))
                return e / e.norm(dim=-1, keepdim=True)""",
        ),
        why="the padding row has the norm 0",
        ranges={"i": (0, 2)},
        fails_at="div",
        breaks={"i": 0},
        defective="""
            g (int64[4] i) => (float[4,2] div)
              <float[3,2] lifted_tensor_0 =  {0,0,1,2,3,4}>
            {
              clone = Identity(lifted_tensor_0)
              embedding = Gather<axis = 0>(clone, i)
              val_0 = Constant<value_ints = [-1]>()
              val_1 = Constant<value = int64[1] {-1}>()
              val_2 = Reshape<allowzero = 0>(val_1, val_0)
              linalg_vector_norm = ReduceL2<noop_with_empty_axes = 0, keepdims = 1>(embedding, val_2)
              div = Div(embedding, linalg_vector_norm)
            }""",
        repaired="""
            g (int64[4] i) => (float[4,2] div)
              <float[3,2] lifted_tensor_0 =  {0,0,1,2,3,4}>
            {
              val_0 = Constant<value = int64 {2}>()
              remainder = Mod<fmod = 0>(i, val_0)
              val_1 = Constant<value = int64 {1}>()
              add = Add(remainder, val_1)
              clone = Identity(lifted_tensor_0)
              embedding = Gather<axis = 0>(clone, add)
              val_2 = Constant<value_ints = [-1]>()
              val_3 = Constant<value = int64[1] {-1}>()
              val_4 = Reshape<allowzero = 0>(val_3, val_2)
              linalg_vector_norm = ReduceL2<noop_with_empty_axes = 0, keepdims = 1>(embedding, val_4)
              div = Div(embedding, linalg_vector_norm)
            }""",
    ),
    Pair(
        name="table of bins",
        facts=("known indices", "integer ranges"),
        form="TensorFlow",
        source=(
            "x / tf.gather([0., 1., 2., 4.], tf.cast(tf.clip_by_value(x, 0, 3), tf.int64))",
            "x / tf.gather([0., 1., 2., 4.], tf.cast(tf.clip_by_value(x, 1, 3), tf.int64))",
        ),
        why="bin 0 has the width 0; clipped to 1..3 the index doesn't reach it",
        ranges={"x": (-10, 10)},
        fails_at="truediv",
        breaks={"x": 0},
        defective="""
            g (float[8] x) => (float[8] truediv) {
              table = Constant<value = float[4] {0, 1, 2, 4}>()
              low = Constant<value = float {0}>()
              high = Constant<value = float {3}>()
              Minimum = Min(x, high)
              clip_by_value = Max(Minimum, low)
              Cast = Cast<to = 7>(clip_by_value)
              GatherV2 = Gather<axis = 0>(table, Cast)
              truediv = Div(x, GatherV2)
            }""",
        repaired="""
            g (float[8] x) => (float[8] truediv) {
              table = Constant<value = float[4] {0, 1, 2, 4}>()
              low = Constant<value = float {1}>()
              high = Constant<value = float {3}>()
              Minimum = Min(x, high)
              clip_by_value = Max(Minimum, low)
              Cast = Cast<to = 7>(clip_by_value)
              GatherV2 = Gather<axis = 0>(table, Cast)
              truediv = Div(x, GatherV2)
            }""",
    ),
    Pair(
        name="best of a row by its index",
        facts=("known indices", "min and max"),
        form="torch 18",
        source=(
            """
                i = x.argmin(-1, keepdim=True)
                return torch.sqrt(x.gather(1, i) - x.amin(-1, keepdim=True) - 1e-3)""",
            """
                i = x.argmax(-1, keepdim=True)
                return torch.sqrt((x.gather(1, i) - x.amin(-1, keepdim=True)).clamp(min=0))""",
        ),
        why="what is looked up is an element of the row",
        ranges={"x": (-10, 10)},
        fails_at="sqrt",
        breaks={"x": 0},
        defective="""
            g (float[4,8] x) => (float[4,1] sqrt) {
              argmin = ArgMin<select_last_index = 0, keepdims = 1, axis = -1>(x)
              val_0 = Cast<to = 7>(argmin)
              gather = GatherElements<axis = 1>(x, val_0)
              val_1 = Constant<value = int64[1] {-1}>()
              amin = ReduceMin<keepdims = 1>(x, val_1)
              sub = Sub(gather, amin)
              val_2 = Constant<value = float {0.001}>()
              sub_1 = Sub(sub, val_2)
              sqrt = Sqrt(sub_1)
            }""",
        repaired="""
            g (float[4,8] x) => (float[4,1] sqrt) {
              argmax = ArgMax<select_last_index = 0, keepdims = 1, axis = -1>(x)
              val_0 = Cast<to = 7>(argmax)
              gather = GatherElements<axis = 1>(x, val_0)
              val_1 = Constant<value = int64[1] {-1}>()
              amin = ReduceMin<keepdims = 1>(x, val_1)
              sub = Sub(gather, amin)
              val_2 = Constant<value = int64 {0}>()
              scalar_tensor_default = Cast<to = 1>(val_2)
              val_3 = CastLike(scalar_tensor_default, sub)
              clamp = Max(sub, val_3)
              sqrt = Sqrt(clamp)
            }""",
    ),
    Pair(
        name="every other element",
        facts=("known indices",),
        form="torch 23",
        source=(
            """
                w = torch.tensor([1.0, 0.0, 2.0, 0.0, 3.0, 0.0, 4.0, 0.0])
                return x[:4] / w[1::2]""",
            """
                w = torch.tensor([1.0, 0.0, 2.0, 0.0, 3.0, 0.0, 4.0, 0.0])
                return x[:4] / w[::2]""",
        ),
        why="a slice that starts at the zeros, and one that misses them all",
        ranges={"x": (-10, 10)},
        fails_at="div",
        breaks={"x": 0},
        defective="""
            g (float[8] x) => (float[4] div)
              <float[8] lifted_tensor_0 =  {1,0,2,0,3,0,4,0}>
            {
              clone = Identity(lifted_tensor_0)
              val_0 = Constant<value = int64 {0}>()
              val_1 = Cast<to = 7>(val_0)
              val_2 = Constant<value_ints = [-1]>()
              val_3 = Reshape<allowzero = 0>(val_1, val_2)
              val_4 = Constant<value = int64 {4}>()
              val_5 = Cast<to = 7>(val_4)
              val_6 = Constant<value_ints = [-1]>()
              val_7 = Reshape<allowzero = 0>(val_5, val_6)
              val_8 = Cast<to = 7>(val_0)
              val_9 = Constant<value_ints = [-1]>()
              val_10 = Reshape<allowzero = 0>(val_8, val_9)
              val_11 = Constant<value_ints = [1]>()
              slice_1 = Slice(x, val_3, val_7, val_10, val_11)
              val_12 = Constant<value = int64 {1}>()
              val_13 = Cast<to = 7>(val_12)
              val_14 = Constant<value_ints = [-1]>()
              val_15 = Reshape<allowzero = 0>(val_13, val_14)
              val_16 = Constant<value = int64 {9223372036854775807}>()
              val_17 = Cast<to = 7>(val_16)
              val_18 = Constant<value_ints = [-1]>()
              val_19 = Reshape<allowzero = 0>(val_17, val_18)
              val_20 = Cast<to = 7>(val_0)
              val_21 = Constant<value_ints = [-1]>()
              val_22 = Reshape<allowzero = 0>(val_20, val_21)
              val_23 = Constant<value = int64 {2}>()
              val_24 = Cast<to = 7>(val_23)
              val_25 = Constant<value_ints = [-1]>()
              val_26 = Reshape<allowzero = 0>(val_24, val_25)
              slice_2 = Slice(clone, val_15, val_19, val_22, val_26)
              div = Div(slice_1, slice_2)
            }""",
        repaired="""
            g (float[8] x) => (float[4] div)
              <float[8] lifted_tensor_0 =  {1,0,2,0,3,0,4,0}>
            {
              clone = Identity(lifted_tensor_0)
              val_0 = Constant<value = int64 {0}>()
              val_1 = Cast<to = 7>(val_0)
              val_2 = Constant<value_ints = [-1]>()
              val_3 = Reshape<allowzero = 0>(val_1, val_2)
              val_4 = Constant<value = int64 {4}>()
              val_5 = Cast<to = 7>(val_4)
              val_6 = Constant<value_ints = [-1]>()
              val_7 = Reshape<allowzero = 0>(val_5, val_6)
              val_8 = Cast<to = 7>(val_0)
              val_9 = Constant<value_ints = [-1]>()
              val_10 = Reshape<allowzero = 0>(val_8, val_9)
              val_11 = Constant<value_ints = [1]>()
              slice_1 = Slice(x, val_3, val_7, val_10, val_11)
              val_12 = Cast<to = 7>(val_0)
              val_13 = Constant<value_ints = [-1]>()
              val_14 = Reshape<allowzero = 0>(val_12, val_13)
              val_15 = Constant<value = int64 {9223372036854775807}>()
              val_16 = Cast<to = 7>(val_15)
              val_17 = Constant<value_ints = [-1]>()
              val_18 = Reshape<allowzero = 0>(val_16, val_17)
              val_19 = Cast<to = 7>(val_0)
              val_20 = Constant<value_ints = [-1]>()
              val_21 = Reshape<allowzero = 0>(val_19, val_20)
              val_22 = Constant<value = int64 {2}>()
              val_23 = Cast<to = 7>(val_22)
              val_24 = Constant<value_ints = [-1]>()
              val_25 = Reshape<allowzero = 0>(val_23, val_24)
              slice_2 = Slice(clone, val_14, val_18, val_21, val_25)
              div = Div(slice_1, slice_2)
            }""",
    ),
)
