"""Hypothesis profiles, chosen by NANPROOF_PROFILE: quick (seconds), ci (the default of `make test`), deep (overnight);
and one thread an operator for TensorFlow, so that two test workers share two cores."""

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

# TensorFlow takes these when its first operation runs, whichever test that is in; set by its API they come too late by then.
os.environ.setdefault("TF_NUM_INTRAOP_THREADS", "1")
os.environ.setdefault("TF_NUM_INTEROP_THREADS", "1")
