"""NP110: Range with a step that can be 0."""

from __future__ import annotations

from nanproof.findings.rule import Example, Rule

RULE = Rule(
    code="NP110",
    slug="range-step-zero",
    title="Range with a step that can be 0",
    family="domain",
    summary=(
        "Range has (limit - start) / delta elements, so a delta of 0 asks for infinitely many: runtimes refuse "
        "it, or run out of memory."
    ),
    why=(
        "The step is computed when a stride or a resolution depends on the input: length / bins rounds down to 0 "
        "as soon as there are more bins than elements."
    ),
    advice=("Bound the step away from 0, with Max(step, 1) for integers."),
    bad=Example(
        """<ir_version: 10, opset_import: ["": 26]>
positions (int64 step) => (int64[n] y) {
  start = Constant <value = int64 {0}> ()
  limit = Constant <value = int64 {10}> ()
  y = Range (start, limit, step)
}
""",
        {"step": (0, 2)},
    ),
    good=Example(
        """<ir_version: 10, opset_import: ["": 26]>
positions (int64 step) => (int64[n] y) {
  start = Constant <value = int64 {0}> ()
  limit = Constant <value = int64 {10}> ()
  one = Constant <value = int64 {1}> ()
  safe = Max (step, one)
  y = Range (start, limit, safe)
}
""",
        {"step": (0, 2)},
    ),
)
