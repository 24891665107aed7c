"""The search for a witness of every finding: many starts, then gradients from the best, then the neighbours of what is nearly it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import numpy as np

from nanproof.confirm.gradient import RATES, descended, jumps, slopes
from nanproof.confirm.looking import Hit, Look
from nanproof.confirm.margins import FAR
from nanproof.confirm.narrow import bracket, halved, neighbours
from nanproof.confirm.problem import Problem
from nanproof.confirm.starts import SPECIAL, randoms, starts
from nanproof.confirm.variables import Sample, fault
from nanproof.execution.onnx_runtime import CannotRunError

RANDOM, GRADIENT, COMBINED = "random", "gradient", "combined"
MODES = (COMBINED, RANDOM, GRADIENT)

STARTS = 64
"""Starts before gradients are asked."""
KEPT = 4
"""Best samples of a target that are kept to start from, and taken through one batch."""
MOST_BYTES = 1 << 28
"""Memory that the kept samples may take."""
CLIMB = 12
"""Jumps in a row from one start."""
DENIALS = 32
"""Failures of one target that the judge has not seen, before the search gives it up."""
FRESH = 4
"""Further starts to jump from in a round where one number must be met exactly: each may land on it."""
LOOKS = 4000
"""Replays after which a search of limited work is exhausted."""

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class How:
    """How to search. ``looks`` limits the work, so that a search ends the same way on every machine."""

    mode: str = COMBINED
    seed: int = 0
    seconds: float = 60.0
    looks: int = LOOKS
    progress: Progress = field(default=lambda text: None)


@dataclass(slots=True)
class Outcome:
    """What a search has found: witnesses by the number of their finding, and the best margin of each finding that it left open."""

    hits: dict[int, tuple[Sample, Hit]] = field(default_factory=dict)
    best: dict[int, float] = field(default_factory=dict)
    looks: int = 0
    denied: dict[int, int] = field(default_factory=dict)
    """By the number of a finding: failures of the exported model that the judge has not seen."""
    ended: str = "work"
    """What ended it: "found" all, "work" or "time"."""


class _DoneError(Exception):
    """Everything is found, or a limit is reached."""


class Search:
    """One search over one problem. ``start`` tries the starts, ``improve`` goes on from the best of them."""

    def __init__(self, problem: Problem, how: How, wanted: frozenset[int]) -> None:
        self.problem, self.how = problem, how
        self.rng = np.random.default_rng(how.seed)
        self.open = {i for i, t in enumerate(problem.targets) if t.number in wanted}
        self.pools: dict[int, list[tuple[float, int, Sample]]] = {i: [] for i in self.open}
        self.signs: dict[int, list[tuple[Sample, Any]]] = {i: [] for i in self.open}
        self.kept = max(1, min(KEPT, MOST_BYTES // max(1, problem.bytes * max(1, len(self.open)))))
        self.outcome = Outcome()
        self.until = time.perf_counter() + how.seconds
        self.samples = self._samples()

    def _samples(self) -> Iterator[Sample]:
        if self.how.mode != COMBINED:
            return randoms(self.rng, self.problem.variables)
        points = {c.bound for i in sorted(self.open) if (c := self.problem.targets[i].meets) is not None}
        return starts(self.rng, self.problem.variables, tuple(sorted(points - set(SPECIAL))) + SPECIAL)

    def attempt(self, sample: Sample) -> Look:
        """Look at one sample, and keep what is worth keeping. Raises _DoneError once nothing is left to look for."""
        return self.attempts([sample])[0]

    def attempts(self, samples: Sequence[Sample]) -> list[Look]:
        """Look at some samples, as many at once as the looker likes."""
        looks: list[Look] = []
        while len(looks) < len(samples):
            some = samples[len(looks) : len(looks) + self.problem.looker.most]
            found = self.problem.look(some)
            looks += found
            for sample, look in zip(some, found, strict=True):
                self._note(sample, look)
        return looks

    def _note(self, sample: Sample, look: Look) -> None:
        self.outcome.looks += 1
        self._note_hits(sample, look)
        for index in self.open:
            self._keep(index, float(look.margins[index]), sample)
            if index in look.signed and len(self.signs[index]) < 3 * self.kept:
                self.signs[index].append((sample, look.signed[index]))
        if not self.open:
            self.outcome.ended = "denied" if self.outcome.denied else "found"
            raise _DoneError
        if self.outcome.looks >= self.how.looks:
            self.outcome.ended = "work"
            raise _DoneError
        if time.perf_counter() > self.until:
            self.outcome.ended = "time"
            raise _DoneError

    def _note_hits(self, sample: Sample, look: Look) -> None:
        for hit in look.hits:
            number = hit.target.number
            if not self._is_open(number) or fault(self.problem.variables, sample) is not None:
                continue
            seen = self.problem.judged(sample, hit)
            if seen is not None:
                self.outcome.hits[number] = ({name: value.copy() for name, value in sample.items()}, seen)
                self.forget({number})
                continue
            self.outcome.denied[number] = self.outcome.denied.get(number, 0) + 1
            if self.outcome.denied[number] >= DENIALS:
                self.forget({number})

    def _is_open(self, number: int) -> bool:
        return any(self.problem.targets[i].number == number for i in self.open)

    def _keep(self, index: int, margin: float, sample: Sample) -> None:
        number = self.problem.targets[index].number
        best = self.outcome.best.get(number, FAR)
        if margin < best:
            self.outcome.best[number] = margin
            self.how.progress(f"margin {margin:.3g}")
        pool = self.pools[index]
        if len(pool) < self.kept or margin < pool[-1][0]:
            pool.append((margin, self.outcome.looks, sample))
            pool.sort(key=lambda item: item[:2])
            del pool[self.kept :]

    def forget(self, numbers: set[int]) -> None:
        """Look no longer for these findings: they are proved."""
        self.open = {i for i in self.open if self.problem.targets[i].number not in numbers}

    def start(self, count: int = STARTS) -> bool:
        """Try the first starts; whether anything is left to look for."""
        if not self.open:
            return False
        left = count if self.how.mode != GRADIENT else 2
        size = 1
        try:
            while left > 0:
                self.attempts([next(self.samples) for _ in range(min(size, left))])
                left -= size
                size = min(4 * size, self.problem.looker.most)
        except _DoneError:
            return False
        return True

    def improve(self) -> Outcome:
        """Go on until everything is found or a limit is reached."""
        try:
            if self.how.mode == RANDOM:
                while self.open:
                    self.attempts([next(self.samples) for _ in range(self.problem.looker.most)])
            turn = 0
            while self.open:
                before = self.outcome.looks
                for index in sorted(self.open):
                    if index in self.open:
                        self._round(index, turn)
                fresh = 2 + turn if self.outcome.looks > before else 16
                self.attempts([next(self.samples) for _ in range(fresh)])
                turn += 1
        except _DoneError:
            pass
        return self.outcome

    def _round(self, index: int, turn: int) -> None:
        """One restart for one target: solve for a number to meet, jump, and descend from the best samples."""
        if self.how.mode == COMBINED and self.problem.targets[index].meets is not None:
            self._solve(index)
        if index not in self.open or not self.problem.variables:
            return
        try:
            self._climb(index, self._chosen(index, turn))
            for _ in range(FRESH if self.problem.targets[index].meets is not None else 0):
                if index in self.open:
                    self._climb(index, next(self.samples))
            if index in self.open and turn % 3 == 1:
                self._descend(index, RATES[turn // 3 % len(RATES)])
        except CannotRunError:
            # nobody can tell its gradient: only starts are left
            return

    def _chosen(self, index: int, turn: int) -> Sample:
        """A sample to start from: the best at first, then by rank, and a fresh one now and then."""
        pool = self.pools[index]
        if not pool or turn % 2:
            fresh = next(self.samples)
            self.attempt(fresh)
            return fresh
        rank = 0 if not turn else min(int(self.rng.geometric(0.5)) - 1, len(pool) - 1)
        return pool[rank][2]

    def _climb(self, index: int, sample: Sample) -> None:
        margin = float(self.attempt(sample).margins[index])
        for _ in range(CLIMB):
            if index not in self.open or margin >= FAR:
                return
            (slope,) = slopes(self.problem, [sample], index)
            if not slope:
                return
            best, way = margin, None
            candidates = list(jumps(self.problem, sample, slope, margin, self.rng))
            for candidate, look in zip(candidates, self.attempts(candidates), strict=True):
                found = float(look.margins[index])
                if found < best:
                    best, way = found, candidate
            if index not in self.open:
                return
            if way is None:
                return
            margin, sample = best, way

    def _descend(self, index: int, rate: float) -> None:
        begun = [item[2] for item in self.pools[index]]
        self.attempts(descended(self.problem, begun, index, rate) if begun else [])

    def _solve(self, index: int) -> None:
        found = bracket(self.signs[index])
        near = self.pools[index][0][2] if self.pools[index] else None
        if found is not None:
            near = halved(self.problem, index, found, self.attempt)
            self.signs[index] = []
        if near is None:
            return
        around = neighbours(self.rng, self.problem, near)
        while index in self.open and (some := list(islice(around, self.problem.looker.most))):
            self.attempts(some)
