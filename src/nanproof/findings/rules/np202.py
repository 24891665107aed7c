"""NP202: pow that can overflow."""

from __future__ import annotations

from nanproof.findings.rule import Example, Rule

RULE = Rule(
    code="NP202",
    slug="pow-overflow",
    title="pow that can overflow",
    family="overflow",
    summary=("Pow passes the largest finite value of its dtype."),
    why=(
        "Polynomial activations (the tanh form of GELU has a cube in it), moments and p-norms raise activations "
        "to a power. A cube passes 65504 in float16 from an activation of 41 on."
    ),
    advice=("Clip or scale the base first, or compute this part in a wider dtype."),
    bad=Example(
        """<ir_version: 10, opset_import: ["": 26]>
fourth_moment (float[4] x) => (float[4] y) {
  four = Constant <value = float {4.0}> ()
  y = Pow (x, four)
}
""",
        {"x": (0, 10000000000.0)},
    ),
    good=Example(
        """<ir_version: 10, opset_import: ["": 26]>
fourth_moment (float[4] x) => (float[4] y) {
  four = Constant <value = float {4.0}> ()
  most = Constant <value = float {1e9}> ()
  base = Min (x, most)
  y = Pow (base, four)
}
""",
        {"x": (0, 10000000000.0)},
    ),
)
