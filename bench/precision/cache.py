"""Generating with what was computed before."""

from __future__ import annotations

from .pairs import Pair

PAIRS = (
    Pair(
        name="attention over a cache",
        facts=("softmax rows", "integer ranges", "comparisons"),
        form="torch 18",
        source=(
            """
                m = torch.arange(6)[None, None, :] < n[:, None, None]
                s = (q @ k.transpose(1, 2)).masked_fill(~m, float('-inf'))
                return F.softmax(s, dim=-1)""",
            """
                m = torch.arange(6)[None, None, :] <= n[:, None, None]
                s = (q @ k.transpose(1, 2)).masked_fill(~m, float('-inf'))
                return F.softmax(s, dim=-1)""",
        ),
        why="an empty cache: position 0 must see itself",
        ranges={"q": (-10, 10), "k": (-10, 10), "n": (0, 5)},
        fails_at="softmax",
        breaks={"q": 1, "k": 0, "n": 0},
        defective="""
            g (float[1,1,8] q, float[1,6,8] k, int64[1] n) => (float[1,1,6] softmax) {
              val_0 = Constant<value = float {0}>()
              val_1 = Constant<value = int64 {6}>()
              val_2 = CastLike(val_0, val_1)
              val_3 = Constant<value = float {1}>()
              val_4 = CastLike(val_3, val_1)
              arange = Range(val_2, val_1, val_4)
              val_5 = Constant<value = int64[1] {0}>()
              unsqueeze = Unsqueeze(arange, val_5)
              val_6 = Constant<value = int64[1] {1}>()
              unsqueeze_1 = Unsqueeze(unsqueeze, val_6)
              unsqueeze_2 = Unsqueeze(n, val_6)
              val_7 = Constant<value = int64[1] {2}>()
              unsqueeze_3 = Unsqueeze(unsqueeze_2, val_7)
              lt = Less(unsqueeze_1, unsqueeze_3)
              transpose = Transpose<perm = [0, 2, 1]>(k)
              matmul = MatMul(q, transpose)
              bitwise_not = Not(lt)
              val_8 = Constant<value = float {-inf}>()
              val_9 = CastLike(val_8, matmul)
              masked_fill = Where(bitwise_not, val_9, matmul)
              softmax = Softmax<axis = -1>(masked_fill)
            }""",
        repaired="""
            g (float[1,1,8] q, float[1,6,8] k, int64[1] n) => (float[1,1,6] softmax) {
              val_0 = Constant<value = float {0}>()
              val_1 = Constant<value = int64 {6}>()
              val_2 = CastLike(val_0, val_1)
              val_3 = Constant<value = float {1}>()
              val_4 = CastLike(val_3, val_1)
              arange = Range(val_2, val_1, val_4)
              val_5 = Constant<value = int64[1] {0}>()
              unsqueeze = Unsqueeze(arange, val_5)
              val_6 = Constant<value = int64[1] {1}>()
              unsqueeze_1 = Unsqueeze(unsqueeze, val_6)
              unsqueeze_2 = Unsqueeze(n, val_6)
              val_7 = Constant<value = int64[1] {2}>()
              unsqueeze_3 = Unsqueeze(unsqueeze_2, val_7)
              le = LessOrEqual(unsqueeze_1, unsqueeze_3)
              transpose = Transpose<perm = [0, 2, 1]>(k)
              matmul = MatMul(q, transpose)
              bitwise_not = Not(le)
              val_8 = Constant<value = float {-inf}>()
              val_9 = CastLike(val_8, matmul)
              masked_fill = Where(bitwise_not, val_9, matmul)
              softmax = Softmax<axis = -1>(masked_fill)
            }""",
    ),
    Pair(
        name="attention over old and new",
        facts=("softmax rows", "integer ranges"),
        form="torch 23",
        source=(
            """
                s = q @ k.transpose(1, 2)
                return F.softmax(s.masked_fill(m[:, None, :] == 0, float('-inf')), dim=-1)""",
            """
                k = torch.cat((k, n), dim=1)
                m = torch.cat((m, torch.ones(1, 1)), dim=1)
                s = q @ k.transpose(1, 2)
                return F.softmax(s.masked_fill(m[:, None, :] == 0, float('-inf')), dim=-1)""",
        ),
        why="a cache of which nothing may be seen; the new token is always shown",
        ranges={"q": (-10, 10), "k": (-10, 10), "n": (-10, 10), "m": (0, 1)},
        dims={"P": (1, 512)},
        sizes={"P": 3},
        fails_at="softmax",
        breaks={"q": 1e-09, "k": 0, "n": -1, "m": 0},
        defective="""
            g (float[1,1,8] q, float[1,P,8] k, float[1,1,8] n, float[1,P] m) => (float[1,1,P] softmax) {
              transpose = Transpose<perm = [0, 2, 1]>(k)
              matmul = MatMul(q, transpose)
              val_3 = Constant<value = int64[1] {1}>()
              unsqueeze = Unsqueeze(m, val_3)
              val_4 = Constant<value = int64 {0}>()
              val_5 = Cast<to = 7>(val_4)
              val_6 = Constant<value_ints = [-1]>()
              val_7 = Reshape<allowzero = 0>(val_5, val_6)
              val_8 = Constant<value = int64 {9223372036854775807}>()
              val_9 = Cast<to = 7>(val_8)
              val_10 = Constant<value_ints = [-1]>()
              val_11 = Reshape<allowzero = 0>(val_9, val_10)
              val_12 = Constant<value = int64 {2}>()
              val_13 = Cast<to = 7>(val_12)
              val_14 = Constant<value_ints = [-1]>()
              val_15 = Reshape<allowzero = 0>(val_13, val_14)
              val_16 = Constant<value_ints = [1]>()
              slice_1 = Slice(unsqueeze, val_7, val_11, val_15, val_16)
              scalar_tensor_default = Cast<to = 1>(val_4)
              eq_7 = Equal(slice_1, scalar_tensor_default)
              val_17 = Constant<value = float {-inf}>()
              val_18 = CastLike(val_17, matmul)
              masked_fill = Where(eq_7, val_18, matmul)
              softmax = Softmax<axis = -1>(masked_fill)
            }""",
        repaired="""
            g (float[1,1,8] q, float[1,P,8] k, float[1,1,8] n, float[1,P] m) => (float[1,1,"P + 1"] softmax) {
              cat = Concat<axis = 1>(k, n)
              val_2 = Constant<value = int64[2] {1,1}>()
              val_3 = Cast<to = 7>(val_2)
              val_4 = Constant<value_float: float = 1>()
              val_5 = Cast<to = 1>(val_4)
              ones = Expand(val_5, val_3)
              cat_1 = Concat<axis = 1>(m, ones)
              transpose = Transpose<perm = [0, 2, 1]>(cat)
              matmul = MatMul(q, transpose)
              val_6 = Constant<value = int64[1] {1}>()
              unsqueeze = Unsqueeze(cat_1, val_6)
              val_7 = Constant<value = int64 {0}>()
              val_8 = Cast<to = 7>(val_7)
              val_9 = Constant<value_ints = [-1]>()
              val_10 = Reshape<allowzero = 0>(val_8, val_9)
              val_11 = Constant<value = int64 {9223372036854775807}>()
              val_12 = Cast<to = 7>(val_11)
              val_13 = Constant<value_ints = [-1]>()
              val_14 = Reshape<allowzero = 0>(val_12, val_13)
              val_15 = Constant<value = int64 {2}>()
              val_16 = Cast<to = 7>(val_15)
              val_17 = Constant<value_ints = [-1]>()
              val_18 = Reshape<allowzero = 0>(val_16, val_17)
              val_19 = Constant<value_ints = [1]>()
              slice_1 = Slice(unsqueeze, val_10, val_14, val_18, val_19)
              scalar_tensor_default = Cast<to = 1>(val_7)
              eq_8 = Equal(slice_1, scalar_tensor_default)
              val_20 = Constant<value = float {-inf}>()
              val_21 = CastLike(val_20, matmul)
              masked_fill = Where(eq_8, val_21, matmul)
              softmax = Softmax<axis = -1>(masked_fill)
            }""",
    ),
    Pair(
        name="mean over a cache",
        facts=("integer ranges",),
        form="torch 18",
        source=(
            "k.sum(1) / (c - 1).float()",
            """
                k = torch.cat((k, n), dim=1)
                return k.sum(1) / k.shape[1]""",
        ),
        why="a count of 0; a cache with one token added has at least one",
        ranges={"k": (-10, 10), "n": (-10, 10), "c": (1, 100)},
        dims={"P": (1, 512)},
        sizes={"P": 3},
        fails_at="div",
        breaks={"k": 10, "n": 0, "c": 1},
        defective="""
            g (float[1,P,8] k, float[1,1,8] n, int64[1] c) => (float[1,8] div) {
              val_0 = Constant<value = int64[1] {1}>()
              sum_1 = ReduceSum<noop_with_empty_axes = 0, keepdims = 0>(k, val_0)
              val_1 = Constant<value = int64 {1}>()
              sub = Sub(c, val_1)
              _to_copy = Cast<to = 1>(sub)
              div = Div(sum_1, _to_copy)
            }""",
        repaired="""
            g (float[1,P,8] k, float[1,1,8] n, int64[1] c) => (float[1,8] div) {
              val_0 = Shape<end = 2, start = 1>(k)
              sym_size_int_2 = Squeeze(val_0)
              cat = Concat<axis = 1>(k, n)
              val_1 = Constant<value = int64[1] {1}>()
              sum_1 = ReduceSum<noop_with_empty_axes = 0, keepdims = 0>(cat, val_1)
              val_2 = Constant<value = int64 {1}>()
              add_3 = Add(val_2, sym_size_int_2)
              scalar_tensor_default = Cast<to = 1>(add_3)
              div = Div(sum_1, scalar_tensor_default)
            }""",
    ),
    Pair(
        name="positions from a mask",
        facts=("integer ranges", "known indices"),
        form="torch 23",
        source=(
            """
                p = m.cumsum(-1)
                return 1.0 / p.float()""",
            """
                p = (m.cumsum(-1) - 1).clamp(min=0)
                return 1.0 / (p.float() + 1)""",
        ),
        why="padding on the left is counted as 0",
        ranges={"m": (0, 1), "w": (1, 2)},
        fails_at="reciprocal",
        breaks={"m": 0.5, "w": 1.5},
        defective="""
            g (int64[1,6] m, float[7] w) => (float[1,6] mul) {
              val_0 = Constant<value = int64 {-1}>()
              cumsum = CumSum<reverse = 0, exclusive = 0>(m, val_0)
              _to_copy = Cast<to = 1>(cumsum)
              reciprocal = Reciprocal(_to_copy)
              val_1 = Constant<value = float {1}>()
              mul = Mul(reciprocal, val_1)
            }""",
        repaired="""
            g (int64[1,6] m) => (float[1,6] mul) {
              val_0 = Constant<value = int64 {-1}>()
              cumsum = CumSum<reverse = 0, exclusive = 0>(m, val_0)
              val_1 = Constant<value = int64 {1}>()
              sub = Sub(cumsum, val_1)
              val_2 = Constant<value = int64 {0}>()
              val_3 = CastLike(val_2, sub)
              clamp = Clip(sub, val_3)
              _to_copy = Cast<to = 1>(clamp)
              scalar_tensor_default = Cast<to = 1>(val_1)
              add = Add(_to_copy, scalar_tensor_default)
              reciprocal = Reciprocal(add)
              val_4 = Constant<value = float {1}>()
              mul = Mul(reciprocal, val_4)
            }""",
    ),
)
