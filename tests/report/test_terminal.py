"""What a person reads, word for word."""

from __future__ import annotations

import re

from tests.report.samples import FINDING, finding, note, report, rich_report

from nanproof.findings import AssumedRange
from nanproof.report import terminal
from nanproof.report.layout import QUIET, VERBOSE

NORMAL_TEXT = """\
NP101 log of a value that can be 0 or negative
  model.py:43   loss = -(y * torch.log(p)).sum()   node /loss/Log
  p is in [0, 1]; Log needs more than 0
  because softmax(x) reaches 0 in float32 once its inputs differ by more than 103.97
  could not rule out -Inf
  reaches loss
  advice: Use the operator that never leaves the log domain: LogSoftmax instead of Log of Softmax, -Softplus(-x) instead of \
Log of Sigmoid, the loss on logits instead of on probabilities

NP201~ exp that can overflow
  node /act/Exp
  the result of Exp is in [1, inf]; needed: at most 3.4e38
  will give +Inf for every input in range
  the same cause at /act_1/Exp, /act_2/Exp
  fix: F.softplus(x)   proved for |x| <= 3.4e38

note: NP103 at node /n/Div: std is in [0, 1]; Div needs anything but 0 (follows only from an assumed range)
note: DeformConv has no bound yet; its output is taken as any value of the dtype. It is itself unchecked and may give NaN or Inf; 1 verdict is weaker (marked ~)
note: x (input) is taken to lie in [-3.403e38, 3.403e38]: no range was given
note: /loop/Loop was bounded by widening

model.onnx: 2 findings; 12 sites (10 safe, 2 possible) in 25 nodes, 1 of them unchecked, 0.12 s, for runtime onnxruntime
why, with examples: nanproof rule NP101
"""

QUIET_TEXT = """\
NP101 model.py:43: p is in [0, 1]; Log needs more than 0
NP201~ node /act/Exp: the result of Exp is in [1, inf]; needed: at most 3.4e38
model.onnx: 2 findings; 12 sites (10 safe, 2 possible) in 25 nodes, 1 of them unchecked, 0.12 s, for runtime onnxruntime
"""


def test_normal() -> None:
    assert terminal.text(rich_report()) == NORMAL_TEXT


def test_quiet() -> None:
    assert terminal.text(rich_report(), QUIET) == QUIET_TEXT


def test_verbose_shows_all_reasons_and_advice_and_the_id() -> None:
    reasons = tuple(f"reason {i}" for i in range(5))
    text = terminal.text(report(finding(because=reasons)), VERBOSE)
    assert all(f"  because {reason}\n" in text for reason in reasons)
    assert f"  {FINDING.id}\n" in text
    assert "or clip from below." in text


def test_normal_cuts_long_explanations() -> None:
    text = terminal.text(report(finding(because=tuple("abcde"))))
    assert "  because c\n  because ... 2 earlier reasons, shown with -v\n" in text


def test_advice_is_given_once_a_rule() -> None:
    text = terminal.text(report(FINDING, finding(id="other")))
    assert text.count("advice:") == 1


def test_nothing_found() -> None:
    end = "10 sites (10 safe) in 25 nodes, 0.12 s, for runtime onnxruntime\n"
    assert terminal.text(report()) == f"model.onnx: no findings; {end}"


def test_many_notes_are_counted() -> None:
    assumed = tuple(AssumedRange(f"w{i}", 0, 1, "weight", "stored") for i in range(20))
    text = terminal.text(report(assumed_ranges=assumed))
    assert text.count("is taken to lie") == 5
    assert "note: 15 more ranges were assumed, shown with -v\n" in text
    assert terminal.text(report(assumed_ranges=assumed), VERBOSE).count("is taken to lie") == 20
    assert "note: 4 more of these, shown with -v\n" in terminal.text(report(*[note()] * 9))


def test_paint_has_the_same_text_in_colours() -> None:
    painted = terminal.paint(rich_report())
    assert "\x1b[" in painted
    assert re.sub(r"\x1b\[[0-9;]*m", "", painted) == NORMAL_TEXT


def test_names_are_never_taken_for_markup() -> None:
    odd = finding(node="[red]x[/red]", location=None)
    assert "[red]x[/red]" in re.sub(r"\x1b\[[0-9;]*m", "", terminal.paint(report(odd)))


def test_control_characters_of_a_model_stay_out_of_the_terminal() -> None:
    odd = finding(node="a\x1b[2J\nb", location=None)
    text = terminal.text(report(odd))
    assert "\x1b" not in text
    assert "node a?[2J?b\n" in text
