"""NP201: exp that can overflow."""

from __future__ import annotations

from nanproof.findings.rule import Example, Rule

RULE = Rule(
    code="NP201",
    slug="exp-overflow",
    title="exp that can overflow",
    family="overflow",
    summary=(
        "Exp passes the largest finite value at about 88.7 in float32, 11.1 in float16 and 709.8 in float64; "
        "Sinh, Cosh and a softplus written with Exp do so near there."
    ),
    why=(
        "A hand-made softmax, softplus, ELU or log-sum-exp exponentiates raw logits. They are small at the start "
        "of training and grow with the confidence of the model; in float16 an ordinary logit of 12 is enough. Inf "
        "/ Inf then gives NaN."
    ),
    advice=(
        "Use the operator that does it stably: Softmax, Softplus, LogSoftmax, ReduceLogSumExp. Or subtract the "
        "maximum of the row first, or clip the argument."
    ),
    bad=Example(
        """<ir_version: 10, opset_import: ["": 26]>
softplus (float[4] x) => (float[4] y) {
  one = Constant <value = float {1.0}> ()
  e = Exp (x)
  s = Add (one, e)
  y = Log (s)
}
""",
        {"x": (-100, 100)},
    ),
    good=Example(
        """<ir_version: 10, opset_import: ["": 26]>
softplus (float[4] x) => (float[4] y) {
  y = Softplus (x)
}
""",
        {"x": (-100, 100)},
    ),
)
