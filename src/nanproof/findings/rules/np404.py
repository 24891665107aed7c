"""NP404: a guard that holds on paper doesn't hold in floats."""

from __future__ import annotations

from nanproof.findings.rule import Example, Rule

RULE = Rule(
    code="NP404",
    slug="guard-lost-in-floats",
    title="a guard that holds on paper doesn't hold in floats",
    family="precision",
    summary=("A bound that keeps the operand safe in exact arithmetic rounds onto the value that it was to exclude."),
    why=(
        "Clipping a logit to [-20, 20] is meant to keep its sigmoid away from 1. On paper it does, by 2e-9; but "
        "next to 1 a step of float32 is 6e-8, so that the sigmoid is exactly 1 and the log of the rest is -Inf. "
        "Clipping a probability to [eps, 1 - eps] with an eps of 1e-8 or smaller excludes as little."
    ),
    advice=(
        "Size the guard for the dtype: it has to leave at least 1e-7 below 1 in float32, 1e-3 in float16. Or "
        "guard the operand itself, after the subtraction."
    ),
    bad=Example(
        """<ir_version: 10, opset_import: ["": 26]>
log_of_rest (float[4] x) => (float[4] y) {
  one = Constant <value = float {1.0}> ()
  lo = Constant <value = float {-20.0}> ()
  hi = Constant <value = float {20.0}> ()
  clipped = Clip (x, lo, hi)
  p = Sigmoid (clipped)
  rest = Sub (one, p)
  y = Log (rest)
}
""",
        {"x": (-100, 100)},
    ),
    good=Example(
        """<ir_version: 10, opset_import: ["": 26]>
log_of_rest (float[4] x) => (float[4] y) {
  one = Constant <value = float {1.0}> ()
  lo = Constant <value = float {-10.0}> ()
  hi = Constant <value = float {10.0}> ()
  clipped = Clip (x, lo, hi)
  p = Sigmoid (clipped)
  rest = Sub (one, p)
  y = Log (rest)
}
""",
        {"x": (-100, 100)},
    ),
)
