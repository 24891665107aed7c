"""Pages that come from the code: one for every rule, their index, and the table of operators."""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

from nanproof.findings.rules import RULES
from nanproof.ops import OPS, Op
from nanproof.report import rule_page


def on_files(files: Files, config: Any) -> Files:
    """Add the generated pages to those in the folder."""
    pages = {f"reference/rules/{rule.code}.md": rule_page.markdown(rule) for rule in RULES}
    pages["reference/rules/index.md"] = rule_page.index(RULES)
    pages["reference/operators.md"] = operators(OPS)
    for name, content in pages.items():
        files.append(File.generated(config, name, content=content))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """The newest figures, where the page on benchmarks wants them."""
    return markdown.replace("<!-- figures -->", figures()) if page.file.src_uri == "benchmarks.md" else markdown


def figures() -> str:
    """The tables of bench/results/, with what they were measured on."""
    bench = Path(__file__).parents[1] / "bench"
    sys.path.insert(0, str(bench))
    from tables import TABLES, as_markdown

    text = []
    for section, table in TABLES.items():
        path = bench / "results" / f"{section}.json"
        if path.exists():
            record = json.loads(path.read_text())
            about = record["machine"]
            versions = ", ".join(f"{name} {version}" for name, version in about["versions"].items())
            where = f"{about['processor']}, {about['cores']} cores, {about['system']}, Python {about['python']}"
            text.append(f"{as_markdown(table(record['rows']))}\n{record['date']}, {where}, {versions}.\n")
    return "\n".join(text)


def operators(ops: tuple[Op, ...]) -> str:
    """The table of all records, in the order of their names."""
    families: dict[str, list[Op]] = defaultdict(list)
    for op in ops:
        families[op.domain or "ai.onnx"].append(op)
    lines = [
        "# Operators",
        "",
        f"nanproof has a record for {len(ops)} operators. Any other is no error: its output is taken as any value of its",
        "type, and the report counts it and marks the verdicts that are weaker for it.",
        "",
        "`nanproof op NAME` prints the same for one operator.",
    ]
    for family, members in sorted(families.items()):
        lines += ["", f"## {family}", "", "| operator | fails at | rules | rounding |", "|---|---|---|---|"]
        lines += [_row(op) for op in sorted(members, key=lambda op: op.name)]
    return "\n".join(lines) + "\n"


def _row(op: Op) -> str:
    fails = "<br>".join(f"`{need.text}`".replace("|", "&#124;") for need in op.requires) or "-"
    codes = sorted({need.code for need in op.requires} | ({op.overflow} if op.overflow else set()))
    links = ", ".join(f"[{code}](rules/{code}.md)" for code in codes) or "-"
    rounding = "none" if op.exact else f"that of {op.error}, by runtime" if op.error else "correct"
    return f"| {op.name} | {fails} | {links} | {rounding} |"
