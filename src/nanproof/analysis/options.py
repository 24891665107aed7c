"""What the user decides about one check."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

EFFORTS = ("low", "normal", "high")

TIME_LIMIT = 60.0
"""Seconds that effort "high" may add; its work is limited, too, so that most models never get there."""


@dataclass(frozen=True, slots=True)
class Options:
    """The question that a check answers.

    ranges   ``{name: (lo, hi)}`` of inputs and other initial values; names may have wildcards
    weights  "model": the stored values; "architecture": any value in a range around them
    runtime  whose arithmetic: "torch", "onnxruntime" or "ieee"; None is what the target is for
    dims     ``{symbol: (least, most)}`` of symbolic sizes; most None is unbounded
    roles    ``{name: role}`` where the inferred role is wrong
    effort   "low": one coarse pass; "normal": a finer one where that leaves something open; "high": each site that
             then stays open is looked at by itself, for at most ``time_limit`` seconds in all (None: ``TIME_LIMIT``)
    """

    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    weights: str = "model"
    runtime: str | None = None
    dims: Mapping[str, tuple[int, int | None]] = field(default_factory=dict)
    roles: Mapping[str, str] = field(default_factory=dict)
    effort: str = "normal"
    time_limit: float | None = None
