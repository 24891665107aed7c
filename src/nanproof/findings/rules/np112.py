"""NP112: normalisation by a variance that can be 0."""

from __future__ import annotations

from nanproof.findings.rule import Example, Rule

RULE = Rule(
    code="NP112",
    slug="normalization-variance",
    title="normalisation by a variance that can be 0",
    family="domain",
    summary=("A normalisation divides by sqrt(variance + epsilon): NaN if that sum is 0 or negative."),
    why=(
        "The epsilon is an attribute, and a conversion can lose it: set to 0, or so small that it is 0 in "
        "float16. A constant channel then divides 0 by 0. A stored variance below -epsilon, from a broken "
        "average, gives NaN as well."
    ),
    advice=(
        "Give the normalisation an epsilon that its dtype can hold: 1e-5 is the usual one. Check that stored "
        "variances are not negative."
    ),
    bad=Example(
        """<ir_version: 10, opset_import: ["": 26]>
batch_norm (float[2, 3] x, float[3] scale, float[3] b, float[3] mean, float[3] var) => (float[2, 3] y) {
  y = BatchNormalization <epsilon = 0.0> (x, scale, b, mean, var)
}
""",
        {"x": (-1, 1), "scale": (-1, 1), "b": (-1, 1), "mean": (-1, 1), "var": (0, 1)},
    ),
    good=Example(
        """<ir_version: 10, opset_import: ["": 26]>
batch_norm (float[2, 3] x, float[3] scale, float[3] b, float[3] mean, float[3] var) => (float[2, 3] y) {
  y = BatchNormalization <epsilon = 1e-5> (x, scale, b, mean, var)
}
""",
        {"x": (-1, 1), "scale": (-1, 1), "b": (-1, 1), "mean": (-1, 1), "var": (0, 1)},
    ),
)
