"""`.ci/run` says the truth: its exit code and its last line, for every way in which lint and the tests can end."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
CLOSING = {0: "3 passed in 0.10s", 1: "1 failed, 2 passed in 0.12s", 5: "no tests ran in 0.01s"}

pytestmark = pytest.mark.skipif(shutil.which("bash") is None or shutil.which("make") is None, reason="needs bash, make")


@pytest.mark.parametrize(("lint", "tests"), [(0, 0), (1, 0), (0, 1), (1, 1), (0, 5)])
def test_exit_code_and_last_line(tmp_path: Path, lint: int, tests: int) -> None:
    (tmp_path / ".ci").mkdir()
    shutil.copy(ROOT / ".ci" / "run", tmp_path / ".ci" / "run")
    (tmp_path / "Makefile").write_text(
        f"lint:\n\t@echo linting; exit {lint}\ntest:\n\t@echo '{CLOSING[tests]}'; echo bye; exit {tests}\n"
    )
    ran = subprocess.run(["bash", str(tmp_path / ".ci" / "run")], capture_output=True, text=True, check=False)
    assert (ran.returncode == 0) == (lint == tests == 0)
    assert ran.stdout.splitlines()[-1] == CLOSING[tests]
    assert ("lint failed" in ran.stdout) == (lint != 0)
    assert ("tests failed" in ran.stdout) == (tests != 0)


def test_make_targets_exist() -> None:
    for target in ("demo", "test", "lint", "bench", "docs", "fuzz-input", "clean"):
        ran = subprocess.run(["make", "-n", target], cwd=ROOT, capture_output=True, text=True, check=False)
        assert ran.returncode == 0, ran.stderr
