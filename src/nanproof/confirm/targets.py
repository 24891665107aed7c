"""What a search is after: the step and the requirement behind a finding."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nanproof.model.lower import Program, Step
from nanproof.ops.conditions import Compare, Requirement

if TYPE_CHECKING:
    from nanproof.findings.finding import Finding


@dataclass(frozen=True, slots=True)
class Target:
    """One place where one finding can be seen to fail.

    ``number`` counts the findings of the search: several targets may serve one.
    ``requirements`` are those that a violation breaks; none means that the
    result overflows.
    """

    number: int
    step: Step
    requirements: tuple[Requirement, ...]

    @property
    def overflows(self) -> bool:
        """Whether the failure is a result past the limits of its dtype."""
        return not self.requirements

    @property
    def meets(self) -> Compare | None:
        """The condition where failing means to meet one number exactly, as a divisor of 0; else None."""
        for requirement in self.requirements:
            condition = requirement.condition
            if isinstance(condition, Compare) and condition.relation == "!=":
                return condition
        return None


def targets_of(program: Program, findings: list[Finding]) -> list[Target]:
    """The targets of all findings, in running order for each."""
    steps = list(_all_steps(program))
    found = []
    for number, finding in enumerate(findings):
        nodes = {finding.node, *finding.also}
        fitting = [s for s in steps if s.op is not None and label(s) in nodes and _concerns(s, finding, program)]
        found += [Target(number, step, _requirements(step, finding)) for step in fitting]
    return found


def label(step: Step) -> str:
    """The name that findings give a step."""
    return step.node.name or (step.node.outputs[0] if step.node.outputs else step.node.op)


def _all_steps(program: Program) -> Iterator[Step]:
    for step in program.steps:
        yield step
        for body in step.branches:
            yield from _all_steps(body)


def _concerns(step: Step, finding: Finding, program: Program) -> bool:
    if label(step) != finding.node:
        return True
    if step.node.op != finding.op:
        return False
    slots = step.outputs[:1] if finding.operand < 0 else step.inputs[finding.operand : finding.operand + 1]
    return not finding.operand_name or any(s >= 0 and program.names[s] == finding.operand_name for s in slots)


def _requirements(step: Step, finding: Finding) -> tuple[Requirement, ...]:
    assert step.op is not None
    return tuple(r for r in step.op.requires if r.code == finding.breaks)
