"""Losses that weigh examples by how hard they are."""

from __future__ import annotations

from .pairs import Pair

PAIRS = (
    Pair(
        name="focal loss with a fractional power",
        facts=("1 - p", "sigmoid and tanh"),
        form="torch 18",
        source=(
            """
                p = torch.sigmoid(x)
                t = p * y + (1 - p) * (1 - y)
                return ((1 - t) ** 1.5 * (F.softplus(x) - x * y)).mean()""",
            """
                p = torch.sigmoid(x)
                t = p * y + (1 - p) * (1 - y)
                return ((1 - t).clamp(min=0) ** 1.5 * (F.softplus(x) - x * y)).mean()""",
        ),
        why="ONNX Runtime's sigmoid exceeds 1 by a rounding, so that the base is negative",
        ranges={"x": (-50, 50), "y": (0, 1)},
        fails_at="pow_1",
        breaks={"x": 17.868923, "y": 1},
        defective="""
            g (float[16] x, float[16] y) => (float mean) {
              sigmoid = Sigmoid(x)
              mul = Mul(sigmoid, y)
              val_0 = Constant<value = int64 {1}>()
              scalar_tensor_default = Cast<to = 1>(val_0)
              sub = Sub(scalar_tensor_default, sigmoid)
              scalar_tensor_default_1 = Cast<to = 1>(val_0)
              sub_1 = Sub(scalar_tensor_default_1, y)
              mul_1 = Mul(sub, sub_1)
              add = Add(mul, mul_1)
              scalar_tensor_default_2 = Cast<to = 1>(val_0)
              sub_2 = Sub(scalar_tensor_default_2, add)
              val_1 = Constant<value = float {1.5}>()
              pow_1 = Pow(sub_2, val_1)
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
              mul_2 = Mul(x, y)
              sub_3 = Sub(softplus, mul_2)
              mul_3 = Mul(pow_1, sub_3)
              val_2 = ReduceMean<noop_with_empty_axes = 0, keepdims = 1>(mul_3)
              mean = Squeeze(val_2)
            }""",
        repaired="""
            g (float[16] x, float[16] y) => (float mean) {
              sigmoid = Sigmoid(x)
              mul = Mul(sigmoid, y)
              val_0 = Constant<value = int64 {1}>()
              scalar_tensor_default = Cast<to = 1>(val_0)
              sub = Sub(scalar_tensor_default, sigmoid)
              scalar_tensor_default_1 = Cast<to = 1>(val_0)
              sub_1 = Sub(scalar_tensor_default_1, y)
              mul_1 = Mul(sub, sub_1)
              add = Add(mul, mul_1)
              scalar_tensor_default_2 = Cast<to = 1>(val_0)
              sub_2 = Sub(scalar_tensor_default_2, add)
              val_1 = Constant<value = int64 {0}>()
              scalar_tensor_default_3 = Cast<to = 1>(val_1)
              val_2 = CastLike(scalar_tensor_default_3, sub_2)
              clamp = Max(sub_2, val_2)
              val_3 = Constant<value = float {1.5}>()
              pow_1 = Pow(clamp, val_3)
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
              mul_2 = Mul(x, y)
              sub_3 = Sub(softplus, mul_2)
              mul_3 = Mul(pow_1, sub_3)
              val_4 = ReduceMean<noop_with_empty_axes = 0, keepdims = 1>(mul_3)
              mean = Squeeze(val_4)
            }""",
    ),
    Pair(
        name="focal loss of torchvision",
        facts=("1 - p", "sigmoid and tanh", "x * x"),
        form="torch 23",
        source=(
            """
                p = torch.sigmoid(x)
                return -(y * (1 - p) ** 2 * torch.log(p) + (1 - y) * p ** 2 * torch.log(1 - p)).mean()""",
            """
                p = torch.sigmoid(x)
                ce = (F.softplus(x) - x * y)
                t = p * y + (1 - p) * (1 - y)
                return (ce * ((1 - t) ** 2) * (0.25 * y + 0.75 * (1 - y))).mean()""",
        ),
        why="logarithms of a sigmoid that is 0 or 1",
        ranges={"x": (-50, 50), "y": (0, 1)},
        fails_at="log_1",
        breaks={"x": 50, "y": 0.0001},
        defective="""
            g (float[16] x, float[16] y) => (float neg) {
              sigmoid = Sigmoid(x)
              val_0 = Constant<value = int64 {1}>()
              scalar_tensor_default = Cast<to = 1>(val_0)
              sub = Sub(scalar_tensor_default, sigmoid)
              val_1 = Constant<value = float {2}>()
              pow_1 = Pow(sub, val_1)
              mul = Mul(y, pow_1)
              log = Log(sigmoid)
              mul_1 = Mul(mul, log)
              scalar_tensor_default_1 = Cast<to = 1>(val_0)
              sub_1 = Sub(scalar_tensor_default_1, y)
              val_2 = Constant<value = float {2}>()
              pow_2 = Pow(sigmoid, val_2)
              mul_2 = Mul(sub_1, pow_2)
              scalar_tensor_default_2 = Cast<to = 1>(val_0)
              sub_2 = Sub(scalar_tensor_default_2, sigmoid)
              log_1 = Log(sub_2)
              mul_3 = Mul(mul_2, log_1)
              add = Add(mul_1, mul_3)
              val_3 = ReduceMean<noop_with_empty_axes = 0, keepdims = 1>(add)
              mean = Squeeze(val_3)
              neg = Neg(mean)
            }""",
        repaired="""
            g (float[16] x, float[16] y) => (float mean) {
              sigmoid = Sigmoid(x)
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
              mul_1 = Mul(sigmoid, y)
              val_0 = Constant<value = int64 {1}>()
              scalar_tensor_default = Cast<to = 1>(val_0)
              sub_1 = Sub(scalar_tensor_default, sigmoid)
              scalar_tensor_default_1 = Cast<to = 1>(val_0)
              sub_2 = Sub(scalar_tensor_default_1, y)
              mul_2 = Mul(sub_1, sub_2)
              add = Add(mul_1, mul_2)
              scalar_tensor_default_2 = Cast<to = 1>(val_0)
              sub_3 = Sub(scalar_tensor_default_2, add)
              val_1 = Constant<value = float {2}>()
              pow_1 = Pow(sub_3, val_1)
              mul_3 = Mul(sub, pow_1)
              val_2 = Constant<value = float {0.25}>()
              mul_4 = Mul(y, val_2)
              scalar_tensor_default_3 = Cast<to = 1>(val_0)
              sub_4 = Sub(scalar_tensor_default_3, y)
              val_3 = Constant<value = float {0.75}>()
              mul_5 = Mul(sub_4, val_3)
              add_1 = Add(mul_4, mul_5)
              mul_6 = Mul(mul_3, add_1)
              val_4 = ReduceMean<noop_with_empty_axes = 0, keepdims = 1>(mul_6)
              mean = Squeeze(val_4)
            }""",
    ),
    Pair(
        name="focal loss of a heat map",
        facts=("1 - p", "min and max"),
        form="TensorFlow",
        source=(
            "-(y * tf.math.log(p) + (1 - y) * tf.math.log(1 - p))",
            "CenterNet's loss, of tf.clip_by_value(p, 1e-4, 1 - 1e-4)",
        ),
        why="log(0) at both ends; CenterNet clips to [1e-4, 1 - 1e-4]",
        ranges={"p": (0, 1), "y": (0, 1)},
        fails_at="Log_1",
        breaks={"p": 1, "y": 1},
        defective="""
            g (float[16] p, float[16] y) => (float[16] Neg) {
              one = Constant<value = float {1}>()
              sub = Sub(one, p)
              Log = Log(p)
              Log_1 = Log(sub)
              mul = Mul(y, Log)
              sub_1 = Sub(one, y)
              mul_1 = Mul(sub_1, Log_1)
              add = Add(mul, mul_1)
              Neg = Neg(add)
            }""",
        repaired="""
            g (float[16] p, float[16] y) => (float[16] Neg) {
              one = Constant<value = float {1}>()
              low = Constant<value = float {0.0001}>()
              high = Constant<value = float {0.9999}>()
              Minimum = Min(p, high)
              clip_by_value = Max(Minimum, low)
              sub = Sub(one, clip_by_value)
              Log = Log(clip_by_value)
              Log_1 = Log(sub)
              gamma = Constant<value = float {2}>()
              Pow = Pow(sub, gamma)
              Pow_1 = Pow(clip_by_value, gamma)
              mul = Mul(Pow, Log)
              mul_1 = Mul(y, mul)
              sub_1 = Sub(one, y)
              beta = Constant<value = float {4}>()
              Pow_2 = Pow(sub_1, beta)
              mul_2 = Mul(Pow_2, Pow_1)
              mul_3 = Mul(mul_2, Log_1)
              add = Add(mul_1, mul_3)
              Neg = Neg(add)
            }""",
    ),
    Pair(
        name="dice loss",
        facts=("x * x",),
        form="torch 18",
        source=(
            """
                p = F.relu(x)
                return 1 - 2 * (p * y).sum(1) / (p.pow(2).sum(1) + y.pow(2).sum(1))""",
            """
                p = F.relu(x)
                return 1 - (2 * (p * y).sum(1) + 1) / (p.pow(2).sum(1) + y.pow(2).sum(1) + 1)""",
        ),
        why="nothing there and nothing seen: 0 / 0; smoothed by 1",
        ranges={"x": (-10, 10), "y": (0, 1)},
        fails_at="div",
        breaks={"x": -1, "y": 0},
        defective="""
            g (float[4,16] x, float[4,16] y) => (float[4] sub) {
              relu = Relu(x)
              mul = Mul(relu, y)
              val_0 = Constant<value = int64[1] {1}>()
              sum_1 = ReduceSum<noop_with_empty_axes = 0, keepdims = 0>(mul, val_0)
              val_1 = Constant<value = int64 {2}>()
              scalar_tensor_default = Cast<to = 1>(val_1)
              mul_1 = Mul(sum_1, scalar_tensor_default)
              val_2 = Constant<value = float {2}>()
              pow_1 = Pow(relu, val_2)
              val_3 = Constant<value = int64[1] {1}>()
              sum_2 = ReduceSum<noop_with_empty_axes = 0, keepdims = 0>(pow_1, val_3)
              val_4 = Constant<value = float {2}>()
              pow_2 = Pow(y, val_4)
              val_5 = Constant<value = int64[1] {1}>()
              sum_3 = ReduceSum<noop_with_empty_axes = 0, keepdims = 0>(pow_2, val_5)
              add = Add(sum_2, sum_3)
              div = Div(mul_1, add)
              val_6 = Constant<value = int64 {1}>()
              scalar_tensor_default_1 = Cast<to = 1>(val_6)
              sub = Sub(scalar_tensor_default_1, div)
            }""",
        repaired="""
            g (float[4,16] x, float[4,16] y) => (float[4] sub) {
              relu = Relu(x)
              mul = Mul(relu, y)
              val_0 = Constant<value = int64[1] {1}>()
              sum_1 = ReduceSum<noop_with_empty_axes = 0, keepdims = 0>(mul, val_0)
              val_1 = Constant<value = int64 {2}>()
              scalar_tensor_default = Cast<to = 1>(val_1)
              mul_1 = Mul(sum_1, scalar_tensor_default)
              val_2 = Constant<value = int64 {1}>()
              scalar_tensor_default_1 = Cast<to = 1>(val_2)
              add = Add(mul_1, scalar_tensor_default_1)
              val_3 = Constant<value = float {2}>()
              pow_1 = Pow(relu, val_3)
              val_4 = Constant<value = int64[1] {1}>()
              sum_2 = ReduceSum<noop_with_empty_axes = 0, keepdims = 0>(pow_1, val_4)
              val_5 = Constant<value = float {2}>()
              pow_2 = Pow(y, val_5)
              val_6 = Constant<value = int64[1] {1}>()
              sum_3 = ReduceSum<noop_with_empty_axes = 0, keepdims = 0>(pow_2, val_6)
              add_1 = Add(sum_2, sum_3)
              scalar_tensor_default_2 = Cast<to = 1>(val_2)
              add_2 = Add(add_1, scalar_tensor_default_2)
              div = Div(add, add_2)
              scalar_tensor_default_3 = Cast<to = 1>(val_2)
              sub = Sub(scalar_tensor_default_3, div)
            }""",
    ),
    Pair(
        name="Tversky loss",
        facts=("1 - p", "sigmoid and tanh"),
        form="torch 23",
        source=(
            """
                p = torch.sigmoid(x)
                tp = (p * y).sum(1)
                fp = (p * (1 - y)).sum(1)
                fn = ((1 - p) * y).sum(1)
                return 1 - tp / (tp + 0.3 * fp + 0.7 * fn)""",
            """
                p = torch.sigmoid(x)
                tp = (p * y).sum(1)
                fp = (p * (1 - y)).sum(1)
                fn = ((1 - p) * y).sum(1)
                return 1 - (tp + 1) / (tp + 0.3 * fp + 0.7 * fn + 1)""",
        ),
        why="nothing there and nothing seen: 0 / 0; smoothed by 1",
        ranges={"x": (-30, 30), "y": (0, 1)},
        fails_at="div",
        breaks={"x": -30, "y": 0},
        defective="""
            g (float[4,16] x, float[4,16] y) => (float[4] sub_2) {
              sigmoid = Sigmoid(x)
              mul = Mul(sigmoid, y)
              val_0 = Constant<value = int64[1] {1}>()
              sum_1 = ReduceSum<noop_with_empty_axes = 0, keepdims = 0>(mul, val_0)
              val_1 = Constant<value = int64 {1}>()
              scalar_tensor_default = Cast<to = 1>(val_1)
              sub = Sub(scalar_tensor_default, y)
              mul_1 = Mul(sigmoid, sub)
              val_2 = Constant<value = int64[1] {1}>()
              sum_2 = ReduceSum<noop_with_empty_axes = 0, keepdims = 0>(mul_1, val_2)
              scalar_tensor_default_1 = Cast<to = 1>(val_1)
              sub_1 = Sub(scalar_tensor_default_1, sigmoid)
              mul_2 = Mul(sub_1, y)
              val_3 = Constant<value = int64[1] {1}>()
              sum_3 = ReduceSum<noop_with_empty_axes = 0, keepdims = 0>(mul_2, val_3)
              val_4 = Constant<value = float {0.3}>()
              mul_3 = Mul(sum_2, val_4)
              add = Add(sum_1, mul_3)
              val_5 = Constant<value = float {0.7}>()
              mul_4 = Mul(sum_3, val_5)
              add_1 = Add(add, mul_4)
              div = Div(sum_1, add_1)
              scalar_tensor_default_2 = Cast<to = 1>(val_1)
              sub_2 = Sub(scalar_tensor_default_2, div)
            }""",
        repaired="""
            g (float[4,16] x, float[4,16] y) => (float[4] sub_2) {
              sigmoid = Sigmoid(x)
              mul = Mul(sigmoid, y)
              val_0 = Constant<value = int64[1] {1}>()
              sum_1 = ReduceSum<noop_with_empty_axes = 0, keepdims = 0>(mul, val_0)
              val_1 = Constant<value = int64 {1}>()
              scalar_tensor_default = Cast<to = 1>(val_1)
              sub = Sub(scalar_tensor_default, y)
              mul_1 = Mul(sigmoid, sub)
              val_2 = Constant<value = int64[1] {1}>()
              sum_2 = ReduceSum<noop_with_empty_axes = 0, keepdims = 0>(mul_1, val_2)
              scalar_tensor_default_1 = Cast<to = 1>(val_1)
              sub_1 = Sub(scalar_tensor_default_1, sigmoid)
              mul_2 = Mul(sub_1, y)
              val_3 = Constant<value = int64[1] {1}>()
              sum_3 = ReduceSum<noop_with_empty_axes = 0, keepdims = 0>(mul_2, val_3)
              scalar_tensor_default_2 = Cast<to = 1>(val_1)
              add = Add(sum_1, scalar_tensor_default_2)
              val_4 = Constant<value = float {0.3}>()
              mul_3 = Mul(sum_2, val_4)
              add_1 = Add(sum_1, mul_3)
              val_5 = Constant<value = float {0.7}>()
              mul_4 = Mul(sum_3, val_5)
              add_2 = Add(add_1, mul_4)
              scalar_tensor_default_3 = Cast<to = 1>(val_1)
              add_3 = Add(add_2, scalar_tensor_default_3)
              div = Div(add, add_3)
              scalar_tensor_default_4 = Cast<to = 1>(val_1)
              sub_2 = Sub(scalar_tensor_default_4, div)
            }""",
    ),
    Pair(
        name="asymmetric loss",
        facts=("1 - p", "sigmoid and tanh", "min and max"),
        form="torch 18",
        source=(
            """
                p = torch.sigmoid(x)
                q = 1 - p
                q = (q + 0.05).clamp(max=1)
                return -(y * torch.log(p) + (1 - y) * torch.log(q)).sum()""",
            """
                p = torch.sigmoid(x)
                q = 1 - p
                q = (q + 0.05).clamp(max=1)
                return -(y * torch.log(p.clamp(min=1e-8)) + (1 - y) * torch.log(q.clamp(min=1e-8))).sum()""",
        ),
        why="the shift guards one side only; both are clipped at 1e-8",
        ranges={"x": (-50, 50), "y": (0, 1)},
        fails_at="log",
        breaks={"x": -50, "y": 1e-09},
        defective="""
            g (float[16] x, float[16] y) => (float neg) {
              sigmoid = Sigmoid(x)
              val_0 = Constant<value = int64 {1}>()
              scalar_tensor_default = Cast<to = 1>(val_0)
              sub = Sub(scalar_tensor_default, sigmoid)
              val_1 = Constant<value = float {0.05}>()
              add = Add(sub, val_1)
              scalar_tensor_default_1 = Cast<to = 1>(val_0)
              val_2 = CastLike(scalar_tensor_default_1, add)
              clamp = Min(add, val_2)
              log = Log(sigmoid)
              mul = Mul(y, log)
              scalar_tensor_default_2 = Cast<to = 1>(val_0)
              sub_1 = Sub(scalar_tensor_default_2, y)
              log_1 = Log(clamp)
              mul_1 = Mul(sub_1, log_1)
              add_1 = Add(mul, mul_1)
              sum_1 = ReduceSum<noop_with_empty_axes = 0, keepdims = 0>(add_1)
              neg = Neg(sum_1)
            }""",
        repaired="""
            g (float[16] x, float[16] y) => (float neg) {
              sigmoid = Sigmoid(x)
              val_0 = Constant<value = int64 {1}>()
              scalar_tensor_default = Cast<to = 1>(val_0)
              sub = Sub(scalar_tensor_default, sigmoid)
              val_1 = Constant<value = float {0.05}>()
              add = Add(sub, val_1)
              scalar_tensor_default_1 = Cast<to = 1>(val_0)
              val_2 = CastLike(scalar_tensor_default_1, add)
              clamp = Min(add, val_2)
              val_3 = Constant<value = float {1e-08}>()
              val_4 = CastLike(val_3, sigmoid)
              clamp_1 = Clip(sigmoid, val_4)
              log = Log(clamp_1)
              mul = Mul(y, log)
              scalar_tensor_default_2 = Cast<to = 1>(val_0)
              sub_1 = Sub(scalar_tensor_default_2, y)
              val_5 = CastLike(val_3, clamp)
              clamp_2 = Clip(clamp, val_5)
              log_1 = Log(clamp_2)
              mul_1 = Mul(sub_1, log_1)
              add_1 = Add(mul, mul_1)
              sum_1 = ReduceSum<noop_with_empty_axes = 0, keepdims = 0>(add_1)
              neg = Neg(sum_1)
            }""",
    ),
)
