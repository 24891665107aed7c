"""Open any target: the path of a model, an object of a program, or a live object. The one way in for all commands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nanproof.findings.errors import InputError
from nanproof.findings.names import hint
from nanproof.frontends.opened import Opened, own_folder
from nanproof.frontends.programs import target as targets
from nanproof.frontends.request import Request
from nanproof.model.graph import Model
from nanproof.model.roles import Role

if TYPE_CHECKING:
    from onnx import ModelProto

    from nanproof.frontends.live import Live

TEXTS = (".onnxtxt", ".onnxtext")
"""Suffixes of ONNX's text form."""
EXPORTED = (".pt2", ".keras", ".h5", ".hdf5")
"""Suffixes of files that a framework opens: in a child."""
GRAPHS = (".pb", ".pbtxt")
"""Suffixes of TensorFlow's graphs, which are read here without it."""
PICKLES = (".pt", ".pth", ".bin", ".ckpt", ".pkl")
"""Suffixes of files that may run code when they are loaded."""
OTHERS = (".safetensors", ".tflite", ".gguf", ".npz")
"""Suffixes of models that no front end reads yet."""


def readable(target: str, *, trust: bool = False) -> None:
    """Refuse what can't be a target that we open, before anything is imported for it."""
    program = targets.parse(target)
    if program is not None:
        targets.checked(program)
        return
    path = Path(target)
    if not path.exists():
        raise InputError(f"{target} does not exist{_nearby(path)}")
    suffix = path.suffix.lower()
    if suffix == ".py":
        raise targets.without_name(path)
    if suffix in PICKLES and not trust:
        raise InputError(
            f"{target}: a {suffix} file is a pickle, which can run any code when it is loaded: "
            "say --trust if you trust where it comes from, or name the program that makes the model, file.py:NAME"
        )
    if suffix in OTHERS:
        raise InputError(f"{target}: {suffix} files can't be checked yet; export the model to ONNX and check that file")


def file_of(target: str) -> Path:
    """The file that a target is in, so that nothing is written over it."""
    program = targets.parse(target)
    return Path(target) if program is None or program.file is None else program.file


def open_target(target: str | Path | bytes | ModelProto | Model | Any, request: Request | None = None) -> Opened:
    """Open a target as a Model, with the ONNX model that it was read from.

    Text or a path is a file, ``file.py:name`` or ``package.module:name``; the latter two run the user's code, in a child
    process. Bytes and messages are ONNX. Anything else is a live object of a framework, exported in this process.
    Raises InputError with one clear sentence.
    """
    asked = request or Request()
    if isinstance(target, Model):
        return Opened(target)
    if isinstance(target, (str, Path)):
        return _open_text(str(target), asked)
    if isinstance(target, bytes) or _is_proto(target):
        _forward_only(asked, "the model")
        return Opened(_load(target), target)
    return _open_live(target, asked)


def _open_text(target: str, request: Request) -> Opened:
    readable(target, trust=request.trust)
    suffix = Path(target).suffix.lower()
    if targets.parse(target) is not None or suffix in (*EXPORTED, *PICKLES):
        return _open_program(target, request)
    _forward_only(request, target)
    if suffix in TEXTS:
        return _open_onnx_text(Path(target))
    if suffix in GRAPHS or Path(target).is_dir():
        found = _open_graph(Path(target))
        if found is not None:
            return found
    return Opened(_load(target), Path(target))


def _open_onnx_text(path: Path) -> Opened:
    import onnx.parser

    from nanproof.frontends.onnx import load_text

    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = (error.strerror or str(error)).lower() if isinstance(error, OSError) else "it is not text"
        raise InputError(f"the model {path} can't be read: {reason}") from None
    model = load_text(text)
    model.path = str(path)
    return Opened(model, onnx.parser.parse_model(text))


def _open_graph(path: Path) -> Opened | None:
    """A graph of TensorFlow's; None for an ONNX file under its suffix."""
    from nanproof.frontends.tensorflow import files

    if path.is_dir() and not files.is_saved_model(path):
        raise InputError(f"{path} is a folder, and no SavedModel: there is no saved_model.pb in it")
    if path.suffix.lower() == ".pb" and path.is_file() and not files.is_graph(path):
        return None
    from nanproof.frontends.tensorflow.live import handed

    exported = handed(files.opened(path))
    with own_folder() as (folder, kept_by):
        exported.save(folder / "model.onnx")
        opened = _opened(str(path), folder / "model.onnx", (exported.runtime, tuple(exported.notes), exported.roles))
        kept_by(opened)
    return opened


def _open_program(target: str, request: Request) -> Opened:
    from nanproof.frontends.programs.process import run

    if request.loss is not None and not isinstance(request.loss, str):
        raise InputError(
            f"{target} is opened in a process of its own: give the name of the loss, not the function itself"
        )
    if request.optimizer is not None and not isinstance(request.optimizer, str):
        raise InputError(
            f"{target} is opened in a process of its own: give the name of the optimiser, not the object itself"
        )
    if request.inputs is not None:
        raise InputError(
            f"{target} is opened in a process of its own: say example inputs in it, or their types and sizes as text"
        )
    with own_folder() as (folder, kept_by):
        answer = run(target, request, folder)
        opened = _opened(target, answer.path, (answer.runtime, answer.notes, answer.roles))
        kept_by(opened)
    opened.target, opened.request = target, request
    opened.live = cache(partial(_remote, target, request, opened.model))
    return opened


def _remote(target: str, request: Request, model: Model) -> Live:
    """The program in a child of its own, with the weights that were exported: an initialiser need not give them twice."""
    from nanproof.frontends.programs.remote import RemoteLive

    live = RemoteLive(target, request, _inputs(model))
    live.hold({n: source.array() for n, source in model.graph.constants.items() if model.roles.get(n) is Role.WEIGHT})
    return live


def _open_live(model: Any, request: Request) -> Opened:
    from nanproof.frontends.leaves import leaf_of, live_of
    from nanproof.frontends.programs.objects import as_tuple, program_of
    from nanproof.frontends.programs.overlay import running_as

    label = f"the {type(model).__name__}"
    program = program_of(model, label, described=request.inputs is not None or bool(request.specs))
    if request.inputs is not None:
        named = isinstance(request.inputs, Mapping)
        program = replace(
            program, inputs=() if named else as_tuple(request.inputs), kwargs=request.inputs if named else {}
        )
    if request.optimizer is not None:
        program = replace(program, optimizer=request.optimizer)
    with running_as(request.overlay):
        exported = leaf_of(program, label).export(program, request, label)
    with own_folder() as (folder, kept_by):
        exported.save(folder / "model.onnx")
        name = type(program.model).__name__
        opened = _opened(name, folder / "model.onnx", (exported.runtime, tuple(exported.notes), exported.roles))
        opened.module = program.model
        kept_by(opened)
    opened.live = cache(partial(live_of, program, request, _inputs(opened.model), label))
    return opened


def _inputs(model: Model) -> list[str]:
    """The names of what the model takes, without stored tensors."""
    return [item.name for item in model.graph.inputs if item.name not in model.graph.constants]


def _opened(label: str, path: Path, about: tuple[str, tuple[str, ...], dict[str, str]]) -> Opened:
    runtime, notes, roles = about
    try:
        model = _load(path)
    except InputError as error:
        raise InputError(f"{label}: what it was exported to is no valid ONNX model: {error}") from error
    model.path = label
    model.notes = (*notes, *model.notes)
    model.roles.update({name: Role(role) for name, role in roles.items() if name in model.roles})
    return Opened(model, path, runtime)


def _load(source: str | Path | bytes | ModelProto) -> Model:
    from nanproof.frontends.onnx import load

    return load(source)


def _forward_only(request: Request, target: str) -> None:
    if request.phase != "forward":
        raise InputError(
            f"{target}: --phase {request.phase} needs the program that makes the model, file.py:NAME; of a file only what is in "
            "its graph can be checked"
        )


def _is_proto(target: object) -> bool:
    return type(target).__name__ == "ModelProto"


def _nearby(path: Path) -> str:
    """A guess at the file that was meant: one like it in the same folder."""
    try:
        names = [item.name for item in path.parent.iterdir() if item.suffix in {".onnx", *TEXTS, *EXPORTED, *GRAPHS}]
    except OSError:
        return ""
    guess = hint(path.name, names)
    return f": {guess}" if guess.startswith("did") else ""
