"""NP403: a variance as E[x^2] - E[x]^2 can round below 0."""

from __future__ import annotations

from nanproof.findings.rule import Example, Rule

RULE = Rule(
    code="NP403",
    slug="variance-by-difference",
    title="a variance as E[x^2] - E[x]^2 can round below 0",
    family="precision",
    summary=(
        "The difference of two large, nearly equal numbers keeps only their rounding errors, and those have "
        "either sign."
    ),
    why=(
        "The formula needs one pass over the data, so it is popular in streaming statistics and hand-made "
        "normalisations. For data with a mean of 100 and a deviation of 0.01 no digit of the variance is right in "
        "float32, and its sqrt is often NaN."
    ),
    advice=(
        "Subtract the mean first and average the squares: mean((x - mean(x))^2) can't be negative. Or bound the "
        "difference with Max(v, 0), which stops the NaN but leaves the wrong digits."
    ),
    bad=Example(
        """<ir_version: 10, opset_import: ["": 26]>
deviation (float[2, 64] x) => (float[2, 1] y) {
  axes = Constant <value = int64[1] {1}> ()
  square = Mul (x, x)
  mean_square = ReduceMean <keepdims = 1> (square, axes)
  mean = ReduceMean <keepdims = 1> (x, axes)
  square_mean = Mul (mean, mean)
  variance = Sub (mean_square, square_mean)
  y = Sqrt (variance)
}
""",
        {"x": (-100, 100)},
    ),
    good=Example(
        """<ir_version: 10, opset_import: ["": 26]>
deviation (float[2, 64] x) => (float[2, 1] y) {
  axes = Constant <value = int64[1] {1}> ()
  mean = ReduceMean <keepdims = 1> (x, axes)
  centred = Sub (x, mean)
  square = Mul (centred, centred)
  variance = ReduceMean <keepdims = 1> (square, axes)
  y = Sqrt (variance)
}
""",
        {"x": (-100, 100)},
    ),
)
