"""NP210: cast to an integer that can be out of range or of NaN."""

from __future__ import annotations

from nanproof.findings.rule import Example, Rule

RULE = Rule(
    code="NP210",
    slug="float-to-int-cast",
    title="cast to an integer that can be out of range or of NaN",
    family="overflow",
    summary=(
        "Cast of a float that the integer type can't hold (or of NaN or Inf) has no defined result: it depends on "
        "the runtime and the processor."
    ),
    why=(
        "The result is usually the smallest integer, and it is used as an index, a size or a label right away. "
        "The model doesn't become NaN, it becomes wrong, or it crashes far from the cause."
    ),
    advice=("Clip to the range of the integer type before the cast, and see to it that no NaN gets there."),
    bad=Example(
        """<ir_version: 10, opset_import: ["": 26]>
to_index (float[4] x) => (int32[4] y) {
  y = Cast <to = 6> (x)
}
""",
        {"x": (-10000000000.0, 10000000000.0)},
    ),
    good=Example(
        """<ir_version: 10, opset_import: ["": 26]>
to_index (float[4] x) => (int32[4] y) {
  lo = Constant <value = float {-1e9}> ()
  hi = Constant <value = float {1e9}> ()
  fits = Clip (x, lo, hi)
  y = Cast <to = 6> (fits)
}
""",
        {"x": (-10000000000.0, 10000000000.0)},
    ),
)
