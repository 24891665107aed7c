"""NP108: acosh of a value that can be below 1."""

from __future__ import annotations

from nanproof.findings.rule import Example, Rule

RULE = Rule(
    code="NP108",
    slug="acosh-domain",
    title="acosh of a value that can be below 1",
    family="domain",
    summary=("Acosh gives NaN below 1."),
    why=(
        "Distances in hyperbolic space are acosh(1 + d) for a d >= 0, or the acosh of a Lorentz product. Computed "
        "in floats, the product of a point with itself falls just below 1."
    ),
    advice=(
        "Bound the argument from below with Max(x, 1); a little above 1 if you train through it, since the "
        "derivative is infinite at 1."
    ),
    bad=Example(
        """<ir_version: 10, opset_import: ["": 26]>
distance (float[4] x) => (float[4] y) {
  y = Acosh (x)
}
""",
        {"x": (0.999, 10)},
    ),
    good=Example(
        """<ir_version: 10, opset_import: ["": 26]>
distance (float[4] x) => (float[4] y) {
  one = Constant <value = float {1.0}> ()
  safe = Max (x, one)
  y = Acosh (safe)
}
""",
        {"x": (0.999, 10)},
    ),
)
