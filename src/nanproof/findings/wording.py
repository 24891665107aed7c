"""The sentences that we say, one function each. No layout and no colour: those are in report/."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from typing import TYPE_CHECKING

from nanproof.findings.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from nanproof.findings.finding import Finding
    from nanproof.findings.report import AssumedRange, Report

NAMED_ITEMS = 4
"""How many names a sentence lists before it says 'and N more'."""
RUNTIMES = {"onnxruntime": "ONNX Runtime", "reference": "the ONNX reference evaluator", "torch": "PyTorch"}
NOISE = Decimal(2) ** -23
"""A relative difference that is only the representation of a decimal number in float32."""


def printable(text: str) -> str:
    """The text with '?' for what would move the cursor or change the terminal: names come from files of strangers."""
    return text if text.isprintable() else "".join(sign if sign.isprintable() else "?" for sign in text)


def plural(count: int, noun: str) -> str:
    """The count and its noun: '1 node', '2 nodes'."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def listing(names: Sequence[str], limit: int = NAMED_ITEMS) -> str:
    """The names with commas, cut short after the limit."""
    if len(names) <= limit:
        return ", ".join(names)
    return f"{', '.join(names[:limit])} and {len(names) - limit} more"


def number(value: float, rounding: str | None = None, digits: int = 4) -> str:
    """A number in few digits; with a rounding direction the text lies on that side of the value or on it."""
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    if value == int(value) and abs(value) < 1e6:
        return str(int(value))
    exact = Decimal(value)
    short = Context(prec=digits).create_decimal(exact)
    # A float32 0.1 is 0.1 to a reader. But next to a whole number the side matters: 1.0000001 must not read as 1.
    if rounding and short == short.to_integral_value() and abs(short) < 1e6:
        short = Context(prec=digits + 4, rounding=rounding).create_decimal(exact)
    elif rounding and abs(short - exact) > NOISE * abs(exact):
        short = Context(prec=digits, rounding=rounding).create_decimal(exact)
    mantissa, exponent = f"{short:e}".split("e")
    power = int(exponent)
    if -5 < power < 6:
        plain = f"{short:f}"
        return plain.rstrip("0").rstrip(".") if "." in plain else plain
    mantissa = mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa
    return f"{mantissa}e{power}"


def interval(lo: float, hi: float) -> str:
    """'[lo, hi]' with its ends rounded outward, so that the text is never tighter than the truth."""
    return f"[{number(lo, ROUND_FLOOR)}, {number(hi, ROUND_CEILING)}]"


def place(finding: Finding) -> str:
    """Where a finding is, in a few words: the source line if known, else the node."""
    return str(finding.location) if finding.location else f"node {finding.node}"


def born(may: Sequence[str]) -> str:
    """What comes out: 'NaN', 'NaN or -Inf'."""
    names = {"nan": "NaN", "+inf": "+Inf", "-inf": "-Inf"}
    return " or ".join(names[kind] for kind in may)


def subject(finding: Finding) -> str:
    """What the sentence is about: the operand by its name, or the result."""
    if finding.operand < 0:
        return f"the result of {finding.op}"
    return finding.operand_name or f"operand {finding.operand} of {finding.op}"


def seen(finding: Finding) -> str:
    """What was seen and what is needed: 'p is in [0, 1]; Log needs more than 0'."""
    lo, hi = finding.interval
    if lo > hi:
        what = "has no finite element"
    elif lo == hi:
        what = f"is {number(lo)}" if number(lo) == repr(lo).removesuffix(".0") else f"is in {interval(lo, hi)}"
    else:
        what = f"is in {interval(lo, hi)}"
    # A result isn't needed by its own operator, but by whatever uses it.
    needed = "needed: " if finding.operand < 0 else f"{finding.op} needs "
    return f"{subject(finding)} {what}; {needed}{finding.needs}"


def certainty(finding: Finding) -> str | None:
    """How sure we are that it fails, with what then comes out: will, can, could not rule out.

    None for an alarm about a loss of precision, at which nothing is born: its reasons say what it leads to.
    """
    what = born(finding.may) or "a wrong result"
    if finding.verdict is Verdict.POSSIBLE and not finding.may:
        return None
    if finding.verdict is Verdict.INEVITABLE:
        return f"will give {what} for every input in range" + (f"; {seen_in(finding)}" if finding.witness else "")
    if finding.verdict is Verdict.POSSIBLE:
        return f"could not rule out {what}"
    return f"{finding.verdict}: {seen_in(finding)}" if finding.witness else f"can give {what}, {finding.verdict}"


def seen_in(finding: Finding) -> str:
    """The test that fails and its tensors, in short: 'tests/test_np101_log.py (x = [0, 0, 104] gives -inf)'."""
    witness = finding.witness
    assert witness is not None
    if witness.test is not None:
        return f"{witness.test} ({witness.summary})"
    return f"{witness.summary}, seen in {RUNTIMES.get(witness.runtime, witness.runtime)}"


def left_open(finding: Finding, tried: int, best: float | None, ended: str) -> str:
    """That a search has found no failure and the analysis no proof, and how near the search came."""
    near = "" if best is None else f", the best margin is {number(best)} from failing"
    why = {"time": "the time limit ended the search", "work": "the search is exhausted"}.get(ended, ended)
    return f"{finding.code} at {place(finding)} stays open: no failure in {plural(tried, 'replay')}{near}; {why}"


def not_live(why: str) -> str:
    """That the program itself can't be the judge, so that its exported form is."""
    return f"witnesses are replayed in the exported model, since the program itself can't be run: {why}"


def no_test(finding: Finding) -> str:
    """That a failure is confirmed, and yet there is no test for it."""
    return (
        f"{finding.code} at {place(finding)} is confirmed, but its exported form does not fail, so no test was written: "
        "name the program itself, as file.py:NAME"
    )


def not_searched(finding: Finding, why: str) -> str:
    """That nobody looked for a failure, and why."""
    return f"{finding.code} at {place(finding)} was not searched: {why}"


def note(finding: Finding) -> str:
    """A finding that is only a note, in one line with the reason for that."""
    return f"{finding.code} at {place(finding)}: {seen(finding)} ({finding.note})"


def derivative_of(finding: Finding, of: str) -> str:
    """What a node on the way back is for: 'this Div is part of the derivative of sqrt'."""
    if of == "accumulation":
        return f"this {finding.op} adds up gradients on the way back"
    if not of:
        return f"this {finding.op} is on the way back"
    return f"this {finding.op} is part of the derivative of {of}"


def update_of(finding: Finding, of: str, parameter: str) -> str | None:
    """What a node of an optimiser's step is for; None where the front end doesn't say whose step it is."""
    if not of:
        return None
    return f"this {finding.op} is part of {of}'s update" + (f" of {parameter}" if parameter else "")


def hidden_forward(finding: Finding) -> str:
    """Why a value that the loss doesn't see still spoils gradients."""
    return (
        f"the loss stays finite, since the result of {finding.op} isn't chosen where it isn't finite; on the way back it is a "
        "factor, and 0 times Inf is NaN"
    )


def reaches(finding: Finding) -> str | None:
    """What the NaN or Inf flows to."""
    return f"reaches {listing(finding.reaches)}" if finding.reaches else None


def also(finding: Finding) -> str | None:
    """The other nodes with the same cause."""
    return f"the same cause at {listing(finding.also)}" if finding.also else None


def unknown_operators(ops: Mapping[str, int], weaker: int) -> str | None:
    """That operators have no bound, and what it costs."""
    if not ops:
        return None
    names = [f"{name} (x{count})" if count > 1 else name for name, count in sorted(ops.items())]
    one = len(names) == 1 and next(iter(ops.values())) == 1
    have, theirs = ("has", "its output is") if len(names) == 1 else ("have", "their outputs are")
    if len(names) == 1 and not one:
        theirs = "its outputs are"
    itself = (
        "It is itself unchecked and may give NaN or Inf"
        if len(names) == 1
        else "They are themselves unchecked and may give NaN or Inf"
    )
    tail = f"; {plural(weaker, 'verdict')} {'is' if weaker == 1 else 'are'} weaker (marked ~)" if weaker else ""
    return f"{listing(names)} {have} no bound yet; {theirs} taken as any value of the dtype. {itself}{tail}"


def assumed_range(assumed: AssumedRange) -> str:
    """That a range wasn't given, and which one was taken."""
    return f"{assumed.name} ({assumed.role}) is taken to lie in {interval(assumed.lo, assumed.hi)}: {assumed.why}"


def parts(cuts: Sequence[tuple[str, int]]) -> str:
    """What was cut into how many parts: 'x into 8 parts and y into 2'."""
    texts = [f"{name} into {count}" + (" parts" if i == 0 else "") for i, (name, count) in enumerate(cuts)]
    return texts[0] if len(texts) == 1 else ", ".join(texts[:-1]) + f" and {texts[-1]}"


def proved_by_cuts(code: str, node: str, cuts: Sequence[tuple[str, int]], cases: int) -> str:
    """That a site holds in every part of its domain: 'NP101 at /log: proved by splitting x into 8 parts'."""
    if not cuts:
        return f"{code} at {node}: proved by a closer look at what leads to it"
    several = f" ({plural(cases, 'case')})" if len(cuts) > 1 else ""
    return f"{code} at {node}: proved by splitting {parts(cuts)}{several}"


def proved_further_on(code: str, node: str, names: Sequence[str]) -> str:
    """That a site holds because values before it were narrowed: 'NP101 at /log: proved by narrowing d part by part'."""
    return f"{code} at {node}: proved by narrowing {listing(names)} part by part"


def not_settled_by_cuts(cuts: Sequence[tuple[str, int]], stuck: Sequence[tuple[str, float, float]], why: str) -> str:
    """How far splitting came: 'splitting x into 8 parts leaves x = 0.5 open', with the reason for stopping, if there is one."""
    tail = f": {why}" if why else ""
    if not cuts or not stuck:
        return f"splitting ranges does not settle it{tail}"
    places = [f"{name} = {number(lo)}" if lo == hi else f"{name} in {interval(lo, hi)}" for name, lo, hi in stuck]
    return f"splitting {parts(cuts)} leaves {listing(places)} open{tail}"


def search_ended(by: str, seconds: float) -> str:
    """That the limit on time or work ended the search for proofs of effort "high"."""
    if by == "time":
        return (
            f"the time limit of {seconds:g} s ended the search for proofs; a longer one may settle more (--time-limit)"
        )
    return "the limit on work ended the search for proofs before every open site was looked at"


def summary(report: Report) -> str:
    """The last line: what was found, in how much, for which runtime."""
    found = len(report.found)
    sites = report.sites
    bad = [
        f"{count} {name}"
        for name, count in (
            ("possible", sites.possible),
            ("confirmed", sites.confirmed),
            ("reproduced", sites.reproduced),
            ("inevitable", sites.inevitable),
        )
        if count
    ]
    verdicts = ", ".join([f"{sites.safe} safe", *bad])
    head = plural(found, "finding") if found else "no findings"
    unchecked = sum(report.unknown_ops.values())
    open_nodes = f", {unchecked} of them unchecked" if unchecked else ""
    return (
        f"{report.target}: {head}; {plural(sites.total, 'site')} ({verdicts}) in {plural(report.nodes, 'node')}{open_nodes}, "
        f"{report.seconds:.2f} s, for runtime {report.runtime}"
    )
