"""NP302: the derivative of a root, norm, power or angle at 0."""

from __future__ import annotations

from nanproof.findings.rule import Example, Rule

RULE = Rule(
    code="NP302",
    slug="root-gradient",
    title="the derivative of a root, norm, power or angle at 0",
    family="gradient",
    summary=(
        "The root of 0 is 0, but its derivative divides by it: the gradient is Inf, or NaN where it is multiplied by "
        "0 further back."
    ),
    why=(
        "Distances and norms are roots of sums of squares: two points that coincide, a row of zeros, a constant "
        "image, a standard deviation of equal values, an empty bin of a spectrum. The loss is finite, and the first "
        "such example turns every weight into NaN. The derivative of atan2 at the origin and of x ** p at 0 for p < 1 "
        "are the same."
    ),
    advice=(
        "Add a small number inside the root, sized for the dtype, such as 1e-12 in float32 and 1e-6 in float16. Or "
        "use the square itself; torch.nn.functional.normalize and torch.linalg.vector_norm have a derivative of 0 "
        "there."
    ),
    bad=Example(
        """<ir_version: 10, opset_import: ["": 26]>
distance (float[4] square) => (float[4] d, float[4] square_grad) {
  one = Constant <value = float {1.0}> ()
  two = Constant <value = float {2.0}> ()
  d = Sqrt (square)
  twice = Mul (two, d)
  square_grad = Div (one, twice)
}
""",
        {"square": (0, 4)},
        back={"twice": "sqrt", "square_grad": "sqrt"},
    ),
    good=Example(
        """<ir_version: 10, opset_import: ["": 26]>
distance (float[4] square) => (float[4] d, float[4] square_grad) {
  one = Constant <value = float {1.0}> ()
  two = Constant <value = float {2.0}> ()
  eps = Constant <value = float {1e-6}> ()
  more = Add (square, eps)
  d = Sqrt (more)
  twice = Mul (two, d)
  square_grad = Div (one, twice)
}
""",
        {"square": (0, 4)},
        back={"twice": "sqrt", "square_grad": "sqrt"},
    ),
)
