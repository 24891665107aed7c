"""Activations written out."""

from __future__ import annotations

from .pairs import Pair

PAIRS = (
    Pair(
        name="GELU with a tanh of exponentials",
        facts=("sigmoid and tanh", "monotone chains"),
        form="torch 18",
        source=(
            """
                u = 0.7978845608 * (x + 0.044715 * x ** 3)
                t = (torch.exp(2 * u) - 1) / (torch.exp(2 * u) + 1)
                return 0.5 * x * (1 + t)""",
            """
                u = 0.7978845608 * (x + 0.044715 * x ** 3)
                return 0.5 * x * (1 + torch.tanh(u))""",
        ),
        why="Inf / Inf in a tanh written out",
        ranges={"x": (-1000, 1000)},
        fails_at="exp",
        breaks={"x": 60},
        defective="""
            g (float[16] x) => (float[16] mul_5) {
              val_0 = Constant<value = float {3}>()
              pow_1 = Pow(x, val_0)
              val_1 = Constant<value = float {0.044715}>()
              mul = Mul(pow_1, val_1)
              add = Add(x, mul)
              val_2 = Constant<value = float {0.7978846}>()
              mul_1 = Mul(add, val_2)
              val_3 = Constant<value = int64 {2}>()
              scalar_tensor_default = Cast<to = 1>(val_3)
              mul_2 = Mul(mul_1, scalar_tensor_default)
              exp = Exp(mul_2)
              val_4 = Constant<value = int64 {1}>()
              scalar_tensor_default_1 = Cast<to = 1>(val_4)
              sub = Sub(exp, scalar_tensor_default_1)
              scalar_tensor_default_2 = Cast<to = 1>(val_3)
              mul_3 = Mul(mul_1, scalar_tensor_default_2)
              exp_1 = Exp(mul_3)
              scalar_tensor_default_3 = Cast<to = 1>(val_4)
              add_1 = Add(exp_1, scalar_tensor_default_3)
              div = Div(sub, add_1)
              val_5 = Constant<value = float {0.5}>()
              mul_4 = Mul(x, val_5)
              scalar_tensor_default_4 = Cast<to = 1>(val_4)
              add_2 = Add(div, scalar_tensor_default_4)
              mul_5 = Mul(mul_4, add_2)
            }""",
        repaired="""
            g (float[16] x) => (float[16] mul_3) {
              val_0 = Constant<value = float {3}>()
              pow_1 = Pow(x, val_0)
              val_1 = Constant<value = float {0.044715}>()
              mul = Mul(pow_1, val_1)
              add = Add(x, mul)
              val_2 = Constant<value = float {0.7978846}>()
              mul_1 = Mul(add, val_2)
              val_3 = Constant<value = float {0.5}>()
              mul_2 = Mul(x, val_3)
              tanh = Tanh(mul_1)
              val_4 = Constant<value = int64 {1}>()
              scalar_tensor_default = Cast<to = 1>(val_4)
              add_1 = Add(tanh, scalar_tensor_default)
              mul_3 = Mul(mul_2, add_1)
            }""",
    ),
    Pair(
        name="GELU of a jaxpr",
        facts=("sigmoid and tanh", "monotone chains"),
        form="JAX",
        source=(
            """
                u = 0.7978846 * (x + 0.044715 * x ** 3)
                return x / (1.0 + jnp.exp(-2.0 * u)) * jnp.exp(-2.0 * u) / jnp.exp(-2.0 * u)""",
            "jax.nn.gelu(x)",
        ),
        why="Inf / Inf; jax.nn.gelu takes a tanh",
        ranges={"x": (-1000, 1000)},
        fails_at="exp_1",
        breaks={"x": -1000},
        defective="""
            g (float[16] x) => (float[16] div_1) {
              lit = Constant<value = float {3}> ()
              pow = Pow(x, lit)
              lit_1 = Constant<value = float {0.044715}> ()
              mul = Mul(lit_1, pow)
              add = Add(x, mul)
              lit_2 = Constant<value = float {0.7978846}> ()
              mul_1 = Mul(lit_2, add)
              lit_3 = Constant<value = float {-2}> ()
              mul_2 = Mul(lit_3, mul_1)
              exp = Exp(mul_2)
              lit_4 = Constant<value = float {1}> ()
              add_1 = Add(lit_4, exp)
              div = Div(x, add_1)
              lit_5 = Constant<value = float {-2}> ()
              mul_3 = Mul(lit_5, mul_1)
              exp_1 = Exp(mul_3)
              mul_4 = Mul(div, exp_1)
              lit_6 = Constant<value = float {-2}> ()
              mul_5 = Mul(lit_6, mul_1)
              exp_2 = Exp(mul_5)
              div_1 = Div(mul_4, exp_2)
            }""",
        repaired="""
            g (float[16] x) => (float[16] mul_3) {
              lit = Constant<value = float {3}> ()
              pow = Pow(x, lit)
              lit_1 = Constant<value = float {0.044715}> ()
              mul = Mul(lit_1, pow)
              add = Add(x, mul)
              lit_2 = Constant<value = float {0.7978846}> ()
              mul_1 = Mul(lit_2, add)
              tanh = Tanh(mul_1)
              lit_3 = Constant<value = float {1}> ()
              add_1 = Add(lit_3, tanh)
              lit_4 = Constant<value = float {0.5}> ()
              mul_2 = Mul(lit_4, add_1)
              mul_3 = Mul(x, mul_2)
            }""",
    ),
    Pair(
        name="quick GELU",
        facts=("sigmoid and tanh",),
        form="torch 23",
        source=(
            """
                e = torch.exp(1.702 * x)
                return x * e / (1 + e)""",
            "x * torch.sigmoid(1.702 * x)",
        ),
        why="Inf / Inf in a sigmoid written out",
        ranges={"x": (-500, 500)},
        fails_at="exp",
        breaks={"x": 60},
        defective="""
            g (float[16] x) => (float[16] div) {
              val_0 = Constant<value = float {1.702}>()
              mul = Mul(x, val_0)
              exp = Exp(mul)
              mul_1 = Mul(x, exp)
              val_1 = Constant<value = int64 {1}>()
              scalar_tensor_default = Cast<to = 1>(val_1)
              add = Add(exp, scalar_tensor_default)
              div = Div(mul_1, add)
            }""",
        repaired="""
            g (float[16] x) => (float[16] mul_1) {
              val_0 = Constant<value = float {1.702}>()
              mul = Mul(x, val_0)
              sigmoid = Sigmoid(mul)
              mul_1 = Mul(x, sigmoid)
            }""",
    ),
    Pair(
        name="exact GELU",
        facts=("monotone chains",),
        form="torch 18",
        source=(
            "torch.log(F.gelu(x) + 0.16)",
            "torch.log(F.gelu(x) + 0.18)",
        ),
        why="the least value of GELU is -0.16997",
        ranges={"x": (-10, 10)},
        fails_at="log",
        breaks={"x": [-0.96, -2.11, 1, -10, 2.87, 4.51, 0, 10, 0.4, -1.47, -9.19, -6.12, 0, -6.75, 0, 6.44]},
        defective="""
            g (float[16] x) => (float[16] log) {
              val_0 = Constant<value = float {1.4142135}>()
              val_1 = Div(x, val_0)
              val_2 = Erf(val_1)
              val_3 = Constant<value = float {1}>()
              val_4 = Add(val_2, val_3)
              val_5 = Constant<value = float {0.5}>()
              val_6 = Mul(val_5, val_4)
              gelu = Mul(x, val_6)
              val_7 = Constant<value = float {0.16}>()
              add = Add(gelu, val_7)
              log = Log(add)
            }""",
        repaired="""
            g (float[16] x) => (float[16] log) {
              val_0 = Constant<value = float {1.4142135}>()
              val_1 = Div(x, val_0)
              val_2 = Erf(val_1)
              val_3 = Constant<value = float {1}>()
              val_4 = Add(val_2, val_3)
              val_5 = Constant<value = float {0.5}>()
              val_6 = Mul(val_5, val_4)
              gelu = Mul(x, val_6)
              val_7 = Constant<value = float {0.18}>()
              add = Add(gelu, val_7)
              log = Log(add)
            }""",
    ),
    Pair(
        name="Mish",
        facts=("sigmoid and tanh", "monotone chains"),
        form="torch 18",
        source=(
            "x * torch.tanh(torch.log(1 + torch.exp(x)) - torch.exp(x))",
            "x * torch.tanh(F.softplus(x))",
        ),
        why="Inf - Inf; softplus is linear where exp would overflow",
        ranges={"x": (-500, 500)},
        fails_at="exp",
        breaks={"x": 100},
        defective="""
            g (float[16] x) => (float[16] mul) {
              exp = Exp(x)
              val_0 = Constant<value = int64 {1}>()
              scalar_tensor_default = Cast<to = 1>(val_0)
              add = Add(exp, scalar_tensor_default)
              log = Log(add)
              exp_1 = Exp(x)
              sub = Sub(log, exp_1)
              tanh = Tanh(sub)
              mul = Mul(x, tanh)
            }""",
        repaired="""
            g (float[16] x) => (float[16] mul) {
              beta = Constant<value_float: float = 1>()
              beta_cast = CastLike(beta, x)
              self_scaled = Mul(x, beta_cast)
              tmp = Softplus(self_scaled)
              beta_0 = Constant<value_float: float = 1>()
              beta_0_cast = CastLike(beta_0, tmp)
              softplus_2 = Div(tmp, beta_0_cast)
              threshold = Constant<value_float: float = 20>()
              threshold_cast = CastLike(threshold, self_scaled)
              tmp_1 = Greater(self_scaled, threshold_cast)
              softplus = Where(tmp_1, x, softplus_2)
              tanh = Tanh(softplus)
              mul = Mul(x, tanh)
            }""",
    ),
    Pair(
        name="SiLU gate",
        facts=("sigmoid and tanh", "min and max"),
        form="TensorFlow",
        source=(
            "x * tf.exp(x) / (1 + tf.exp(x))",
            "tf.nn.silu(x)",
        ),
        why="Inf / Inf in a sigmoid written out; tf.nn.silu multiplies by the operator",
        ranges={"x": (-500, 500)},
        fails_at="Exp",
        breaks={"x": 100},
        defective="""
            g (float[16] x) => (float[16] truediv) {
              Exp = Exp(x)
              mul = Mul(x, Exp)
              one = Constant<value = float {1}>()
              add = Add(Exp, one)
              truediv = Div(mul, add)
            }""",
        repaired="""
            g (float[16] x) => (float[16] mul) {
              Sigmoid = Sigmoid(x)
              mul = Mul(x, Sigmoid)
            }""",
    ),
    Pair(
        name="ELU by hand",
        facts=("comparisons", "min and max"),
        form="torch 23",
        source=(
            """
                e = torch.exp(x) - 1
                return F.relu(x) + e - F.relu(e)""",
            "torch.where(x > 0, x, torch.exp(torch.clamp(x, max=0)) - 1)",
        ),
        why="Inf - Inf; what isn't chosen is cut at 0 before exp sees it",
        ranges={"x": (-500, 500)},
        fails_at="exp",
        breaks={"x": 100},
        defective="""
            g (float[16] x) => (float[16] sub_1) {
              exp = Exp(x)
              val_0 = Constant<value = int64 {1}>()
              scalar_tensor_default = Cast<to = 1>(val_0)
              sub = Sub(exp, scalar_tensor_default)
              relu = Relu(x)
              add = Add(relu, sub)
              relu_1 = Relu(sub)
              sub_1 = Sub(add, relu_1)
            }""",
        repaired="""
            g (float[16] x) => (float[16] where) {
              val_0 = Constant<value = int64 {0}>()
              scalar_tensor_default = Cast<to = 1>(val_0)
              gt = Greater(x, scalar_tensor_default)
              scalar_tensor_default_1 = Cast<to = 1>(val_0)
              val_1 = CastLike(scalar_tensor_default_1, x)
              clamp = Min(x, val_1)
              exp = Exp(clamp)
              val_2 = Constant<value = int64 {1}>()
              scalar_tensor_default_2 = Cast<to = 1>(val_2)
              sub = Sub(exp, scalar_tensor_default_2)
              where = Where(gt, x, sub)
            }""",
    ),
    Pair(
        name="ELU by hand behind a where",
        facts=("comparisons",),
        form="torch 18",
        source=(
            "torch.where(x >= 0, torch.exp(x) - 1, x)",
            "torch.where(x > 0, x, torch.exp(x) - 1)",
        ),
        why="the branches are swapped: the exponential is chosen where it overflows",
        ranges={"x": (-500, 500)},
        fails_at="exp",
        breaks={"x": 100},
        defective="""
            g (float[16] x) => (float[16] where) {
              val_0 = Constant<value = int64 {0}>()
              scalar_tensor_default = Cast<to = 1>(val_0)
              ge = GreaterOrEqual(x, scalar_tensor_default)
              exp = Exp(x)
              val_1 = Constant<value = int64 {1}>()
              scalar_tensor_default_1 = Cast<to = 1>(val_1)
              sub = Sub(exp, scalar_tensor_default_1)
              where = Where(ge, sub, x)
            }""",
        repaired="""
            g (float[16] x) => (float[16] where) {
              val_0 = Constant<value = int64 {0}>()
              scalar_tensor_default = Cast<to = 1>(val_0)
              gt = Greater(x, scalar_tensor_default)
              exp = Exp(x)
              val_1 = Constant<value = int64 {1}>()
              scalar_tensor_default_1 = Cast<to = 1>(val_1)
              sub = Sub(exp, scalar_tensor_default_1)
              where = Where(gt, x, sub)
            }""",
    ),
)
