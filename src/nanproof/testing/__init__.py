"""The public kit for people who add operators: draw inputs, ask independent runtimes, hold the laws.

A record is tested by one call::

    from nanproof.testing import assert_sound

    assert_sound(MY_OP)

which draws Boxes and tensors around the record's interesting points for every way of calling it
(``samples.cases``) and every dtype, runs them in ONNX Runtime, the ONNX reference evaluator or PyTorch, and
raises ``LawError`` with the operator, the case, the dtype and the operands of the first thing that doesn't fit.
"""

from __future__ import annotations

from nanproof.testing.kit import assert_sound, check
from nanproof.testing.laws import LAWS
from nanproof.testing.laws.breach import Breach, LawError

__all__ = ["LAWS", "Breach", "LawError", "assert_sound", "check"]
