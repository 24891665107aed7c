"""NP308: an optimiser step that divides by 0."""

from __future__ import annotations

from nanproof.findings.rule import Example, Rule

RULE = Rule(
    code="NP308",
    slug="update-division",
    title="an optimiser step that divides by 0",
    family="gradient",
    summary=(
        "The update divides by the root of a running mean of squared gradients plus an epsilon, and both can be 0."
    ),
    why=(
        "Adam divides by sqrt(v) + eps. The eps of 1e-8 is 0 in float16, and a weight that has got no gradient yet "
        "(an embedding row that no batch has used) has a v of 0: 0 / 0 is NaN in the weight itself."
    ),
    advice=(
        "Keep the optimiser's state and the update in float32, or give an eps that the dtype can hold: 1e-4 in float16."
    ),
    bad=Example(
        """<ir_version: 10, opset_import: ["": 26]>
step (float16[4] w, float16[4] m, float16[4] v) => (float16[4] new_w) {
  eps_32 = Constant <value = float {1e-8}> ()
  eps = Cast <to = 10> (eps_32)
  root = Sqrt (v)
  below = Add (root, eps)
  change = Div (m, below)
  new_w = Sub (w, change)
}
""",
        {"w": (-1, 1), "m": (-0.01, 0.01), "v": (0, 1)},
        update=("eps", "root", "below", "change", "new_w"),
    ),
    good=Example(
        """<ir_version: 10, opset_import: ["": 26]>
step (float16[4] w, float16[4] m, float16[4] v) => (float16[4] new_w) {
  eps_32 = Constant <value = float {1e-4}> ()
  eps = Cast <to = 10> (eps_32)
  root = Sqrt (v)
  below = Add (root, eps)
  change = Div (m, below)
  new_w = Sub (w, change)
}
""",
        {"w": (-1, 1), "m": (-0.01, 0.01), "v": (0, 1)},
        update=("eps", "root", "below", "change", "new_w"),
    ),
)
