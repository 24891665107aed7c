"""NP204: product that can overflow."""

from __future__ import annotations

from nanproof.findings.rule import Example, Rule

RULE = Rule(
    code="NP204",
    slug="mul-overflow",
    title="product that can overflow",
    family="overflow",
    summary=("Mul passes the largest finite value of its dtype."),
    why=(
        "Squaring an activation is the usual way there: in float16, 256 squared is Inf. A loss scale that is "
        "multiplied in for mixed precision is the other."
    ),
    advice=("Multiply in a wider dtype, or scale the factors first."),
    bad=Example(
        """<ir_version: 10, opset_import: ["": 26]>
square (float16[4] x) => (float16[4] y) {
  y = Mul (x, x)
}
""",
        {"x": (-300, 300)},
    ),
    good=Example(
        """<ir_version: 10, opset_import: ["": 26]>
square (float16[4] x) => (float[4] y) {
  wide = Cast <to = 1> (x)
  y = Mul (wide, wide)
}
""",
        {"x": (-300, 300)},
    ),
)
