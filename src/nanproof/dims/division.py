"""Floor division of sizes: exact wherever the polynomials divide, else as much of it as comes out of the floor."""

from __future__ import annotations

from math import gcd

from nanproof.dims.bounds import interval
from nanproof.dims.dim import Dim, Monomial, Size, build, function, order, sole_atom, terms_of


def floor_divide(a: Size, b: Size) -> Size:
    """The floor of a / b, wherever b is not 0 (Python's rounding: towards minus infinity)."""
    if isinstance(b, int):
        return a // b if isinstance(a, int) else _by_constant(a, b)
    if a == 0:
        return 0
    exact = exact_quotient(a, b)
    if exact is not None:
        return exact
    return _by_polynomial(a, b)


def exact_quotient(a: Size, b: Size) -> Size | None:
    """The polynomial q with q * b == a, if there is one."""
    divisor = terms_of(b)
    if not divisor:
        return None
    lead, factor = divisor[0]
    rest = dict(terms_of(a))
    quotient: dict[Monomial, int] = {}
    while rest:
        if len(rest) + len(quotient) > 512:
            return None
        top = min(rest.items(), key=order)
        monomial = _without(top[0], lead)
        if monomial is None or top[1] % factor:
            return None
        scale = top[1] // factor
        quotient[monomial] = scale
        for part, coefficient in divisor:
            product = tuple(sorted(part + monomial, key=lambda atom: atom.text))
            left = rest.get(product, 0) - scale * coefficient
            if left:
                rest[product] = left
            else:
                rest.pop(product, None)
    return build(quotient.items())


def _by_constant(a: Dim, b: int) -> Size:
    """floor(a / b) = q + floor(r / b), with every multiple of b taken out into q."""
    if b == 0:
        raise ZeroDivisionError(f"{a} // 0")
    if b < 0:
        return floor_divide(-a, -b)
    if b == 1:
        return a
    quotient = build((monomial, factor // b) for monomial, factor in a.terms)
    rest = build((monomial, factor % b) for monomial, factor in a.terms)
    if isinstance(rest, int):
        return quotient
    common = b
    for monomial, factor in rest.terms:
        if monomial:
            common = gcd(common, factor)
    if common > 1:
        # floor((g*r + c) / (g*b)) = floor((r + floor(c / g)) / b) for whole r
        rest = build((monomial, factor // common) for monomial, factor in rest.terms)
        b //= common
    if b == 1:
        return quotient + rest
    return quotient + _floor(rest, b)


def _floor(a: Size, b: int) -> Size:
    """The atom floor(a / b), merged with a floor inside: floor((floor(x / k) + c) / b) = floor((x + k*c) / (k*b))."""
    constant = dict(terms_of(a)).get((), 0)
    inner = sole_atom(a - constant)
    if inner is not None and inner.kind == "floor":
        x, k = inner.args
        if isinstance(k, int) and k > 0:
            return floor_divide(x + k * constant, k * b)
    low, high = interval(a)
    if low is not None and high is not None and low // b == high // b:
        return low // b
    return function("floor", (a, b), f"{_group(a)}//{b}")


def _by_polynomial(a: Size, b: Dim) -> Size:
    """A floor whose divisor is symbolic, with common factors cancelled."""
    sides = [*terms_of(a), *b.terms]
    content = gcd(*(factor for _, factor in sides))
    if b.terms[0][1] < 0:
        content = -content
    shared = sides[0][0]
    for monomial, _ in sides[1:]:
        shared = tuple(_common(shared, monomial))
    if content != 1 or shared:
        above, below = (
            build((_without(monomial, shared) or (), factor // content) for monomial, factor in side)
            for side in (terms_of(a), b.terms)
        )
        return floor_divide(above, below)
    whole: Size = 0
    if len(b.terms) == 1:
        divisor, factor = b.terms[0]
        for monomial, coefficient in terms_of(a):
            left = _without(monomial, divisor)
            if left is not None and coefficient % factor == 0:
                whole = whole + build([(left, coefficient // factor)])
        if whole != 0:
            return whole + floor_divide(a - whole * b, b)
    return function("floor", (a, b), f"{_group(a)}//{_group(b)}")


def _without(monomial: Monomial, divisor: Monomial) -> Monomial | None:
    """The monomial divided by another, or None if it does not divide."""
    left = list(monomial)
    for atom in divisor:
        if atom not in left:
            return None
        left.remove(atom)
    return tuple(left)


def _common(one: Monomial, other: Monomial) -> Monomial:
    left = list(other)
    shared = []
    for atom in one:
        if atom in left:
            left.remove(atom)
            shared.append(atom)
    return tuple(shared)


def _group(size: Size) -> str:
    text = str(size)
    return text if sole_atom(size) is not None and "//" not in text else f"({text})" if isinstance(size, Dim) else text
