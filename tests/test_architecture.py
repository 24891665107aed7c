"""What keeps the house in order: sizes of modules, what start-up imports, and what must not be in tracked files."""

from __future__ import annotations

import ast
import re
import shutil
import statistics
import subprocess
import sys
from pathlib import Path

import onnx
import pytest
from onnx import TensorProto, helper

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "nanproof"
MODULES = sorted(SOURCE.rglob("*.py"))

# Each belongs to one leaf, which imports it when it is needed.
HEAVY = ("torch", "tensorflow", "jax", "onnxruntime", "ray", "keras", "sympy", "onnx_ir", "onnxscript")
LEAVES = {
    "torch": (
        "numerics/arrays.py",
        "numerics/tensors.py",
        "execution/",
        "frontends/torch/",
        "confirm/",
        "fix/",
        "trace/",
    ),
    "tensorflow": ("frontends/tensorflow/", "frontends/keras/", "execution/"),
    "jax": ("frontends/jax/", "execution/"),
    "onnxruntime": ("execution/",),
    "ray": ("scale/",),
    "keras": ("frontends/keras/",),
    "onnxscript": ("frontends/torch/",),
    "array_api_compat": ("numerics/arrays.py", "execution/"),
}


def test_modules_are_small() -> None:
    sizes = {path.relative_to(SOURCE).as_posix(): path.stat().st_size for path in MODULES}
    large = {name: size for name, size in sizes.items() if size > 25_000}
    assert not large, f"over 25 kB, a room for two subjects: {large}"
    assert statistics.median(sizes.values()) < 5_000


def test_every_module_says_what_it_is() -> None:
    silent = [
        path.name for path in MODULES if path.stat().st_size and not ast.get_docstring(ast.parse(path.read_text()))
    ]
    assert not silent


def test_no_module_is_called_utils() -> None:
    assert not [path for path in MODULES if path.stem in {"utils", "util", "helpers", "misc", "common"}]


def imports(tree: ast.AST) -> set[str]:
    """The top-level packages that a module names, wherever it imports them."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found.update(alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.partition(".")[0])
    return found


def test_heavy_frameworks_stay_in_their_leaves() -> None:
    wrong: list[str] = []
    for path in MODULES:
        name = path.relative_to(SOURCE).as_posix()
        named = imports(ast.parse(path.read_text())) & {*HEAVY, *LEAVES}
        wrong += [f"{name} imports {package}" for package in named if not name.startswith(LEAVES.get(package, ()))]
    assert not wrong


@pytest.fixture(scope="module")
def small_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    graph = helper.make_graph(
        [helper.make_node("Softmax", ["x"], ["p"]), helper.make_node("Log", ["p"], ["y"])],
        "small",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 4])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["N", 4])],
    )
    path = tmp_path_factory.mktemp("architecture") / "small.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10), path)
    return path


@pytest.mark.parametrize("command", ["help", "check", "json"])
def test_start_up_imports_nothing_heavy(command: str, small_model: Path) -> None:
    arguments = {
        "help": ["--help"],
        "check": ["check", str(small_model)],
        "json": ["check", str(small_model), "--format", "json"],
    }[command]
    program = (
        "import sys\n"
        "from nanproof.cli import main\n"
        "try:\n"
        "    code = main()\n"
        "except SystemExit as stop:\n"
        "    code = stop.code\n"
        f"heavy = sorted(set(sys.modules) & {set(HEAVY) | {'array_api_compat'}!r})\n"
        "print('code', code, 'heavy', heavy, file=sys.stderr)\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=False, timeout=60
    )
    assert re.fullmatch(r"code (None|0|1) heavy \[\]", ran.stderr.splitlines()[-1]), ran.stderr
    assert ran.stdout


def tracked() -> list[Path]:
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    listing = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
    return [ROOT / name for name in listing.stdout.split("\0") if name and (ROOT / name).is_file()]


def test_no_path_of_one_machine_is_tracked() -> None:
    machine = re.compile(r"(?<![\w.])/(?:work|farm|root|home/[a-z]+|Users/\w+)/")
    found = []
    for path in tracked():
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        found += [
            f"{path.relative_to(ROOT)}:{i}" for i, line in enumerate(text.splitlines(), 1) if machine.search(line)
        ]
    assert not found


def test_no_tracked_file_is_huge() -> None:
    assert not [f"{path.relative_to(ROOT)}" for path in tracked() if path.stat().st_size > 1_000_000]
