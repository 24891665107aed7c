"""What PyTorch's exporter writes for a function, as the text form that the families of this suite are kept in.

    from spelling import spelled
    print(spelled(lambda x: torch.log_softmax(x, -1), {"x": torch.zeros(2, 8)}, opset=18))

Nothing is optimised or folded: the file that a user exports is what is to be judged. Only names are made short.
"""

from __future__ import annotations

import io
import logging
import re
import warnings
from collections.abc import Callable, Mapping
from contextlib import redirect_stdout
from typing import Any

import onnx
import onnx.inliner
import onnx.printer
from onnx import ModelProto


def spelled(function: Callable[..., Any], examples: Mapping[str, Any], *, opset: int, dynamic: Any = None) -> str:
    """The text of the exported graph of a function of tensors. ``dynamic`` as ``torch.onnx.export`` takes it."""
    import torch

    class Module(torch.nn.Module):  # type: ignore[misc] # lint doesn't install PyTorch
        def forward(self, *tensors: Any) -> Any:
            return function(*tensors)

    logging.getLogger("torch.onnx").setLevel(logging.ERROR)
    with warnings.catch_warnings(), redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        program = torch.onnx.export(
            Module(),
            tuple(examples.values()),
            dynamo=True,
            optimize=False,
            opset_version=opset,
            input_names=list(examples),
            dynamic_shapes=None if dynamic is None else (tuple(dynamic),),
            verbose=False,
        )
    return text(program.model_proto)


def text(model: ModelProto) -> str:
    """A model's graph in text: functions inlined, metadata dropped, attributes without what the parser can tell."""
    shown = ModelProto()
    shown.CopyFrom(onnx.inliner.inline_local_functions(model))
    _strip(shown.graph)
    printed = onnx.printer.to_text(shown.graph)
    for pattern, short in (
        (r"\[\"\"\] ", ""),
        (r": (?:int|ints|tensor|graph) = (?!\[\])", " = "),
        (r"(\w) (?=[(<])", r"\1"),
        (r"\n *\n", "\n"),
    ):
        printed = re.sub(pattern, short, printed)
    return printed.strip()


def _strip(graph: onnx.GraphProto) -> None:
    del graph.value_info[:], graph.metadata_props[:]
    graph.doc_string = ""
    for value in (*graph.input, *graph.output, *graph.initializer):
        del value.metadata_props[:]
    for node in graph.node:
        node.name = node.doc_string = ""
        del node.metadata_props[:]
        for attribute in node.attribute:
            if attribute.HasField("g"):
                _strip(attribute.g)
