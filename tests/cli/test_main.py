"""Every way to fail is one clear message and an exit code."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.report.samples import report

from nanproof import __version__
from nanproof.findings import InputError


def python(*arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2] / "src")}
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, env=env, check=False, **options)


def test_findings_make_exit_code_1(fake: Any, folder: Path, run: Any) -> None:
    code, out, err = run("check", "model.onnx")
    assert (code, err) == (1, "")
    assert out.startswith("NP101 log of a value")


def test_no_findings_make_exit_code_0(fake: Any, folder: Path, run: Any) -> None:
    fake.answer = report()
    assert run("check", "model.onnx")[0] == 0


def test_an_input_error_is_one_sentence(fake: Any, folder: Path, run: Any) -> None:
    fake.answer = InputError("model.onnx is empty")
    assert run("check", "model.onnx") == (2, "", "nanproof: model.onnx is empty\n")


def test_a_bug_says_how_to_report_it(fake: Any, folder: Path, run: Any) -> None:
    fake.answer = ZeroDivisionError("oh\nno")
    code, out, err = run("check", "model.onnx")
    assert (code, out) == (3, "")
    assert err == (
        f"nanproof: ZeroDivisionError: oh\nthis is a bug in nanproof {__version__}, not in your model: "
        "report it with the output of the same command and -v\n"
    )


def test_a_bug_shows_its_traceback_with_v(fake: Any, folder: Path, run: Any) -> None:
    fake.answer = ZeroDivisionError("oh")
    assert run("check", "model.onnx", "-v")[2].startswith("Traceback")


@pytest.mark.parametrize(("error", "code"), [(KeyboardInterrupt, 130), (MemoryError, 2)])
def test_other_ends_are_clean(fake: Any, folder: Path, run: Any, error: type[BaseException], code: int) -> None:
    fake.answer = error
    got, _, err = run("check", "model.onnx")
    assert got == code
    assert len(err.splitlines()) == 1


def test_control_characters_in_a_message_are_not_sent_to_the_terminal(fake: Any, folder: Path, run: Any) -> None:
    fake.answer = InputError("name \x1b[2J")
    assert run("check", "model.onnx")[2] == "nanproof: name ?[2J\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["chekc"], 'the command "chekc" is not known: did you mean "check"?'),
        (["check"], "the following arguments are required: TARGET (see nanproof check --help)"),
        (["check", "model.onnx", "--fromat", "json"], "unrecognized arguments: --fromat json (see nanproof --help)"),
        (["check", "model.onnx", "--format", "jsn"], '--format "jsn" is not known: did you mean "json"?'),
        (["check", "model.onnx", "--runtime", "pytorch"], '--runtime "pytorch" is not known: did you mean "torch"?'),
        (["check", "model.onnx", "--effort", "hihg"], '--effort "hihg" is not known: did you mean "high"?'),
        (["check", "model.onnx", "--time-limit", "soon"], '--time-limit: "soon" is not a number'),
        (["rule", "NP109x"], 'there is no rule "NP109x": did you mean "NP109"? (all: nanproof rule --list)'),
    ],
)
def test_wrong_usage(folder: Path, run: Any, arguments: list[str], message: str) -> None:
    assert run(*arguments) == (2, "", f"nanproof: {message}\n")


def test_no_command_shows_the_help(run: Any) -> None:
    code, out, _ = run()
    assert code == 2
    assert out.startswith("usage: nanproof")


def test_version_and_help_import_nothing_heavy() -> None:
    heavy = ["numpy", "onnx", "google", "rich", "torch", "onnxruntime", "ml_dtypes"]
    for option in ("--version", "--help"):
        program = (
            "import sys\nfrom nanproof.cli import main\n"
            f"try:\n    main([{option!r}])\nexcept SystemExit as end:\n    assert not end.code\n"
            f"print(sorted(set({heavy!r}) & set(sys.modules)), file=sys.stderr)"
        )
        done = python("-c", program)
        assert done.stderr.strip() == "[]"
    assert python("-m", "nanproof", "--version").stdout == f"nanproof {__version__}\n"


def test_rules_import_nothing_heavy() -> None:
    program = "import sys\nfrom nanproof.cli import main\nmain(['rule', 'NP101'])\nprint('numpy' in sys.modules, file=sys.stderr)"
    assert python("-c", program).stderr.strip() == "False"


def test_a_reader_that_leaves_is_no_error() -> None:
    command = f"{sys.executable} -m nanproof rule --list | head -c 1; echo ${{PIPESTATUS[0]}} >&2"
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2] / "src")}
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, env=env, check=False)
    assert done.stderr == "0\n"


def test_a_terminal_that_can_not_show_a_letter_is_no_error(folder: Path) -> None:
    program = """
import nanproof
from nanproof.cli.main import main
from nanproof.findings import Report, SiteCounts
nanproof.check = lambda model, **options: Report(chr(0x4e2d), "ieee", 0.0, SiteCounts(), 0)
raise SystemExit(main(["check", "model.onnx"]))
"""
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2] / "src"), "PYTHONIOENCODING": "ascii"}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=env, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("\\u4e2d: no findings")
