"""NP306: infinities of the forward pass that meet on the way back."""

from __future__ import annotations

from nanproof.findings.rule import Example, Rule

RULE = Rule(
    code="NP306",
    slug="infinities-in-gradient",
    title="infinities of the forward pass that meet on the way back",
    family="gradient",
    summary=(
        "An Inf that the forward pass may mean, such as the log of an empty event, becomes NaN in the derivative: "
        "-Inf - (-Inf), or 0 times Inf."
    ),
    why=(
        "Sums in the log domain (CTC, forward algorithms, beam search) start from -Inf. logsumexp of such terms is "
        "-Inf, which is right; its derivative exp(x - logsumexp(x)) subtracts -Inf from -Inf. A row of attention "
        "scores in which everything is masked is the same."
    ),
    advice=("Start from a large negative number that the dtype can hold, such as -1e30 in float32, instead of -Inf."),
    bad=Example(
        """<ir_version: 10, opset_import: ["": 26]>
sum_of_nothing (float[3] x) => (float[3] y, float[3] x_grad) {
  never = Constant <value = float {-inf}> ()
  y = Add (x, never)
  apart = Sub (y, never)
  x_grad = Exp (apart)
}
""",
        {"x": (-1, 1)},
        back={"apart": "logsumexp", "x_grad": "logsumexp"},
    ),
    good=Example(
        """<ir_version: 10, opset_import: ["": 26]>
sum_of_nothing (float[3] x) => (float[3] y, float[3] x_grad) {
  never = Constant <value = float {-1e30}> ()
  y = Add (x, never)
  apart = Sub (y, y)
  x_grad = Exp (apart)
}
""",
        {"x": (-1, 1)},
        back={"apart": "logsumexp", "x_grad": "logsumexp"},
    ),
)
