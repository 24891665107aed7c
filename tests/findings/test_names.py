from __future__ import annotations

import pytest

from nanproof.findings import InputError
from nanproof.findings.names import expand, hint, one_of

KNOWN = ("tokens", "mask", "/enc.0/weight", "/enc.1/weight", "x[0]")


def test_hint() -> None:
    assert hint("token", KNOWN) == 'did you mean "tokens"?'
    assert hint("TOKENS", KNOWN) == 'did you mean "tokens"?'
    assert hint("zzz", ("b", "a")) == 'there is "a", "b"'
    assert hint("zzz", [f"n{i}" for i in range(9)]) == 'there is "n0", "n1", "n2", "n3", "n4", "n5" and 3 more'
    assert hint("zzz", ()) == ""


def test_expand() -> None:
    assert expand({"tokens": 1}, KNOWN, "v") == {"tokens": 1}
    assert expand({"*weight": 1, "/enc.1/weight": 2}, KNOWN, "v") == {"/enc.0/weight": 1, "/enc.1/weight": 2}
    assert expand({"/enc.1/weight": 2, "*weight": 1}, KNOWN, "v") == {"/enc.0/weight": 1, "/enc.1/weight": 2}
    assert expand({"*": 1, "m*": 2}, ("mask", "x"), "v") == {"mask": 2, "x": 1}


def test_a_name_with_brackets_is_itself() -> None:
    assert expand({"x[0]": 1}, KNOWN, "v") == {"x[0]": 1}


def test_an_unknown_name_says_what_was_meant() -> None:
    with pytest.raises(InputError, match=r'^the value "tokns" is not in the model: did you mean "tokens"\?$'):
        expand({"tokns": 1}, KNOWN, "the value")
    with pytest.raises(InputError, match=r'^the value "q\*" is not in the model'):
        expand({"q*": 1}, KNOWN, "the value")


def test_one_of() -> None:
    assert one_of("a", ("a", "b"), "--x") == "a"
    with pytest.raises(InputError, match=r'^--format "jsn" is not known: did you mean "json"\?$'):
        one_of("jsn", ("json", "rich"), "--format")
