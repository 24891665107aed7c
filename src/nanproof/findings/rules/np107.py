"""NP107: acos or asin of a value that can be outside [-1, 1]."""

from __future__ import annotations

from nanproof.findings.rule import Example, Rule

RULE = Rule(
    code="NP107",
    slug="arc-domain",
    title="acos or asin of a value that can be outside [-1, 1]",
    family="domain",
    summary=("Acos and Asin give NaN outside [-1, 1]."),
    why=(
        "The angle between two vectors is the acos of their normalised dot product. That product is at most 1 on "
        "paper, but in floats it reaches 1.0000001 for a vector and itself, so that the angle of two equal "
        "vectors, of all things, is NaN."
    ),
    advice=(
        "Clip the argument to [-1, 1]. If you train through it, clip a little tighter (the derivative is infinite "
        "at both ends) or use Atan2 of the cross and the dot product."
    ),
    bad=Example(
        """<ir_version: 10, opset_import: ["": 26]>
angle (float[4] cosine) => (float[4] y) {
  y = Acos (cosine)
}
""",
        {"cosine": (-1.0001, 1.0001)},
    ),
    good=Example(
        """<ir_version: 10, opset_import: ["": 26]>
angle (float[4] cosine) => (float[4] y) {
  lo = Constant <value = float {-1.0}> ()
  hi = Constant <value = float {1.0}> ()
  c = Clip (cosine, lo, hi)
  y = Acos (c)
}
""",
        {"cosine": (-1.0001, 1.0001)},
    ),
)
