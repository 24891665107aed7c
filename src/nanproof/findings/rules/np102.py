"""NP102: sqrt of a value that can be negative."""

from __future__ import annotations

from nanproof.findings.rule import Example, Rule

RULE = Rule(
    code="NP102",
    slug="sqrt-domain",
    title="sqrt of a value that can be negative",
    family="domain",
    summary=("Sqrt gives NaN below 0. At 0 it is fine, but its derivative is infinite there (NP3xx)."),
    why=(
        "The argument is usually a quantity that can't be negative in exact arithmetic: a variance, a squared "
        "distance, 1 - c * c for a cosine c. Rounding makes it negative by a few units in the last place, and one "
        "such row is enough to make the whole loss NaN."
    ),
    advice=(
        "Clip the argument from below with Max(x, 0), or compute it in a form that can't go negative, such as the "
        "mean of squared differences for a variance."
    ),
    bad=Example(
        """<ir_version: 10, opset_import: ["": 26]>
sine_of_cosine (float[4] c) => (float[4] s) {
  one = Constant <value = float {1.0}> ()
  c2 = Mul (c, c)
  s2 = Sub (one, c2)
  s = Sqrt (s2)
}
""",
        {"c": (-1.001, 1.001)},
    ),
    good=Example(
        """<ir_version: 10, opset_import: ["": 26]>
sine_of_cosine (float[4] c) => (float[4] s) {
  one = Constant <value = float {1.0}> ()
  zero = Constant <value = float {0.0}> ()
  c2 = Mul (c, c)
  s2 = Sub (one, c2)
  floor = Max (s2, zero)
  s = Sqrt (floor)
}
""",
        {"c": (-1.001, 1.001)},
    ),
)
