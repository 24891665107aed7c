"""A target that was opened: its Model, and the ONNX model that it was read from."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nanproof.model.graph import Model

if TYPE_CHECKING:
    from onnx import ModelProto

    from nanproof.frontends.live import Live
    from nanproof.frontends.request import Request

DEFAULT_RUNTIME = "onnxruntime"


@dataclass(eq=False)
class Opened:
    """What every command on a model starts from.

    model    what is analysed
    source   what it was read from: the path of an ONNX file, its bytes, or a message; None for a Model that came as one
    runtime  whose arithmetic the target is for, if the user doesn't say
    module   the live object of the caller; None for files and programs
    target   the text that named it, as in "file.py:name", for tests that load it again; empty for live objects
    request  how a program was opened: its phase, loss and mode
    live     the program in its own framework, to replay in; made when it is first asked for, None for files
    """

    model: Model
    source: Path | bytes | ModelProto | None = None
    runtime: str = DEFAULT_RUNTIME
    module: Any = None
    target: str = ""
    live: Callable[[], Live] | None = None
    request: Request | None = None

    def proto(self) -> ModelProto | None:
        """The ONNX model with all of its data in memory, to replay or to patch."""
        import onnx

        if isinstance(self.source, bytes):
            return onnx.load_model_from_string(self.source)
        if isinstance(self.source, Path):
            return onnx.load(self.source)
        return self.source


@contextmanager
def own_folder() -> Iterator[tuple[Path, Callable[[object], None]]]:
    """A new temporary folder, and a function that says which object reads files in it: it is deleted with that object."""
    folder = Path(tempfile.mkdtemp(prefix="nanproof-"))
    owners: list[object] = []
    try:
        yield folder, owners.append
    finally:
        if owners:
            weakref.finalize(owners[0], shutil.rmtree, folder, ignore_errors=True)
        else:
            shutil.rmtree(folder, ignore_errors=True)
