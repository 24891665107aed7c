"""NP105: floating-point remainder by a value that can be 0."""

from __future__ import annotations

from nanproof.findings.rule import Example, Rule

RULE = Rule(
    code="NP105",
    slug="mod-by-zero",
    title="floating-point remainder by a value that can be 0",
    family="domain",
    summary=("Mod with fmod = 1 gives NaN when the divisor is 0."),
    why=(
        "Wrapping an angle, a phase or a position into a period is safe while the period is a constant. Once the "
        "period is predicted or computed (a window, a number of steps), nothing keeps it away from 0."
    ),
    advice=("Bound the divisor from below with Max."),
    bad=Example(
        """<ir_version: 10, opset_import: ["": 26]>
wrap (float[4] x, float[4] period) => (float[4] y) {
  y = Mod <fmod = 1> (x, period)
}
""",
        {"x": (0, 100), "period": (0, 8)},
    ),
    good=Example(
        """<ir_version: 10, opset_import: ["": 26]>
wrap (float[4] x, float[4] period) => (float[4] y) {
  least = Constant <value = float {1.0}> ()
  safe = Max (period, least)
  y = Mod <fmod = 1> (x, safe)
}
""",
        {"x": (0, 100), "period": (0, 8)},
    ),
)
