"""NP205: quotient that can overflow."""

from __future__ import annotations

from nanproof.findings.rule import Example, Rule

RULE = Rule(
    code="NP205",
    slug="quotient-overflow",
    title="quotient that can overflow",
    family="overflow",
    summary=(
        "Div or Reciprocal by a value that isn't 0 but so small that the quotient passes the largest finite value."
    ),
    why=(
        "A guard against 0 that lets subnormal numbers through isn't enough: 1 / 1e-40 is Inf in float32. It "
        "happens with an epsilon of 1e-45, with the variance of a nearly constant channel, and in float16 with "
        "any divisor below 1.5e-5 under a 1."
    ),
    advice=(
        "Use an epsilon that bounds the quotient, not only one that isn't 0: the largest numerator over the "
        "epsilon has to fit in the dtype."
    ),
    bad=Example(
        """<ir_version: 10, opset_import: ["": 26]>
ratio (float[4] x, float[4] d) => (float[4] y) {
  y = Div (x, d)
}
""",
        {"x": (-1, 1), "d": (1e-40, 1)},
    ),
    good=Example(
        """<ir_version: 10, opset_import: ["": 26]>
ratio (float[4] x, float[4] d) => (float[4] y) {
  eps = Constant <value = float {1e-30}> ()
  safe = Add (d, eps)
  y = Div (x, safe)
}
""",
        {"x": (-1, 1), "d": (1e-40, 1)},
    ),
)
