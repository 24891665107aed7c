"""The search for parts of a domain in which a site holds: cut where it helps most, the worst part first."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, field

from nanproof.analysis.refine.parts import Place, divided, ends_at, middle
from nanproof.analysis.refine.running import Domain, Runner, Seen
from nanproof.domain.box import Box
from nanproof.domain.lattice import join, unrelated
from nanproof.ops.call import Event

EACH = 40_000
"""Most visits of steps that one site is worth."""

ALL = 2_000_000
"""Most visits of steps in one refinement of a whole program."""

TRIED = 3
"""Below the first cut, only this many places that helped most are tried."""

PATIENT = 6
"""So many cuts in a row may help nothing."""

NARROW = 2.0**-26
"""An interval this narrow beside its own numbers isn't cut any more."""

TINY = 2.0**-64
"""Nor is one this narrow beside the interval that it is a part of."""


class Purse:
    """What refinement may spend: visits of steps, which are the same in every run, and time, which ends it in any case."""

    def __init__(self, seconds: float, work: int = ALL) -> None:
        self.left = work
        self.until = time.perf_counter() + seconds
        self.late = False
        """Whether the time limit, not the work, ended something."""

    @property
    def empty(self) -> bool:
        """Whether there is nothing left to spend."""
        if time.perf_counter() > self.until:
            self.late = True
        return self.late or self.left <= 0

    @property
    def ended(self) -> str | None:
        """What ended the search before it was through, if anything did."""
        return "time" if self.late else "work" if self.left <= 0 else None


@dataclass(slots=True)
class Found:
    """What a search came to. ``open`` has the failing sites that are left; ``boxes`` bound the results in any case.

    ``cuts`` are the ends of parts by place, ``cases`` counts the parts that were proved. ``stuck`` is a part that fails.
    """

    open: tuple[Event, ...]
    boxes: tuple[Box, ...]
    cuts: dict[Place, set[float]] = field(default_factory=dict)
    cases: int = 0
    stuck: Domain | None = None
    why: str = ""


@dataclass(slots=True)
class _Part:
    domain: Domain
    seen: Seen
    ranking: tuple[Place, ...]
    idle: int = 0
    margin: float = 0.0
    """How far from failing a value well inside the part is: where it is least, a part is least likely to hold."""


class Search:
    """Branch and bound over the domain of one region."""

    def __init__(self, runner: Runner, purse: Purse) -> None:
        self.runner, self.purse = runner, purse
        self.region = runner.region
        self.spent = 0
        self.found = Found((), ())
        self.span: dict[Place, float] = {}

    def outcome(self) -> Found | None:
        """Cut until every part holds, nothing helps any more, or too much is spent; None where nothing could be tried."""
        whole = self._run({})
        if whole is None:
            return None
        waiting = [_Part({}, whole, self.region.places)]
        closed: list[Seen] = []
        while waiting:
            part = waiting.pop()
            if not part.seen.events:
                closed.append(part.seen)
                self.found.cases += 1
                continue
            pieces = self._cut(part)
            if pieces is None:
                self.found.stuck = self.found.stuck or part.domain
                closed += [part.seen, *(p.seen for p in waiting)]
                break
            waiting += pieces
        self.found.open = tuple(_different(event for seen in closed for event in seen.events))
        self.found.boxes = united([seen.results for seen in closed])
        return self.found

    def _run(self, domain: Domain) -> Seen | None:
        cost = self.region.cost
        if self.purse.empty or self.spent + cost > EACH:
            return None
        self.spent += cost
        self.purse.left -= cost
        return self.runner.run(domain)

    def _cut(self, part: _Part) -> list[_Part] | None:
        """The pieces of the best cut, the worst last; None where there is none."""
        trials: list[tuple[tuple[int, float], Place, list[tuple[Domain, Seen]]]] = []
        for place in part.ranking:
            pieces = self._pieces(part, place)
            if pieces is None:
                self.found.why = "the work limit was reached" if not self.purse.late else "the time limit was reached"
                return None
            if pieces:
                failing = sum(bool(seen.events) for _, seen in pieces)
                trials.append(((failing, sum(seen.width for _, seen in pieces)), place, pieces))
            if pieces and not any(seen.events for _, seen in pieces):
                break  # nothing is better than that
        if not trials:
            self.found.why = "no cut helps"
            return None
        trials.sort(key=lambda trial: trial[0])
        (failing, width), place, pieces = trials[0]
        helps = failing < len(pieces) or width < len(pieces) * part.seen.width * (1.0 - 1e-9)
        idle = 0 if helps else part.idle + 1
        if idle > PATIENT:
            self.found.why = "no cut helps"
            return None
        ranking = tuple(trial[1] for trial in trials)[:TRIED] if helps else _turned(part.ranking, place)
        self.found.cuts.setdefault(place, set()).update(domain[place][1] for domain, _ in pieces)
        found = [_Part(domain, seen, ranking, idle) for domain, seen in pieces]
        for piece in found:
            if piece.seen.events and self._fails_at_a_point(piece):
                return None
        return sorted(found, key=lambda p: (bool(p.seen.events), -p.margin))

    def _fails_at_a_point(self, part: _Part) -> bool:
        """Look at one point of the part: whether even that fails, though nothing is left to cut there."""
        domain, settled = dict(part.domain), True
        for slot in self.region.start:
            box = part.seen.value(slot)
            if box is None or box.known is not None or not box.hull()[0] < box.hull()[1]:
                continue
            places = [p for p in self.region.places if p.slot == slot]
            settled = settled and bool(places)
            for place in places:
                ends = ends_at(box, place)
                if ends is not None:
                    value = middle(box.dtype, ends)
                    domain[place] = value, value
        seen = self._run(domain)
        if seen is None:
            return False  # the next cut says why
        part.margin = self.runner.margin(seen, part.seen.events)
        if not seen.events or not settled:
            return False
        self.found.stuck = domain
        return True

    def _pieces(self, part: _Part, place: Place) -> list[tuple[Domain, Seen]] | None:
        """The part cut at a place, and what each piece shows; [] where it can't be cut, None where nothing is left to spend."""
        box = part.seen.value(place.slot)
        ends = None if box is None else ends_at(box, place)
        if box is None or ends is None:
            return []
        given = part.domain.get(place)
        if given is not None:
            ends = max(ends[0], given[0]), min(ends[1], given[1])
        width = ends[1] - ends[0]
        if width <= max(NARROW * max(-ends[0], ends[1]), TINY * self.span.setdefault(place, width)):
            return []
        shared = self.runner.setting.keeps_float32(box.dtype)
        pieces: list[tuple[Domain, Seen]] = []
        for piece in divided(box.dtype, ends, at=self._points(place), shared=shared):
            domain = {**part.domain, place: piece}
            seen = self._run(domain)
            if seen is None:
                return None
            pieces.append((domain, seen))
        return pieces

    def _points(self, place: Place) -> tuple[float, ...]:
        return self.region.points.get(place.slot, ())


def _turned(places: tuple[Place, ...], used: Place) -> tuple[Place, ...]:
    """The same places, the one just used last: where nothing helps yet, each gets its turn."""
    return (*(p for p in places if p != used), used)


def _different(events: Iterable[Event]) -> list[Event]:
    """One event a site, over all that was seen."""
    found: dict[tuple[str, int], Event] = {}
    for event in events:
        key = event.code, event.operand
        known = found.get(key)
        found[key] = event if known is None else _joined(known, event)
    return list(found.values())


def _joined(one: Event, two: Event) -> Event:
    (a, b), (c, d) = one.ends, two.ends
    verdict = one.verdict if one.verdict == two.verdict else min(one.verdict, two.verdict)
    return Event(one.code, one.operand, verdict, one.gives | two.gives, (min(a, c), max(b, d)), one.invalid, one.needs)


def united(results: list[tuple[Box, ...]]) -> tuple[Box, ...]:
    """What the results are in one part or another."""
    joined = results[0]
    for other in results[1:]:
        joined = tuple(join(unrelated(a), unrelated(b)) for a, b in zip(joined, other, strict=True))
    return tuple(unrelated(box) for box in joined)
