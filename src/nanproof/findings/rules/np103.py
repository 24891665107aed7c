"""NP103: division by a value that can be 0."""

from __future__ import annotations

from nanproof.findings.rule import Example, Rule

RULE = Rule(
    code="NP103",
    slug="division-by-zero",
    title="division by a value that can be 0",
    family="domain",
    summary=("Div gives NaN for 0 / 0 and Inf for any other number over 0."),
    why=(
        "Dividing by a norm, a standard deviation, a sum of weights or a count works on ordinary batches, and "
        "fails on the first one that is constant, empty or masked out entirely: a blank image, a padded sentence, "
        "a class that no example has."
    ),
    advice=(
        "Add an epsilon to the divisor, or bound it from below with Max. Choose the epsilon for the dtype: 1e-8 "
        "is 0 in float16. For counts, Max(count, 1) keeps every other result as it is."
    ),
    bad=Example(
        """<ir_version: 10, opset_import: ["": 26]>
normalise (float[4] x, float[1] std) => (float[4] y) {
  y = Div (x, std)
}
""",
        {"x": (-1, 1), "std": (0, 10)},
    ),
    good=Example(
        """<ir_version: 10, opset_import: ["": 26]>
normalise (float[4] x, float[1] std) => (float[4] y) {
  eps = Constant <value = float {1e-8}> ()
  safe = Add (std, eps)
  y = Div (x, safe)
}
""",
        {"x": (-1, 1), "std": (0, 10)},
    ),
)
