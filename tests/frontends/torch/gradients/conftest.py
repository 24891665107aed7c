"""Says at the end how many cases came out how."""

from __future__ import annotations

from collections import Counter
from typing import Any


def pytest_terminal_summary(terminalreporter: Any) -> None:
    kinds = Counter(
        str(value)
        for reports in terminalreporter.stats.values()
        for report in reports
        for name, value in getattr(report, "user_properties", ())
        if name == "gradients" and report.when == "call"
    )
    if kinds:
        terminalreporter.write_line(
            "gradients: " + ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))
        )
