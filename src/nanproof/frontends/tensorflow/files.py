"""Graphs in files: GraphDef as .pb and .pbtxt, and SavedModel folders. Nothing of them is run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from nanproof.findings.errors import InputError
from nanproof.frontends.tensorflow.bundle import Bundle
from nanproof.frontends.tensorflow.converting import Converted, Question, convert
from nanproof.frontends.tensorflow.debug_info import places_in
from nanproof.frontends.tensorflow.graph import Ref, flat_ref, read
from nanproof.frontends.tensorflow.initial import NOTE, drawn
from nanproof.frontends.tensorflow.messages import message

SAVED = ("saved_model.pb", "saved_model.pbtxt")
"""Names of the file that makes a folder a SavedModel."""
MAX_BYTES = (1 << 31) - 1
VARIABLES = Path("variables") / "variables"
DEBUG = Path("debug") / "saved_model_debug_info.pb"


def is_saved_model(path: Path) -> bool:
    """Whether a folder is a SavedModel."""
    return path.is_dir() and any((path / name).is_file() for name in SAVED)


def is_graph(path: Path) -> bool:
    """Whether a .pb file is TensorFlow's: ONNX models come under that suffix too."""
    data = _bytes(path)
    return _parsed("SavedModel", data) is not None or _parsed("GraphDef", data) is not None


def opened(path: Path) -> Converted:
    """The model in a file or folder. Raises InputError with one clear sentence."""
    try:
        if path.is_dir():
            return _saved(path, _saved_message(path))
        return _graph_file(path)
    except InputError as error:
        text = str(error)
        raise InputError(text if text.startswith(str(path)) else f"{path}: {text}") from None


def _graph_file(path: Path) -> Converted:
    text = path.suffix.lower() == ".pbtxt"
    for kind in ("SavedModel", "GraphDef", "MetaGraphDef"):
        found = _from_text(kind, path) if text else _parsed(kind, _bytes(path))
        if found is None:
            continue
        if kind == "SavedModel":
            return _saved(path.parent, found)
        graph = found if kind == "GraphDef" else found.graph_def
        program = read(graph, places_in(graph.debug_info))
        stored = drawn(program)
        converted = convert(program, Question(stored=stored))
        return replace(converted, notes=(*converted.notes, NOTE)) if stored else converted
    what = "text" if text else "bytes"
    raise InputError(f"is no TensorFlow graph: its {what} are neither a GraphDef nor a SavedModel")


# ----------------------------------------------------------------------------------------------------------- SavedModel


def _saved_message(folder: Path) -> Any:
    for name in SAVED:
        path = folder / name
        if path.is_file():
            found = _from_text("SavedModel", path) if name.endswith("txt") else _parsed("SavedModel", _bytes(path))
            if found is None:
                raise InputError(f"{path} is no SavedModel, or it is damaged")
            return found
    raise InputError(f"is no SavedModel: there is no {SAVED[0]} in it")


def _saved(folder: Path, saved: Any) -> Converted:
    meta = _served(saved)
    signature = _signature(meta)
    graph = read(meta.graph_def, places_in(_debug_info(folder, meta)))
    inputs = {flat_ref(info.name)[0]: key for key, info in sorted(signature.inputs.items()) if info.name}
    outputs: dict[str, Ref] = {key: flat_ref(info.name) for key, info in sorted(signature.outputs.items()) if info.name}
    missing = [name for name, _ in outputs.values() if name not in graph.main.calls]
    if missing:
        raise InputError(f"is not whole: its signature names {missing[0]}, which is not in the graph")
    bundle = Bundle.at(folder / VARIABLES)
    restore = meta.saver_def.restore_op_name.split(":")[0] if bundle is not None else ""
    return convert(graph, Question(inputs, outputs, restore=restore, bundle=bundle))


def _served(saved: Any) -> Any:
    """The graph that is for use, of several."""
    if not saved.meta_graphs:
        raise InputError("is a SavedModel without a graph")
    for meta in saved.meta_graphs:
        if "serve" in meta.meta_info_def.tags:
            return meta
    return saved.meta_graphs[0]


def _signature(meta: Any) -> Any:
    """What the model is called with by default."""
    known = {
        key: one for key, one in meta.signature_def.items() if one.outputs and not key.startswith("__saved_model_")
    }
    for key in ("serving_default", "serve", *sorted(known)):
        if key in known:
            return known[key]
    raise InputError(
        "is a SavedModel without a signature: save it with signatures=model.call.get_concrete_function(...)"
    )


def _debug_info(folder: Path, meta: Any) -> Any:
    path = folder / DEBUG
    if path.is_file():
        found = message("GraphDebugInfo")
        try:
            found.ParseFromString(_bytes(path))
        except Exception:  # noqa: BLE001 - protobuf's own error; the lines are an extra
            return meta.graph_def.debug_info
        return found
    return meta.graph_def.debug_info


# ---------------------------------------------------------------------------------------------------------------- reading


def _bytes(path: Path) -> bytes:
    try:
        if path.stat().st_size > MAX_BYTES:
            raise InputError(f"{path} has more than the 2 GiB that a protobuf file can have")
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"{path} can't be read: {(error.strerror or str(error)).lower()}") from None


def _parsed(kind: str, data: bytes) -> Any:
    """The message, if the bytes are one of this kind that says something."""
    from google.protobuf.message import DecodeError  # type: ignore[import-untyped]

    found = message(kind)
    try:
        found.ParseFromString(data)
    except DecodeError:
        return None
    return found if _sensible(kind, found) else None


def _from_text(kind: str, path: Path) -> Any:
    from google.protobuf import text_format  # type: ignore[import-untyped]

    try:
        text = _bytes(path).decode("utf-8")
    except UnicodeDecodeError:
        raise InputError(f"{path} is no text: a binary graph has the suffix .pb") from None
    found = message(kind)
    try:
        text_format.Parse(text, found, allow_unknown_field=True)
    except (text_format.ParseError, RecursionError):
        return None
    return found if _sensible(kind, found) else None


def _sensible(kind: str, found: Any) -> bool:
    """Bytes of another kind of message may parse too, but make no sense."""
    if kind == "SavedModel":
        return bool(found.meta_graphs) and any(meta.graph_def.node for meta in found.meta_graphs)
    graph = found if kind == "GraphDef" else found.graph_def
    return bool(graph.node) and all(node.name and node.op for node in graph.node)
