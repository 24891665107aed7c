"""NP113: mean loss in which no element may count."""

from __future__ import annotations

from nanproof.findings.rule import Example, Rule

RULE = Rule(
    code="NP113",
    slug="loss-over-nothing",
    title="mean loss in which no element may count",
    family="domain",
    summary=(
        "A mean loss divides by the weight of the labels that count: 0 / 0 if all of them are ignored or have weight 0."
    ),
    why=(
        "With ignore_index, padding labels are left out of the mean. A batch in which every label is padding (the "
        "last batch of an epoch, a prompt without an answer, a crop without an object) has nothing left to "
        "average, and its NaN wipes out all weights in one step."
    ),
    advice=('Use reduction = "sum" and divide by Max(count, 1) yourself, or leave such batches out.'),
    bad=Example(
        """<ir_version: 10, opset_import: ["": 26]>
loss (float[4, 3] scores, int64[4] labels) => (float y) {
  y = SoftmaxCrossEntropyLoss <reduction = "mean", ignore_index = -1> (scores, labels)
}
""",
        {"scores": (-10, 10), "labels": (-1, 2)},
    ),
    good=Example(
        """<ir_version: 10, opset_import: ["": 26]>
loss (float[4, 3] scores, int64[4] labels) => (float y) {
  total = SoftmaxCrossEntropyLoss <reduction = "sum", ignore_index = -1> (scores, labels)
  ignored = Constant <value = int64 {-1}> ()
  one = Constant <value = float {1.0}> ()
  skip = Equal (labels, ignored)
  use = Not (skip)
  weight = Cast <to = 1> (use)
  count = ReduceSum <keepdims = 0> (weight)
  divisor = Max (count, one)
  y = Div (total, divisor)
}
""",
        {"scores": (-10, 10), "labels": (-1, 2)},
    ),
)
