from __future__ import annotations

import pytest

from nanproof.findings import Rule
from nanproof.findings.rules import RULES
from nanproof.report import rule_page


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_a_page_has_all_of_a_rule(rule: Rule) -> None:
    page = rule_page.markdown(rule)
    assert page.startswith(f"# {rule.code}: {rule.title}\n")
    for part in (rule.summary, rule.why, rule.advice, rule.bad.model.strip(), rule.good.model.strip()):
        assert part in page
    for name in rule.bad.ranges:
        assert f"{name} in [" in page


def test_the_index_links_every_page() -> None:
    index = rule_page.index(RULES)
    assert all(f"[{rule.code}]({rule.code}.md)" in index for rule in RULES)
