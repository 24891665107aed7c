"""The styled lines on a terminal, with colours."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanproof.findings import wording
from nanproof.findings.report import Report
from nanproof.report.layout import NORMAL, Line, lines, plain

if TYPE_CHECKING:
    from rich.text import Text

STYLES = {
    "": "",
    "bold": "bold",
    "dim": "dim",
    "where": "cyan",
    "good": "green",
    "error": "bold red",
    "warning": "yellow",
    "note": "blue",
}


def text(report: Report, detail: int = NORMAL) -> str:
    """The report without colours, for a pipe or a file."""
    return plain(lines(report, detail))


def paint(report: Report, detail: int = NORMAL) -> str:
    """The report with the colours of an ANSI terminal. Lines are not wrapped: the terminal does that, and copies stay whole."""
    from rich.console import Console

    console = Console(force_terminal=True, color_system="standard", no_color=False, soft_wrap=True, highlight=False)
    with console.capture() as capture:
        for line in lines(report, detail):
            console.print(_painted(line))
    return capture.get()


def _painted(line: Line) -> Text:
    """As Text, not markup: names in a model may contain brackets."""
    from rich.text import Text

    painted = Text()
    for content, style in line:
        painted.append(wording.printable(content), style=STYLES[style])
    return painted
