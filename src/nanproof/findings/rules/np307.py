"""NP307: the derivative of a decomposition with equal singular values or eigenvalues."""

from __future__ import annotations

from nanproof.findings.rule import Example, Rule

RULE = Rule(
    code="NP307",
    slug="equal-values-gradient",
    title="the derivative of a decomposition with equal singular values or eigenvalues",
    family="gradient",
    summary=(
        "The derivative of singular vectors and eigenvectors divides by differences of singular values (eigenvalues), "
        "which are 0 where two are equal."
    ),
    why=(
        "The identity, a scaled orthogonal matrix, an all-zero or rank-deficient matrix have equal singular values: "
        "weights at the start of training often do. The loss may not depend on the choice of vectors at all, and its "
        "gradient is NaN."
    ),
    advice=(
        "Write the loss without the vectors (the nuclear norm needs the singular values only, the Frobenius norm not "
        "even these), or separate the values by a small diagonal matrix."
    ),
    bad=Example(
        """<ir_version: 10, opset_import: ["": 26]>
differences (float[1, 3] s) => (float[1, 3] y, float[3, 3] e_grad) {
  one = Constant <value = float {1.0}> ()
  y = Mul (s, s)
  column = Transpose <perm = [1, 0]> (s)
  apart = Sub (s, column)
  e_grad = Div (one, apart)
}
""",
        {"s": (0, 1)},
        back={"column": "linalg_eigh", "apart": "linalg_eigh", "e_grad": "linalg_eigh"},
    ),
    good=Example(
        """<ir_version: 10, opset_import: ["": 26]>
differences (float[1, 3] s) => (float[1, 3] y, float[3, 3] e_grad) {
  one = Constant <value = float {1.0}> ()
  least = Constant <value = float {0.001}> ()
  y = Mul (s, s)
  column = Transpose <perm = [1, 0]> (s)
  apart = Sub (s, column)
  size = Abs (apart)
  kept = Add (size, least)
  e_grad = Div (one, kept)
}
""",
        {"s": (0, 1)},
        back={
            "column": "linalg_eigh",
            "apart": "linalg_eigh",
            "size": "linalg_eigh",
            "kept": "linalg_eigh",
            "e_grad": "linalg_eigh",
        },
    ),
)
