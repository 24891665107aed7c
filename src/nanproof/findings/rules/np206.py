"""NP206: matrix product or convolution that can overflow."""

from __future__ import annotations

from nanproof.findings.rule import Example, Rule

RULE = Rule(
    code="NP206",
    slug="matmul-overflow",
    title="matrix product or convolution that can overflow",
    family="overflow",
    summary=("A sum of products in MatMul, Gemm, Conv or Einsum passes the largest finite value of its dtype."),
    why=(
        "The result grows with the length that is summed over. Attention scores in float16 are the classic: a "
        "query times a key over 1,024 channels passes 65504 with entries of 8, and the division by sqrt(d) that "
        "was to keep it small comes too late."
    ),
    advice=(
        "Scale one factor before the product instead of the product after it, normalise queries and keys, or "
        "compute the product with a wider output."
    ),
    bad=Example(
        """<ir_version: 10, opset_import: ["": 26]>
scores (float16[1, 1024] q, float16[1024, 1] k) => (float16[1, 1] y) {
  y = MatMul (q, k)
}
""",
        {"q": (-10, 10), "k": (-10, 10)},
    ),
    good=Example(
        """<ir_version: 10, opset_import: ["": 26]>
scores (float16[1, 1024] q, float16[1024, 1] k) => (float16[1, 1] y) {
  scale = Constant <value = float {0.03125}> ()
  scale16 = Cast <to = 10> (scale)
  small = Mul (q, scale16)
  y = MatMul (small, k)
}
""",
        {"q": (-10, 10), "k": (-10, 10)},
    ),
)
