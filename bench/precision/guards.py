"""What a comparison keeps away from an operator."""

from __future__ import annotations

from .pairs import Pair

PAIRS = (
    Pair(
        name="logarithm where positive",
        facts=("comparisons",),
        form="torch 18",
        source=(
            "torch.where(x >= 0, torch.log(x), torch.zeros_like(x))",
            "torch.where(x > 0, torch.log(x), torch.zeros_like(x))",
        ),
        why="0 passes x >= 0, and log(0) is -Inf",
        ranges={"x": (-10, 10)},
        fails_at="log",
        breaks={"x": 0},
        defective="""
            g (float[16] x) => (float[16] where) {
              val_0 = Constant<value = int64 {0}>()
              scalar_tensor_default = Cast<to = 1>(val_0)
              ge = GreaterOrEqual(x, scalar_tensor_default)
              log = Log(x)
              val_1 = CastLike(val_0, x)
              val_2 = Shape<start = 0>(x)
              zeros_like = Expand(val_1, val_2)
              where = Where(ge, log, zeros_like)
            }""",
        repaired="""
            g (float[16] x) => (float[16] where) {
              val_0 = Constant<value = int64 {0}>()
              scalar_tensor_default = Cast<to = 1>(val_0)
              gt = Greater(x, scalar_tensor_default)
              log = Log(x)
              val_1 = CastLike(val_0, x)
              val_2 = Shape<start = 0>(x)
              zeros_like = Expand(val_1, val_2)
              where = Where(gt, log, zeros_like)
            }""",
    ),
    Pair(
        name="two wheres",
        facts=("comparisons",),
        form="torch 23",
        source=(
            """
                s = torch.where(x >= 0, x, torch.ones_like(x))
                return torch.where(x >= 0, torch.log(s), torch.zeros_like(x))""",
            """
                s = torch.where(x > 0, x, torch.ones_like(x))
                return torch.where(x > 0, torch.log(s), torch.zeros_like(x))""",
        ),
        why="as above; the operand is replaced before the logarithm too, so that gradients stay finite",
        ranges={"x": (-10, 10)},
        fails_at="log",
        breaks={"x": 0},
        defective="""
            g (float[16] x) => (float[16] where_1) {
              val_0 = Constant<value = int64 {0}>()
              scalar_tensor_default = Cast<to = 1>(val_0)
              ge = GreaterOrEqual(x, scalar_tensor_default)
              val_1 = Constant<value = int64 {1}>()
              val_2 = CastLike(val_1, x)
              val_3 = Shape<start = 0>(x)
              ones_like = Expand(val_2, val_3)
              where = Where(ge, x, ones_like)
              scalar_tensor_default_1 = Cast<to = 1>(val_0)
              ge_1 = GreaterOrEqual(x, scalar_tensor_default_1)
              log = Log(where)
              val_4 = CastLike(val_0, x)
              val_5 = Shape<start = 0>(x)
              zeros_like = Expand(val_4, val_5)
              where_1 = Where(ge_1, log, zeros_like)
            }""",
        repaired="""
            g (float[16] x) => (float[16] where_1) {
              val_0 = Constant<value = int64 {0}>()
              scalar_tensor_default = Cast<to = 1>(val_0)
              gt = Greater(x, scalar_tensor_default)
              val_1 = Constant<value = int64 {1}>()
              val_2 = CastLike(val_1, x)
              val_3 = Shape<start = 0>(x)
              ones_like = Expand(val_2, val_3)
              where = Where(gt, x, ones_like)
              scalar_tensor_default_1 = Cast<to = 1>(val_0)
              gt_1 = Greater(x, scalar_tensor_default_1)
              log = Log(where)
              val_4 = CastLike(val_0, x)
              val_5 = Shape<start = 0>(x)
              zeros_like = Expand(val_4, val_5)
              where_1 = Where(gt_1, log, zeros_like)
            }""",
    ),
    Pair(
        name="logarithm in the branch of an If",
        facts=("comparisons", "min and max"),
        form="torch 18",
        source=(
            "torch.cond(x.min() >= 0, lambda x: torch.log(x), lambda x: torch.zeros_like(x), (x,))",
            "torch.cond(x.min() > 0, lambda x: torch.log(x), lambda x: torch.zeros_like(x), (x,))",
        ),
        why="the branch is taken only if the least element is above 0",
        ranges={"x": (-10, 10)},
        fails_at="getitem",
        breaks={"x": 0},
        defective="""
            g (float[16] x) => (float[16] getitem) {
              min_1 = ReduceMin<noop_with_empty_axes = 0, keepdims = 0>(x)
              val_0 = Constant<value = int64 {0}>()
              scalar_tensor_default = Cast<to = 1>(val_0)
              ge = GreaterOrEqual(min_1, scalar_tensor_default)
              getitem = If(ge)<then_branch = true_graph_0() => (float[16] log_true_graph_0) {
                log_true_graph_0 = Log(x)
              }, else_branch = false_graph_0() => (float[16] zeros_like_false_graph_0) {
                val_0_2 = Constant<value = int64 {0}>()
                val_1 = CastLike(val_0_2, x)
                val_2 = Shape<start = 0>(x)
                zeros_like_false_graph_0 = Expand(val_1, val_2)
              }>
            }""",
        repaired="""
            g (float[16] x) => (float[16] getitem) {
              min_1 = ReduceMin<noop_with_empty_axes = 0, keepdims = 0>(x)
              val_0 = Constant<value = int64 {0}>()
              scalar_tensor_default = Cast<to = 1>(val_0)
              gt = Greater(min_1, scalar_tensor_default)
              getitem = If(gt)<then_branch = true_graph_0() => (float[16] log_true_graph_0) {
                log_true_graph_0 = Log(x)
              }, else_branch = false_graph_0() => (float[16] zeros_like_false_graph_0) {
                val_0_2 = Constant<value = int64 {0}>()
                val_1 = CastLike(val_0_2, x)
                val_2 = Shape<start = 0>(x)
                zeros_like_false_graph_0 = Expand(val_1, val_2)
              }>
            }""",
    ),
    Pair(
        name="quotient in the branch of an If",
        facts=("comparisons",),
        form="torch 23",
        source=(
            "torch.cond(n >= 0, lambda x, n: x / n, lambda x, n: x * 1.0, (x, n))",
            "torch.cond(n > 1e-3, lambda x, n: x / n, lambda x, n: x * 1.0, (x, n))",
        ),
        why="0 passes n >= 0",
        ranges={"x": (-10, 10), "n": (0, 10)},
        fails_at="getitem",
        breaks={"x": 1, "n": 0},
        defective="""
            g (float[16] x, float n) => (float[16] getitem) {
              val_0 = Constant<value = int64 {0}>()
              scalar_tensor_default = Cast<to = 1>(val_0)
              ge = GreaterOrEqual(n, scalar_tensor_default)
              getitem = If(ge)<then_branch = true_graph_0() => (float[16] div_true_graph_0) {
                div_true_graph_0 = Div(x, n)
              }, else_branch = false_graph_0() => (float[16] mul_false_graph_0) {
                val_0_2 = Constant<value = float {1}>()
                mul_false_graph_0 = Mul(x, val_0_2)
              }>
            }""",
        repaired="""
            g (float[16] x, float n) => (float[16] getitem) {
              val_0 = Constant<value = float {0.001}>()
              gt = Greater(n, val_0)
              getitem = If(gt)<then_branch = true_graph_0() => (float[16] div_true_graph_0) {
                div_true_graph_0 = Div(x, n)
              }, else_branch = false_graph_0() => (float[16] mul_false_graph_0) {
                val_0_2 = Constant<value = float {1}>()
                mul_false_graph_0 = Mul(x, val_0_2)
              }>
            }""",
    ),
    Pair(
        name="sinc",
        facts=("comparisons",),
        form="torch 18",
        source=(
            "torch.sin(x) / x",
            "torch.where(x == 0, 1.0, torch.sin(x) / x)",
        ),
        why="0 / 0, which isn't chosen",
        ranges={"x": (-10, 10)},
        mended={"x": (-10, 10)},
        fails_at="div",
        breaks={"x": 0},
        defective="""
            g (float[16] x) => (float[16] div) {
              sin = Sin(x)
              div = Div(sin, x)
            }""",
        repaired="""
            g (float[16] x) => (float[16] where) {
              val_0 = Constant<value = int64 {0}>()
              scalar_tensor_default = Cast<to = 1>(val_0)
              eq = Equal(x, scalar_tensor_default)
              sin = Sin(x)
              div = Div(sin, x)
              val_1 = Constant<value = float {1}>()
              where = Where(eq, val_1, div)
            }""",
    ),
    Pair(
        name="x log y",
        facts=("comparisons",),
        form="torch 23",
        source=(
            "x * torch.log(y)",
            "torch.where(x == 0, 0.0, x * torch.log(torch.where(x == 0, 1.0, y.clamp(min=1e-30))))",
        ),
        why="0 * log(0)",
        ranges={"x": (0, 1), "y": (0, 1)},
        fails_at="log",
        breaks={"x": 1e-09, "y": 0},
        defective="""
            g (float[16] x, float[16] y) => (float[16] mul) {
              log = Log(y)
              mul = Mul(x, log)
            }""",
        repaired="""
            g (float[16] x, float[16] y) => (float[16] where_1) {
              val_0 = Constant<value = int64 {0}>()
              scalar_tensor_default = Cast<to = 1>(val_0)
              eq = Equal(x, scalar_tensor_default)
              scalar_tensor_default_1 = Cast<to = 1>(val_0)
              eq_1 = Equal(x, scalar_tensor_default_1)
              val_1 = Constant<value = float {1e-30}>()
              val_2 = CastLike(val_1, y)
              clamp = Clip(y, val_2)
              val_3 = Constant<value = float {1}>()
              where = Where(eq_1, val_3, clamp)
              log = Log(where)
              mul = Mul(x, log)
              val_4 = Constant<value = float {0}>()
              where_1 = Where(eq, val_4, mul)
            }""",
    ),
    Pair(
        name="Huber loss",
        facts=("comparisons",),
        form="torch 18",
        source=(
            "torch.where(x.abs() < 1, x.abs() - 0.5, 0.5 * x * x)",
            "torch.where(x.abs() < 1, 0.5 * x * x, x.abs() - 0.5)",
        ),
        why="the branches are swapped: the square is chosen where it overflows",
        ranges={"x": (-1e30, 1e30)},
        fails_at="mul_1",
        breaks={"x": -1e30},
        defective="""
            g (float[16] x) => (float[16] where) {
              abs_1 = Abs(x)
              val_0 = Constant<value = int64 {1}>()
              scalar_tensor_default = Cast<to = 1>(val_0)
              lt = Less(abs_1, scalar_tensor_default)
              abs_2 = Abs(x)
              val_1 = Constant<value = float {0.5}>()
              sub = Sub(abs_2, val_1)
              mul = Mul(x, val_1)
              mul_1 = Mul(mul, x)
              where = Where(lt, sub, mul_1)
            }""",
        repaired="""
            g (float[16] x) => (float[16] where) {
              abs_1 = Abs(x)
              val_0 = Constant<value = int64 {1}>()
              scalar_tensor_default = Cast<to = 1>(val_0)
              lt = Less(abs_1, scalar_tensor_default)
              val_1 = Constant<value = float {0.5}>()
              mul = Mul(x, val_1)
              mul_1 = Mul(mul, x)
              abs_2 = Abs(x)
              sub = Sub(abs_2, val_1)
              where = Where(lt, mul_1, sub)
            }""",
    ),
    Pair(
        name="quotient with a default",
        facts=("comparisons",),
        form="JAX",
        source=(
            "x / y",
            "x / jnp.where(jnp.abs(y) < 1e-6, 1.0, y)",
        ),
        why="a divisor near 0 is replaced",
        ranges={"x": (-10, 10), "y": (-10, 10)},
        fails_at="div",
        breaks={"x": 1e-09, "y": 0},
        defective="""
            g (float[16] x, float[16] y) => (float[16] div) {
              div = Div(x, y)
            }""",
        repaired="""
            g (float[16] x, float[16] y) => (float[16] div) {
              abs = Abs(y)
              lit = Constant<value = float {1e-06}> ()
              less = Less(abs, lit)
              lit_1 = Constant<value = float {1}> ()
              cast = Cast<to = 1> (lit_1)
              lit_2 = Constant<value = int64[1] {1}> ()
              reshape = Reshape(cast, lit_2)
              lit_3 = Constant<value = int64[1] {16}> ()
              expand = Expand(reshape, lit_3)
              where = Where(less, expand, y)
              div = Div(x, where)
            }""",
    ),
    Pair(
        name="two comparisons",
        facts=("comparisons",),
        form="torch 23",
        source=(
            "torch.where((x > 0) | (y > 0), torch.log(x) + torch.log(y), 0.0)",
            "torch.where((x > 0) & (y > 0), torch.log(x) + torch.log(y), 0.0)",
        ),
        why="one of the two suffices for |, both are needed",
        ranges={"x": (-10, 10), "y": (-10, 10)},
        fails_at="log_1",
        breaks={"x": 10, "y": -10},
        defective="""
            g (float[16] x, float[16] y) => (float[16] where) {
              val_0 = Constant<value = int64 {0}>()
              scalar_tensor_default = Cast<to = 1>(val_0)
              gt = Greater(x, scalar_tensor_default)
              scalar_tensor_default_1 = Cast<to = 1>(val_0)
              gt_1 = Greater(y, scalar_tensor_default_1)
              bitwise_or = Or(gt, gt_1)
              log = Log(x)
              log_1 = Log(y)
              add = Add(log, log_1)
              val_1 = Constant<value = float {0}>()
              where = Where(bitwise_or, add, val_1)
            }""",
        repaired="""
            g (float[16] x, float[16] y) => (float[16] where) {
              val_0 = Constant<value = int64 {0}>()
              scalar_tensor_default = Cast<to = 1>(val_0)
              gt = Greater(x, scalar_tensor_default)
              scalar_tensor_default_1 = Cast<to = 1>(val_0)
              gt_1 = Greater(y, scalar_tensor_default_1)
              bitwise_and = And(gt, gt_1)
              log = Log(x)
              log_1 = Log(y)
              add = Add(log, log_1)
              val_1 = Constant<value = float {0}>()
              where = Where(bitwise_and, add, val_1)
            }""",
    ),
    Pair(
        name="not of a comparison",
        facts=("comparisons",),
        form="TensorFlow",
        source=(
            "tf.where(~(x < 0), tf.math.rsqrt(x), 0.)",
            "tf.where(~(x < 1e-12), tf.math.rsqrt(x), 0.)",
        ),
        why="0 isn't less than 0; from 1e-12 up the root is far from 0",
        ranges={"x": (-10, 10)},
        fails_at="Reciprocal",
        breaks={"x": 0},
        defective="""
            g (float[16] x) => (float[16] SelectV2) {
              zero = Constant<value = float {0}>()
              Less = Less(x, zero)
              LogicalNot = Not(Less)
              Sqrt = Sqrt(x)
              Reciprocal = Reciprocal(Sqrt)
              zeros = Constant<value = float[1] {0}>()
              SelectV2 = Where(LogicalNot, Reciprocal, zeros)
            }""",
        repaired="""
            g (float[16] x) => (float[16] SelectV2) {
              tiny = Constant<value = float {1e-12}>()
              Less = Less(x, tiny)
              LogicalNot = Not(Less)
              Sqrt = Sqrt(x)
              Reciprocal = Reciprocal(Sqrt)
              zeros = Constant<value = float[1] {0}>()
              SelectV2 = Where(LogicalNot, Reciprocal, zeros)
            }""",
    ),
    Pair(
        name="masked by multiplication",
        facts=("comparisons",),
        form="torch 18",
        source=(
            "torch.log(x) * (x > 0).float()",
            """
                m = (x > 0.01).float()
                return torch.log(x * m + (1 - m))""",
        ),
        why="NaN * 0 is NaN; the operand is replaced instead",
        ranges={"x": (-10, 10)},
        fails_at="log",
        breaks={"x": 0},
        defective="""
            g (float[16] x) => (float[16] mul) {
              log = Log(x)
              val_0 = Constant<value = int64 {0}>()
              scalar_tensor_default = Cast<to = 1>(val_0)
              gt = Greater(x, scalar_tensor_default)
              _to_copy = Cast<to = 1>(gt)
              mul = Mul(log, _to_copy)
            }""",
        repaired="""
            g (float[16] x) => (float[16] log) {
              val_0 = Constant<value = float {0.01}>()
              gt = Greater(x, val_0)
              _to_copy = Cast<to = 1>(gt)
              mul = Mul(x, _to_copy)
              val_1 = Constant<value = int64 {1}>()
              scalar_tensor_default = Cast<to = 1>(val_1)
              sub = Sub(scalar_tensor_default, _to_copy)
              add = Add(mul, sub)
              log = Log(add)
            }""",
    ),
    Pair(
        name="expm1 over x",
        facts=("comparisons",),
        form="JAX",
        source=(
            "jnp.expm1(x) / x",
            """
                s = jnp.where(jnp.abs(x) < 1e-4, 1.0, x)
                return jnp.where(jnp.abs(x) < 1e-4, 1.0 + x / 2, jnp.expm1(s) / s)""",
        ),
        why="0 / 0; near 0 the series is taken",
        ranges={"x": (-10, 10)},
        fails_at="div",
        breaks={"x": 0},
        defective="""
            g (float[16] x) => (float[16] div) {
              exp = Exp(x)
              lit = Constant<value = float {1}> ()
              sub = Sub(exp, lit)
              div = Div(sub, x)
            }""",
        repaired="""
            g (float[16] x) => (float[16] where_1) {
              abs = Abs(x)
              lit = Constant<value = float {1e-04}> ()
              less = Less(abs, lit)
              lit_1 = Constant<value = float {1}> ()
              cast = Cast<to = 1> (lit_1)
              lit_2 = Constant<value = int64[1] {1}> ()
              reshape = Reshape(cast, lit_2)
              lit_3 = Constant<value = int64[1] {16}> ()
              expand = Expand(reshape, lit_3)
              where = Where(less, expand, x)
              abs_1 = Abs(x)
              lit_4 = Constant<value = float {1e-04}> ()
              less_1 = Less(abs_1, lit_4)
              lit_5 = Constant<value = float {2}> ()
              div = Div(x, lit_5)
              lit_6 = Constant<value = float {1}> ()
              add = Add(lit_6, div)
              exp = Exp(where)
              lit_7 = Constant<value = float {1}> ()
              sub = Sub(exp, lit_7)
              div_1 = Div(sub, where)
              where_1 = Where(less_1, add, div_1)
            }""",
    ),
)
