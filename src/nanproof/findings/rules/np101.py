"""NP101: log of a value that can be 0 or negative."""

from __future__ import annotations

from nanproof.findings.rule import Example, Rule

RULE = Rule(
    code="NP101",
    slug="log-domain",
    title="log of a value that can be 0 or negative",
    family="domain",
    summary=("Log gives -Inf at 0 and NaN below 0."),
    why=(
        "A probability is positive on paper, but softmax and sigmoid underflow to exactly 0 in floats: softmax in "
        "float32 once two inputs differ by more than about 104, and ONNX Runtime's float32 sigmoid already at "
        "-18. The loss is then Inf, and its gradient NaN. The other common source is a difference such as 1 - p, "
        "which is 0 as soon as p rounds to 1."
    ),
    advice=(
        "Use the operator that never leaves the log domain: LogSoftmax instead of Log of Softmax, -Softplus(-x) "
        "instead of Log of Sigmoid, the loss on logits instead of on probabilities. Where there is none, add an "
        "epsilon right before the log that is not lost in the dtype, or clip from below."
    ),
    bad=Example(
        """<ir_version: 10, opset_import: ["": 26]>
log_of_softmax (float[2, 10] x) => (float[2, 10] y) {
  p = Softmax <axis = -1> (x)
  y = Log (p)
}
""",
        {"x": (-100, 100)},
    ),
    good=Example(
        """<ir_version: 10, opset_import: ["": 26]>
log_softmax (float[2, 10] x) => (float[2, 10] y) {
  y = LogSoftmax <axis = -1> (x)
}
""",
        {"x": (-100, 100)},
    ),
)
