"""The figures of each section as a table, beside their budgets: for a terminal, and in Markdown for the docs."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

STARTUP_S = 0.5
NODE_US = 25.0
MEMORY_MIB = 1024.0
MEMORY_SHARE = 0.05
PROVED_PERCENT = 97.0

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
        ("plain read of the same file from the disk, GiB a second", f"{gib / row['plain_read_s']:.2f}", "", ""),
        ("as many times as long as a plain read", f"{row['seconds'] / row['plain_read_s']:.2f}", "", ""),
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


def grist(rows: Sequence[Row]) -> Table:
    """Defects found and false alarms, beside what is published of others."""
    cells = [
        *_found(rows, ("ranges",), "nanproof, {} ranges"),
        ("RANUM, published", "79 of 79", "", "", "", "", "", "", "", "under 3000", ""),
        ("DEBAR, published", "48 of 79", "", "", "", "", 12, "", "", "", ""),
    ]
    title = (
        "The GRIST benchmark: 63 programs, 79 defects (right: reported where it can fail, proved safe where it can't)"
    )
    return Table(title, _FOUND, tuple(cells), _exceptions(rows))


def grist_tf(rows: Sequence[Row]) -> Table:
    """The same of the programs that there are in TensorFlow, and how much of their training graphs is read."""
    training = [row for row in rows if row.get("training_nodes")]
    unknown = sum(row["training_unknown"] for row in training)
    read = (
        f"training graphs of TensorFlow 1 with gradients and the optimiser's step: {len(training)} read, "
        f"{sum(row['training_nodes'] for row in training)} nodes, {unknown} of them unknown"
    )
    return Table(
        "The GRIST benchmark in TensorFlow: TensorFlow 1 graphs and Keras models",
        _FOUND,
        tuple(_found(rows, ("form", "ranges"), "{}, {} ranges")),
        (read, *_exceptions(rows)),
    )


_FOUND = (
    "tool", "right", "can fail", "found", "can't fail", "proved", "false alarms", "unlisted", "median ms", "most ms", "us a node",
)  # fmt: skip


def _found(rows: Sequence[Row], keys: Sequence[str], label: str) -> list[tuple[Any, ...]]:
    """A line for each group of rows that agree in the keys."""
    groups: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(row[key] for key in keys), []).append(row)
    cells: list[tuple[Any, ...]] = []
    for kind, group in groups.items():
        each = [row["analyse_s"] for row in group]
        cells.append(
            (
                label.format(*kind),
                f"{sum(row['right'] for row in group)} of {len(group)}",
                *(f"{sum(row[part] for row in group)}" for part in ("possible", "found")),
                f"{sum(row['nodes'] - row['possible'] for row in group)}",
                f"{sum(row['proved'] for row in group)}",
                *(sum(len(row[part]) for row in group) for part in ("false", "unlisted")),
                f"{statistics.median(each) * 1e3:.1f}",
                f"{max(each) * 1e3:.1f}",
                f"{sum(each) / sum(row['graph_nodes'] for row in group) * 1e6:.0f}",
            )
        )
    return cells


def _exceptions(rows: Sequence[Row]) -> tuple[str, ...]:
    """The cases that aren't answered right, and the false alarms."""
    return tuple(
        f"{row['id']} ({row['ranges']}): {what} {alarm}"
        for row in rows
        for what in ("false", "unlisted")
        for alarm in row[what]
    ) + tuple(
        f"{row['id']} ({row['ranges']}): {row['found']} of {row['possible']} found, "
        f"{row['proved']} of {row['nodes'] - row['possible']} proved"
        for row in rows
        if not row["right"]
    )


def precision(rows: Sequence[Row]) -> Table:
    """Which defective graphs are flagged and which repaired ones proved, pair by pair."""
    count, flagged, proved = len(rows), *(sum(row[name] for row in rows) for name in ("flagged", "proved"))
    share = 100.0 * proved / max(1, count)
    facts = Counter(fact for row in rows for fact in row["facts"])
    kept = Counter(fact for row in rows if row["proved"] for fact in row["facts"])
    untrue = [row["pair"] for row in rows if not (row["fails"] and row["holds"])]
    return Table(
        f"Precision: {count} pairs of small graphs, one defective and one repaired",
        ("family and pair", "form", "defective", "repaired"),
        tuple(
            (
                f"{row['family']}: {row['pair']}",
                row["form"],
                "flagged" if row["flagged"] else "MISSED",
                "proved" if row["proved"] else "open",
            )
            for row in rows
        ),
        (
            f"defective: {flagged} of {count} flagged, budget all: {'met' if flagged == count else 'not met'}",
            f"repaired: {proved} of {count} proved ({share:.1f} %), budget {PROVED_PERCENT:g} %: "
            + ("met" if share >= PROVED_PERCENT else "not met"),
            f"analysis: {sum(row['seconds'] for row in rows):.1f} s in all",
            *(f"{fact}: {kept[fact]} of {n} proved" for fact, n in facts.most_common()),
            *(f"not proved: {row['pair']}: {row['reason'] or 'no reason given'}" for row in rows if not row["proved"]),
            *(f"not what it says it is in ONNX Runtime: {name}" for name in untrue),
        ),
    )


def modern(rows: Sequence[Row]) -> Table:
    """Defective forms flagged, repaired forms silent."""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(row["phase"], []).append(row)
    return Table(
        f"Modern defects: {len(rows)} cases of 2021 to 2026 in their defective and their repaired form",
        ("phase", "cases", "flagged", "repaired and silent", "can't be built"),
        tuple(
            (
                name,
                len(group),
                *(sum(row[part] for row in group) for part in ("flagged", "silent")),
                sum(bool(row["error"]) for row in group),
            )
            for name, group in [*groups.items(), ("all", list(rows))]
        ),
        tuple(
            f"{row['id']} {row['title']}: {row['error'] or '; '.join(_modern_lacks(row))}"
            for row in rows
            if row["error"] or not (row["flagged"] and row["silent"])
        ),
    )


def _modern_lacks(row: Row) -> list[str]:
    lacks = [] if row["flagged"] else [f"not flagged, said {', '.join(row['said']) or 'nothing'}"]
    return lacks if row["silent"] else [*lacks, f"repaired form: {', '.join(row['left'])}"]


TABLES: Mapping[str, Callable[[Sequence[Row]], Table]] = {
    "startup": startup,
    "nodes": nodes,
    "memory": memory,
    "zoo": zoo,
    "cases": cases,
    "grist": grist,
    "grist-tf": grist_tf,
    "modern": modern,
    "precision": precision,
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
