"""NP215: a stored NaN or Inf reaches an output."""

from __future__ import annotations

from nanproof.findings.rule import Example, Rule

RULE = Rule(
    code="NP215",
    slug="stored-nan",
    title="a NaN that comes from a stored tensor or from an infinity",
    family="overflow",
    summary=("The model's own stored NaN or Inf, or what operators make of it, reaches an output."),
    why=(
        "A checkpoint that was written after training had diverged holds NaN in its weights; a constant such as log(0) was "
        "folded to -Inf by the exporter. Nothing is born at run time then, and still the output is spoilt. A stored "
        "-Inf that a Softmax or a Where absorbs, as masks are meant to be, is no finding, and one that reaches an "
        "output as an infinity is a note."
    ),
    advice=("Look at the stored tensor that is named: load an older checkpoint, or repair what computed the constant."),
    bad=Example(
        """<ir_version: 10, opset_import: ["": 26]>
shifted (float[4] x) => (float[4] y) {
  b = Constant <value = float {nan}> ()
  y = Add (x, b)
}
""",
        {"x": (-10, 10)},
    ),
    good=Example(
        """<ir_version: 10, opset_import: ["": 26]>
shifted (float[4] x) => (float[4] y) {
  b = Constant <value = float {0.5}> ()
  y = Add (x, b)
}
""",
        {"x": (-10, 10)},
    ),
)
