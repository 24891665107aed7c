"""NP209: cast to a narrower type that can overflow."""

from __future__ import annotations

from nanproof.findings.rule import Example, Rule

RULE = Rule(
    code="NP209",
    slug="narrowing-cast-overflow",
    title="cast to a narrower type that can overflow",
    family="overflow",
    summary=("Cast to a narrower float gives Inf (NaN in some 8-bit floats) for a value past its largest finite one."),
    why=(
        "Mixed precision casts at every border. float16 ends at 65504 and float8_e4m3fn at 448, while a mask "
        "constant of -1e9 or the largest float32 value is common: -1e9 in float16 is -Inf."
    ),
    advice=(
        "Clip before the cast, choose mask values that fit the narrow type, or use bfloat16, which has the range "
        "of float32."
    ),
    bad=Example(
        """<ir_version: 10, opset_import: ["": 26]>
narrow (float[4] x) => (float16[4] y) {
  y = Cast <to = 10> (x)
}
""",
        {"x": (-100000, 100000)},
    ),
    good=Example(
        """<ir_version: 10, opset_import: ["": 26]>
narrow (float[4] x) => (float16[4] y) {
  lo = Constant <value = float {-65504.0}> ()
  hi = Constant <value = float {65504.0}> ()
  fits = Clip (x, lo, hi)
  y = Cast <to = 10> (fits)
}
""",
        {"x": (-100000, 100000)},
    ),
)
