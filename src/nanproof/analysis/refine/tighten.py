"""A closer interval for one step, whether or not something fails there: what it feeds may then hold."""

from __future__ import annotations

from nanproof.analysis.refine.parts import Place, divided, ends_at
from nanproof.analysis.refine.running import Domain, Runner, Seen
from nanproof.analysis.refine.search import Purse, united
from nanproof.domain.box import Box

CUTS = 48
"""So often the range of one value is cut, each time where the result is largest or smallest."""

PATIENT = 5
"""An end that so many cuts in a row hardly moved is left alone."""

LITTLE = 1e-3
"""What counts as hardly: this share of the first width."""

TRIED = 3
"""So many values are tried, each by itself."""

WORTH = 0.98
"""An interval that isn't narrower than this share of what was known is no gain."""


def tightened(runner: Runner, purse: Purse) -> tuple[Box, ...] | None:
    """Bounds of the target's results over parts of one value; None where they are hardly better than without."""
    region = runner.region
    whole = _run(runner, purse, {})
    if whole is None or any(not box.has_finite for box in whole.results):
        return None
    best, least = None, WORTH * _width(whole.results)
    for place in region.places[:TRIED]:
        found = _over(runner, purse, place, whole)
        if found is not None and _width(found) < least:
            best, least = found, _width(found)
    return best


def _run(runner: Runner, purse: Purse, domain: Domain) -> Seen | None:
    if purse.empty:
        return None
    purse.left -= runner.region.cost
    return runner.run(domain)


def _over(runner: Runner, purse: Purse, place: Place, whole: Seen) -> tuple[Box, ...] | None:
    """Cut the part in which the result is largest, and that in which it is smallest, while this brings something."""
    parts = [whole]
    idle = {1.0: 0, -1.0: 0}
    for turn in range(CUTS):
        sign = 1.0 if idle[-1.0] >= PATIENT or (turn % 2 and idle[1.0] < PATIENT) else -1.0
        if idle[sign] >= PATIENT:
            break
        reach = [_reach(part, sign) for part in parts]
        at = max(range(len(parts)), key=reach.__getitem__)
        pieces = _cut(runner, purse, place, parts[at])
        if not pieces:
            idle[sign] = PATIENT
            continue
        parts[at : at + 1] = pieces
        won = reach[at] - max(_reach(part, sign) for part in parts)
        idle[sign] = 0 if won > LITTLE * _width(whole.results) else idle[sign] + 1
    return united([part.results for part in parts])


def _cut(runner: Runner, purse: Purse, place: Place, part: Seen) -> list[Seen]:
    """The pieces of a part; none where it can't be cut or nothing is left to spend."""
    box = part.value(place.slot)
    ends = None if box is None else ends_at(box, place)
    if box is None or ends is None:
        return []
    shared = runner.setting.keeps_float32(box.dtype)
    pieces = divided(box.dtype, ends, at=runner.region.points.get(place.slot, ()), shared=shared)
    seen = [_run(runner, purse, {place: piece}) for piece in pieces]
    return [] if None in seen else seen  # type: ignore[return-value]


def _reach(seen: Seen, sign: float) -> float:
    """How far the results of a part go up (or down)."""
    return max((sign * box.hull()[sign > 0] for box in seen.results if box.has_finite), default=float("-inf"))


def _width(boxes: tuple[Box, ...]) -> float:
    return sum(max(box.hull()[1] - box.hull()[0], 0.0) for box in boxes)
