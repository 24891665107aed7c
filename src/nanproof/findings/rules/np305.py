"""NP305: a gradient that can exceed the largest finite number."""

from __future__ import annotations

from nanproof.findings.rule import Example, Rule

RULE = Rule(
    code="NP305",
    slug="gradient-overflow",
    title="a gradient that can exceed the largest finite number",
    family="gradient",
    summary=(
        "A value on the way back is past the largest finite number of its dtype, while the forward pass stays in range."
    ),
    why=(
        "Activations are kept in range by normalisation, tanh or sigmoid; gradients are not. Slopes above 1 multiply "
        "from layer to layer, on top of a loss scale. float16 ends at 65,504. A divisor that is tiny, but not 0, is "
        "squared on the way back."
    ),
    advice=(
        "Train in bfloat16 or keep gradients in float32; lower the loss scale; put eps into divisors; clip slopes by "
        "normalisation of weights."
    ),
    bad=Example(
        """<ir_version: 10, opset_import: ["": 26]>
layers (float16[4] x) => (float16[4] y, float16[4] x_grad) {
  slope_32 = Constant <value = float {100.0}> ()
  slope = Cast <to = 10> (slope_32)
  scale_32 = Constant <value = float {1024.0}> ()
  scale = Cast <to = 10> (scale_32)
  one_32 = Constant <value = float {1.0}> ()
  one = Cast <to = 10> (one_32)
  steep = Mul (slope, x)
  y = Tanh (steep)
  square = Mul (y, y)
  rest = Sub (one, square)
  to_steep = Mul (scale, rest)
  x_grad = Mul (slope, to_steep)
}
""",
        {"x": (-1, 1)},
        back={"square": "tanh", "rest": "tanh", "to_steep": "tanh", "x_grad": "mul"},
    ),
    good=Example(
        """<ir_version: 10, opset_import: ["": 26]>
layers (float16[4] x) => (float16[4] y, float16[4] x_grad) {
  slope_32 = Constant <value = float {2.0}> ()
  slope = Cast <to = 10> (slope_32)
  scale_32 = Constant <value = float {1024.0}> ()
  scale = Cast <to = 10> (scale_32)
  one_32 = Constant <value = float {1.0}> ()
  one = Cast <to = 10> (one_32)
  steep = Mul (slope, x)
  y = Tanh (steep)
  square = Mul (y, y)
  rest = Sub (one, square)
  to_steep = Mul (scale, rest)
  x_grad = Mul (slope, to_steep)
}
""",
        {"x": (-1, 1)},
        back={"square": "tanh", "rest": "tanh", "to_steep": "tanh", "x_grad": "mul"},
    ),
)
