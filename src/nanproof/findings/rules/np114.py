"""NP114: reduction over an axis that can be empty."""

from __future__ import annotations

from nanproof.findings.rule import Example, Rule

RULE = Rule(
    code="NP114",
    slug="reduction-over-nothing",
    title="reduction over an axis that can be empty",
    family="domain",
    summary=("ReduceMax and ReduceMin over no elements give -Inf and +Inf, and ReduceMean gives 0 / 0."),
    why=(
        "Empty axes come from selections that select nothing: no box above the threshold, no token after the "
        "prompt, a slice that starts at the end. ONNX clamps a slice that lies past the end, so that an off-by- "
        "one is an empty tensor and no error. Runtimes differ in what they then return."
    ),
    advice=(
        "Make sure that there is something to reduce (select at least one element, or pad with a neutral one), or "
        "handle the empty case apart. For a mean, divide the sum by Max(count, 1)."
    ),
    bad=Example(
        """<ir_version: 10, opset_import: ["": 26]>
last_row (float[8, 4] x) => (float[4] y) {
  first = Constant <value = int64[1] {8}> ()
  last = Constant <value = int64[1] {9}> ()
  axes = Constant <value = int64[1] {0}> ()
  rows = Slice (x, first, last, axes)
  y = ReduceMax <keepdims = 0> (rows, axes)
}
""",
        {"x": (-1, 1)},
    ),
    good=Example(
        """<ir_version: 10, opset_import: ["": 26]>
last_row (float[8, 4] x) => (float[4] y) {
  first = Constant <value = int64[1] {7}> ()
  last = Constant <value = int64[1] {8}> ()
  axes = Constant <value = int64[1] {0}> ()
  rows = Slice (x, first, last, axes)
  y = ReduceMax <keepdims = 0> (rows, axes)
}
""",
        {"x": (-1, 1)},
    ),
)
