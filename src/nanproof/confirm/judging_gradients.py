"""What confirms a finding about a gradient: in the user's own framework the forward pass is finite, and a gradient isn't."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanproof.confirm.looking import Hit

if TYPE_CHECKING:
    from nanproof.findings.finding import Finding
    from nanproof.frontends.live import Ran


def seen(ran: Ran, hit: Hit, finding: Finding, runtime: str) -> Hit | None:
    """The failure as eager autograd shows it: in a gradient that the finding says it reaches."""
    reached = tuple(name for name in ran.spoilt if not finding.reaches or name in finding.reaches)
    return None if ran.bad or not reached else Hit(hit.target, hit.gives, reached, runtime)
