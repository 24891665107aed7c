"""Targets that name an object of a program: what the text means, and what is refused before anything runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from nanproof.findings.errors import InputError
from nanproof.frontends.opening import file_of, readable
from nanproof.frontends.programs.objects import Program, program_of
from nanproof.frontends.programs.target import ProgramTarget, parse


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("net.py:Net", ProgramTarget("Net", file=Path("net.py"))),
        ("a/b c/net.py:make.model", ProgramTarget("make.model", file=Path("a/b c/net.py"))),
        ("package.module:Net", ProgramTarget("Net", module="package.module")),
        ("model.onnx", None),
        ("C:\\models\\net.onnx", None),
        ("model.onnx:Net", ProgramTarget("Net", module="model.onnx")),
        ("net.py:", None),
        ("net.py:3", None),
        (":Net", None),
        ("s3://bucket/model", None),
    ],
)
def test_what_a_text_means(text: str, expected: ProgramTarget | None) -> None:
    assert parse(text) == expected
    assert expected is None or str(expected) == text


def test_a_file_with_a_colon_in_its_name_is_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("model:v2").write_bytes(b"")
    assert parse("model:v2") is None


def test_names_that_only_running_the_file_tells_are_left_to_it(tmp_path: Path) -> None:
    file = tmp_path / "net.py"
    file.write_text("from torch.nn import *\n")
    readable(f"{file}:Linear")
    file.write_text("from torch.nn import Linear as L\nif True:\n    a, *b = 1, 2\n")
    for name in ("L", "a", "b"):
        readable(f"{file}:{name}")
    with pytest.raises(InputError, match='defines no "Linear"'):
        readable(f"{file}:Linear")
    assert file_of(f"{file}:L") == file


def test_what_an_object_is_called_with() -> None:
    def model(x: int, y: int) -> int:
        return x + y

    assert program_of((model, 3), "it") == Program(model, (3,))
    assert program_of((model, (3, 4)), "it") == Program(model, (3, 4))
    assert program_of([model, {"x": 3}], "it") == Program(model, (), {"x": 3})
    assert program_of((model, [3], {"y": 4}), "it") == Program(model, (3,), {"y": 4})
    assert program_of(lambda: (model, 3), "it") == Program(model, (3,))
    assert program_of({"model": model, "inputs": 3, "loss": max, "targets": 4}, "it") == Program(
        model, (3,), loss=max, targets=(4,)
    )


def test_what_is_no_program() -> None:
    def boom() -> None:
        raise ZeroDivisionError("one")

    with pytest.raises(InputError, match=r"test_target.py:\d+: it raised ZeroDivisionError: one"):
        program_of(boom, "it")
    with pytest.raises(InputError, match="it needs arguments: name a function that takes none"):
        program_of(lambda x: x, "it")
    with pytest.raises(InputError, match=r"it: a pair is \(model, inputs\), .* this has 4"):
        program_of((1, 2, 3, 4), "it")
    with pytest.raises(InputError, match=r'the key "input" means nothing: did you mean "inputs"\?'):
        program_of({"model": max, "input": 3}, "it")
