"""NP214: composite operator that can overflow."""

from __future__ import annotations

from nanproof.findings.rule import Example, Rule

RULE = Rule(
    code="NP214",
    slug="composite-overflow",
    title="composite operator that can overflow",
    family="overflow",
    summary=(
        "The result of an operator that does several steps at once (a normalisation, a recurrent cell, an "
        "interpolation) passes the largest finite value of its dtype."
    ),
    why=(
        "A normalisation multiplies by its scale over the stored deviation. With frozen statistics, as in "
        "inference, an input far from those of the training is not brought back to a small range, but amplified."
    ),
    advice=("Bound the input of the operator, or check the stored statistics and scales."),
    bad=Example(
        """<ir_version: 10, opset_import: ["": 26]>
batch_norm (float[2, 3] x, float[3] scale, float[3] b, float[3] mean, float[3] var) => (float[2, 3] y) {
  y = BatchNormalization <epsilon = 1e-5> (x, scale, b, mean, var)
}
""",
        {"x": (-1e38, 1e38), "scale": (-10, 10), "b": (-1, 1), "mean": (-1, 1), "var": (0.5, 2)},
    ),
    good=Example(
        """<ir_version: 10, opset_import: ["": 26]>
batch_norm (float[2, 3] x, float[3] scale, float[3] b, float[3] mean, float[3] var) => (float[2, 3] y) {
  lo = Constant <value = float {-1e4}> ()
  hi = Constant <value = float {1e4}> ()
  bounded = Clip (x, lo, hi)
  y = BatchNormalization <epsilon = 1e-5> (bounded, scale, b, mean, var)
}
""",
        {"x": (-1e38, 1e38), "scale": (-10, 10), "b": (-1, 1), "mean": (-1, 1), "var": (0.5, 2)},
    ),
)
