"""Write evidence down: a pytest file and its tensors for each confirmed finding, which fail until the model is mended."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from nanproof import __version__
from nanproof.confirm import template, template_gradient, template_step, template_torch
from nanproof.confirm.template import MARK
from nanproof.confirm.variables import Sample
from nanproof.findings import wording
from nanproof.findings.errors import InputError
from nanproof.frontends.opening import TEXTS

if TYPE_CHECKING:
    from nanproof.confirm.confirming import Confirmed, Evidence
    from nanproof.findings.finding import Finding
    from nanproof.findings.report import Report
    from nanproof.frontends.opened import Opened

LONGEST = 60


def emitted(found: Confirmed, folder: Path, opened: Opened) -> Report:
    """Write a test for each piece of evidence, and return the report with their paths in it.

    A file that nanproof did not write is never replaced. Raises InputError where a file can't be written.
    """
    if not found.evidence:
        return found.report
    findings, notes = [], list(found.report.notes)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        taken: set[str] = set()
        for finding in found.report.findings:
            evidence = found.evidence.get(finding.id)
            test = None if evidence is None else _test(evidence, opened, folder)
            if evidence is not None and test is None:
                notes.append(wording.no_test(finding))
            findings.append(finding if test is None else _written(finding, test, folder, taken))
    except OSError as error:
        raise InputError(f"{folder} can't be written: {(error.strerror or str(error)).lower()}") from None
    return replace(found.report, findings=tuple(findings), notes=tuple(notes))


@dataclass(frozen=True, slots=True)
class _Test:
    """A test to write: its tensors, its evidence as the test will see it, and its text for a stem of file names."""

    tensors: Sample
    evidence: Evidence
    text: Callable[[Finding, str], str]


def _test(evidence: Evidence, opened: Opened, folder: Path) -> _Test | None:
    """For the program itself where the test can load it again, else for the ONNX model, where that fails, too."""
    by_program = evidence.hit.runtime == "torch"
    if by_program and opened.target and opened.live is not None and opened.live().plain:
        target = _from(folder, opened.target)
        if opened.request is not None and opened.request.phase != "forward":
            return _training_test(evidence, opened, folder, target)
        return _Test({**evidence.weights, **evidence.tensors}, evidence, lambda finding, stem: template_torch.program(
            finding, evidence, target=target, stem=stem, version=__version__))  # fmt: skip
    seen = evidence.in_onnx() if by_program else evidence
    if seen is None:
        return None
    source = _file_of(opened) or _copied(opened, folder)
    model = Path(os.path.relpath(source.resolve(), folder.resolve())).as_posix()
    return _Test(seen.tensors, seen, lambda finding, stem: template.program(
        finding, seen, model=model, stem=stem, version=__version__))  # fmt: skip


def _training_test(evidence: Evidence, opened: Opened, folder: Path, target: str) -> _Test:
    """For the program with its loss, and with its optimiser where the finding is about a step."""
    request = opened.request
    assert request is not None
    about = target, _from(folder, request.loss or ""), request.mode or "train"
    state = tuple(name for name in evidence.inputs if name in opened.model.valid)
    if evidence.finding.phase == "step":
        optimizer = request.optimizer and _from(folder, request.optimizer)
        step = template_step.making(optimizer, (opened.target, target)), request.clip_norm, state
        return _Test({**evidence.weights, **evidence.tensors}, evidence, lambda finding, stem: template_step.program(
            finding, evidence, stem=stem, version=__version__, about=about, step=step))  # fmt: skip
    return _Test({**evidence.weights, **evidence.tensors}, evidence, lambda finding, stem: template_gradient.program(
        finding, evidence, stem=stem, version=__version__, about=about, state=state))  # fmt: skip


def _from(folder: Path, target: str) -> str:
    """A target as seen from a folder."""
    where, _, name = target.rpartition(":")
    if not where.endswith(".py"):
        return target
    return f"{Path(os.path.relpath(Path(where).resolve(), folder.resolve())).as_posix()}:{name}"


def _written(finding: Finding, test: _Test, folder: Path, taken: set[str]) -> Finding:
    stem = _stem(finding, taken)
    path, tensors = folder / f"{stem}.py", folder / f"{stem}.npz"
    ours = path.is_file() and _ours(path)
    if (path.exists() and not ours) or (tensors.exists() and not ours):
        there = path if path.exists() and not ours else tensors
        raise InputError(f"{there} exists and was not written by nanproof: name another folder, or delete it")
    text = test.text(finding, stem)
    _replace(tensors, lambda path: _save(path, test.tensors))
    _replace(path, lambda path: path.write_text(text, "utf-8"))
    witness = test.evidence.witness if finding.witness is None else finding.witness
    return replace(finding, witness=replace(witness, test=path.as_posix(), tensors=tensors.as_posix()))


def _file_of(opened: Opened) -> Path | None:
    """The user's own file, None where there is none: a model in memory, or one that a program was exported to."""
    path = Path(opened.model.path)
    if path.suffix.lower() in TEXTS or (isinstance(opened.source, Path) and opened.source == path):
        return path if path.is_file() else None
    return None


def _copied(opened: Opened, folder: Path) -> Path:
    """A copy of the model beside the tests. One of the same content may be there."""
    proto = opened.proto()
    assert proto is not None
    content = proto.SerializeToString(deterministic=True)
    path = folder / f"{re.sub(r'[^A-Za-z0-9]+', '_', opened.model.path).strip('_')[-LONGEST:] or 'model'}.onnx"
    if path.exists() and path.read_bytes() != content:
        raise InputError(f"{path} exists and is another model: name another folder, or delete it")
    _replace(path, lambda there: there.write_bytes(content))
    return path


def _stem(finding: Finding, taken: set[str]) -> str:
    name = re.sub(r"[^a-z0-9]+", "_", finding.node.lower()).strip("_")[-LONGEST:].strip("_") or "node"
    stem = f"test_{finding.code.lower()}_{name}"
    if stem in taken:
        stem = f"{stem}_{finding.id.rpartition('-')[2]}"
    taken.add(stem)
    return stem


def _ours(path: Path) -> bool:
    with path.open("rb") as stream:
        return MARK in stream.read(4096).decode("utf-8", "replace")


def _save(path: Path, tensors: dict[str, Any]) -> None:
    """NumPy's format has no bfloat16 and its kind: they are kept as float32, which holds them exactly."""
    plain = {k: v if v.dtype.kind in "fiub" and v.dtype.isbuiltin else v.astype(np.float32) for k, v in tensors.items()}
    with path.open("wb") as stream:
        np.savez_compressed(stream, **plain)


def _replace(path: Path, write: Any) -> None:
    """As a whole or not at all."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        write(temporary)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
