"""NP207: reduction that can overflow."""

from __future__ import annotations

from nanproof.findings.rule import Example, Rule

RULE = Rule(
    code="NP207",
    slug="reduction-overflow",
    title="reduction that can overflow",
    family="overflow",
    summary=(
        "A sum over many elements (ReduceSum, ReduceMean, CumSum, ReduceSumSquare, ReduceL1, ReduceL2, average "
        "pooling) passes the largest finite value on its way, even if the final value would fit."
    ),
    why=(
        "70,000 ones sum to Inf in float16. Losses summed over pixels or tokens, squared norms of long vectors "
        "and counts of mask entries get there at ordinary sizes."
    ),
    advice=("Sum in float32, or take the mean of scaled elements instead of scaling the sum."),
    bad=Example(
        """<ir_version: 10, opset_import: ["": 26]>
count (float16[70000] mask) => (float16 y) {
  y = ReduceSum <keepdims = 0> (mask)
}
""",
        {"mask": (0, 1)},
    ),
    good=Example(
        """<ir_version: 10, opset_import: ["": 26]>
count (float16[70000] mask) => (float y) {
  wide = Cast <to = 1> (mask)
  y = ReduceSum <keepdims = 0> (wide)
}
""",
        {"mask": (0, 1)},
    ),
)
