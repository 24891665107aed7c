"""Whatever can go wrong in torch's exporters as one sentence: where in the user's program, what, and the way out."""

from __future__ import annotations

import re
from typing import Any

from nanproof.findings.errors import InputError
from nanproof.frontends.programs.frames import innermost, shown

LONGEST = 300
_MISSING = re.compile(
    r"No ONNX function found for <OpOverload\(op='([^']+)'(?:, overload='[^']*')?\)>|No ONNX function found for ([^\s.]+(?:\.[\w.]+)?)"
)


def while_tracing(error: Exception, label: str, owners: tuple[str, ...]) -> InputError:
    """What torch.export raised."""
    frame = innermost(error.__traceback__, owners)
    where = "" if frame is None else f"{shown(frame.filename)}:{frame.lineno}: "
    line = f" (`{frame.line.strip()}`)" if frame is not None and frame.line else ""
    if _is_data_dependent(error):
        return InputError(
            f"{where}{label} decides by the values of a tensor{line}, which no exported graph can: "
            "use torch.where, torch.cond for a branch, torch.while_loop for a loop"
        )
    return InputError(
        f"{where}{label} can't be exported with its example inputs{line}: {type(error).__name__}: {_sentence(str(error))}"
    )


def while_differentiating(error: Exception, label: str, exported: Any) -> InputError:
    """What torch raised while it traced the way back."""
    return InputError(
        f"{label}: its gradients can't be traced: {type(error).__name__}: {_sentence(str(error))}; "
        "check the forward pass alone, or the part of the model around it"
    )


def while_translating(error: Exception, label: str, exported: Any) -> InputError:
    """What torch.onnx raised on an exported program."""
    missing = None
    deepest: BaseException = error
    seen: BaseException | None = error
    while seen is not None:
        missing = missing or _MISSING.search(str(seen))
        deepest, seen = seen, seen.__cause__
    if missing is None:
        return InputError(f"{label} can't be written as ONNX: {type(deepest).__name__}: {_sentence(str(deepest))}")
    name = (missing[1] or missing[2]).replace("::", ".")
    return InputError(
        f"{_where(name, exported)}{label} uses {name}, which torch's ONNX exporter can't translate: "
        "write it with other operators, or check the part of the model around it"
    )


def _where(name: str, exported: Any) -> str:
    """The user's line of the first node of an operator."""
    for node in exported.graph.nodes if exported is not None else ():
        if node.op == "call_function" and str(node.target).startswith(name):
            frames = re.findall(r'File "([^"<\n]+)", line (\d+)', node.meta.get("stack_trace") or "")
            return f"{frames[-1][0]}:{frames[-1][1]}: " if frames else ""
    return ""


def _is_data_dependent(error: BaseException) -> bool:
    names = {base.__name__ for base in type(error).__mro__}
    text = str(error)
    return bool(names & {"GuardOnDataDependentSymNode", "DataDependentOutputException"}) or (
        "data-dependent" in text and "UserError" in names
    )


def _sentence(text: str) -> str:
    """The first paragraph on one line, without a full stop, and not too long."""
    line = " ".join(text.strip().split("\n\n")[0].split()).rstrip(".")
    return line if len(line) <= LONGEST else line[: LONGEST - 3] + "..."
