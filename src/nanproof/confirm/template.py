"""The text of an emitted test. It needs NumPy, onnx and a runtime, and nothing of nanproof."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from nanproof.findings import wording

if TYPE_CHECKING:
    from nanproof.confirm.confirming import Evidence
    from nanproof.findings.finding import Finding

MARK = "Written by nanproof"

_TEXT = '''"""{title}

{seen}.
{where}
{what}, seen in {runtime}.

{mark} {version}. It fails as long as the model computes NaN or Inf there, and passes once it is mended.
Set NANPROOF_MODEL to run it on another file.
"""

import os
from pathlib import Path

import numpy as np
import onnx{imports}

HERE = Path(__file__).parent
MODEL = Path(os.environ.get("NANPROOF_MODEL") or HERE / {model})
TENSORS = HERE / {tensors}
WATCHED = {watched}  # values inside of the model to look at, besides its outputs


def opened(path):
    """The model, with what is watched as further outputs and each stored tensor of the test as an input."""
    {load}
    graph = model.graph
    made = {{name for node in graph.node for name in node.output}}
    known = {{item.name for item in graph.output}}
    graph.output.extend(onnx.ValueInfoProto(name=name) for name in WATCHED if name in made - known)
    with np.load(TENSORS) as tensors:
        chosen = dict(tensors)
    inputs = {{item.name for item in graph.input}}
    for item in graph.initializer:
        if item.name in chosen and item.name not in inputs:
            graph.input.append(onnx.helper.make_tensor_value_info(item.name, item.data_type, item.dims))
    for node in list(graph.node):
        if node.op_type == "Constant" and node.output[0] in chosen:
            value = next(item.t for item in node.attribute if item.name == "value")
            graph.input.append(onnx.helper.make_tensor_value_info(node.output[0], value.data_type, value.dims))
            graph.node.remove(node)
    kinds = {{item.name: onnx.helper.tensor_dtype_to_np_dtype(item.type.tensor_type.elem_type) for item in graph.input}}
    feeds = {{name: value.astype(kinds[name]) for name, value in chosen.items() if name in kinds}}
    return model, feeds


def computed():
    """All outputs by name, computed {how}."""
    model, feeds = opened(MODEL)
{run}
    return dict(zip((item.name for item in model.graph.output), results))


def test_{name}():
    bad = {{}}
    for name, value in computed().items():
        value = np.asarray(value)
        if value.dtype.kind not in "iubOSU":
            value = value.astype(np.float64)
            if not np.isfinite(value).all():
                bad[name] = value[~np.isfinite(value)][:6]
    assert not bad, f"NaN or Inf in {{bad}}"
'''

_SESSION = """    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 3
    options.add_session_config_entry("session.model_external_initializers_file_folder_path", str(MODEL.parent))
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    results = session.run(None, feeds)"""

_EVALUATOR = """    with np.errstate(all="ignore"):
        results = ReferenceEvaluator(model).run(None, feeds)"""


def program(finding: Finding, evidence: Evidence, *, model: str, stem: str, version: str) -> str:
    """The test of one finding. ``model`` is the path of the file as seen from the test's folder."""
    from nanproof.findings.rules import find

    by_runtime = evidence.hit.runtime == "onnxruntime"
    text = model.endswith((".onnxtxt", ".onnxtext"))
    rule = find(finding.code)
    witness = evidence.witness
    inside = [] if evidence.hit.outputs else [evidence.result]
    where = f"At {wording.place(finding)}, node {finding.node}." if finding.location else f"Node {finding.node}."
    load = f"model = onnx.load(path{', load_external_data=False' if by_runtime else ''})"
    if text:
        load = 'model = onnx.parser.parse_model(path.read_text("utf-8"))'
    imports = "\nimport onnxruntime" if by_runtime else "\nfrom onnx.reference import ReferenceEvaluator"
    return _TEXT.format(
        title=quoted(f"{finding.code} {rule.title if rule else finding.op}"),
        seen=quoted(wording.seen(finding)),
        where=quoted(where),
        what=quoted(witness.summary),
        runtime=wording.RUNTIMES[witness.runtime],
        mark=MARK,
        version=version,
        imports=("\nimport onnx.parser" if text else "") + imports,
        model=literal(model),
        tensors=literal(f"{stem}.npz"),
        watched=f"[{', '.join(literal(name) for name in inside)}]",
        load=load,
        how="node by node in ONNX Runtime" if by_runtime else "by the ONNX reference evaluator",
        run=_SESSION if by_runtime else _EVALUATOR,
        name=re.sub(r"\W", "_", stem.removeprefix("test_")),
    )


def quoted(text: str) -> str:
    """A text that may stand in a docstring."""
    return wording.printable(text).replace("\\", "\\\\").replace('"', "'")


def literal(text: str) -> str:
    """A text as a Python string in double quotes; names come from files of strangers."""
    import json

    return json.dumps(text)
