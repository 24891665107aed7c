"""Writing the patched model: checked first, never over another file unless told so, its data files beside it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from nanproof.findings import InputError

if TYPE_CHECKING:
    from onnx import GraphProto, ModelProto, TensorProto

EXTERNAL = 1


def save(model: ModelProto, path: Path, folder: Path | None, *, force: bool = False) -> None:
    """Write a model whose external data lie in ``folder``."""
    import onnx

    writable(path, force=force)
    files = sorted(set(_data_files(model.graph)))
    copies = [] if folder is None or folder.resolve() == path.parent.resolve() else files
    for name in copies:
        if (path.parent / name).exists() and not force:
            raise InputError(
                f"{path.parent / name} exists: the data of the model go there; use another folder, or --force"
            )
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        for name in copies:
            assert folder is not None
            (path.parent / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(folder / name, path.parent / name)
        temporary.write_bytes(model.SerializeToString())
        onnx.checker.check_model(str(temporary))
        temporary.replace(path)
    except onnx.checker.ValidationError as error:
        raise InputError(f"the patched model isn't valid ONNX: {str(error).splitlines()[0]}") from None
    except OSError as error:
        raise InputError(f"{path} can't be written: {(error.strerror or str(error)).lower()}") from None
    finally:
        temporary.unlink(missing_ok=True)


def writable(path: Path, *, force: bool) -> None:
    """Refuse a place where nothing can or may be written."""
    if not path.parent.is_dir():
        raise InputError(f"{path} can't be written: there is no folder {path.parent}")
    if path.is_dir():
        raise InputError(f"{path} can't be written: it is a folder; name a file in it")
    if path.exists() and not force:
        raise InputError(f"{path} exists: name another file, or replace it with --force")


def _data_files(graph: GraphProto) -> Iterator[str]:
    for tensor in _tensors(graph):
        if tensor.data_location == EXTERNAL:
            yield from (entry.value for entry in tensor.external_data if entry.key == "location")


def _tensors(graph: GraphProto) -> Iterator[TensorProto]:
    yield from graph.initializer
    for node in graph.node:
        for item in node.attribute:
            if item.HasField("t"):
                yield item.t
            if item.HasField("g"):
                yield from _tensors(item.g)
