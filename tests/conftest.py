"""Hypothesis profiles, chosen by NANPROOF_PROFILE: quick (seconds), ci (the default of `make test`), deep (overnight)."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, Phase, settings

# Time limits per example would make results depend on the machine's load.
settings.register_profile("quick", max_examples=20, deadline=None, derandomize=True, database=None)
settings.register_profile("ci", max_examples=100, deadline=None, derandomize=True, database=None, print_blob=True)
settings.register_profile(
    "deep",
    max_examples=5_000,
    deadline=None,
    phases=tuple(Phase),
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile(os.environ.get("NANPROOF_PROFILE", "quick"))
