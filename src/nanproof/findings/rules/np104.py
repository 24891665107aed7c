"""NP104: reciprocal of a value that can be 0."""

from __future__ import annotations

from nanproof.findings.rule import Example, Rule

RULE = Rule(
    code="NP104",
    slug="reciprocal-of-zero",
    title="reciprocal of a value that can be 0",
    family="domain",
    summary=("Reciprocal gives Inf at 0."),
    why=(
        "Exporters write 1 / x, rsqrt and many a normalisation as Reciprocal. It fails where a division would: on "
        "the row that is all zeros, on the dead channel, on the empty batch. Multiplied by a 0 it then becomes "
        "NaN."
    ),
    advice=("Add an epsilon before the reciprocal, or bound its argument away from 0 with Max."),
    bad=Example(
        """<ir_version: 10, opset_import: ["": 26]>
inverse (float[4] s) => (float[4] y) {
  y = Reciprocal (s)
}
""",
        {"s": (0, 1)},
    ),
    good=Example(
        """<ir_version: 10, opset_import: ["": 26]>
inverse (float[4] s) => (float[4] y) {
  least = Constant <value = float {1e-6}> ()
  safe = Max (s, least)
  y = Reciprocal (safe)
}
""",
        {"s": (0, 1)},
    ),
)
