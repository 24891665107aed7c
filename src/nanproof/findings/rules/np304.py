"""NP304: a derivative that divides by a value that can be 0."""

from __future__ import annotations

from nanproof.findings.rule import Example, Rule

RULE = Rule(
    code="NP304",
    slug="quotient-gradient",
    title="a derivative that divides by a value that can be 0",
    family="gradient",
    summary=(
        "The derivative of log(x) is 1 / x, that of a / b has b * b below the line: where the forward pass is "
        "repaired afterwards, they still divide by 0."
    ),
    why=(
        "nan_to_num(log(x)) turns -Inf into a number, and where(x > 0, log(x), 0) does not choose it. Both leave the "
        "derivative as it was: autograd divides 0 by 0, which is NaN."
    ),
    advice=(
        "Repair the argument instead of the result: log(x.clamp(min=eps)), or log(where(x > 0, x, 1)) with the where "
        "around it kept."
    ),
    bad=Example(
        """<ir_version: 10, opset_import: ["": 26]>
logs (float[4] x) => (float[4] y, float[4] x_grad) {
  zero = Constant <value = float {0.0}> ()
  one = Constant <value = float {1.0}> ()
  some = Greater (x, zero)
  l = Log (x)
  y = Where (some, l, zero)
  to_l = Where (some, one, zero)
  x_grad = Div (to_l, x)
}
""",
        {"x": (0, 1)},
        back={"to_l": "where", "x_grad": "log"},
    ),
    good=Example(
        """<ir_version: 10, opset_import: ["": 26]>
logs (float[4] x) => (float[4] y, float[4] x_grad) {
  zero = Constant <value = float {0.0}> ()
  one = Constant <value = float {1.0}> ()
  least = Constant <value = float {0.01}> ()
  some = Greater (x, least)
  harmless = Where (some, x, one)
  l = Log (harmless)
  y = Where (some, l, zero)
  to_l = Where (some, one, zero)
  to_harmless = Div (to_l, harmless)
  x_grad = Where (some, to_harmless, zero)
}
""",
        {"x": (0, 1)},
        back={"to_l": "where", "to_harmless": "log", "x_grad": "where"},
    ),
)
