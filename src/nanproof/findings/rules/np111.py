"""NP111: LpNormalization of a row that can be all zeros."""

from __future__ import annotations

from nanproof.findings.rule import Example, Rule

RULE = Rule(
    code="NP111",
    slug="lp-normalization-zero",
    title="LpNormalization of a row that can be all zeros",
    family="domain",
    summary=("LpNormalization divides a row by its norm, and the norm of a row of zeros is 0."),
    why=(
        "The operator has no epsilon, and its specification doesn't say what a row of zeros gives: ONNX Runtime "
        "returns zeros, a plain division returns NaN, so that a model moves from one runtime to another and "
        "breaks there. Padding, a dead ReLU layer and dropout all make such rows."
    ),
    advice=("Write the normalisation out with a bound on the norm: x / Max(norm, 1e-12)."),
    bad=Example(
        """<ir_version: 10, opset_import: ["": 26]>
unit (float[2, 4] x) => (float[2, 4] y) {
  y = LpNormalization <axis = -1, p = 2> (x)
}
""",
        {"x": (-1, 1)},
    ),
    good=Example(
        """<ir_version: 10, opset_import: ["": 26]>
unit (float[2, 4] x) => (float[2, 4] y) {
  axes = Constant <value = int64[1] {-1}> ()
  least = Constant <value = float {1e-12}> ()
  norm = ReduceL2 <keepdims = 1> (x, axes)
  safe = Max (norm, least)
  y = Div (x, safe)
}
""",
        {"x": (-1, 1)},
    ),
)
