"""Files: SavedModel folders, graphs as .pb and .pbtxt, Keras archives. All but the last are read without TensorFlow."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nanproof
from nanproof.findings.errors import InputError
from nanproof.frontends.opening import open_target
from nanproof.testing.front_ends import assert_conforms

ROWS = np.random.default_rng(2).normal(size=(3, 4)).astype(np.float32)


@pytest.fixture(scope="module")
def folder(tf: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A module saved with and without the lines of its program, a graph with variables, and the same graph frozen."""
    place = tmp_path_factory.mktemp("files")

    class Classifier(tf.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.w = tf.Variable(np.random.default_rng(1).normal(size=(4, 3)).astype(np.float32) * 40, name="w")

        @tf.function(input_signature=[tf.TensorSpec([None, 4], name="x")])
        def __call__(self, x: Any) -> Any:
            return {"logs": tf.math.log(tf.nn.softmax(x @ self.w))}

    tf.saved_model.save(Classifier(), str(place / "saved"))
    options = tf.saved_model.SaveOptions(save_debug_info=True)
    tf.saved_model.save(Classifier(), str(place / "with_lines"), options=options)
    v1 = tf.compat.v1
    with tf.Graph().as_default() as graph:
        x = v1.placeholder(tf.float32, [None, 4], "x")
        w = v1.get_variable("w", [4, 3], initializer=v1.random_normal_initializer(stddev=30.0, seed=1))
        logs = tf.math.log(tf.nn.softmax(x @ w), name="logs")
        loss = -tf.reduce_mean(logs, name="loss")
        v1.train.GradientDescentOptimizer(0.1).minimize(loss)
        init = v1.global_variables_initializer()
        (place / "training.pb").write_bytes(graph.as_graph_def().SerializeToString())
        (place / "training.pbtxt").write_text(str(graph.as_graph_def()))
        with v1.Session() as session:
            session.run(init)
            frozen = v1.graph_util.convert_variables_to_constants(session, graph.as_graph_def(), ["logs"])
            v1.saved_model.simple_save(session, str(place / "saved_of_old"), {"x": x}, {"logs": logs})
            expected = session.run(logs, {x: ROWS * 0.1})
    (place / "frozen.pb").write_bytes(frozen.SerializeToString())
    np.save(place / "expected.npy", expected)
    return place


def test_a_saved_model_computes_what_tensorflow_computes(tf: Any, folder: Path) -> None:
    served = tf.saved_model.load(str(folder / "saved")).signatures["serving_default"]

    def reference(fed: Any) -> list[Any]:
        return [served(x=tf.constant(fed["x"]))["logs"].numpy()]

    opened = assert_conforms(folder / "saved", reference, [{"x": ROWS * 0.1}])
    assert [value.name for value in opened.proto().graph.output] == ["logs"]  # type: ignore[union-attr]
    assert opened.model.roles["w"].value == "weight"
    assert_conforms(folder / "saved" / "saved_model.pb", reference, [{"x": ROWS * 0.1}])


@pytest.mark.parametrize("name", ["frozen.pb", "saved_of_old"])
def test_a_graph_computes_what_its_session_computed(folder: Path, name: str) -> None:
    assert_conforms(folder / name, lambda fed: [np.load(folder / "expected.npy")], [{"x": ROWS * 0.1}])


@pytest.mark.parametrize("name", ["saved", "with_lines", "frozen.pb", "saved_of_old", "training.pb", "training.pbtxt"])
def test_the_logarithm_is_found(folder: Path, name: str) -> None:
    report = nanproof.check(folder / name)
    assert "NP101" in {finding.code for finding in report.findings}
    assert not report.unknown_ops


def test_lines_are_kept_where_they_were_saved(folder: Path) -> None:
    finding = next(one for one in nanproof.check(folder / "with_lines").findings if one.code == "NP101")
    assert finding.location is not None
    assert finding.location.file.endswith("test_files.py")
    assert "tf.math.log" in Path(__file__).read_text("utf-8").splitlines()[finding.location.line - 1]


def test_gradients_of_a_training_graph_are_checked(folder: Path) -> None:
    model = open_target(folder / "training.pb").model
    ops = {node.op for node in model.graph.nodes if "gradients/" in node.name}
    assert {"Reciprocal", "MatMul"} <= ops
    assert any("initialisers make them" in note for note in model.notes)


def test_files_are_read_without_tensorflow(folder: Path) -> None:
    code = (
        "import sys, nanproof\n"
        "for target in sys.argv[1:]: nanproof.check(target)\n"
        "assert not {'tensorflow', 'keras', 'torch', 'onnxruntime'} & set(sys.modules), sorted(sys.modules)\n"
    )
    targets = [str(folder / name) for name in ("saved", "training.pb", "training.pbtxt", "frozen.pb")]
    subprocess.run([sys.executable, "-c", code, *targets], check=True, timeout=120)


# ------------------------------------------------------------------------------------------------------ damaged and hostile


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("name", ["training.pb", "frozen.pb", "training.pbtxt", "saved/saved_model.pb"])
def test_a_file_cut_short_gets_one_sentence(folder: Path, tmp_path: Path, name: str, share: float) -> None:
    data = (folder / name).read_bytes()
    path = tmp_path / Path(name).name
    path.write_bytes(data[: int(len(data) * share)])
    with pytest.raises(InputError, match=path.name):
        open_target(path)


@pytest.mark.parametrize("cut", [0, 20, -30])
def test_a_checkpoint_cut_short_gets_one_sentence(folder: Path, tmp_path: Path, cut: int) -> None:
    import shutil

    copy = tmp_path / "saved"
    shutil.copytree(folder / "saved", copy)
    index = copy / "variables" / "variables.index"
    index.write_bytes(index.read_bytes()[:cut])
    with pytest.raises(InputError, match="checkpoint"):
        open_target(copy)


def test_random_bytes_never_crash_the_reader(folder: Path, tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    data = bytearray((folder / "frozen.pb").read_bytes())
    path = tmp_path / "graph.pb"
    for _ in range(150):
        changed = bytearray(data)
        for place in rng.integers(0, len(data), 4):
            changed[place] = rng.integers(256)
        path.write_bytes(changed)
        with contextlib.suppress(InputError):
            nanproof.check(path)


def test_an_onnx_model_may_be_called_pb(tmp_path: Path) -> None:
    import onnx.parser

    text = '<ir_version: 9, opset_import: ["" : 20]> g (float[2] x) => (float[2] y) { y = Log(x) }'
    path = tmp_path / "model.pb"
    path.write_bytes(onnx.parser.parse_model(text).SerializeToString())
    assert [finding.code for finding in nanproof.check(path).findings] == ["NP101"]


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda path: path.mkdir(), "no SavedModel"),
        (lambda path: path.with_suffix(".pbtxt").write_text("hello"), "neither a GraphDef nor a SavedModel"),
        (lambda path: path.with_suffix(".pbtxt").write_text('node { name: "a" op: "Const" }'), "computes nothing"),
        (lambda path: path.with_suffix(".pbtxt").write_text('node { name: "a" op: "Log" input: "b" }'), "a reads b"),
    ],
)
def test_what_is_no_model_is_said(tmp_path: Path, make: Any, words: str) -> None:
    path = tmp_path / "thing"
    make(path)
    with pytest.raises(InputError, match=words):
        open_target(path if path.exists() else path.with_suffix(".pbtxt"))


# -------------------------------------------------------------------------------------------------------------------- Keras


@pytest.fixture(scope="module")
def keras_folder(tf: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    import keras

    place = tmp_path_factory.mktemp("keras")
    layers = [keras.Input((5, 4), name="steps"), keras.layers.LSTM(3), keras.layers.Dense(2, activation="softmax")]
    model = keras.Sequential(layers)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.save(place / "model.keras")
        model.save(place / "model.h5")
        model.export(place / "exported", verbose=False)
        lambdas = keras.Sequential([keras.Input((4,)), keras.layers.Lambda(lambda x: -x)])
        lambdas.save(place / "lambda.keras")
    np.save(place / "x.npy", np.random.default_rng(0).normal(size=(3, 5, 4)).astype(np.float32))
    np.save(place / "expected.npy", model(np.load(place / "x.npy")).numpy())
    return place


@pytest.mark.parametrize("name", ["model.keras", "model.h5", "exported"])
def test_a_keras_file_computes_what_the_model_computed(keras_folder: Path, name: str) -> None:
    expected = np.load(keras_folder / "expected.npy")
    opened = assert_conforms(keras_folder / name, lambda fed: [expected], [{"steps": np.load(keras_folder / "x.npy")}])
    assert "weight" in {role.value for role in opened.model.roles.values()}


def test_code_in_a_keras_file_is_not_run_unless_trusted(keras_folder: Path) -> None:
    from nanproof.frontends.request import Request

    with pytest.raises(InputError, match="--trust"):
        open_target(keras_folder / "lambda.keras")
    assert open_target(keras_folder / "lambda.keras", Request(trust=True)).model.graph.nodes[-1].op


def test_a_damaged_keras_file_gets_one_sentence(keras_folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "half.keras"
    data = (keras_folder / "model.keras").read_bytes()
    path.write_bytes(data[: len(data) // 2])
    with pytest.raises(InputError, match=r"half\.keras can't be loaded as a Keras model"):
        open_target(path)
