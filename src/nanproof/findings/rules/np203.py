"""NP203: sum of two values that can overflow."""

from __future__ import annotations

from nanproof.findings.rule import Example, Rule

RULE = Rule(
    code="NP203",
    slug="add-overflow",
    title="sum of two values that can overflow",
    family="overflow",
    summary=("Add, Sub or Sum passes the largest finite value of its dtype."),
    why=(
        "A residual stream adds up layer by layer. In float16, where the largest value is 65504, a few outlier "
        "channels of a large transformer get there; in float32 it takes a value that has already gone wrong "
        "before."
    ),
    advice=("Do the addition in float32 or bfloat16, or scale or clip the terms first."),
    bad=Example(
        """<ir_version: 10, opset_import: ["": 26]>
residual (float16[4] x, float16[4] branch) => (float16[4] y) {
  y = Add (x, branch)
}
""",
        {"x": (-60000, 60000), "branch": (-60000, 60000)},
    ),
    good=Example(
        """<ir_version: 10, opset_import: ["": 26]>
residual (float16[4] x, float16[4] branch) => (float[4] y) {
  x32 = Cast <to = 1> (x)
  branch32 = Cast <to = 1> (branch)
  y = Add (x32, branch32)
}
""",
        {"x": (-60000, 60000), "branch": (-60000, 60000)},
    ),
)
