"""NP116: ReduceLogSumExp of a row that can be empty or all -Inf."""

from __future__ import annotations

from nanproof.findings.rule import Example, Rule

RULE = Rule(
    code="NP116",
    slug="log-sum-exp-of-nothing",
    title="ReduceLogSumExp of a row that can be empty or all -Inf",
    family="domain",
    summary=(
        "ReduceLogSumExp of nothing, or of -Inf only, is log(0): -Inf, or NaN in runtimes that subtract the "
        "maximum first."
    ),
    why=(
        "Marginalising over masked alternatives (paths in a CRF or CTC, mixture components, allowed tokens) sets "
        "what is not allowed to -Inf. A position where nothing is allowed leaves a row of -Inf."
    ),
    advice=(
        "Mask with a large finite number such as -1e9 instead of -Inf, or make sure that one entry of each row "
        "stays finite."
    ),
    bad=Example(
        """<ir_version: 10, opset_import: ["": 26]>
marginal (float[2, 4] x, bool[2, 4] allowed) => (float[2] y) {
  axes = Constant <value = int64[1] {1}> ()
  never = Constant <value = float {-inf}> ()
  masked = Where (allowed, x, never)
  y = ReduceLogSumExp <keepdims = 0> (masked, axes)
}
""",
        {"x": (-10, 10)},
    ),
    good=Example(
        """<ir_version: 10, opset_import: ["": 26]>
marginal (float[2, 4] x, bool[2, 4] allowed) => (float[2] y) {
  axes = Constant <value = int64[1] {1}> ()
  never = Constant <value = float {-1e9}> ()
  masked = Where (allowed, x, never)
  y = ReduceLogSumExp <keepdims = 0> (masked, axes)
}
""",
        {"x": (-10, 10)},
    ),
)
