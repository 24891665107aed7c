"""Measurements in a fresh process, so that imports, caches and peak memory belong to them alone.

Reads paths of models from the command line and prints one line of JSON for each.
"""

from __future__ import annotations

import gc
import json
import resource
import sys
from time import perf_counter
from typing import Any

from watch import memory_of

from nanproof.analysis import Options, analyse
from nanproof.frontends.onnx import load
from nanproof.model.lower import lower
from nanproof.ops import lookup


def measure(path: str) -> dict[str, Any]:
    """Load, lower and analyse a model: the seconds of each, and the report's counts."""
    started = perf_counter()
    model = load(path, known=lambda domain, op: lookup(domain, op) is not None)
    loaded = perf_counter()
    # `analyse` lowers for itself; this one only shows its share.
    program = lower(model, lookup)
    lowered = perf_counter()
    nodes = len(program.steps)
    del program
    gc.collect()
    begun = perf_counter()
    report = analyse(model, Options())
    ended = perf_counter()
    sites = report.sites
    return {
        "nodes": nodes,
        "load_s": loaded - started,
        "lower_s": lowered - loaded,
        "analyse_s": ended - begun,
        "sites": {name: getattr(sites, name) for name in ("total", "safe", "possible", "inevitable")},
        "findings": sum(finding.note is None for finding in report.findings),
        "notes": sum(finding.note is not None for finding in report.findings),
        "unknown_ops": dict(report.unknown_ops),
        "weaker": report.weaker,
        "peak_mib": memory_of("self").get("VmHWM", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss) / 1024,
    }


def main(paths: list[str]) -> None:
    """One line for each path. A failure is a line too: a benchmark over many models goes on and shows it."""
    for path in paths:
        row: dict[str, Any] = {"path": path}
        try:
            row |= measure(path)
        except Exception as error:  # noqa: BLE001 - whatever it is, it belongs in the table
            row["error"] = f"{type(error).__name__}: {error}"[:300]
        print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
