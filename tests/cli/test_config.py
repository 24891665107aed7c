from __future__ import annotations

from pathlib import Path

import pytest

from nanproof.cli.config import Settings, load, merge
from nanproof.findings import InputError

FULL = """
weights = "architecture"
runtime = "torch"
effort = "low"
time_limit = 7
select = ["NP1", "np201"]
ignore = ["NP103"]
baseline = "known.json"
[ranges]
x = [0, 1]
"tokens*" = [0, 30000]
[dims]
n = [1, 512]
m = 8
k = "1.."
[roles]
y = "label"
"""


def test_all_keys(folder: Path) -> None:
    (folder / "nanproof.toml").write_text(FULL)
    assert load(None, folder) == Settings(
        ranges={"x": (0, 1), "tokens*": (0, 30000)},
        dims={"n": (1, 512), "m": (8, 8), "k": (1, None)},
        roles={"y": "label"},
        weights="architecture",
        runtime="torch",
        effort="low",
        time_limit=7.0,
        select=("NP1", "NP201"),
        ignore=("NP103",),
        baseline=folder / "known.json",
    )


def test_the_nearest_file_counts_up_to_the_root_of_the_repository(folder: Path) -> None:
    inner = folder / "a" / "b"
    inner.mkdir(parents=True)
    (folder / "pyproject.toml").write_text('[tool.nanproof]\nruntime = "torch"\n')
    (folder / "a" / "pyproject.toml").write_text("[tool.other]\n")
    assert load(None, inner).runtime == "torch"
    (folder / "a" / "nanproof.toml").write_text('runtime = "ieee"\n')
    assert load(None, inner).runtime == "ieee"
    (inner / ".git").mkdir()
    assert load(None, inner) == Settings()


def test_a_given_file(folder: Path) -> None:
    (folder / "my.toml").write_text('weights = "model"')
    assert load("my.toml", folder).weights == "model"
    (folder / "pyproject.toml").write_text("[project]\n")
    with pytest.raises(InputError, match=r"^pyproject.toml has no \[tool.nanproof\] table$"):
        load("pyproject.toml", folder)
    with pytest.raises(InputError, match=r"^none.toml can't be read: no such file or directory$"):
        load("none.toml", folder)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("rnages = {}", 'the key "rnages" is not known: did you mean "ranges"?'),
        ("ranges = 3", "ranges is a table of names, such as [tool.nanproof.ranges]"),
        ("ranges.x = 3", "ranges.x is two numbers, such as [0, 1]"),
        ("ranges.x = [1, 0]", "ranges.x: the lower end 1 is above the upper end 0; swap them"),
        ("ranges.x = [true, 1]", "ranges.x: a range is two numbers, such as [0, 1]"),
        ("dims.n = 1.5", "dims.n: a size is a whole number"),
        ("dims.n = true", "dims.n: a size is a whole number"),
        ('roles.y = "lable"', 'roles.y: the role "lable" is not known: did you mean "label"?'),
        ('runtime = "jax"', 'runtime "jax" is not known: there is "ieee", "onnxruntime", "torch"'),
        ('effort = "max"', 'effort "max" is not known: there is "high", "low", "normal"'),
        ("time_limit = -1", "time_limit: -1 is no number of seconds; say 0 or more"),
        ('select = "NP1"', 'select is a list of codes, such as ["NP101", "NP2"]'),
        ('select = ["XX"]', 'select "XX" fits no rule (all: nanproof rule --list)'),
    ],
)
def test_wrong_values_name_the_file_and_the_key(folder: Path, text: str, message: str) -> None:
    path = folder / "nanproof.toml"
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        load(None, folder)
    assert str(caught.value) == f"{path}: {message}"


@pytest.mark.parametrize("content", [b"x = = 1", b"\xff\xfe"])
def test_a_broken_file(folder: Path, content: bytes) -> None:
    (folder / "nanproof.toml").write_bytes(content)
    with pytest.raises(InputError, match=r"nanproof.toml is not valid TOML: "):
        load(None, folder)


def test_the_command_line_wins() -> None:
    base = Settings(ranges={"x": (0, 1), "y": (0, 1)}, weights="model", select=("NP1",))
    over = Settings(ranges={"x": (5, 6)}, runtime="torch", select=("NP2",))
    assert merge(base, over) == Settings(
        ranges={"x": (5, 6), "y": (0, 1)}, weights="model", runtime="torch", select=("NP2",)
    )
