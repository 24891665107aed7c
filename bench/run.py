"""Measure what nanproof promises, print a table beside each budget, and keep the figures in bench/results/.

python bench/run.py                       everything (about five minutes, 7 GB of temporary disk space)
python bench/run.py --only startup nodes
python bench/run.py --only memory --gigabytes 20
python bench/run.py --only grist          the defect benchmark (its first run exports 79 models: two minutes)
python bench/run.py --only modern         defects of recent years, and their repairs
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from datetime import datetime, timezone
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import external
import graphs
import onnx
from tables import STARTUP_S, TABLES, Row, as_text
from watch import watch

HERE = Path(__file__).parent
RESULTS = HERE / "results"
SMALL = HERE.parent / "examples" / "logistic_regression" / "model.onnx"

SIZES = (1_000, 10_000, 200_000)


def check_command(model: Path) -> list[str]:
    """A check whose output the benchmark can read."""
    return [sys.executable, "-m", "nanproof", "check", str(model), "--format", "json"]


def startup(options: argparse.Namespace) -> list[Row]:
    """Whole processes on a small file, and beside them what Python with the two needed libraries takes alone."""
    commands = {
        "nanproof check small.onnx": [sys.executable, "-m", "nanproof", "check", str(SMALL)],
        "nanproof --help": [sys.executable, "-m", "nanproof", "--help"],
        "python -c 'import numpy, onnx'": [sys.executable, "-c", "import numpy, onnx"],
        "python -c ''": [sys.executable, "-c", ""],
    }
    rows: list[Row] = []
    for name, command in commands.items():
        seconds, cpu = [], []
        for _ in range(options.repeat + 1):
            begun, before = time.perf_counter(), os.times()
            ran = subprocess.run(command, capture_output=True, text=True, check=False)
            after = os.times()
            seconds.append(time.perf_counter() - begun)
            cpu.append(sum(after[2:4]) - sum(before[2:4]))
            if ran.returncode not in {0, 1} or "Traceback" in ran.stderr:
                raise SystemExit(f"{name} failed:\n{ran.stderr}")
        seconds, cpu = seconds[1:], cpu[1:]  # the first one warmed the file cache
        budget = STARTUP_S if name.startswith("nanproof check") else None
        rows.append(
            {
                "what": name,
                "median_s": statistics.median(seconds),
                "best_s": min(seconds),
                "cpu_s": statistics.median(cpu),
                "budget_s": budget,
            }
        )
    return rows


def nodes(options: argparse.Namespace) -> list[Row]:
    """Microseconds a node on generated graphs."""
    rows: list[Row] = []
    with TemporaryDirectory(prefix="nanproof-bench-", dir=options.folder) as folder:
        for kind in graphs.KINDS:
            for size in options.sizes:
                path = Path(folder) / f"{kind}-{size}.onnx"
                onnx.save(graphs.make(kind, size), path)
                # small graphs vary more: the best of three processes
                runs = [run_child([path])[0] for _ in range(3 if size < 100_000 else 1)]
                row = min(runs, key=lambda run: run.get("analyse_s", 0.0))
                rows.append(
                    {"kind": kind, "size": size, "file_mib": path.stat().st_size / 2**20, **row, "path": path.name}
                )
                path.unlink()
    for row in rows:
        if "error" not in row:
            row |= {f"{part}_us": row[f"{part}_s"] / row["nodes"] * 1e6 for part in ("load", "lower", "analyse")}
    return rows


def memory(options: argparse.Namespace) -> list[Row]:
    """Peak memory and speed over a model with external weights."""
    with external.external_model(options.gigabytes, options.folder) as model:
        weights = model.with_name("weights.bin")
        size = weights.stat().st_size
        # once before and once behind, from the disk each time: it isn't equally fast all the time
        reads = [read_through(weights)]
        forget(weights)
        run = watch(check_command(model))
        reads.append(read_through(weights))
    if run.exit_code not in {0, 1}:
        raise SystemExit(f"check failed with {run.exit_code}:\n{run.errors}")
    sites = json.loads(run.output)["sites"]
    return [{"weights_gib": size / 2**30, "plain_read_s": min(reads), **run.figures(), "sites": sites}]


def zoo(_options: argparse.Namespace) -> list[Row]:
    """The verdicts over every ready-made model graph in the onnx package."""
    data = Path(onnx.__file__).parent / "backend" / "test" / "data"
    folders = ("light", "real", "simple", "pytorch-converted", "pytorch-operator")
    paths = sorted(path for folder in folders for path in (data / folder).rglob("*.onnx"))
    rows = run_child(paths)
    for row in rows:
        row["path"] = Path(row["path"]).relative_to(data).as_posix()
        if "error" in row:
            row["error"] = row["error"].replace(f"{data}/", "")
    return rows


def cases(_options: argparse.Namespace) -> list[Row]:
    """The node test cases of the onnx package: the share that is answered, and whether all are sound."""
    from nanproof.testing.node_cases import node_case_report

    return [asdict(share) for share in node_case_report()]


def grist(_options: argparse.Namespace) -> list[Row]:
    """The 79 defects of the GRIST benchmark: which are found in RANUM's and in natural ranges, and what else is reported."""
    from grist import cases as known
    from grist.measure import answers, rows
    from grist.verify import seen

    wrong = [one for one in map(seen, known()) if not one.right]
    if wrong:
        raise SystemExit(f"these cases aren't what they say: {wrong}")
    return rows(answers(known()))


def grist_tf(_options: argparse.Namespace) -> list[Row]:
    """Programs of that benchmark as TensorFlow 1 graphs and as Keras models; of the former the training graphs, too."""
    from grist import cases as known
    from grist.measure import rows, training_read, twin_answers
    from grist.twins import FORMS

    def trained(row: Row) -> Row:
        once = row["form"] == "tf1" and row["ranges"] == "natural"
        return row | (training_read(known([row["id"]])[0]) if once else {})

    return [trained(row) for form in FORMS for row in rows(twin_answers(form, known()))]


def precision(_options: argparse.Namespace) -> list[Row]:
    """Pairs of small graphs, one defective and one repaired: what is flagged, and what is proved."""
    from precision import FAMILIES
    from precision.judging import judged
    from precision.unproved import UNPROVED

    rows = [judged(family, pair) for family, pairs in FAMILIES.items() for pair in pairs]
    return [{**row, "reason": UNPROVED.get(row["pair"], "")} for row in rows]


def modern(_options: argparse.Namespace) -> list[Row]:
    """Defects of 2021 to 2026: which defective forms are flagged, and which repaired ones are left alone."""
    from modern import cases as known
    from modern.measure import answers, rows
    from modern.verify import seen

    wrong = [one for one in map(seen, known()) if not one.right]
    if wrong:
        raise SystemExit(f"these cases aren't what they say: {wrong}")
    return rows(answers(known()))


def run_child(paths: Sequence[Path]) -> list[Row]:
    """The measurements of one fresh process over these models."""
    command = [sys.executable, str(HERE / "child.py"), *map(str, paths)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    if ran.returncode:
        raise SystemExit(f"{' '.join(command[:2])} failed:\n{ran.stderr}")
    return [json.loads(line) for line in ran.stdout.splitlines()]


def read_through(path: Path) -> float:
    """Seconds that it takes to read a file once from the disk, in chunks."""
    forget(path)
    buffer = bytearray(1 << 22)
    begun = time.perf_counter()
    with path.open("rb", buffering=0) as file:
        while file.readinto(buffer):
            pass
    return time.perf_counter() - begun


def forget(path: Path) -> None:
    """Take a file out of the system's memory, so that the next reader gets it from the disk."""
    with path.open("rb") as file:
        os.fsync(file.fileno())
        if hasattr(os, "posix_fadvise"):
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def machine() -> dict[str, Any]:
    """What the figures were measured on and with."""
    packages = ("nanproof", "numpy", "onnx", "ml_dtypes", "protobuf")
    processor = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        names = [
            line.partition(":")[2].strip() for line in info.read_text().splitlines() if line.startswith("model name")
        ]
        processor = names[0] if names else processor
    return {
        "processor": processor,
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "versions": {name: version(name) for name in packages},
    }


def keep(section: str, rows: list[Row]) -> None:
    """The newest figures of a section replace the last; their history is the file's history."""
    RESULTS.mkdir(exist_ok=True)
    record = {"date": datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M UTC"), "machine": machine(), "rows": rows}
    (RESULTS / f"{section}.json").write_text(json.dumps(record, indent=1) + "\n")


SECTIONS: dict[str, Callable[[argparse.Namespace], list[Row]]] = {
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


def main() -> None:
    """Run the sections that were asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=SECTIONS, default=list(SECTIONS), help="the sections to run")
    parser.add_argument("--sizes", nargs="+", type=int, default=SIZES, help="nodes of the generated graphs")
    parser.add_argument("--gigabytes", type=float, default=4, help="external weights of the memory section")
    parser.add_argument("--folder", type=Path, help="where temporary files go (default: the system's place)")
    parser.add_argument("--repeat", type=int, default=7, help="processes of the start-up section")
    parser.add_argument("--no-keep", action="store_true", help="print only")
    options = parser.parse_args()
    about = machine()
    print(f"{about['processor']}, {about['cores']} cores, {about['system']}, Python {about['python']}")
    for section in options.only:
        rows = SECTIONS[section](options)
        print("\n" + as_text(TABLES[section](rows)), end="")
        if not options.no_keep:
            keep(section, rows)


if __name__ == "__main__":
    main()
