"""NP106: pow outside its domain."""

from __future__ import annotations

from nanproof.findings.rule import Example, Rule

RULE = Rule(
    code="NP106",
    slug="pow-domain",
    title="pow outside its domain",
    family="domain",
    summary=(
        "Pow gives NaN for a negative base with a fractional exponent, and Inf for a base of 0 with a negative "
        "exponent."
    ),
    why=(
        "Gamma correction, generalised-mean pooling and focal losses raise activations to a fractional power. It "
        "works while they come out of a ReLU or a sigmoid, and breaks when the layer before changes, or when 1 - "
        "p becomes slightly negative in floats."
    ),
    advice=(
        "Bound the base from below: Max(x, 0) for a positive exponent, Max(x, eps) for a negative one. For odd "
        "symmetry use Sign(x) * Pow(Abs(x), e)."
    ),
    bad=Example(
        """<ir_version: 10, opset_import: ["": 26]>
gamma (float[4] x) => (float[4] y) {
  e = Constant <value = float {0.5}> ()
  y = Pow (x, e)
}
""",
        {"x": (-1, 1)},
    ),
    good=Example(
        """<ir_version: 10, opset_import: ["": 26]>
gamma (float[4] x) => (float[4] y) {
  e = Constant <value = float {0.5}> ()
  zero = Constant <value = float {0.0}> ()
  base = Max (x, zero)
  y = Pow (base, e)
}
""",
        {"x": (-1, 1)},
    ),
)
