"""NP115: ReduceLogSum of a sum that can be 0 or negative."""

from __future__ import annotations

from nanproof.findings.rule import Example, Rule

RULE = Rule(
    code="NP115",
    slug="reduce-log-sum-domain",
    title="ReduceLogSum of a sum that can be 0 or negative",
    family="domain",
    summary=("ReduceLogSum is the log of a sum: -Inf if the sum is 0, NaN if it is negative."),
    why=(
        "Converters fuse log(sum(x)) into this operator, which hides the log from a reader of the graph. The sum "
        "of activations after a ReLU, or of masked probabilities, is 0 for a row where nothing is active."
    ),
    advice=(
        "Add an epsilon to the elements or to the sum before the log. If the elements are exponentials, use "
        "ReduceLogSumExp."
    ),
    bad=Example(
        """<ir_version: 10, opset_import: ["": 26]>
log_sum (float[2, 4] x) => (float[2] y) {
  axes = Constant <value = int64[1] {1}> ()
  y = ReduceLogSum <keepdims = 0> (x, axes)
}
""",
        {"x": (0, 1)},
    ),
    good=Example(
        """<ir_version: 10, opset_import: ["": 26]>
log_sum (float[2, 4] x) => (float[2] y) {
  axes = Constant <value = int64[1] {1}> ()
  eps = Constant <value = float {1e-6}> ()
  above = Add (x, eps)
  y = ReduceLogSum <keepdims = 0> (above, axes)
}
""",
        {"x": (0, 1)},
    ),
)
