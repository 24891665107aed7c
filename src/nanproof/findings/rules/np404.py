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
        "Clipping a probability to [eps, 1 - eps] is meant to keep both p and 1 - p away from 0. In float32, 1 - "
        "1e-9 is 1, so that the upper bound excludes nothing; eps = 1e-8 or smaller has that effect."
    ),
    advice=(
        "Size the guard for the dtype: at least 1e-7 below 1 in float32, 1e-3 in float16. Or guard the operand "
        "itself, after the subtraction."
    ),
    bad=Example(
        """<ir_version: 10, opset_import: ["": 26]>
log_of_rest (float[4] p) => (float[4] y) {
  one = Constant <value = float {1.0}> ()
  eps = Constant <value = float {1e-9}> ()
  most = Sub (one, eps)
  clipped = Clip (p, eps, most)
  rest = Sub (one, clipped)
  y = Log (rest)
}
""",
        {"p": (0, 1)},
    ),
    good=Example(
        """<ir_version: 10, opset_import: ["": 26]>
log_of_rest (float[4] p) => (float[4] y) {
  one = Constant <value = float {1.0}> ()
  eps = Constant <value = float {1e-6}> ()
  most = Sub (one, eps)
  clipped = Clip (p, eps, most)
  rest = Sub (one, clipped)
  y = Log (rest)
}
""",
        {"p": (0, 1)},
    ),
)
