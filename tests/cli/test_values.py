from __future__ import annotations

import pytest

from nanproof.cli import values
from nanproof.findings import InputError


@pytest.mark.parametrize(
    ("text", "ends"),
    [("0,1", (0, 1)), ("-1e3, 5", (-1000, 5)), ("[0.1, 0.9]", (0.1, 0.9)), ("3,3", (3, 3)), ("-0,0", (0, 0))],
)
def test_ends(text: str, ends: tuple[float, float]) -> None:
    assert values.ends(text, "--range x") == ends


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1", "--range x: a range is two numbers with a comma between them, such as 0,1"),
        ("0,1,2", "--range x: a range is two numbers with a comma between them, such as 0,1"),
        ("0,one", '--range x: "one" is not a number'),
        ("0,", '--range x: "" is not a number'),
        ("nan,1", "--range x: NaN is not a number that a range can end with"),
        ("1,0", "--range x: the lower end 1 is above the upper end 0; swap them"),
        ("0,inf", "--range x: a range ends with finite numbers; the largest float32 is 3.4028235e38"),
    ],
)
def test_wrong_ends(text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        values.ends(text, "--range x")
    assert str(caught.value) == message


def test_named() -> None:
    got = values.named(["x=0,1", "a=b=2,3", "x=4,5"], "--range", "NAME=LO,HI", values.ends)
    assert got == {"x": (4, 5), "a=b": (2, 3)}
    for text in ("x", "=0,1"):
        with pytest.raises(InputError, match="has no name or no value: write --range NAME=LO,HI"):
            values.named([text], "--range", "NAME=LO,HI", values.ends)


@pytest.mark.parametrize(
    ("text", "sizes"), [("8", (8, 8)), ("1..512", (1, 512)), ("0..", (0, None)), (" 1 .. 2 ", (1, 2))]
)
def test_sizes(text: str, sizes: tuple[int, int | None]) -> None:
    assert values.sizes(text, "--dim n") == sizes


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x", "--dim n: a size is written 8, 1..512 or 1.."),
        ("..5", "--dim n: a size is written 8, 1..512 or 1.."),
        ("1.5", "--dim n: a size is written 8, 1..512 or 1.."),
        ("-1", "--dim n: a size can't be negative"),
        ("5..1", "--dim n: the least size 5 is above the largest 1; swap them"),
    ],
)
def test_wrong_sizes(text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        values.sizes(text, "--dim n")
    assert str(caught.value) == message


def test_codes() -> None:
    assert values.codes(["np101, NP2", "NP401"], "--select") == ("NP101", "NP2", "NP401")
    with pytest.raises(InputError, match=r'^--select "NP9" fits no rule \(all: nanproof rule --list\)$'):
        values.codes(["NP9"], "--select")
    with pytest.raises(InputError, match=r'^--ignore "NP1001" fits no rule: did you mean "NP101"\? '):
        values.codes(["NP1001"], "--ignore")
