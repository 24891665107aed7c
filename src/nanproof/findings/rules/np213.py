"""NP213: 0 x Inf."""

from __future__ import annotations

from nanproof.findings.rule import Example, Rule

RULE = Rule(
    code="NP213",
    slug="zero-times-inf",
    title="0 x Inf",
    family="overflow",
    summary=("0 x Inf is NaN, in a product as well as inside a matrix product."),
    why=(
        "Multiplying by a 0/1 mask is meant to switch elements off, and does, except for those that are Inf or "
        "NaN. So does a weight of 0 on a -Inf log-probability."
    ),
    advice=("Switch off with Where instead of with a product, and do it before the Inf comes into being."),
    bad=Example(
        """<ir_version: 10, opset_import: ["": 26]>
weighted (float[4] logp, bool[4] allowed, float[4] w) => (float[4] y) {
  never = Constant <value = float {-inf}> ()
  masked = Where (allowed, logp, never)
  y = Mul (masked, w)
}
""",
        {"logp": (-10, 0), "w": (0, 1)},
    ),
    good=Example(
        """<ir_version: 10, opset_import: ["": 26]>
weighted (float[4] logp, bool[4] allowed, float[4] w) => (float[4] y) {
  zero = Constant <value = float {0.0}> ()
  product = Mul (logp, w)
  y = Where (allowed, product, zero)
}
""",
        {"logp": (-10, 0), "w": (0, 1)},
    ),
)
