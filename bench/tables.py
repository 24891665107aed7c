"""The figures of each section as a table, beside their budgets: for a terminal, and in Markdown for the docs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

STARTUP_S = 0.5
NODE_US = 25.0
MEMORY_MIB = 1024.0
MEMORY_SHARE = 0.05

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Table:
    """A title, the names of the columns, the cells, and what is to be said below."""

    title: str
    head: tuple[str, ...]
    cells: tuple[tuple[Any, ...], ...]
    below: tuple[str, ...] = ()


def startup(rows: Sequence[Row]) -> Table:
    """Seconds of whole processes."""
    return Table(
        "Start-up: whole process, median of several",
        ("command", "median s", "best s", "CPU s", "budget s", ""),
        tuple(
            (
                row["what"],
                *(f"{row[name]:.3f}" for name in ("median_s", "best_s", "cpu_s")),
                row["budget_s"] or "",
                met(row["median_s"], row["budget_s"]),
            )
            for row in rows
        ),
    )


def nodes(rows: Sequence[Row]) -> Table:
    """Microseconds a node."""
    good = [row for row in rows if "error" not in row]
    return Table(
        f"Analysis: microseconds a node (analyse includes its own lowering; budget {NODE_US:g}, flat)",
        ("graph", "nodes", "load", "lower", "analyse", "budget", "peak MiB", "sites", "safe", "findings", "unknown"),
        tuple(
            (
                row["kind"],
                row["nodes"],
                *(f"{row[f'{part}_us']:.1f}" for part in ("load", "lower", "analyse")),
                met(row["analyse_us"], NODE_US),
                f"{row['peak_mib']:.0f}",
                row["sites"]["total"],
                row["sites"]["safe"],
                row["findings"],
                sum(row["unknown_ops"].values()),
            )
            for row in good
        ),
        errors(rows),
    )


def memory(rows: Sequence[Row]) -> Table:
    """Peak memory and speed over external weights."""
    (row,) = rows
    gib, budget = row["weights_gib"], MEMORY_MIB + MEMORY_SHARE * row["weights_gib"] * 1024
    resident, claimed = row["peak_resident"], row["peak_anonymous"]
    cells: list[tuple[Any, ...]] = [
        ("peak resident MiB", f"{resident:.0f}", f"{budget:.0f}", met(resident, budget)),
        ("seconds", f"{row['seconds']:.2f}", "", ""),
        ("GiB of weights a second", f"{gib / row['seconds']:.2f}", "", ""),
        ("plain read of the same file, GiB a second", f"{gib / row['plain_read_s']:.2f}", "", ""),
    ]
    if claimed is not None:
        cells.insert(1, ("of it claimed (anonymous) MiB", f"{claimed:.0f}", f"{budget:.0f}", met(claimed, budget)))
    return Table(
        f"Memory: check over {gib:.1f} GiB of external weights", ("figure", "value", "budget", ""), tuple(cells)
    )


def zoo(rows: Sequence[Row]) -> Table:
    """Verdicts over ready-made models; the small ones are counted together."""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        folder, _, rest = row["path"].partition("/")
        groups.setdefault(rest.removesuffix(".onnx") if folder == "light" else f"all of {folder}", []).append(row)
    unknown: Counter[str] = Counter()
    for row in rows:
        unknown.update(row.get("unknown_ops", {}))
    names = ", ".join(f"{op} {count}" for op, count in unknown.most_common())
    return Table(
        f"Verdicts: the {len(rows)} model graphs in the onnx package, with the weights that they store",
        ("model", "graphs", "nodes", "sites", "safe", "possible", "inevitable", "findings", "unknown", "errors", "s"),
        tuple((name, len(group), *_totals(group)) for name, group in [*groups.items(), ("total", list(rows))]),
        (*((f"unknown operators: {names}",) if names else ()), *errors(rows)),
    )


def cases(rows: Sequence[Row]) -> Table:
    """How many node test cases get more than "any value" for an answer, and whether one is wrong."""
    *each, total = rows
    partly = [row for row in each if row["tried"] and (row["answered"] < row["tried"] or row["wrong"])]
    shown = [*sorted(partly, key=lambda row: row["answered"] / row["tried"]), {**total, "op": "all with a record"}]
    share = 100.0 * total["answered"] / max(1, total["tried"])
    return Table(
        "Node test cases of the onnx package: widened inputs, real outputs of sampled ones",
        ("operator", "answered", "of", "left out", "wrong"),
        tuple((row["op"], row["answered"], row["tried"], row["skipped"], row["wrong"]) for row in shown),
        (f"{share:.1f} % answered with more than any value of the dtype",),
    )


TABLES: Mapping[str, Callable[[Sequence[Row]], Table]] = {
    "startup": startup,
    "nodes": nodes,
    "memory": memory,
    "zoo": zoo,
    "cases": cases,
}


def as_text(table: Table) -> str:
    """Columns for a terminal: the first to the left, figures to the right."""
    lines = [[str(cell) for cell in line] for line in (table.head, *table.cells)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    lines.insert(1, ["-" * width for width in widths])
    text = [table.title, ""]
    for first, *others in lines:
        figures = (cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True))
        text.append("  " + "  ".join([first.ljust(widths[0]), *figures]).rstrip())
    return "\n".join([*text, *(f"  {line}" for line in table.below)]) + "\n"


def as_markdown(table: Table) -> str:
    """The same for the docs."""
    lines = [table.head, ("---", *("---:" for _ in table.head[1:])), *table.cells]
    rows = ["| " + " | ".join(map(str, line)) + " |" for line in lines]
    return "\n".join([f"### {table.title}", "", *rows, "", *(f"{line}\n" for line in table.below)])


def met(value: float, budget: float | None) -> str:
    """Whether a figure keeps its budget, in words."""
    return "" if budget is None else "met" if value <= budget else f"{value / budget:.3g} x over"


def errors(rows: Iterable[Row]) -> tuple[str, ...]:
    """What went wrong, below the table that it is missing from."""
    return tuple(f"{row['path']}: {row['error']}" for row in rows if "error" in row)


def _totals(rows: Sequence[Row]) -> tuple[Any, ...]:
    good = [row for row in rows if "error" not in row]
    return (
        sum(row["nodes"] for row in good),
        *(sum(row["sites"][kind] for row in good) for kind in ("total", "safe", "possible", "inevitable")),
        sum(row["findings"] for row in good),
        sum(sum(row["unknown_ops"].values()) for row in good),
        len(rows) - len(good),
        f"{sum(row['load_s'] + row['analyse_s'] for row in good):.2f}",
    )
