"""NP401: an epsilon is absorbed and protects nothing."""

from __future__ import annotations

from nanproof.findings.rule import Example, Rule

RULE = Rule(
    code="NP401",
    slug="absorbed-epsilon",
    title="an epsilon is absorbed and protects nothing",
    family="precision",
    summary=("x + eps is x itself in this dtype, so that the guard that eps was to be isn't there."),
    why=(
        "Next to 1, float32 tells numbers apart that differ by 1.2e-7, float16 by 1e-3. In 1 + 1e-10 - p the "
        "epsilon is lost in the first addition, and the result is 0 for p = 1. Order matters: (1 - p) + 1e-10 "
        "would have kept it."
    ),
    advice=("Add the epsilon last, to the small quantity that it protects, and size it for the dtype."),
    bad=Example(
        """<ir_version: 10, opset_import: ["": 26]>
log_of_rest (float[4] x) => (float[4] y) {
  one = Constant <value = float {1.0}> ()
  eps = Constant <value = float {1e-10}> ()
  p = Sigmoid (x)
  bound = Add (one, eps)
  rest = Sub (bound, p)
  y = Log (rest)
}
""",
        {"x": (-30, 30)},
    ),
    good=Example(
        """<ir_version: 10, opset_import: ["": 26]>
log_of_rest (float[4] x) => (float[4] y) {
  one = Constant <value = float {1.0}> ()
  eps = Constant <value = float {1e-6}> ()
  p = Sigmoid (x)
  rest = Sub (one, p)
  bound = Add (rest, eps)
  y = Log (bound)
}
""",
        {"x": (-30, 30)},
    ),
)
