"""NP109: atanh of a value that can be 1 or -1, or beyond."""

from __future__ import annotations

from nanproof.findings.rule import Example, Rule

RULE = Rule(
    code="NP109",
    slug="atanh-domain",
    title="atanh of a value that can be 1 or -1, or beyond",
    family="domain",
    summary=("Atanh gives Inf at 1 and -1, and NaN beyond."),
    why=(
        "Fisher's transformation and Poincare-ball layers take the atanh of a tanh, a correlation or a norm. Each "
        "is below 1 on paper and rounds to exactly 1 in floats: tanh does so in float32 from about 9 on."
    ),
    advice=(
        "Clip the argument to [-1 + eps, 1 - eps] with an eps that the dtype can tell from 0 next to 1: at least "
        "1e-7 in float32, 1e-3 in float16."
    ),
    bad=Example(
        """<ir_version: 10, opset_import: ["": 26]>
fisher (float[4] r) => (float[4] z) {
  z = Atanh (r)
}
""",
        {"r": (-1, 1)},
    ),
    good=Example(
        """<ir_version: 10, opset_import: ["": 26]>
fisher (float[4] r) => (float[4] z) {
  lo = Constant <value = float {-0.999}> ()
  hi = Constant <value = float {0.999}> ()
  inner = Clip (r, lo, hi)
  z = Atanh (inner)
}
""",
        {"r": (-1, 1)},
    ),
)
