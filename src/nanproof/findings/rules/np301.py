"""NP301: a value that the forward pass hides makes a gradient NaN."""

from __future__ import annotations

from nanproof.findings.rule import Example, Rule

RULE = Rule(
    code="NP301",
    slug="where-trap",
    title="a value that the forward pass hides makes a gradient NaN",
    family="gradient",
    summary=(
        "A branch that a Where or a clamp does not choose is Inf or NaN; on the way back its derivative is multiplied "
        "by 0, and 0 times Inf is NaN."
    ),
    why=(
        "where(x <= 0, exp(x), 1 + x) looks safe: for large x the exponential is Inf, and is not chosen. But autograd "
        "computes the derivative of both branches, and sends 0 into the one that was not chosen: 0 times exp(x) is "
        "NaN as soon as exp(x) is Inf. A clamp after an exponential, a nan_to_num after a log and masks by "
        "multiplication are the same."
    ),
    advice=(
        "Choose twice: give the dangerous branch a harmless argument where it is not chosen, where(c, exp(where(c, x, "
        "0)), 1 + x). Or clamp the argument instead of the result."
    ),
    bad=Example(
        """<ir_version: 10, opset_import: ["": 26]>
branches (float[4] x) => (float[4] y, float[4] x_grad) {
  zero = Constant <value = float {0.0}> ()
  one = Constant <value = float {1.0}> ()
  low = LessOrEqual (x, zero)
  e = Exp (x)
  line = Add (x, one)
  y = Where (low, e, line)
  to_e = Where (low, one, zero)
  to_line = Where (low, zero, one)
  from_e = Mul (to_e, e)
  x_grad = Add (from_e, to_line)
}
""",
        {"x": (-100, 100)},
        back={"to_e": "where", "to_line": "where", "from_e": "exp", "x_grad": "accumulation"},
    ),
    good=Example(
        """<ir_version: 10, opset_import: ["": 26]>
branches (float[4] x) => (float[4] y, float[4] x_grad) {
  zero = Constant <value = float {0.0}> ()
  one = Constant <value = float {1.0}> ()
  low = LessOrEqual (x, zero)
  harmless = Where (low, x, zero)
  e = Exp (harmless)
  line = Add (x, one)
  y = Where (low, e, line)
  to_e = Where (low, one, zero)
  to_line = Where (low, zero, one)
  to_harmless = Mul (to_e, e)
  from_e = Where (low, to_harmless, zero)
  x_grad = Add (from_e, to_line)
}
""",
        {"x": (-100, 100)},
        back={"to_e": "where", "to_line": "where", "to_harmless": "exp", "from_e": "where", "x_grad": "accumulation"},
    ),
)
