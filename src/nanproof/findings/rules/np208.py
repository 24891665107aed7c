"""NP208: product over an axis that can overflow."""

from __future__ import annotations

from nanproof.findings.rule import Example, Rule

RULE = Rule(
    code="NP208",
    slug="product-overflow",
    title="product over an axis that can overflow",
    family="overflow",
    summary=("ReduceProd passes the largest finite value of its dtype."),
    why=(
        "A product of n factors grows exponentially in n: 64 factors of 10 are past float32. Likelihoods of "
        "sequences and determinants from their diagonal are written like this, and they underflow to 0 just as "
        "easily."
    ),
    advice=("Sum logarithms instead of multiplying, and stay in the log domain afterwards."),
    bad=Example(
        """<ir_version: 10, opset_import: ["": 26]>
likelihood (float[64] ratio) => (float y) {
  y = ReduceProd <keepdims = 0> (ratio)
}
""",
        {"ratio": (0, 10)},
    ),
    good=Example(
        """<ir_version: 10, opset_import: ["": 26]>
likelihood (float[64] ratio) => (float y) {
  least = Constant <value = float {1e-6}> ()
  safe = Max (ratio, least)
  logs = Log (safe)
  y = ReduceSum <keepdims = 0> (logs)
}
""",
        {"ratio": (0, 10)},
    ),
)
