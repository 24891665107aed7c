"""Attention, with the masks that real models have."""

from __future__ import annotations

from .pairs import Pair

PAIRS = (
    Pair(
        name="causal attention",
        facts=("softmax rows",),
        form="torch 18",
        source=(
            "F.scaled_dot_product_attention(q, k, v, attn_mask=torch.where(m, 0.0, float('-inf')))",
            "F.scaled_dot_product_attention(q, k, v, is_causal=True)",
        ),
        why="a mask that hides a whole row leaves nothing to share; a causal one shows every token itself",
        ranges={"q": (-10, 10), "k": (-10, 10), "v": (-10, 10), "m": (0, 1)},
        fails_at="val_31",
        breaks={"q": 0, "k": 10, "v": 0.0001, "m": 0},
        defective="""
            g (float[1,2,6,8] q, float[1,2,6,8] k, float[1,2,6,8] v, bool[6,6] m) => (float[1,2,6,8] scaled_dot_product_attention) {
              val_0 = Constant<value = float {0}>()
              val_1 = Constant<value = float {-inf}>()
              where = Where(m, val_0, val_1)
              val_2 = Shape<start = 0>(q)
              val_3 = Constant<value_ints = [-1]>()
              val_4 = Gather<axis = 0>(val_2, val_3)
              val_5 = CastLike(val_4, q)
              val_6 = Constant<value_float: float = 1>()
              val_7 = CastLike(val_6, q)
              val_8 = Sqrt(val_5)
              val_9 = Div(val_7, val_8)
              val_10 = CastLike(val_9, q)
              val_11 = Shape<start = 0>(k)
              val_12 = Constant<value_ints = [9223372036854775807]>()
              val_13 = Constant<value = int64[1] {-1}>()
              val_14 = Slice(val_11, val_13, val_12)
              val_15 = Constant<value = int64[1] {-2}>()
              val_16 = Slice(val_11, val_15, val_13)
              val_17 = Constant<value_ints = [-9223372036854775808]>()
              val_18 = Slice(val_11, val_17, val_15)
              val_19 = Constant<value_ints = [-1]>()
              val_20 = Concat<axis = 0>(val_19, val_16, val_14)
              val_21 = Reshape<allowzero = 0>(k, val_20)
              val_22 = Transpose<perm = [0, 2, 1]>(val_21)
              val_23 = Concat<axis = 0>(val_18, val_14, val_16)
              val_24 = Reshape<allowzero = 0>(val_22, val_23)
              val_25 = Sqrt(val_10)
              val_26 = Mul(q, val_25)
              val_27 = Sqrt(val_10)
              val_28 = Mul(val_24, val_27)
              val_29 = MatMul(val_26, val_28)
              val_30 = Add(val_29, where)
              val_31 = Softmax<axis = -1>(val_30)
              scaled_dot_product_attention = MatMul(val_31, v)
            }""",
        repaired="""
            g (float[1,2,6,8] q, float[1,2,6,8] k, float[1,2,6,8] v) => (float[1,2,6,8] scaled_dot_product_attention) {
              val_0 = Shape<start = 0>(q)
              val_1 = Constant<value_ints = [-1]>()
              val_2 = Gather<axis = 0>(val_0, val_1)
              val_3 = CastLike(val_2, q)
              val_4 = Constant<value_float: float = 1>()
              val_5 = CastLike(val_4, q)
              val_6 = Sqrt(val_3)
              val_7 = Div(val_5, val_6)
              val_8 = CastLike(val_7, q)
              val_9 = Shape<start = 0>(q)
              val_10 = Shape<start = 0>(k)
              val_11 = Constant<value_ints = [-2]>()
              val_12 = Constant<value_ints = [-1]>()
              val_13 = Slice(val_9, val_11, val_12)
              val_14 = Constant<value_ints = [-2]>()
              val_15 = Constant<value_ints = [-1]>()
              val_16 = Slice(val_10, val_14, val_15)
              val_17 = Concat<axis = 0>(val_13, val_16)
              val_18 = Constant<value_float: float = 1>()
              val_19 = Expand(val_18, val_17)
              val_20 = Trilu<upper = 0>(val_19)
              val_21 = Constant<value_float: float = 0>()
              val_22 = Equal(val_20, val_21)
              val_23 = Constant<value = float {-3.4028235e+38}>()
              val_24 = Constant<value = float {0}>()
              val_25 = Where(val_22, val_23, val_24)
              val_26 = Shape<start = 0>(k)
              val_27 = Constant<value_ints = [9223372036854775807]>()
              val_28 = Constant<value = int64[1] {-1}>()
              val_29 = Slice(val_26, val_28, val_27)
              val_30 = Constant<value = int64[1] {-2}>()
              val_31 = Slice(val_26, val_30, val_28)
              val_32 = Constant<value_ints = [-9223372036854775808]>()
              val_33 = Slice(val_26, val_32, val_30)
              val_34 = Constant<value_ints = [-1]>()
              val_35 = Concat<axis = 0>(val_34, val_31, val_29)
              val_36 = Reshape<allowzero = 0>(k, val_35)
              val_37 = Transpose<perm = [0, 2, 1]>(val_36)
              val_38 = Concat<axis = 0>(val_33, val_29, val_31)
              val_39 = Reshape<allowzero = 0>(val_37, val_38)
              val_40 = Sqrt(val_8)
              val_41 = Mul(q, val_40)
              val_42 = Sqrt(val_8)
              val_43 = Mul(val_39, val_42)
              val_44 = MatMul(val_41, val_43)
              val_45 = Add(val_44, val_25)
              val_46 = Softmax<axis = -1>(val_45)
              scaled_dot_product_attention = MatMul(val_46, v)
            }""",
    ),
    Pair(
        name="causal attention as one node",
        facts=("softmax rows",),
        form="torch 23",
        source=(
            """
                s = (q @ k.transpose(-2, -1)).masked_fill(~m, float('-inf'))
                return s.softmax(-1) @ v""",
            "F.scaled_dot_product_attention(q, k, v, is_causal=True)",
        ),
        why="as above; from opset 23 it is one operator",
        ranges={"q": (-10, 10), "k": (-10, 10), "v": (-10, 10), "m": (0, 1)},
        fails_at="softmax",
        breaks={"q": 0, "k": 10, "v": 0.0001, "m": 0},
        defective="""
            g (float[1,2,6,8] q, float[1,2,6,8] k, float[1,2,6,8] v, bool[6,6] m) => (float[1,2,6,8] matmul_1) {
              transpose = Transpose<perm = [0, 1, 3, 2]>(k)
              matmul = MatMul(q, transpose)
              bitwise_not = Not(m)
              val_0 = Constant<value = float {-inf}>()
              val_1 = CastLike(val_0, matmul)
              masked_fill = Where(bitwise_not, val_1, matmul)
              softmax = Softmax<axis = -1>(masked_fill)
              matmul_1 = MatMul(softmax, v)
            }""",
        repaired="""
            g (float[1,2,6,8] q, float[1,2,6,8] k, float[1,2,6,8] v) => (float[1,2,6,8] scaled_dot_product_attention) {
              scaled_dot_product_attention = Attention<qk_matmul_output_mode = 0, softcap: float = 0, is_causal = 1>(q, k, v)
            }""",
    ),
    Pair(
        name="causal attention by tril",
        facts=("softmax rows", "comparisons"),
        form="torch 18",
        source=(
            """
                m = torch.ones(6, 6).tril(-1)
                s = (q @ k.transpose(-2, -1)).masked_fill(m == 0, float('-inf'))
                return F.softmax(s, dim=-1)""",
            """
                m = torch.ones(6, 6).tril()
                s = (q @ k.transpose(-2, -1)).masked_fill(m == 0, float('-inf'))
                return F.softmax(s, dim=-1)""",
        ),
        why="off by one: the first token sees nothing",
        ranges={"q": (-10, 10), "k": (-10, 10)},
        fails_at="softmax",
        breaks={"q": 0, "k": -10},
        defective="""
            g (float[1,2,6,8] q, float[1,2,6,8] k) => (float[1,2,6,6] softmax) {
              val_0 = Constant<value = int64[2] {6,6}>()
              val_1 = Cast<to = 7>(val_0)
              val_2 = Constant<value_float: float = 1>()
              val_3 = Cast<to = 1>(val_2)
              ones = Expand(val_3, val_1)
              val_4 = Constant<value = int64 {-1}>()
              tril = Trilu<upper = 0>(ones, val_4)
              transpose = Transpose<perm = [0, 1, 3, 2]>(k)
              matmul = MatMul(q, transpose)
              val_5 = Constant<value = int64 {0}>()
              scalar_tensor_default = Cast<to = 1>(val_5)
              eq = Equal(tril, scalar_tensor_default)
              val_6 = Constant<value = float {-inf}>()
              val_7 = CastLike(val_6, matmul)
              masked_fill = Where(eq, val_7, matmul)
              softmax = Softmax<axis = -1>(masked_fill)
            }""",
        repaired="""
            g (float[1,2,6,8] q, float[1,2,6,8] k) => (float[1,2,6,6] softmax) {
              val_0 = Constant<value = int64[2] {6,6}>()
              val_1 = Cast<to = 7>(val_0)
              val_2 = Constant<value_float: float = 1>()
              val_3 = Cast<to = 1>(val_2)
              ones = Expand(val_3, val_1)
              val_4 = Constant<value = int64 {0}>()
              tril = Trilu<upper = 0>(ones, val_4)
              transpose = Transpose<perm = [0, 1, 3, 2]>(k)
              matmul = MatMul(q, transpose)
              scalar_tensor_default = Cast<to = 1>(val_4)
              eq = Equal(tril, scalar_tensor_default)
              val_5 = Constant<value = float {-inf}>()
              val_6 = CastLike(val_5, matmul)
              masked_fill = Where(eq, val_6, matmul)
              softmax = Softmax<axis = -1>(masked_fill)
            }""",
    ),
    Pair(
        name="causal attention of any length",
        facts=("softmax rows", "integer ranges", "comparisons"),
        form="torch 18",
        source=(
            """
                n = q.shape[1]
                m = torch.arange(n)[None, :] < torch.arange(n)[:, None]
                s = (q @ k.transpose(-2, -1)).masked_fill(~m, float('-inf'))
                return F.softmax(s, dim=-1)""",
            """
                n = q.shape[1]
                m = torch.arange(n)[None, :] <= torch.arange(n)[:, None]
                s = (q @ k.transpose(-2, -1)).masked_fill(~m, float('-inf'))
                return F.softmax(s, dim=-1)""",
        ),
        why="j < i hides the first token from itself; j <= i doesn't",
        ranges={"q": (-10, 10), "k": (-10, 10)},
        dims={"T": (1, 512)},
        sizes={"T": 4},
        fails_at="softmax",
        breaks={"q": 0, "k": -10},
        defective="""
            g (float[1,T,8] q, float[1,T,8] k) => (float[1,T,T] softmax) {
              val_0 = Shape<end = 2, start = 1>(q)
              sym_size_int_6 = Squeeze(val_0)
              val_2 = Constant<value = int64 {1}>()
              val_3 = Constant<value = float {0}>()
              val_4 = CastLike(val_3, sym_size_int_6)
              val_5 = Constant<value = float {1}>()
              val_6 = CastLike(val_5, sym_size_int_6)
              arange = Range(val_4, sym_size_int_6, val_6)
              val_7 = Constant<value = int64[1] {0}>()
              unsqueeze = Unsqueeze(arange, val_7)
              val_8 = Constant<value = int64 {0}>()
              val_9 = Cast<to = 7>(val_8)
              val_10 = Constant<value_ints = [-1]>()
              val_11 = Reshape<allowzero = 0>(val_9, val_10)
              val_12 = Constant<value = int64 {9223372036854775807}>()
              val_13 = Cast<to = 7>(val_12)
              val_14 = Constant<value_ints = [-1]>()
              val_15 = Reshape<allowzero = 0>(val_13, val_14)
              val_16 = Cast<to = 7>(val_2)
              val_17 = Constant<value_ints = [-1]>()
              val_18 = Reshape<allowzero = 0>(val_16, val_17)
              val_19 = Constant<value_ints = [1]>()
              slice_1 = Slice(unsqueeze, val_11, val_15, val_18, val_19)
              val_20 = CastLike(val_3, sym_size_int_6)
              val_21 = CastLike(val_5, sym_size_int_6)
              arange_1 = Range(val_20, sym_size_int_6, val_21)
              val_22 = Cast<to = 7>(val_8)
              val_23 = Constant<value_ints = [-1]>()
              val_24 = Reshape<allowzero = 0>(val_22, val_23)
              val_25 = Cast<to = 7>(val_12)
              val_26 = Constant<value_ints = [-1]>()
              val_27 = Reshape<allowzero = 0>(val_25, val_26)
              val_28 = Cast<to = 7>(val_8)
              val_29 = Constant<value_ints = [-1]>()
              val_30 = Reshape<allowzero = 0>(val_28, val_29)
              val_31 = Constant<value_ints = [1]>()
              slice_2 = Slice(arange_1, val_24, val_27, val_30, val_31)
              val_32 = Constant<value = int64[1] {1}>()
              unsqueeze_1 = Unsqueeze(slice_2, val_32)
              lt = Less(slice_1, unsqueeze_1)
              transpose = Transpose<perm = [0, 2, 1]>(k)
              matmul = MatMul(q, transpose)
              bitwise_not = Not(lt)
              val_33 = Constant<value = float {-inf}>()
              val_34 = CastLike(val_33, matmul)
              masked_fill = Where(bitwise_not, val_34, matmul)
              softmax = Softmax<axis = -1>(masked_fill)
            }""",
        repaired="""
            g (float[1,T,8] q, float[1,T,8] k) => (float[1,T,T] softmax) {
              val_0 = Shape<end = 2, start = 1>(q)
              sym_size_int_6 = Squeeze(val_0)
              val_2 = Constant<value = int64 {1}>()
              val_3 = Constant<value = float {0}>()
              val_4 = CastLike(val_3, sym_size_int_6)
              val_5 = Constant<value = float {1}>()
              val_6 = CastLike(val_5, sym_size_int_6)
              arange = Range(val_4, sym_size_int_6, val_6)
              val_7 = Constant<value = int64[1] {0}>()
              unsqueeze = Unsqueeze(arange, val_7)
              val_8 = Constant<value = int64 {0}>()
              val_9 = Cast<to = 7>(val_8)
              val_10 = Constant<value_ints = [-1]>()
              val_11 = Reshape<allowzero = 0>(val_9, val_10)
              val_12 = Constant<value = int64 {9223372036854775807}>()
              val_13 = Cast<to = 7>(val_12)
              val_14 = Constant<value_ints = [-1]>()
              val_15 = Reshape<allowzero = 0>(val_13, val_14)
              val_16 = Cast<to = 7>(val_2)
              val_17 = Constant<value_ints = [-1]>()
              val_18 = Reshape<allowzero = 0>(val_16, val_17)
              val_19 = Constant<value_ints = [1]>()
              slice_1 = Slice(unsqueeze, val_11, val_15, val_18, val_19)
              val_20 = CastLike(val_3, sym_size_int_6)
              val_21 = CastLike(val_5, sym_size_int_6)
              arange_1 = Range(val_20, sym_size_int_6, val_21)
              val_22 = Cast<to = 7>(val_8)
              val_23 = Constant<value_ints = [-1]>()
              val_24 = Reshape<allowzero = 0>(val_22, val_23)
              val_25 = Cast<to = 7>(val_12)
              val_26 = Constant<value_ints = [-1]>()
              val_27 = Reshape<allowzero = 0>(val_25, val_26)
              val_28 = Cast<to = 7>(val_8)
              val_29 = Constant<value_ints = [-1]>()
              val_30 = Reshape<allowzero = 0>(val_28, val_29)
              val_31 = Constant<value_ints = [1]>()
              slice_2 = Slice(arange_1, val_24, val_27, val_30, val_31)
              val_32 = Constant<value = int64[1] {1}>()
              unsqueeze_1 = Unsqueeze(slice_2, val_32)
              le = LessOrEqual(slice_1, unsqueeze_1)
              transpose = Transpose<perm = [0, 2, 1]>(k)
              matmul = MatMul(q, transpose)
              bitwise_not = Not(le)
              val_33 = Constant<value = float {-inf}>()
              val_34 = CastLike(val_33, matmul)
              masked_fill = Where(bitwise_not, val_34, matmul)
              softmax = Softmax<axis = -1>(masked_fill)
            }""",
    ),
    Pair(
        name="causal attention of any length by triu",
        facts=("softmax rows", "integer ranges"),
        form="torch 23",
        source=(
            """
                n = s.shape[1]
                m = torch.triu(torch.full((n, n), float('-inf')))
                return F.softmax(s + m, dim=-1)""",
            """
                n = s.shape[1]
                m = torch.triu(torch.full((n, n), float('-inf')), diagonal=1)
                return F.softmax(s + m, dim=-1)""",
        ),
        why="without diagonal=1 the last row is hidden altogether, and so is every token from itself",
        ranges={"s": (-100, 100)},
        dims={"T": (1, 512)},
        sizes={"T": 4},
        fails_at="softmax",
        breaks={"s": 1},
        defective="""
            g (float[1,T,T] s) => (float[1,T,T] softmax) {
              val_1 = Shape<end = 3, start = 2>(s)
              sym_size_int_5 = Squeeze(val_1)
              val_2 = Constant<value = int64[1] {-1}>()
              val_3 = Reshape<allowzero = 0>(sym_size_int_5, val_2)
              val_4 = Constant<value = int64[1] {-1}>()
              val_5 = Reshape<allowzero = 0>(sym_size_int_5, val_4)
              val_6 = Concat<axis = 0>(val_3, val_5)
              val_7 = Cast<to = 7>(val_6)
              val_8 = Constant<value = float {-inf}>()
              full = Expand(val_8, val_7)
              val_9 = Constant<value = int64 {0}>()
              triu = Trilu<upper = 1>(full, val_9)
              add_6 = Add(s, triu)
              softmax = Softmax<axis = -1>(add_6)
            }""",
        repaired="""
            g (float[1,T,T] s) => (float[1,T,T] softmax) {
              val_1 = Shape<end = 3, start = 2>(s)
              sym_size_int_5 = Squeeze(val_1)
              val_2 = Constant<value = int64[1] {-1}>()
              val_3 = Reshape<allowzero = 0>(sym_size_int_5, val_2)
              val_4 = Constant<value = int64[1] {-1}>()
              val_5 = Reshape<allowzero = 0>(sym_size_int_5, val_4)
              val_6 = Concat<axis = 0>(val_3, val_5)
              val_7 = Cast<to = 7>(val_6)
              val_8 = Constant<value = float {-inf}>()
              full = Expand(val_8, val_7)
              val_9 = Constant<value = int64 {1}>()
              triu = Trilu<upper = 1>(full, val_9)
              add_6 = Add(s, triu)
              softmax = Softmax<axis = -1>(add_6)
            }""",
    ),
    Pair(
        name="padding filled with -Inf",
        facts=("softmax rows", "comparisons"),
        form="torch 18",
        source=(
            "F.softmax(s.masked_fill(m == 0, float('-inf')), dim=-1)",
            "F.softmax(s.masked_fill(m == 0, torch.finfo(torch.float32).min), dim=-1)",
        ),
        why="a sequence that is all padding; the smallest finite number keeps its row finite",
        ranges={"s": (-100, 100), "m": (0, 1)},
        fails_at="softmax",
        breaks={"s": 1, "m": 0},
        defective="""
            g (float[2,6,6] s, float[2,1,6] m) => (float[2,6,6] softmax) {
              val_0 = Constant<value = int64 {0}>()
              scalar_tensor_default = Cast<to = 1>(val_0)
              eq = Equal(m, scalar_tensor_default)
              val_1 = Constant<value = float {-inf}>()
              val_2 = CastLike(val_1, s)
              masked_fill = Where(eq, val_2, s)
              softmax = Softmax<axis = -1>(masked_fill)
            }""",
        repaired="""
            g (float[2,6,6] s, float[2,1,6] m) => (float[2,6,6] softmax) {
              val_0 = Constant<value = int64 {0}>()
              scalar_tensor_default = Cast<to = 1>(val_0)
              eq = Equal(m, scalar_tensor_default)
              val_1 = Constant<value = float {-3.4028235e+38}>()
              val_2 = CastLike(val_1, s)
              masked_fill = Where(eq, val_2, s)
              softmax = Softmax<axis = -1>(masked_fill)
            }""",
    ),
    Pair(
        name="padding by lengths",
        facts=("softmax rows", "integer ranges", "comparisons"),
        form="torch 23",
        source=(
            """
                m = torch.arange(6)[None, None, :] < n[:, None, None]
                return F.softmax(s.masked_fill(~m, float('-inf')), dim=-1)""",
            """
                m = torch.arange(6)[None, None, :] < n.clamp(min=1)[:, None, None]
                return F.softmax(s.masked_fill(~m, float('-inf')), dim=-1)""",
        ),
        why="an empty sequence; lengths are at least 1",
        ranges={"s": (-100, 100), "n": (0, 6)},
        fails_at="softmax",
        breaks={"s": 0, "n": 0},
        defective="""
            g (float[2,6,6] s, int64[2] n) => (float[2,6,6] softmax) {
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
              bitwise_not = Not(lt)
              val_8 = Constant<value = float {-inf}>()
              val_9 = CastLike(val_8, s)
              masked_fill = Where(bitwise_not, val_9, s)
              softmax = Softmax<axis = -1>(masked_fill)
            }""",
        repaired="""
            g (float[2,6,6] s, int64[2] n) => (float[2,6,6] softmax) {
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
              val_7 = Constant<value = int64 {1}>()
              val_8 = CastLike(val_7, n)
              clamp = Clip(n, val_8)
              unsqueeze_2 = Unsqueeze(clamp, val_6)
              val_9 = Constant<value = int64[1] {2}>()
              unsqueeze_3 = Unsqueeze(unsqueeze_2, val_9)
              lt = Less(unsqueeze_1, unsqueeze_3)
              bitwise_not = Not(lt)
              val_10 = Constant<value = float {-inf}>()
              val_11 = CastLike(val_10, s)
              masked_fill = Where(bitwise_not, val_11, s)
              softmax = Softmax<axis = -1>(masked_fill)
            }""",
    ),
    Pair(
        name="padding of Keras",
        facts=("softmax rows", "x - max(x)"),
        form="TensorFlow",
        source=(
            "tf.nn.softmax(s + tf.math.log(m))",
            "tf.keras.layers.Softmax()(s, mask=m)",
        ),
        why="log(0) hides a padded token, and a row of nothing but -Inf is NaN; Keras adds -1e9",
        ranges={"s": (-100, 100), "m": (0, 1)},
        fails_at="Log",
        breaks={"s": 1, "m": 0},
        defective="""
            g (float[2,6,6] s, float[2,1,6] m) => (float[2,6,6] Softmax) {
              Log = Log(m)
              add = Add(s, Log)
              Max = ReduceMax<axes = [2], keepdims = 1>(add)
              sub = Sub(add, Max)
              Exp = Exp(sub)
              axes = Constant<value = int64[1] {2}>()
              Sum = ReduceSum<keepdims = 1>(Exp, axes)
              Softmax = Div(Exp, Sum)
            }""",
        repaired="""
            g (float[2,6,6] s, float[2,1,6] m) => (float[2,6,6] Softmax) {
              one = Constant<value = float {1}>()
              sub = Sub(one, m)
              large = Constant<value = float {-1e9}>()
              mul = Mul(sub, large)
              add = Add(s, mul)
              Max = ReduceMax<axes = [2], keepdims = 1>(add)
              sub_1 = Sub(add, Max)
              Exp = Exp(sub_1)
              axes = Constant<value = int64[1] {2}>()
              Sum = ReduceSum<keepdims = 1>(Exp, axes)
              Softmax = Div(Exp, Sum)
            }""",
    ),
    Pair(
        name="causal attention of a jaxpr",
        facts=("x - max(x)", "sum(exp(x - max(x)))", "comparisons"),
        form="JAX",
        source=(
            """
                s = jnp.einsum('bhqd,bhkd->bhqk', q, k)
                m = jnp.arange(6)[:, None] > jnp.arange(6)[None, :]
                return jax.nn.softmax(jnp.where(m, s, -jnp.inf))""",
            """
                s = jnp.einsum('bhqd,bhkd->bhqk', q, k) / jnp.sqrt(8.0)
                m = jnp.arange(6)[:, None] >= jnp.arange(6)[None, :]
                return jax.nn.softmax(jnp.where(m, s, jnp.finfo(jnp.float32).min))""",
        ),
        why="the first token sees nothing; >= shows it itself, and what is hidden stays finite",
        ranges={"q": (-10, 10), "k": (-10, 10)},
        fails_at="sub",
        breaks={"q": 0, "k": -10},
        defective="""
            g (float[1,2,6,8] q, float[1,2,6,8] k) => (float[1,2,6,6] div) {
              einsum = Einsum<equation: string = "abcd,abed->abce"> (q, k)
              lit = Constant<value = int32[6] {0,1,2,3,4,5}> ()
              lit_1 = Constant<value = int64[2] {6,1}> ()
              reshape = Reshape(lit, lit_1)
              lit_2 = Constant<value = int32[6] {0,1,2,3,4,5}> ()
              lit_3 = Constant<value = int64[2] {1,6}> ()
              reshape_1 = Reshape(lit_2, lit_3)
              greater = Greater(reshape, reshape_1)
              lit_4 = Constant<value = float {-inf}> ()
              cast = Cast<to = 1> (lit_4)
              lit_5 = Constant<value = int64[4] {1,1,6,6}> ()
              reshape_2 = Reshape(greater, lit_5)
              lit_6 = Constant<value = int64[4] {1,2,6,6}> ()
              expand = Expand(reshape_2, lit_6)
              lit_7 = Constant<value = int64[4] {1,1,1,1}> ()
              reshape_3 = Reshape(cast, lit_7)
              lit_8 = Constant<value = int64[4] {1,2,6,6}> ()
              expand_1 = Expand(reshape_3, lit_8)
              where = Where(expand, einsum, expand_1)
              lit_9 = Constant<value = int64[1] {3}> ()
              reducemax = ReduceMax<keepdims = 0> (where, lit_9)
              lit_10 = Constant<value = float {-inf}> ()
              max = Max(lit_10, reducemax)
              lit_11 = Constant<value = int64[4] {1,2,6,1}> ()
              reshape_4 = Reshape(max, lit_11)
              identity = Identity(reshape_4)
              sub = Sub(where, identity)
              exp = Exp(sub)
              lit_12 = Constant<value = int64[1] {3}> ()
              reducesum = ReduceSum<keepdims = 0> (exp, lit_12)
              lit_13 = Constant<value = int64[4] {1,2,6,1}> ()
              reshape_5 = Reshape(reducesum, lit_13)
              div = Div(exp, reshape_5)
            }""",
        repaired="""
            g (float[1,2,6,8] q, float[1,2,6,8] k) => (float[1,2,6,6] div_1) {
              einsum = Einsum<equation: string = "abcd,abed->abce"> (q, k)
              lit = Constant<value = float {8}> ()
              sqrt = Sqrt(lit)
              cast = Cast<to = 1> (sqrt)
              div = Div(einsum, cast)
              lit_1 = Constant<value = int32[6] {0,1,2,3,4,5}> ()
              lit_2 = Constant<value = int64[2] {6,1}> ()
              reshape = Reshape(lit_1, lit_2)
              lit_3 = Constant<value = int32[6] {0,1,2,3,4,5}> ()
              lit_4 = Constant<value = int64[2] {1,6}> ()
              reshape_1 = Reshape(lit_3, lit_4)
              greaterorequal = GreaterOrEqual(reshape, reshape_1)
              lit_5 = Constant<value = float {-3.4028235e+38}> ()
              lit_6 = Constant<value = int64[4] {1,1,6,6}> ()
              reshape_2 = Reshape(greaterorequal, lit_6)
              lit_7 = Constant<value = int64[4] {1,2,6,6}> ()
              expand = Expand(reshape_2, lit_7)
              lit_8 = Constant<value = int64[4] {1,1,1,1}> ()
              reshape_3 = Reshape(lit_5, lit_8)
              lit_9 = Constant<value = int64[4] {1,2,6,6}> ()
              expand_1 = Expand(reshape_3, lit_9)
              where = Where(expand, div, expand_1)
              lit_10 = Constant<value = int64[1] {3}> ()
              reducemax = ReduceMax<keepdims = 0> (where, lit_10)
              lit_11 = Constant<value = float {-inf}> ()
              max = Max(lit_11, reducemax)
              lit_12 = Constant<value = int64[4] {1,2,6,1}> ()
              reshape_4 = Reshape(max, lit_12)
              identity = Identity(reshape_4)
              sub = Sub(where, identity)
              exp = Exp(sub)
              lit_13 = Constant<value = int64[1] {3}> ()
              reducesum = ReduceSum<keepdims = 0> (exp, lit_13)
              lit_14 = Constant<value = int64[4] {1,2,6,1}> ()
              reshape_5 = Reshape(reducesum, lit_14)
              div_1 = Div(exp, reshape_5)
            }""",
    ),
    Pair(
        name="linear attention",
        facts=("sigmoid and tanh", "ReLU splits"),
        form="torch 18",
        source=(
            """
                q = F.elu(q) + 1
                k = F.elu(k) + 1
                z = (q * k.sum(1, keepdim=True)).sum(-1, keepdim=True)
                return (q @ (k.transpose(1, 2) @ v)) / z""",
            """
                q = F.relu(q) + 1e-3
                k = F.relu(k) + 1e-3
                z = (q * k.sum(1, keepdim=True)).sum(-1, keepdim=True)
                return (q @ (k.transpose(1, 2) @ v)) / z""",
        ),
        why="elu(x) + 1 is exactly 0 from -17 down, and the divisor with it; a ReLU plus 0.001 isn't",
        ranges={"q": (-50, 50), "k": (-50, 50), "v": (-10, 10)},
        fails_at="div",
        breaks={"q": -18.5, "k": -1, "v": 1},
        defective="""
            g (float[1,6,8] q, float[1,6,8] k, float[1,6,8] v) => (float[1,6,8] div) {
              val_0 = Constant<value = float {1}>()
              val_1 = CastLike(val_0, q)
              val_2 = CastLike(val_0, q)
              val_3 = Mul(q, val_1)
              val_4 = Elu<alpha: float = 1>(val_3)
              elu = Mul(val_4, val_2)
              val_5 = Constant<value = int64 {1}>()
              scalar_tensor_default = Cast<to = 1>(val_5)
              add = Add(elu, scalar_tensor_default)
              val_6 = CastLike(val_0, k)
              val_7 = CastLike(val_0, k)
              val_8 = Mul(k, val_6)
              val_9 = Elu<alpha: float = 1>(val_8)
              elu_1 = Mul(val_9, val_7)
              scalar_tensor_default_1 = Cast<to = 1>(val_5)
              add_1 = Add(elu_1, scalar_tensor_default_1)
              val_10 = Constant<value = int64[1] {1}>()
              sum_1 = ReduceSum<noop_with_empty_axes = 0, keepdims = 1>(add_1, val_10)
              mul = Mul(add, sum_1)
              val_11 = Constant<value = int64[1] {-1}>()
              sum_2 = ReduceSum<noop_with_empty_axes = 0, keepdims = 1>(mul, val_11)
              transpose = Transpose<perm = [0, 2, 1]>(add_1)
              matmul = MatMul(transpose, v)
              matmul_1 = MatMul(add, matmul)
              div = Div(matmul_1, sum_2)
            }""",
        repaired="""
            g (float[1,6,8] q, float[1,6,8] k, float[1,6,8] v) => (float[1,6,8] div) {
              relu = Relu(q)
              val_0 = Constant<value = float {0.001}>()
              add = Add(relu, val_0)
              relu_1 = Relu(k)
              add_1 = Add(relu_1, val_0)
              val_1 = Constant<value = int64[1] {1}>()
              sum_1 = ReduceSum<noop_with_empty_axes = 0, keepdims = 1>(add_1, val_1)
              mul = Mul(add, sum_1)
              val_2 = Constant<value = int64[1] {-1}>()
              sum_2 = ReduceSum<noop_with_empty_axes = 0, keepdims = 1>(mul, val_2)
              transpose = Transpose<perm = [0, 2, 1]>(add_1)
              matmul = MatMul(transpose, v)
              matmul_1 = MatMul(add, matmul)
              div = Div(matmul_1, sum_2)
            }""",
    ),
    Pair(
        name="attention with distances",
        facts=("softmax rows",),
        form="torch 23",
        source=(
            """
                d = (torch.arange(6)[None, :] - torch.arange(6)[:, None]).float()
                return F.softmax(s + d / w, dim=-1)""",
            """
                d = (torch.arange(6)[None, :] - torch.arange(6)[:, None]).float()
                return F.softmax(s + d * w, dim=-1)""",
        ),
        why="ALiBi multiplies by its slopes; divided by one that is 0, distances are NaN or Inf",
        ranges={"s": (-100, 100), "w": (0, 1)},
        fails_at="div",
        breaks={"s": 1, "w": 0},
        defective="""
            g (float[1,2,6,6] s, float[2,1,1] w) => (float[1,2,6,6] softmax) {
              val_0 = Constant<value = float {0}>()
              val_1 = Constant<value = int64 {6}>()
              val_2 = CastLike(val_0, val_1)
              val_3 = Constant<value = float {1}>()
              val_4 = CastLike(val_3, val_1)
              arange = Range(val_2, val_1, val_4)
              val_5 = Constant<value = int64[1] {0}>()
              unsqueeze = Unsqueeze(arange, val_5)
              val_6 = CastLike(val_0, val_1)
              val_7 = CastLike(val_3, val_1)
              arange_1 = Range(val_6, val_1, val_7)
              val_8 = Constant<value = int64[1] {1}>()
              unsqueeze_1 = Unsqueeze(arange_1, val_8)
              sub = Sub(unsqueeze, unsqueeze_1)
              _to_copy = Cast<to = 1>(sub)
              div = Div(_to_copy, w)
              add = Add(s, div)
              softmax = Softmax<axis = -1>(add)
            }""",
        repaired="""
            g (float[1,2,6,6] s, float[2,1,1] w) => (float[1,2,6,6] softmax) {
              val_0 = Constant<value = float {0}>()
              val_1 = Constant<value = int64 {6}>()
              val_2 = CastLike(val_0, val_1)
              val_3 = Constant<value = float {1}>()
              val_4 = CastLike(val_3, val_1)
              arange = Range(val_2, val_1, val_4)
              val_5 = Constant<value = int64[1] {0}>()
              unsqueeze = Unsqueeze(arange, val_5)
              val_6 = CastLike(val_0, val_1)
              val_7 = CastLike(val_3, val_1)
              arange_1 = Range(val_6, val_1, val_7)
              val_8 = Constant<value = int64[1] {1}>()
              unsqueeze_1 = Unsqueeze(arange_1, val_8)
              sub = Sub(unsqueeze, unsqueeze_1)
              _to_copy = Cast<to = 1>(sub)
              mul = Mul(_to_copy, w)
              add = Add(s, mul)
              softmax = Softmax<axis = -1>(add)
            }""",
    ),
)
