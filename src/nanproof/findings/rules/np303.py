"""NP303: the derivative of acos, asin, acosh or atanh at the edge of its domain."""

from __future__ import annotations

from nanproof.findings.rule import Example, Rule

RULE = Rule(
    code="NP303",
    slug="edge-gradient",
    title="the derivative of acos, asin, acosh or atanh at the edge of its domain",
    family="gradient",
    summary="The arc cosine of 1 is 0, but its derivative divides by sqrt(1 - x * x), which is 0 there.",
    why=(
        "The angle between two vectors is the arc cosine of their cosine similarity, which rounding lifts a little "
        "over 1: so it is clamped to [-1, 1]. That repairs the value; vectors that point in the same direction then "
        "sit exactly on the edge, where the derivative is infinite."
    ),
    advice=(
        "Clamp to a little less than 1, such as 1 - 1e-6 in float32. Or compute the angle by atan2 of the lengths of "
        "sine and cosine."
    ),
    bad=Example(
        """<ir_version: 10, opset_import: ["": 26]>
angle (float[4] x) => (float[4] y, float[4] c_grad) {
  lo = Constant <value = float {-1.0}> ()
  hi = Constant <value = float {1.0}> ()
  c = Clip (x, lo, hi)
  y = Acos (c)
  square = Mul (c, c)
  rest = Sub (hi, square)
  root = Sqrt (rest)
  steep = Reciprocal (root)
  c_grad = Neg (steep)
}
""",
        {"x": (-2, 2)},
        back={"square": "acos", "rest": "acos", "root": "acos", "steep": "acos", "c_grad": "acos"},
    ),
    good=Example(
        """<ir_version: 10, opset_import: ["": 26]>
angle (float[4] x) => (float[4] y, float[4] c_grad) {
  lo = Constant <value = float {-0.9999}> ()
  hi = Constant <value = float {0.9999}> ()
  one = Constant <value = float {1.0}> ()
  c = Clip (x, lo, hi)
  y = Acos (c)
  square = Mul (c, c)
  rest = Sub (one, square)
  root = Sqrt (rest)
  steep = Reciprocal (root)
  c_grad = Neg (steep)
}
""",
        {"x": (-2, 2)},
        back={"square": "acos", "rest": "acos", "root": "acos", "steep": "acos", "c_grad": "acos"},
    ),
)
