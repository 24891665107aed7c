"""Binary cross entropy, of logits and of probabilities."""

from __future__ import annotations

from .pairs import Pair

PAIRS = (
    Pair(
        name="binary cross entropy with logits",
        facts=("min and max", "monotone chains"),
        form="torch 18",
        source=(
            "F.binary_cross_entropy_with_logits(x, y)",
            "(x.clamp(min=0) - x * y + torch.log1p(torch.exp(-x.abs()))).mean()",
        ),
        why="PyTorch's exporter writes log(sigmoid(x)) for it, and ONNX Runtime's sigmoid is 0 from -18 down",
        ranges={"x": (-100, 100), "y": (0, 1)},
        fails_at="log_sigmoid",
        breaks={"x": -100, "y": 1e-09},
        defective="""
            g (float[16] x, float[16] y) => (float mean) {
              val_0 = Constant<value = int64 {1}>()
              scalar_tensor_default = Cast<to = 1>(val_0)
              sub = Sub(scalar_tensor_default, y)
              mul = Mul(sub, x)
              tmp = Sigmoid(x)
              log_sigmoid = Log(tmp)
              sub_1 = Sub(mul, log_sigmoid)
              val_1 = ReduceMean<noop_with_empty_axes = 0, keepdims = 1>(sub_1)
              mean = Squeeze(val_1)
            }""",
        repaired="""
            g (float[16] x, float[16] y) => (float mean) {
              val_0 = Constant<value = int64 {0}>()
              scalar_tensor_default = Cast<to = 1>(val_0)
              val_1 = CastLike(scalar_tensor_default, x)
              clamp = Max(x, val_1)
              mul = Mul(x, y)
              sub = Sub(clamp, mul)
              abs_1 = Abs(x)
              neg = Neg(abs_1)
              exp = Exp(neg)
              const = Constant<value = float const {1}>()
              const_cast = CastLike(const, exp)
              tmp = Add(exp, const_cast)
              log1p = Log(tmp)
              add = Add(sub, log1p)
              val_2 = ReduceMean<noop_with_empty_axes = 0, keepdims = 1>(add)
              mean = Squeeze(val_2)
            }""",
    ),
    Pair(
        name="binary cross entropy of a sigmoid",
        facts=("sigmoid and tanh", "1 - p"),
        form="torch 18",
        source=(
            """
                p = torch.sigmoid(x)
                return -(y * torch.log(p) + (1 - y) * torch.log(1 - p)).mean()""",
            "(F.softplus(x) - x * y).mean()",
        ),
        why="a sigmoid reaches 0 and 1 in float32",
        ranges={"x": (-100, 100), "y": (0, 1)},
        fails_at="log_1",
        breaks={"x": 60, "y": 1},
        defective="""
            g (float[16] x, float[16] y) => (float neg) {
              sigmoid = Sigmoid(x)
              log = Log(sigmoid)
              mul = Mul(y, log)
              val_0 = Constant<value = int64 {1}>()
              scalar_tensor_default = Cast<to = 1>(val_0)
              sub = Sub(scalar_tensor_default, y)
              scalar_tensor_default_1 = Cast<to = 1>(val_0)
              sub_1 = Sub(scalar_tensor_default_1, sigmoid)
              log_1 = Log(sub_1)
              mul_1 = Mul(sub, log_1)
              add = Add(mul, mul_1)
              val_1 = ReduceMean<noop_with_empty_axes = 0, keepdims = 1>(add)
              mean = Squeeze(val_1)
              neg = Neg(mean)
            }""",
        repaired="""
            g (float[16] x, float[16] y) => (float mean) {
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
              mul = Mul(x, y)
              sub = Sub(softplus, mul)
              val_0 = ReduceMean<noop_with_empty_axes = 0, keepdims = 1>(sub)
              mean = Squeeze(val_0)
            }""",
    ),
    Pair(
        name="binary cross entropy of logits by hand",
        facts=("min and max", "monotone chains"),
        form="torch 23",
        source=(
            "(torch.log(1 + torch.exp(x)) - x * y).mean()",
            "(x.clamp(min=0) - x * y + torch.log(1 + torch.exp(-torch.abs(x)))).mean()",
        ),
        why="exp overflows; that of -|x| is at most 1",
        ranges={"x": (-200, 200), "y": (0, 1)},
        fails_at="exp",
        breaks={"x": 200, "y": 0.0001},
        defective="""
            g (float[16] x, float[16] y) => (float mean) {
              exp = Exp(x)
              val_0 = Constant<value = int64 {1}>()
              scalar_tensor_default = Cast<to = 1>(val_0)
              add = Add(exp, scalar_tensor_default)
              log = Log(add)
              mul = Mul(x, y)
              sub = Sub(log, mul)
              val_1 = ReduceMean<noop_with_empty_axes = 0, keepdims = 1>(sub)
              mean = Squeeze(val_1)
            }""",
        repaired="""
            g (float[16] x, float[16] y) => (float mean) {
              val_0 = Constant<value = int64 {0}>()
              scalar_tensor_default = Cast<to = 1>(val_0)
              val_1 = CastLike(scalar_tensor_default, x)
              clamp = Max(x, val_1)
              mul = Mul(x, y)
              sub = Sub(clamp, mul)
              abs_1 = Abs(x)
              neg = Neg(abs_1)
              exp = Exp(neg)
              val_2 = Constant<value = int64 {1}>()
              scalar_tensor_default_1 = Cast<to = 1>(val_2)
              add = Add(exp, scalar_tensor_default_1)
              log = Log(add)
              add_1 = Add(sub, log)
              val_3 = ReduceMean<noop_with_empty_axes = 0, keepdims = 1>(add_1)
              mean = Squeeze(val_3)
            }""",
    ),
    Pair(
        name="sigmoid cross entropy with logits",
        facts=("comparisons", "monotone chains"),
        form="TensorFlow",
        source=(
            "(1 - y) * x + tf.math.log(1 + tf.exp(-x))",
            "tf.nn.sigmoid_cross_entropy_with_logits(y, x)",
        ),
        why="exp overflows; TensorFlow chooses -|x| by a where",
        ranges={"x": (-200, 200), "y": (0, 1)},
        fails_at="Exp",
        breaks={"x": -200, "y": 1e-09},
        defective="""
            g (float[16] x, float[16] y) => (float[16] logistic_loss) {
              Neg = Neg(x)
              Exp = Exp(Neg)
              one = Constant<value = float {1}>()
              add = Add(one, Exp)
              Log = Log(add)
              sub = Sub(one, y)
              mul = Mul(sub, x)
              logistic_loss = Add(mul, Log)
            }""",
        repaired="""
            g (float[16] x, float[16] y) => (float[16] logistic_loss) {
              zeros_like = Constant<value = float[16] {0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0}>()
              GreaterEqual = GreaterOrEqual(x, zeros_like)
              Select = Where(GreaterEqual, x, zeros_like)
              Neg = Neg(x)
              Select_1 = Where(GreaterEqual, Neg, x)
              mul = Mul(x, y)
              sub = Sub(Select, mul)
              Exp = Exp(Select_1)
              one = Constant<value = float {1}>()
              add = Add(Exp, one)
              Log1p = Log(add)
              logistic_loss = Add(sub, Log1p)
            }""",
    ),
    Pair(
        name="binary cross entropy of Keras",
        facts=("1 - p", "min and max"),
        form="TensorFlow",
        source=(
            "-(y * tf.math.log(p + 1e-10) + (1 - y) * tf.math.log(1 - p + 1e-10))",
            """
                p = tf.clip_by_value(p, 1e-7, 1 - 1e-7)
                return -(y * tf.math.log(p + 1e-7) + (1 - y) * tf.math.log(1 - p + 1e-7))""",
        ),
        why="a probability that a sigmoid rounds above 1; Keras clips it to 1 - 1e-7",
        ranges={"p": (0, 1.0000002), "y": (0, 1)},
        fails_at="Log_1",
        breaks={"p": 1.0000002, "y": 0.5},
        defective="""
            g (float[16] p, float[16] y) => (float[16] Neg) {
              Const = Constant<value = float {1e-10}>()
              one = Constant<value = float {1}>()
              add = Add(p, Const)
              Log = Log(add)
              mul = Mul(y, Log)
              sub = Sub(one, y)
              sub_1 = Sub(one, p)
              add_1 = Add(sub_1, Const)
              Log_1 = Log(add_1)
              mul_1 = Mul(sub, Log_1)
              add_2 = Add(mul, mul_1)
              Neg = Neg(add_2)
            }""",
        repaired="""
            g (float[16] p, float[16] y) => (float[16] Neg) {
              Const = Constant<value = float {1e-07}>()
              Const_1 = Constant<value = float {0.9999999}>()
              one = Constant<value = float {1}>()
              Minimum = Min(p, Const_1)
              clip_by_value = Max(Minimum, Const)
              add = Add(clip_by_value, Const)
              Log = Log(add)
              mul = Mul(y, Log)
              sub = Sub(one, y)
              sub_1 = Sub(one, clip_by_value)
              add_1 = Add(sub_1, Const)
              Log_1 = Log(add_1)
              mul_1 = Mul(sub, Log_1)
              add_2 = Add(mul, mul_1)
              Neg = Neg(add_2)
            }""",
    ),
    Pair(
        name="sigmoid cross entropy of optax",
        facts=("monotone chains", "min and max"),
        form="JAX",
        source=(
            "-y * jnp.log(jax.nn.sigmoid(x)) - (1.0 - y) * jnp.log(1.0 - jax.nn.sigmoid(x))",
            "-y * jax.nn.log_sigmoid(x) - (1.0 - y) * jax.nn.log_sigmoid(-x)",
        ),
        why="log(0); log_sigmoid is a softplus, which is a logaddexp",
        ranges={"x": (-200, 200), "y": (0, 1)},
        fails_at="log_1",
        breaks={"x": 60, "y": 1},
        defective="""
            g (float[16] x, float[16] y) => (float[16] sub_2) {
              neg = Neg(y)
              sigmoid = Sigmoid(x)
              log = Log(sigmoid)
              mul = Mul(neg, log)
              lit = Constant<value = float {1}> ()
              sub = Sub(lit, y)
              sigmoid_1 = Sigmoid(x)
              lit_1 = Constant<value = float {1}> ()
              sub_1 = Sub(lit_1, sigmoid_1)
              log_1 = Log(sub_1)
              mul_1 = Mul(sub, log_1)
              sub_2 = Sub(mul, mul_1)
            }""",
        repaired="""
            g (float[16] x, float[16] y) => (float[16] sub_3) {
              neg = Neg(y)
              neg_1 = Neg(x)
              lit = Constant<value = float {0}> ()
              max = Max(neg_1, lit)
              sub = Sub(neg_1, lit)
              equal = Equal(sub, sub)
              not = Not(equal)
              add = Add(neg_1, lit)
              abs = Abs(sub)
              neg_2 = Neg(abs)
              exp = Exp(neg_2)
              lit_1 = Constant<value = float {1}> ()
              add_1 = Add(exp, lit_1)
              log = Log(add_1)
              add_2 = Add(max, log)
              where = Where(not, add, add_2)
              neg_3 = Neg(where)
              mul = Mul(neg, neg_3)
              lit_2 = Constant<value = float {1}> ()
              sub_1 = Sub(lit_2, y)
              neg_4 = Neg(x)
              neg_5 = Neg(neg_4)
              lit_3 = Constant<value = float {0}> ()
              max_1 = Max(neg_5, lit_3)
              sub_2 = Sub(neg_5, lit_3)
              equal_1 = Equal(sub_2, sub_2)
              not_1 = Not(equal_1)
              add_3 = Add(neg_5, lit_3)
              abs_1 = Abs(sub_2)
              neg_6 = Neg(abs_1)
              exp_1 = Exp(neg_6)
              lit_4 = Constant<value = float {1}> ()
              add_4 = Add(exp_1, lit_4)
              log_1 = Log(add_4)
              add_5 = Add(max_1, log_1)
              where_1 = Where(not_1, add_3, add_5)
              neg_7 = Neg(where_1)
              mul_1 = Mul(sub_1, neg_7)
              sub_3 = Sub(mul, mul_1)
            }""",
    ),
    Pair(
        name="log of a sigmoid",
        facts=("sigmoid and tanh", "monotone chains"),
        form="torch 18",
        source=(
            "F.logsigmoid(x)",
            "torch.clamp(x, max=0) - torch.log1p(torch.exp(-torch.abs(x)))",
        ),
        why="exported as log(sigmoid(x)); ONNX Runtime's sigmoid is 0 from -18 down",
        ranges={"x": (-60, 60)},
        fails_at="log_sigmoid",
        breaks={"x": -40},
        defective="""
            g (float[16] x) => (float[16] log_sigmoid) {
              tmp = Sigmoid(x)
              log_sigmoid = Log(tmp)
            }""",
        repaired="""
            g (float[16] x) => (float[16] sub) {
              val_0 = Constant<value = int64 {0}>()
              scalar_tensor_default = Cast<to = 1>(val_0)
              val_1 = CastLike(scalar_tensor_default, x)
              clamp = Min(x, val_1)
              abs_1 = Abs(x)
              neg = Neg(abs_1)
              exp = Exp(neg)
              const = Constant<value = float const {1}>()
              const_cast = CastLike(const, exp)
              tmp = Add(exp, const_cast)
              log1p = Log(tmp)
              sub = Sub(clamp, log1p)
            }""",
    ),
    Pair(
        name="log of a sigmoid by softplus",
        facts=("monotone chains",),
        form="torch 23",
        source=(
            "torch.log(1 / (1 + torch.exp(-x)))",
            "-F.softplus(-x)",
        ),
        why="1 / Inf is 0; softplus is linear where it would overflow",
        ranges={"x": (-200, 200)},
        fails_at="log",
        breaks={"x": -200},
        defective="""
            g (float[16] x) => (float[16] log) {
              neg = Neg(x)
              exp = Exp(neg)
              val_0 = Constant<value = int64 {1}>()
              scalar_tensor_default = Cast<to = 1>(val_0)
              add = Add(exp, scalar_tensor_default)
              reciprocal = Reciprocal(add)
              scalar_tensor_default_1 = Cast<to = 1>(val_0)
              mul = Mul(reciprocal, scalar_tensor_default_1)
              log = Log(mul)
            }""",
        repaired="""
            g (float[16] x) => (float[16] neg_1) {
              neg = Neg(x)
              beta = Constant<value_float: float = 1>()
              beta_cast = CastLike(beta, neg)
              self_scaled = Mul(neg, beta_cast)
              tmp = Softplus(self_scaled)
              beta_0 = Constant<value_float: float = 1>()
              beta_0_cast = CastLike(beta_0, tmp)
              softplus_2 = Div(tmp, beta_0_cast)
              threshold = Constant<value_float: float = 20>()
              threshold_cast = CastLike(threshold, self_scaled)
              tmp_1 = Greater(self_scaled, threshold_cast)
              softplus = Where(tmp_1, neg, softplus_2)
              neg_1 = Neg(softplus)
            }""",
    ),
    Pair(
        name="binary cross entropy of a clipped probability",
        facts=("1 - p",),
        form="torch 18",
        source=(
            """
                p = torch.sigmoid(x).clamp(min=1e-7)
                return -(y * p.log() + (1 - y) * (1 - p).log()).mean()""",
            """
                p = torch.sigmoid(x).clamp(1e-6, 1 - 1e-6)
                return -(y * p.log() + (1 - y) * (1 - p).log()).mean()""",
        ),
        why="clipped on one side only, 1 - p is 0",
        ranges={"x": (-50, 50), "y": (0, 1)},
        fails_at="log_1",
        breaks={"x": 50, "y": 0.0001},
        defective="""
            g (float[16] x, float[16] y) => (float neg) {
              sigmoid = Sigmoid(x)
              val_0 = Constant<value = float {1e-07}>()
              val_1 = CastLike(val_0, sigmoid)
              clamp = Clip(sigmoid, val_1)
              log = Log(clamp)
              mul = Mul(y, log)
              val_2 = Constant<value = int64 {1}>()
              scalar_tensor_default = Cast<to = 1>(val_2)
              sub = Sub(scalar_tensor_default, y)
              scalar_tensor_default_1 = Cast<to = 1>(val_2)
              sub_1 = Sub(scalar_tensor_default_1, clamp)
              log_1 = Log(sub_1)
              mul_1 = Mul(sub, log_1)
              add = Add(mul, mul_1)
              val_3 = ReduceMean<noop_with_empty_axes = 0, keepdims = 1>(add)
              mean = Squeeze(val_3)
              neg = Neg(mean)
            }""",
        repaired="""
            g (float[16] x, float[16] y) => (float neg) {
              sigmoid = Sigmoid(x)
              val_0 = Constant<value = float {1e-06}>()
              val_1 = CastLike(val_0, sigmoid)
              val_2 = Constant<value = float {0.999999}>()
              val_3 = CastLike(val_2, sigmoid)
              clamp = Clip(sigmoid, val_1, val_3)
              log = Log(clamp)
              mul = Mul(y, log)
              val_4 = Constant<value = int64 {1}>()
              scalar_tensor_default = Cast<to = 1>(val_4)
              sub = Sub(scalar_tensor_default, y)
              scalar_tensor_default_1 = Cast<to = 1>(val_4)
              sub_1 = Sub(scalar_tensor_default_1, clamp)
              log_1 = Log(sub_1)
              mul_1 = Mul(sub, log_1)
              add = Add(mul, mul_1)
              val_5 = ReduceMean<noop_with_empty_axes = 0, keepdims = 1>(add)
              mean = Squeeze(val_5)
              neg = Neg(mean)
            }""",
    ),
)
