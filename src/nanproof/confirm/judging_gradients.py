"""What confirms a finding about a gradient or a step: in the user's own framework all before it is finite, and it isn't."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanproof.confirm.looking import Hit

if TYPE_CHECKING:
    from nanproof.findings.finding import Finding
    from nanproof.frontends.live import Ran


def seen(ran: Ran, hit: Hit, finding: Finding, runtime: str) -> Hit | None:
    """The failure as eager autograd shows it: in a gradient that the finding says it reaches; in what a step has changed."""
    reached = tuple(name for name in ran.spoilt if not finding.reaches or name in finding.reaches)
    too_early = finding.phase == "step" and any(name.endswith(".grad") for name in ran.spoilt)
    return None if ran.bad or not reached or too_early else Hit(hit.target, hit.gives, reached, runtime)
