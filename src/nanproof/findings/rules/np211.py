"""NP211: QuantizeLinear with a scale that can be 0."""

from __future__ import annotations

from nanproof.findings.rule import Example, Rule

RULE = Rule(
    code="NP211",
    slug="quantize-scale-zero",
    title="QuantizeLinear with a scale that can be 0",
    family="overflow",
    summary=("QuantizeLinear divides by its scale, so that a scale of 0 gives NaN or Inf, and then any integer."),
    why=(
        "Dynamic quantisation computes the scale as max(abs(x)) / 127. It is 0 for a tensor of zeros, and it "
        "underflows to 0 for tiny ones in float16."
    ),
    advice=("Bound the scale from below: Max(scale, 1e-6)."),
    bad=Example(
        """<ir_version: 10, opset_import: ["": 26]>
quantise (float[4] x, float scale) => (int8[4] y) {
  zero_point = Constant <value = int8 {0}> ()
  y = QuantizeLinear (x, scale, zero_point)
}
""",
        {"x": (-1, 1), "scale": (0, 0.1)},
    ),
    good=Example(
        """<ir_version: 10, opset_import: ["": 26]>
quantise (float[4] x, float scale) => (int8[4] y) {
  zero_point = Constant <value = int8 {0}> ()
  least = Constant <value = float {1e-6}> ()
  safe = Max (scale, least)
  y = QuantizeLinear (x, safe, zero_point)
}
""",
        {"x": (-1, 1), "scale": (0, 0.1)},
    ),
)
