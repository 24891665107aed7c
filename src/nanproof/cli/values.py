"""What users write as values of options, on the command line and in configuration files. One error, one sentence."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TypeVar

from nanproof.findings.errors import InputError
from nanproof.findings.names import hint, one_of

T = TypeVar("T")
Ends = tuple[float, float]
Sizes = tuple[int, "int | None"]

FORMATS = ("rich", "json", "sarif", "github")
RUNTIMES = ("torch", "onnxruntime", "ieee")
WEIGHTS = ("model", "architecture")
EFFORTS = ("low", "normal", "high")
MODES = ("eval", "train", "keep")
PHASES = ("forward", "gradient", "step")
ROLES = ("input", "label", "weight", "constant", "random")


def named(
    texts: Sequence[str], option: str, form: str, read: Callable[[str, str], T], *, first: bool = False
) -> dict[str, T]:
    """Several 'NAME=VALUE' as a dict. A later one for the same name wins; names may contain '=', or with ``first`` values."""
    found: dict[str, T] = {}
    for text in texts:
        name, equals, value = text.partition("=") if first else text.rpartition("=")
        if not equals or not name:
            raise InputError(f'{option} "{text}" has no name or no value: write {option} {form}')
        found[name] = read(value, f"{option} {text}")
    return found


def ends(text: str, where: str) -> Ends:
    """'LO,HI' as two finite, ordered numbers."""
    parts = text.strip().removeprefix("[").removesuffix("]").split(",")
    if len(parts) != 2:
        raise InputError(f"{where}: a range is two numbers with a comma between them, such as 0,1")
    return pair([number(part, where) for part in parts], where)


def number(text: str, where: str) -> float:
    """A number as a float."""
    try:
        return float(text)
    except ValueError:
        raise InputError(f'{where}: "{text.strip()}" is not a number') from None


def seconds(text: str) -> float:
    """The value of --time-limit."""
    return duration(text, "--time-limit")


def timeout(text: str) -> float:
    """The value of --load-timeout."""
    found = duration(text, "--load-timeout")
    if not found:
        raise InputError("--load-timeout: nothing loads in 0 seconds; say more")
    return found


def norm(text: str) -> float:
    """The value of --clip-norm."""
    found = number(text, "--clip-norm")
    if not 0 < found < math.inf:
        raise InputError(f"--clip-norm {text}: a norm to cut to is a number above 0")
    return found


def duration(text: str, where: str) -> float:
    """A number of seconds, 0 or more."""
    found = number(text, where)
    if not 0 <= found < math.inf:
        raise InputError(f"{where}: {text} is no number of seconds; say 0 or more")
    return found


def pair(values: Sequence[object], where: str) -> Ends:
    """Two numbers as a range: finite and ordered."""
    if len(values) != 2 or not all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in values):
        raise InputError(f"{where}: a range is two numbers, such as [0, 1]")
    try:
        lo, hi = (float(value) for value in values)  # type: ignore[arg-type]
    except OverflowError:
        raise InputError(f"{where}: that number is larger than any float64") from None
    if math.isnan(lo) or math.isnan(hi):
        raise InputError(f"{where}: NaN is not a number that a range can end with")
    if lo > hi:
        raise InputError(f"{where}: the lower end {lo:g} is above the upper end {hi:g}; swap them")
    if math.isinf(lo) or math.isinf(hi):
        raise InputError(f"{where}: a range ends with finite numbers; the largest float32 is 3.4028235e38")
    return lo, hi


def sizes(text: str, where: str) -> Sizes:
    """'LO..HI', 'LO..' or 'N' as the sizes that a dimension may have."""
    low, dots, high = text.partition("..")
    if not dots:
        high = low
    try:
        return size_pair(int(low), int(high) if high.strip() else None, where)
    except ValueError:
        raise InputError(f"{where}: a size is written 8, 1..512 or 1..") from None


def size_pair(lo: object, hi: object, where: str) -> Sizes:
    """Two whole numbers as sizes: not negative and ordered; no upper one means without a limit."""
    if not isinstance(lo, int) or isinstance(lo, bool) or not (hi is None or (isinstance(hi, int) and hi is not True)):
        raise InputError(f"{where}: a size is a whole number")
    if lo < 0:
        raise InputError(f"{where}: a size can't be negative")
    if hi is not None and lo > hi:
        raise InputError(f"{where}: the least size {lo} is above the largest {hi}; swap them")
    return lo, hi


def choice(option: str, known: Sequence[str]) -> Callable[[str], str]:
    """A reader for argparse of an option with a few values."""
    return lambda text: one_of(text, known, option)


def role(text: str, where: str) -> str:
    """One of the roles of an initial value."""
    return one_of(text.strip().lower(), ROLES, f"{where}: the role")


def codes(texts: Sequence[str], option: str) -> tuple[str, ...]:
    """Codes and prefixes of codes, each 'NP101,NP2' or apart. One that fits no rule is an error."""
    if not texts:
        return ()
    from nanproof.findings.rules import RULES

    found = [code.strip().upper() for text in texts for code in text.split(",") if code.strip()]
    known = [rule.code for rule in RULES]
    for code in found:
        if not any(name.startswith(code) for name in known):
            guess = f": {hint(code, known)}" if len(code) >= len(known[0]) else ""
            raise InputError(f'{option} "{code}" fits no rule{guess} (all: nanproof rule --list)')
    return tuple(found)
