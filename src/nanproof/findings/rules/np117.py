"""NP117: softmax of a row that can be all -Inf."""

from __future__ import annotations

from nanproof.findings.rule import Example, Rule

RULE = Rule(
    code="NP117",
    slug="softmax-of-nothing",
    title="softmax of a row that can be all -Inf",
    family="domain",
    summary=("Softmax and LogSoftmax subtract the maximum of the row: -Inf - (-Inf) is NaN if the whole row is -Inf."),
    why=(
        "Attention masks set forbidden positions to -Inf. A row that may attend to nothing (a padded query, the "
        "first token under a strict causal mask, a window that is masked out) is NaN in every output, and in the "
        "gradients of all others."
    ),
    advice=(
        "Mask with a large finite number that the dtype can hold (-1e9 in float32, -1e4 in float16) instead of "
        "-Inf, or let each row see one position, such as its own."
    ),
    bad=Example(
        """<ir_version: 10, opset_import: ["": 26]>
attention (float[2, 4] scores, bool[2, 4] allowed) => (float[2, 4] y) {
  never = Constant <value = float {-inf}> ()
  masked = Where (allowed, scores, never)
  y = Softmax <axis = -1> (masked)
}
""",
        {"scores": (-10, 10)},
    ),
    good=Example(
        """<ir_version: 10, opset_import: ["": 26]>
attention (float[2, 4] scores, bool[2, 4] allowed) => (float[2, 4] y) {
  never = Constant <value = float {-1e9}> ()
  masked = Where (allowed, scores, never)
  y = Softmax <axis = -1> (masked)
}
""",
        {"scores": (-10, 10)},
    ),
)
