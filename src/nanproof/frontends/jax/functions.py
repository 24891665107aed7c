"""Operators that ONNX lacks, as ONNX functions, so that any runtime can run what was written. Their records are in ``ops``."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING

from nanproof.frontends.jax.writing import OPSET, OWN

if TYPE_CHECKING:
    from onnx import FunctionProto, NodeProto

_CENTRE = (
    2.81022636e-08,
    3.43273939e-07,
    -3.5233877e-06,
    -4.39150654e-06,
    0.00021858087,
    -0.00125372503,
    -0.00417768164,
    0.246640727,
    1.50140941,
)
_TAIL = (
    -0.000200214257,
    0.000100950558,
    0.00134934322,
    -0.00367342844,
    0.00573950773,
    -0.0076224613,
    0.00943887047,
    1.00167406,
    2.83297682,
)
"""Giles' polynomials for the inverse of erf in single precision (2010)."""


def _polynomial(name: str, variable: str, factors: tuple[float, ...]) -> str:
    """Horner's scheme as nodes; the result is called ``name``."""
    lines = [f"{name}_c0 = Constant <value_float = {factors[0]!r}> ()", f"{name}_0 = CastLike ({name}_c0, x)"]
    for k, factor in enumerate(factors[1:], start=1):
        lines += [
            f"{name}_c{k} = Constant <value_float = {factor!r}> ()",
            f"{name}_f{k} = CastLike ({name}_c{k}, x)",
            f"{name}_m{k} = Mul ({name}_{k - 1}, {variable})",
            f"{name}_{k} = Add ({name}_m{k}, {name}_f{k})",
        ]
    return "\n        ".join([*lines, f"{name} = Identity ({name}_{len(factors) - 1})"])


BODIES = {
    # log(u) * x / (u - 1) with u = 1 + x, rounded: the errors of u cancel
    "Log1p": """(x) => (y) {
        one = Constant <value_float = 1.0> ()
        one_x = CastLike (one, x)
        u = Add (one_x, x)
        d = Sub (u, one_x)
        zero_x = Sub (one_x, one_x)
        near = Equal (d, zero_x)
        safe_d = Where (near, one_x, d)
        log_u = Log (u)
        ratio = Div (x, safe_d)
        far = IsInf (u)
        product = Mul (log_u, ratio)
        finite = Where (far, log_u, product)
        y = Where (near, x, finite)
    }""",
    "Expm1": """(x) => (y) {
        half = Constant <value_float = 0.5> ()
        one = Constant <value_float = 1.0> ()
        two = Constant <value_float = 2.0> ()
        half_x = CastLike (half, x)
        one_x = CastLike (one, x)
        two_x = CastLike (two, x)
        size = Abs (x)
        small = Less (size, one_x)
        h = Mul (x, half_x)
        t = Tanh (h)
        doubled = Mul (two_x, t)
        rest = Sub (one_x, t)
        zero_x = Sub (one_x, one_x)
        gone = Equal (rest, zero_x)
        safe_rest = Where (gone, one_x, rest)
        by_tanh = Div (doubled, safe_rest)
        e = Exp (x)
        plain = Sub (e, one_x)
        y = Where (small, by_tanh, plain)
    }""",
    "Exp2": """(x) => (y) {
        two = Constant <value_float = 2.0> ()
        two_x = CastLike (two, x)
        y = Pow (two_x, x)
    }""",
    "Cbrt": """(x) => (y) {
        one = Constant <value_float = 1.0> ()
        three = Constant <value_float = 3.0> ()
        one_x = CastLike (one, x)
        three_x = CastLike (three, x)
        third = Div (one_x, three_x)
        size = Abs (x)
        root = Pow (size, third)
        way = Sign (x)
        y = Mul (way, root)
    }""",
    "ErfInv": f"""(x) => (y) {{
        one = Constant <value_float = 1.0> ()
        one_x = CastLike (one, x)
        below = Sub (one_x, x)
        above = Add (one_x, x)
        product = Mul (below, above)
        log_product = Log (product)
        w = Neg (log_product)
        middle = Constant <value_float = 2.5> ()
        middle_x = CastLike (middle, x)
        five = Add (middle_x, middle_x)
        three = Constant <value_float = 3.0> ()
        three_x = CastLike (three, x)
        near = Less (w, five)
        w_near = Sub (w, middle_x)
        root = Sqrt (w)
        w_far = Sub (root, three_x)
        {_polynomial("centre", "w_near", _CENTRE)}
        {_polynomial("tail", "w_far", _TAIL)}
        factor = Where (near, centre, tail)
        inside = Mul (factor, x)
        size = Abs (x)
        edge = Equal (size, one_x)
        zero = Sub (one_x, one_x)
        infinity = Div (x, zero)
        y = Where (edge, infinity, inside)
    }}""",
    # the angle of (x, y), quarter by quarter
    "Atan2": """(y, x) => (angle) {
        zero = Constant <value_float = 0.0> ()
        pi = Constant <value = double {3.141592653589793}> ()
        half_pi = Constant <value = double {1.5707963267948966}> ()
        zero_x = CastLike (zero, x)
        pi_x = CastLike (pi, x)
        half_pi_x = CastLike (half_pi, x)
        size_x = Abs (x)
        size_y = Abs (y)
        steep = Greater (size_y, size_x)
        low = Where (steep, size_x, size_y)
        high = Where (steep, size_y, size_x)
        none = Equal (high, zero_x)
        one = Constant <value_float = 1.0> ()
        one_x = CastLike (one, x)
        divisor = Where (none, one_x, high)
        ratio = Div (low, divisor)
        flat = Atan (ratio)
        turned = Sub (half_pi_x, flat)
        first = Where (steep, turned, flat)
        left = Less (x, zero_x)
        mirrored = Sub (pi_x, first)
        upper = Where (left, mirrored, first)
        down = Less (y, zero_x)
        negated = Neg (upper)
        angle = Where (down, negated, upper)
    }""",
}
"""The text of each function's body. Operators without one run in no runtime of ONNX."""


@cache
def function(name: str) -> FunctionProto:
    """The function of one operator."""
    import onnx.parser

    text = f'<domain: "{OWN}", opset_import: ["" : {OPSET}]> {name} {BODIES[name]}'
    return onnx.parser.parse_function(text)


def used(nodes: Iterable[NodeProto]) -> list[FunctionProto]:
    """The functions that a model needs."""
    names: set[str] = set()
    _collect(nodes, names)
    return [function(name) for name in sorted(names)]


def _collect(nodes: Iterable[NodeProto], names: set[str]) -> None:
    for node in nodes:
        if node.domain == OWN and node.op_type in BODIES:
            names.add(node.op_type)
        for attribute in node.attribute:
            if attribute.HasField("g"):
                _collect(attribute.g.node, names)
