"""NP118: integer division or remainder by a value that can be 0."""

from __future__ import annotations

from nanproof.findings.rule import Example, Rule

RULE = Rule(
    code="NP118",
    slug="integer-division-by-zero",
    title="integer division or remainder by a value that can be 0",
    family="domain",
    summary=(
        "Div and Mod of integers by 0 have no result: ONNX Runtime and PyTorch stop with an error, NumPy gives 0, "
        "and in compiled code the processor may kill the process."
    ),
    why=(
        "Integers have no NaN to signal with, so it doesn't show up in a loss curve: the model simply stops. "
        "Index arithmetic (position // stride, number % heads) does this when a size that is computed from the "
        "input becomes 0."
    ),
    advice=("Bound the divisor with Max(d, 1), or check the size before."),
    bad=Example(
        """<ir_version: 10, opset_import: ["": 26]>
bucket (int64[4] position, int64[1] stride) => (int64[4] y) {
  y = Div (position, stride)
}
""",
        {"position": (0, 100), "stride": (0, 4)},
    ),
    good=Example(
        """<ir_version: 10, opset_import: ["": 26]>
bucket (int64[4] position, int64[1] stride) => (int64[4] y) {
  one = Constant <value = int64 {1}> ()
  safe = Max (stride, one)
  y = Div (position, safe)
}
""",
        {"position": (0, 100), "stride": (0, 4)},
    ),
)
