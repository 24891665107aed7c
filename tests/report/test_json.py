"""The JSON is strict, follows its published schema, and says everything."""

from __future__ import annotations

import json
import math
from dataclasses import fields

import jsonschema
import pytest
from jsonschema import Draft202012Validator
from tests.report.samples import FINDING, finding, report, rich_report

from nanproof.findings import EMPTY, Finding
from nanproof.report import json_format

VALIDATOR = Draft202012Validator(json.loads(json_format.schema()))


def test_the_schema_is_a_schema() -> None:
    Draft202012Validator.check_schema(VALIDATOR.schema)


@pytest.mark.parametrize(
    "made",
    [
        report(),
        report(FINDING),
        rich_report(),
        report(finding(interval=EMPTY), finding(interval=(-math.inf, math.inf))),
    ],
)
def test_reports_follow_the_schema(made: object) -> None:
    text = json_format.text(made)  # type: ignore[arg-type]
    value = json.loads(text, parse_constant=pytest.fail)
    VALIDATOR.validate(value)


@pytest.mark.parametrize("change", [{"verdict": "safe"}, {"interval": [0, "big"]}, {"interval": [0]}, {"code": "X1"}])
def test_the_schema_refuses_what_is_wrong(change: dict[str, object]) -> None:
    value = json_format.value(report(FINDING))
    value["findings"][0].update(change)
    with pytest.raises(jsonschema.ValidationError):
        VALIDATOR.validate(value)


def test_infinities_are_strings_and_nothing_is_null() -> None:
    value = json_format.value(report(finding(interval=(-math.inf, 5.0)), finding(interval=EMPTY)))
    assert value["findings"][0]["interval"] == ["-inf", 5.0]
    assert value["findings"][1]["interval"] is None


def test_every_field_of_a_finding_is_there() -> None:
    (value,) = json_format.value(report(FINDING))["findings"]
    assert set(value) == {field.name for field in fields(Finding)} | {"seen"}
    assert value["location"] == {"file": "model.py", "line": 43}
    assert value["verdict"] == "possible"
    assert set(value) == set(VALIDATOR.schema["$defs"]["finding"]["properties"])


def test_the_top_level() -> None:
    value = json_format.value(rich_report())
    assert value["schema"] == 1
    assert value["sites"] == {"total": 12, "safe": 10, "possible": 2, "inevitable": 0, "confirmed": 0, "reproduced": 0}
    assert value["unknown_ops"] == {"DeformConv": 1}
    assert set(value) == set(VALIDATOR.schema["properties"])
