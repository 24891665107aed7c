"""NP402: a constant or an epsilon becomes 0 in its dtype."""

from __future__ import annotations

from nanproof.findings.rule import Example, Rule

RULE = Rule(
    code="NP402",
    slug="flushed-constant",
    title="a constant or an epsilon becomes 0 in its dtype",
    family="precision",
    summary=("A constant that isn't 0 is rounded to 0 when it is cast to a narrower type."),
    why=(
        "The smallest positive float16 is 6e-8, so the epsilons that everyone copies, 1e-8 and 1e-12, are exactly "
        "0 there. A model that is sound in float32 loses all its guards when it is converted, and nothing says "
        "so."
    ),
    advice=(
        "Use an epsilon that the narrow type holds as a normal number, 1e-4 for float16, or keep this part of the "
        "model in float32."
    ),
    bad=Example(
        """<ir_version: 10, opset_import: ["": 26]>
normalise (float16[4] x, float16[1] std) => (float16[4] y) {
  eps = Constant <value = float {1e-8}> ()
  eps16 = Cast <to = 10> (eps)
  safe = Add (std, eps16)
  y = Div (x, safe)
}
""",
        {"x": (-1, 1), "std": (0, 1)},
    ),
    good=Example(
        """<ir_version: 10, opset_import: ["": 26]>
normalise (float16[4] x, float16[1] std) => (float16[4] y) {
  eps = Constant <value = float {1e-4}> ()
  eps16 = Cast <to = 10> (eps)
  safe = Add (std, eps16)
  y = Div (x, safe)
}
""",
        {"x": (-1, 1), "std": (0, 1)},
    ),
)
