"""NP212: Inf - Inf."""

from __future__ import annotations

from nanproof.findings.rule import Example, Rule

RULE = Rule(
    code="NP212",
    slug="inf-minus-inf",
    title="Inf - Inf",
    family="overflow",
    summary=("Inf - Inf and -Inf + Inf are NaN."),
    why=(
        "An Inf is often put there on purpose, as a mask or as the start of a running minimum. It is harmless "
        "until it meets another: a masked row minus its own maximum, where all of the row is masked, or two masks "
        "with opposite signs that are added."
    ),
    advice=("Use a large finite number as the mask, or take the masked elements out with Where after the subtraction."),
    bad=Example(
        """<ir_version: 10, opset_import: ["": 26]>
centre (float[2, 4] x, bool[2, 4] allowed) => (float[2, 4] y) {
  axes = Constant <value = int64[1] {1}> ()
  never = Constant <value = float {-inf}> ()
  masked = Where (allowed, x, never)
  top = ReduceMax <keepdims = 1> (masked, axes)
  y = Sub (masked, top)
}
""",
        {"x": (-10, 10)},
    ),
    good=Example(
        """<ir_version: 10, opset_import: ["": 26]>
centre (float[2, 4] x, bool[2, 4] allowed) => (float[2, 4] y) {
  axes = Constant <value = int64[1] {1}> ()
  never = Constant <value = float {-1e9}> ()
  masked = Where (allowed, x, never)
  top = ReduceMax <keepdims = 1> (masked, axes)
  y = Sub (masked, top)
}
""",
        {"x": (-10, 10)},
    ),
)
