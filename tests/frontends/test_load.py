from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from tests.frontends.models import external, model, relu
from tests.frontends.to_onnx import to_onnx

from nanproof.findings.location import Location
from nanproof.frontends.onnx import load, load_text
from nanproof.frontends.onnx.location import parse
from nanproof.model.lower import lower
from nanproof.numerics.dtypes import FLOAT32

DATA = Path(onnx.__file__).parent / "backend" / "test" / "data"
SHIPPED = sorted(path.relative_to(DATA).as_posix() for path in DATA.rglob("*.onnx"))


def test_the_shipped_models_are_found() -> None:
    assert len(SHIPPED) >= 149


@pytest.mark.parametrize("path", SHIPPED)
def test_every_shipped_model_loads(path: str) -> None:
    loaded = load(DATA / path)
    assert loaded.opset >= 26
    assert lower(loaded, lambda domain, op: None).steps


@pytest.mark.parametrize(
    "path", [path for path in SHIPPED if path.startswith(("pytorch-operator/", "pytorch-converted/", "simple/"))]
)
def test_a_loaded_model_still_computes_its_outputs(path: str) -> None:
    import onnxruntime

    folder = (DATA / path).parent / "test_data_set_0"
    loaded = load(DATA / path)
    if any(node.domain or node.op == "StringNormalizer" for node in loaded.graph.nodes):
        pytest.skip("ONNX Runtime can't run it everywhere")
    feeds = {}
    for index, declared in enumerate(item for item in loaded.graph.inputs if item.name not in loaded.graph.constants):
        if declared.dtype is None or not (folder / f"input_{index}.pb").exists():
            pytest.skip("no tensors")
        feeds[declared.name] = numpy_helper.to_array(
            onnx.TensorProto.FromString((folder / f"input_{index}.pb").read_bytes())
        )
    expected = [
        numpy_helper.to_array(onnx.TensorProto.FromString(file.read_bytes()))
        for file in sorted(folder.glob("output_*.pb"))
    ]
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(to_onnx(loaded).SerializeToString(), options)
    for got, wanted in zip(session.run(None, feeds), expected, strict=True):
        if wanted.dtype.kind in "fiub":
            np.testing.assert_allclose(got, wanted, rtol=1e-3, atol=1e-4)


def test_path_bytes_and_object_are_the_same(tmp_path: Path) -> None:
    proto = model([relu(name="r")])
    path = tmp_path / "m.onnx"
    path.write_bytes(proto.SerializeToString())
    for target in (path, str(path), proto.SerializeToString(), proto):
        loaded = load(target)
        assert [(node.op, node.inputs, node.outputs, node.name) for node in loaded.graph.nodes] == [
            ("Relu", ("x",), ("y",), "r")
        ]
        assert loaded.graph.inputs[0].dtype is FLOAT32
        assert loaded.graph.inputs[0].shape == (2,)
    assert load(path).path == str(path)


def test_constants_are_folded_and_lists_are_tuples() -> None:
    loaded = load_text("""<ir_version: 10, opset_import: ["" : 26]> g (float[1, 1, 4, 4] x) => (float[1, 1, 4, 4] y) {
        k = Constant<value = float[1, 1, 3, 3] {1,2,3,4,5,6,7,8,9}>()
        y = Conv<pads = [1, 1, 1, 1], auto_pad = "NOTSET">(x, k) }""")
    (node,) = loaded.graph.nodes
    assert node.attrs == {"pads": (1, 1, 1, 1), "auto_pad": "NOTSET"}
    assert loaded.graph.constants["k"].array().reshape(-1).tolist() == [*range(1, 10)]


def test_newer_opsets_are_read_as_they_are() -> None:
    assert load(model([relu()], opset=28)).opset == 28
    assert load(model([relu()], opset=13)).opset == 26


def test_foreign_operators_pass(tmp_path: Path) -> None:
    proto = model(
        [helper.make_node("Own", ["x"], ["a"], "o", domain="com.own", k=3), helper.make_node("Softmax", ["a"], ["y"])],
        opset=11,
    )
    proto.opset_import.add(domain="com.own", version=1)
    loaded = load(proto)
    assert (loaded.graph.nodes[0].domain, loaded.graph.nodes[0].attrs) == ("com.own", {"k": 3})


FUNCTIONS = """<ir_version: 10, opset_import: ["" : 26, "f" : 1]> g (float[2] x, bool c) => (float[2] y) {
    a = f.Twice<k = 3.0>(x)
    y = If(c) <then_branch = t () => (float[2] r) { r = f.Twice(a) }, else_branch = e () => (float[2] r) { r = Identity(x) }>
}
<domain: "f", opset_import: ["" : 26, "f" : 1]>
Twice <k: float = 5.0> (v) => (w) { s = f.Scale<by: float = @k>(v) w = f.Scale<by: float = @k>(s) }
<domain: "f", opset_import: ["" : 26]>
Scale <by> (v) => (w) { factor = Constant<value_float: float = @by>() w = Mul(v, factor) }"""


def test_nested_functions_are_inlined_with_their_attributes() -> None:
    import onnxruntime

    proto = onnx.parser.parse_model(FUNCTIONS)
    loaded = load(proto)
    assert [node.op for node in loaded.graph.nodes] == ["Mul", "Mul", "If"]
    assert sorted(float(source.array()) for source in loaded.graph.constants.values()) == [3, 3]
    session = onnxruntime.InferenceSession(to_onnx(loaded).SerializeToString())
    x = np.array([1, 2], np.float32)
    assert session.run(None, {"x": x, "c": np.array(True)})[0].tolist() == [225, 450]
    assert session.run(None, {"x": x, "c": np.array(False)})[0].tolist() == [1, 2]


def test_operators_without_a_record_become_their_function_body() -> None:
    text = '<ir_version: 10, opset_import: ["" : 26]> g (float[2] x) => (float[2] y) { y = Mish(x) }'
    known = load_text(text, known=lambda domain, op: op == "Mish")
    assert [node.op for node in known.graph.nodes] == ["Mish"]
    expanded = load_text(text, known=lambda domain, op: op != "Mish")
    assert [node.op for node in expanded.graph.nodes] == ["Softplus", "Tanh", "Mul"]
    typed = load_text(text.replace("Mish(x)", 'Gelu<approximate = "tanh">(x)'), known=lambda domain, op: op != "Gelu")
    assert "Tanh" in [node.op for node in typed.graph.nodes]


def test_source_lines_are_kept_even_through_adapters() -> None:
    node = helper.make_node("Softmax", ["x"], ["y"])
    node.metadata_props.add(key="pkg.torch.onnx.stack_trace", value=TRACE)
    assert {item.location for item in load(model([node], opset=9, inputs={"x": [2, 3, 4]})).graph.nodes} == {
        Location("/srv/project/net.py", 43)
    }


TRACE = """  File "/srv/project/train.py", line 9, in <module>
    net(x)
  File "/srv/project/net.py", line 43, in forward
    return F.softmax(x)
  File "/opt/venv/lib/python3.11/site-packages/torch/nn/functional.py", line 100, in softmax
    ret = input.softmax(dim)"""


def test_the_innermost_line_of_the_user() -> None:
    assert parse(TRACE) == Location("/srv/project/net.py", 43)
    assert parse(
        "/srv/project/net.py(12): forward\n/opt/torch/nn/modules/module.py(1102): _call\n/srv/project/train.py(3): <module>"
    ) == Location("/srv/project/net.py", 12)
    assert parse("an ordinary doc string") is None
    assert parse('File "x.py", line 0') is None


def test_sizes_that_are_open_get_names() -> None:
    proto = model([relu()], inputs={"x": ["batch", None, 3]})
    proto.graph.input[0].type.tensor_type.shape.dim[2].dim_value = -1
    shape = load(proto).graph.inputs[0].shape
    assert [str(size) for size in shape or ()] == ["batch", "x.1", "x.2"]


def test_sequences_are_declared_without_a_dtype() -> None:
    loaded = load(DATA / "simple" / "test_sequence_model1" / "model.onnx")
    assert any(item.dtype is None for item in loaded.graph.declared.values()) or loaded.graph.declared


def test_sparse_initialisers_are_spread_out() -> None:
    values = helper.make_tensor("w", TensorProto.FLOAT, [2], [5.0, 7.0])
    sparse = helper.make_sparse_tensor(values, helper.make_tensor("", TensorProto.INT64, [2, 2], [0, 1, 1, 0]), [2, 2])
    proto = model([helper.make_node("Add", ["x", "w"], ["y"])], inputs={"x": [2, 2]})
    proto.graph.sparse_initializer.append(sparse)
    assert load(proto).graph.constants["w"].array().tolist() == [[0, 5], [7, 0]]


def test_external_data_is_mapped(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "w.bin").write_bytes(b"junk" + np.arange(6, dtype=np.float32).tobytes())
    proto = model(
        [helper.make_node("Add", ["x", "w"], ["y"])],
        inputs={"x": [2, 3]},
        constants=[external("w", [2, 3], location="sub/w.bin", offset=4, length=24)],
    )
    (tmp_path / "m.onnx").write_bytes(proto.SerializeToString())
    source = load(tmp_path / "m.onnx").graph.constants["w"]
    assert source.array().tolist() == [[0, 1, 2], [3, 4, 5]]
    assert not source.array().flags.owndata


def test_loading_imports_no_framework() -> None:
    code = (
        "import sys; from nanproof.frontends.onnx import load; from nanproof.model import lower, ranges;"
        "heavy = {'torch', 'onnxruntime', 'array_api_compat', 'sympy', 'onnx.version_converter', 'scipy', 'typer', 'rich'} & set(sys.modules); assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
