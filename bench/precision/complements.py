"""One minus a probability, a sigmoid or a square of a tanh."""

from __future__ import annotations

from .pairs import Pair

PAIRS = (
    Pair(
        name="logarithm of what a sigmoid leaves",
        facts=("sigmoid and tanh", "1 - p"),
        form="torch 18",
        source=(
            "torch.log(1 - torch.sigmoid(x))",
            "-F.softplus(x)",
        ),
        why="1 - sigmoid(x) reaches 0; its logarithm is -softplus(x)",
        ranges={"x": (-50, 50)},
        fails_at="log",
        breaks={"x": 40},
        defective="""
            g (float[16] x) => (float[16] log) {
              sigmoid = Sigmoid(x)
              val_0 = Constant<value = int64 {1}>()
              scalar_tensor_default = Cast<to = 1>(val_0)
              sub = Sub(scalar_tensor_default, sigmoid)
              log = Log(sub)
            }""",
        repaired="""
            g (float[16] x) => (float[16] neg) {
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
              neg = Neg(softplus)
            }""",
    ),
    Pair(
        name="derivative of a sigmoid under a root",
        facts=("sigmoid and tanh", "1 - p"),
        form="torch 18",
        source=(
            """
                p = torch.sigmoid(x)
                return torch.sqrt(p * (1 - p))""",
            "torch.sqrt(torch.sigmoid(x) * torch.sigmoid(-x))",
        ),
        why="ONNX Runtime's sigmoid exceeds 1 by a rounding; a product of two sigmoids isn't negative",
        ranges={"x": (-50, 50)},
        fails_at="sqrt",
        breaks={"x": 17.868923},
        defective="""
            g (float[16] x) => (float[16] sqrt) {
              sigmoid = Sigmoid(x)
              val_0 = Constant<value = int64 {1}>()
              scalar_tensor_default = Cast<to = 1>(val_0)
              sub = Sub(scalar_tensor_default, sigmoid)
              mul = Mul(sigmoid, sub)
              sqrt = Sqrt(mul)
            }""",
        repaired="""
            g (float[16] x) => (float[16] sqrt) {
              sigmoid = Sigmoid(x)
              neg = Neg(x)
              sigmoid_1 = Sigmoid(neg)
              mul = Mul(sigmoid, sigmoid_1)
              sqrt = Sqrt(mul)
            }""",
    ),
    Pair(
        name="correction of a squashed policy",
        facts=("sigmoid and tanh", "x * x"),
        form="torch 18",
        source=(
            "torch.log(1 - torch.tanh(x).pow(2))",
            "torch.log(1 - torch.tanh(x).pow(2) + 1e-6)",
        ),
        why="a tanh reaches 1; the epsilon is larger than its rounding",
        ranges={"x": (-20, 20)},
        fails_at="log",
        breaks={"x": -18.5},
        defective="""
            g (float[16] x) => (float[16] log) {
              tanh = Tanh(x)
              val_0 = Constant<value = float {2}>()
              pow_1 = Pow(tanh, val_0)
              val_1 = Constant<value = int64 {1}>()
              scalar_tensor_default = Cast<to = 1>(val_1)
              sub = Sub(scalar_tensor_default, pow_1)
              log = Log(sub)
            }""",
        repaired="""
            g (float[16] x) => (float[16] log) {
              tanh = Tanh(x)
              val_0 = Constant<value = float {2}>()
              pow_1 = Pow(tanh, val_0)
              val_1 = Constant<value = int64 {1}>()
              scalar_tensor_default = Cast<to = 1>(val_1)
              sub = Sub(scalar_tensor_default, pow_1)
              val_2 = Constant<value = float {1e-06}>()
              add = Add(sub, val_2)
              log = Log(add)
            }""",
    ),
    Pair(
        name="correction by softplus",
        facts=("monotone chains",),
        form="torch 23",
        source=(
            """
                y = torch.tanh(x)
                return torch.log((1 - y) * (1 + y))""",
            "2 * (0.6931471805599453 - x - F.softplus(-2 * x))",
        ),
        why="as above; the same without a cancellation",
        ranges={"x": (-100, 100)},
        fails_at="log",
        breaks={"x": -100},
        defective="""
            g (float[16] x) => (float[16] log) {
              tanh = Tanh(x)
              val_0 = Constant<value = int64 {1}>()
              scalar_tensor_default = Cast<to = 1>(val_0)
              sub = Sub(scalar_tensor_default, tanh)
              scalar_tensor_default_1 = Cast<to = 1>(val_0)
              add = Add(tanh, scalar_tensor_default_1)
              mul = Mul(sub, add)
              log = Log(mul)
            }""",
        repaired="""
            g (float[16] x) => (float[16] mul_1) {
              val_0 = Constant<value = float {0.6931472}>()
              sub = Sub(val_0, x)
              val_1 = Constant<value = int64 {-2}>()
              scalar_tensor_default = Cast<to = 1>(val_1)
              mul = Mul(x, scalar_tensor_default)
              beta = Constant<value_float: float = 1>()
              beta_cast = CastLike(beta, mul)
              self_scaled = Mul(mul, beta_cast)
              tmp = Softplus(self_scaled)
              beta_0 = Constant<value_float: float = 1>()
              beta_0_cast = CastLike(beta_0, tmp)
              softplus_2 = Div(tmp, beta_0_cast)
              threshold = Constant<value_float: float = 20>()
              threshold_cast = CastLike(threshold, self_scaled)
              tmp_1 = Greater(self_scaled, threshold_cast)
              softplus = Where(tmp_1, mul, softplus_2)
              sub_1 = Sub(sub, softplus)
              val_2 = Constant<value = int64 {2}>()
              scalar_tensor_default_1 = Cast<to = 1>(val_2)
              mul_1 = Mul(sub_1, scalar_tensor_default_1)
            }""",
    ),
    Pair(
        name="mixture of two scales",
        facts=("1 - p",),
        form="torch 18",
        source=(
            "1 / (p * a + (1 - p) * b)",
            """
                a = a + 0.1
                b = b + 0.1
                return 1 / (p * a + (1 - p) * b)""",
        ),
        why="a mixture of two values from 0.1 up is itself from 0.1 up",
        ranges={"p": (0, 1), "a": (0, 10), "b": (0, 10)},
        fails_at="reciprocal",
        breaks={"p": 1e-09, "a": 0, "b": 0},
        defective="""
            g (float[16] p, float[16] a, float[16] b) => (float[16] mul_2) {
              mul = Mul(p, a)
              val_0 = Constant<value = int64 {1}>()
              scalar_tensor_default = Cast<to = 1>(val_0)
              sub = Sub(scalar_tensor_default, p)
              mul_1 = Mul(sub, b)
              add = Add(mul, mul_1)
              reciprocal = Reciprocal(add)
              scalar_tensor_default_1 = Cast<to = 1>(val_0)
              mul_2 = Mul(reciprocal, scalar_tensor_default_1)
            }""",
        repaired="""
            g (float[16] p, float[16] a, float[16] b) => (float[16] mul_2) {
              val_0 = Constant<value = float {0.1}>()
              add = Add(a, val_0)
              add_1 = Add(b, val_0)
              mul = Mul(p, add)
              val_1 = Constant<value = int64 {1}>()
              scalar_tensor_default = Cast<to = 1>(val_1)
              sub = Sub(scalar_tensor_default, p)
              mul_1 = Mul(sub, add_1)
              add_2 = Add(mul, mul_1)
              reciprocal = Reciprocal(add_2)
              scalar_tensor_default_1 = Cast<to = 1>(val_1)
              mul_2 = Mul(reciprocal, scalar_tensor_default_1)
            }""",
    ),
    Pair(
        name="mixture by lerp",
        facts=("1 - p",),
        form="JAX",
        source=(
            "jnp.log((1.0 - p) * a + p * b)",
            "jnp.log((1.0 - p) * jnp.exp(a) + p * jnp.exp(b))",
        ),
        why="a mixture of two positive values is positive",
        ranges={"p": (0, 1), "a": (-5, 5), "b": (-5, 5)},
        fails_at="log",
        breaks={"p": 0, "a": -1, "b": 0.0001},
        defective="""
            g (float[16] p, float[16] a, float[16] b) => (float[16] log) {
              lit = Constant<value = float {1}> ()
              sub = Sub(lit, p)
              mul = Mul(sub, a)
              mul_1 = Mul(p, b)
              add = Add(mul, mul_1)
              log = Log(add)
            }""",
        repaired="""
            g (float[16] p, float[16] a, float[16] b) => (float[16] log) {
              lit = Constant<value = float {1}> ()
              sub = Sub(lit, p)
              exp = Exp(a)
              mul = Mul(sub, exp)
              exp_1 = Exp(b)
              mul_1 = Mul(p, exp_1)
              add = Add(mul, mul_1)
              log = Log(add)
            }""",
    ),
    Pair(
        name="odds",
        facts=("1 - p",),
        form="torch 23",
        source=(
            "p / (1 - p)",
            """
                p = p.clamp(max=1 - 1e-6)
                return p / (1 - p)""",
        ),
        why="a certain event",
        ranges={"p": (0, 1)},
        fails_at="div",
        breaks={"p": 1},
        defective="""
            g (float[16] p) => (float[16] div) {
              val_0 = Constant<value = int64 {1}>()
              scalar_tensor_default = Cast<to = 1>(val_0)
              sub = Sub(scalar_tensor_default, p)
              div = Div(p, sub)
            }""",
        repaired="""
            g (float[16] p) => (float[16] div) {
              val_0 = Constant<value = float {0.999999}>()
              val_1 = CastLike(val_0, p)
              clamp = Clip(p, "", val_1)
              val_2 = Constant<value = int64 {1}>()
              scalar_tensor_default = Cast<to = 1>(val_2)
              sub = Sub(scalar_tensor_default, clamp)
              div = Div(clamp, sub)
            }""",
    ),
    Pair(
        name="logit of Keras",
        facts=("1 - p", "min and max"),
        form="TensorFlow",
        source=(
            "tf.math.log(p / (1 - p))",
            """
                p = tf.clip_by_value(p, 1e-7, 1 - 1e-7)
                return tf.math.log(p / (1 - p))""",
        ),
        why="an impossible or a certain event; Keras goes back to logits behind a clip",
        ranges={"p": (0, 1)},
        fails_at="Log",
        breaks={"p": 0},
        defective="""
            g (float[16] p) => (float[16] Log) {
              one = Constant<value = float {1}>()
              sub = Sub(one, p)
              truediv = Div(p, sub)
              Log = Log(truediv)
            }""",
        repaired="""
            g (float[16] p) => (float[16] Log) {
              Const = Constant<value = float {1e-07}>()
              Const_1 = Constant<value = float {0.9999999}>()
              one = Constant<value = float {1}>()
              Minimum = Min(p, Const_1)
              clip_by_value = Max(Minimum, Const)
              sub = Sub(one, clip_by_value)
              truediv = Div(clip_by_value, sub)
              Log = Log(truediv)
            }""",
    ),
    Pair(
        name="logit of torch",
        facts=("1 - p", "min and max"),
        form="torch 18",
        source=(
            "torch.logit(p)",
            "torch.logit(p, eps=1e-6)",
        ),
        why="as above, by torch.logit",
        ranges={"p": (0, 1)},
        fails_at="logit",
        breaks={"p": 0},
        defective="""
            g (float[16] p) => (float[16] logit) {
              val_0 = Constant<value = float {1}>()
              val_1 = Sub(val_0, p)
              val_2 = Div(p, val_1)
              logit = Log(val_2)
            }""",
        repaired="""
            g (float[16] p) => (float[16] logit) {
              val_0 = Constant<value = float {1e-06}>()
              val_1 = Less(p, val_0)
              val_2 = Constant<value = float {1e-06}>()
              val_3 = Where(val_1, val_2, p)
              val_4 = Constant<value = float {0.999999}>()
              val_5 = LessOrEqual(val_3, val_4)
              val_6 = Constant<value = float {0.999999}>()
              val_7 = Where(val_5, val_3, val_6)
              val_8 = Constant<value = float {1}>()
              val_9 = Sub(val_8, val_7)
              val_10 = Div(val_7, val_9)
              logit = Log(val_10)
            }""",
    ),
    Pair(
        name="transmittance along a ray",
        facts=("1 - p", "monotone chains"),
        form="torch 23",
        source=(
            """
                a = 1 - torch.exp(-s)
                t = torch.exp(-torch.cumsum(s, dim=-1))
                return a / t""",
            """
                a = 1 - torch.exp(-s)
                t = torch.exp(-torch.cumsum(s, dim=-1))
                return torch.sum(a * t, -1) / (torch.sum(t, -1) + 1e-6)""",
        ),
        why="what is left of the light underflows to 0",
        ranges={"s": (0, 20)},
        fails_at="div",
        breaks={"s": 10},
        defective="""
            g (float[4,16] s) => (float[4,16] div) {
              neg = Neg(s)
              exp = Exp(neg)
              val_0 = Constant<value = int64 {1}>()
              scalar_tensor_default = Cast<to = 1>(val_0)
              sub = Sub(scalar_tensor_default, exp)
              val_1 = Constant<value = int64 {-1}>()
              cumsum = CumSum<reverse = 0, exclusive = 0>(s, val_1)
              neg_1 = Neg(cumsum)
              exp_1 = Exp(neg_1)
              div = Div(sub, exp_1)
            }""",
        repaired="""
            g (float[4,16] s) => (float[4] div) {
              neg = Neg(s)
              exp = Exp(neg)
              val_0 = Constant<value = int64 {1}>()
              scalar_tensor_default = Cast<to = 1>(val_0)
              sub = Sub(scalar_tensor_default, exp)
              val_1 = Constant<value = int64 {-1}>()
              cumsum = CumSum<reverse = 0, exclusive = 0>(s, val_1)
              neg_1 = Neg(cumsum)
              exp_1 = Exp(neg_1)
              mul = Mul(sub, exp_1)
              val_2 = Constant<value = int64[1] {-1}>()
              sum_1 = ReduceSum<noop_with_empty_axes = 0, keepdims = 0>(mul, val_2)
              val_3 = Constant<value = int64[1] {-1}>()
              sum_2 = ReduceSum<noop_with_empty_axes = 0, keepdims = 0>(exp_1, val_3)
              val_4 = Constant<value = float {1e-06}>()
              add = Add(sum_2, val_4)
              div = Div(sum_1, add)
            }""",
    ),
    Pair(
        name="gate of a recurrent unit",
        facts=("sigmoid and tanh", "1 - p"),
        form="torch 18",
        source=(
            """
                z = torch.exp(z)
                return torch.exp((1 - z) * n + z * h)""",
            """
                z = torch.sigmoid(z)
                return torch.exp((1 - z) * torch.tanh(n) + z * h)""",
        ),
        why="a gate between two values within 1 stays within 1",
        ranges={"z": (-50, 50), "n": (-100, 100), "h": (-1, 1)},
        fails_at="exp_1",
        breaks={"z": -50, "n": 100, "h": -1},
        defective="""
            g (float[16] z, float[16] n, float[16] h) => (float[16] exp_1) {
              exp = Exp(z)
              val_0 = Constant<value = int64 {1}>()
              scalar_tensor_default = Cast<to = 1>(val_0)
              sub = Sub(scalar_tensor_default, exp)
              mul = Mul(sub, n)
              mul_1 = Mul(exp, h)
              add = Add(mul, mul_1)
              exp_1 = Exp(add)
            }""",
        repaired="""
            g (float[16] z, float[16] n, float[16] h) => (float[16] exp) {
              sigmoid = Sigmoid(z)
              val_0 = Constant<value = int64 {1}>()
              scalar_tensor_default = Cast<to = 1>(val_0)
              sub = Sub(scalar_tensor_default, sigmoid)
              tanh = Tanh(n)
              mul = Mul(sub, tanh)
              mul_1 = Mul(sigmoid, h)
              add = Add(mul, mul_1)
              exp = Exp(add)
            }""",
    ),
)
