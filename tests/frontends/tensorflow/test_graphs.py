"""TensorFlow 1 graphs: variables, branches, loops, gradients and the step of an optimiser."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
import pytest

from nanproof.frontends.opening import open_target
from nanproof.frontends.tensorflow.writing import PHASE_KEY
from nanproof.testing.front_ends import assert_conforms

RNG = np.random.default_rng(5)
ROWS = [RNG.normal(size=(3, 4)).astype(np.float32) + shift for shift in (-1.5, 1.5)]


def conforms(tf: Any, build: Callable[[Any, Any], Any], *, old_flow: bool = False) -> Any:
    """What is read of a graph equals what a session computes; ``build`` is called with TensorFlow 1 and a placeholder x."""
    v1 = tf.compat.v1
    if old_flow:
        v1.disable_control_flow_v2()
    try:
        with tf.Graph().as_default():
            v1.set_random_seed(3)
            wanted = build(v1, v1.placeholder(tf.float32, [None, 4], "x"))
    finally:
        if old_flow:
            v1.enable_control_flow_v2()
    wanted = list(wanted) if isinstance(wanted, (list, tuple)) else [wanted]
    with v1.Session(graph=wanted[0].graph) as session:
        graph = wanted[0].graph
        session.run([op for op in graph.get_operations() if op.name == "init"])

        def reference(fed: Any) -> list[Any]:
            return session.run(wanted, {"x:0": fed["x"]})  # type: ignore[no-any-return]

        target = tuple(wanted) if len(wanted) > 1 else wanted[0]
        return assert_conforms(target, reference, [{"x": rows} for rows in ROWS])


def nested_conditions(v1: Any, x: Any) -> Any:
    def inner() -> Any:
        return v1.cond(v1.reduce_max(x) > 2.5, lambda: x * 3, lambda: x + 1)

    a, b = v1.cond(v1.reduce_sum(x) > 0, lambda: (inner(), x), lambda: (-x, x * 2))
    return a + 1, v1.cond(v1.reduce_sum(b) > 1, lambda: b + a, lambda: b)


def nested_loops(v1: Any, x: Any) -> Any:
    def body(i: Any, y: Any) -> Any:
        def step(j: Any, z: Any) -> Any:
            return j + 1, v1.cond(v1.reduce_sum(z) > 0, lambda: z * 0.5, lambda: z + x)

        return i + 1, v1.while_loop(lambda j, z: j < i, step, [v1.constant(0), y])[1]

    return v1.while_loop(lambda i, y: i < 4, body, [v1.constant(0), x])[1]


def recurrent(v1: Any, x: Any) -> Any:
    w = v1.get_variable("w", [1, 3])
    u = v1.get_variable("u", [3, 3])
    steps = v1.expand_dims(v1.transpose(x), -1)
    source = v1.TensorArray(v1.float32, 4).unstack(steps)

    def step(t: Any, h: Any, written: Any) -> Any:
        return t + 1, v1.tanh(v1.matmul(source.read(t), w) + v1.matmul(h, u)), written.write(t, h)

    start = v1.zeros([v1.shape(x)[0], 3])
    _, last, written = v1.while_loop(
        lambda t, h, a: t < 4, step, [v1.constant(0), start, v1.TensorArray(v1.float32, 4)]
    )
    v1.global_variables_initializer()
    return written.stack(), last


@pytest.mark.parametrize("build", [nested_conditions, nested_loops, recurrent])
@pytest.mark.parametrize("old_flow", [True, False])
def test_branches_and_loops(tf: Any, build: Callable[[Any, Any], Any], old_flow: bool) -> None:
    opened = conforms(tf, build, old_flow=old_flow)
    assert not [node for node in opened.proto().graph.node if node.domain]


def classifier(v1: Any, x: Any, *, use_resource: bool) -> tuple[Any, list[Any]]:
    with v1.variable_scope("model", use_resource=use_resource):
        w = v1.get_variable("w", [4, 3], initializer=v1.truncated_normal_initializer(stddev=0.5))
        b = v1.get_variable("b", [3], initializer=v1.zeros_initializer())
    p = v1.nn.softmax(v1.matmul(x, w) + b)
    return v1.reduce_mean(-v1.reduce_sum(p * v1.log(p), 1)), [w, b]


OPTIMISERS: dict[str, Callable[[Any], Any]] = {
    "descent": lambda v1: v1.train.GradientDescentOptimizer(0.1),
    "momentum": lambda v1: v1.train.MomentumOptimizer(0.1, 0.9),
    "nesterov": lambda v1: v1.train.MomentumOptimizer(0.1, 0.9, use_nesterov=True),
    "adam": lambda v1: v1.train.AdamOptimizer(0.01),
    "adagrad": lambda v1: v1.train.AdagradOptimizer(0.1),
    "adadelta": lambda v1: v1.train.AdadeltaOptimizer(0.1),
    "rmsprop": lambda v1: v1.train.RMSPropOptimizer(0.01, momentum=0.5),
}


@pytest.mark.parametrize("use_resource", [True, False])
@pytest.mark.parametrize("name", OPTIMISERS)
def test_a_step_of_training(tf: Any, name: str, use_resource: bool) -> None:
    v1 = tf.compat.v1
    with tf.Graph().as_default() as graph:
        v1.set_random_seed(3)
        x = v1.placeholder(tf.float32, [None, 4], "x")
        loss, weights = classifier(v1, x, use_resource=use_resource)
        train = OPTIMISERS[name](v1).minimize(loss)
        init = v1.global_variables_initializer()
        opened = open_target((loss, train))
        proto = opened.proto()
        assert proto is not None
        assert not [node.op_type for node in proto.graph.node if node.domain]
        with v1.Session(graph=graph) as session:
            session.run(init)
            before = session.run(loss, {x: ROWS[0]})
            session.run(train, {x: ROWS[0]})
            after = dict(zip([weight.op.name for weight in weights], session.run(weights), strict=True))
    found = _outputs(proto, ROWS[0])
    np.testing.assert_allclose(found[loss.op.name], before, rtol=1e-5)
    for weight, value in after.items():
        np.testing.assert_allclose(found[f"{weight} after"], value, rtol=1e-4, atol=1e-6)
    phases = {entry.value for node in proto.graph.node for entry in node.metadata_props if entry.key == PHASE_KEY}
    assert phases == {"gradient", "step"}


def _outputs(proto: onnx.ModelProto, rows: Any) -> dict[str, Any]:
    from nanproof.execution import onnx_runtime

    names = [output.name for output in proto.graph.output]
    return dict(zip(names, onnx_runtime.run(proto.SerializeToString(), {"x": rows}), strict=True))


def test_weights_are_weights_and_what_an_optimiser_remembers_is_constant(tf: Any) -> None:
    v1 = tf.compat.v1
    with tf.Graph().as_default():
        loss, _ = classifier(v1, v1.placeholder(tf.float32, [None, 4], "x"), use_resource=True)
        train = v1.train.AdamOptimizer(0.01).minimize(loss)
        model = open_target((loss, train)).model
    roles = {name: role.value for name, role in model.roles.items()}
    assert roles["model/w"] == roles["model/b"] == "weight"
    assert roles["model/w/Adam_1"] == "constant"
    assert roles["beta1_power"] == "constant"
    assert roles["x"] == "input"


def test_a_graph_without_wishes_is_read_whole(tf: Any) -> None:
    v1 = tf.compat.v1
    with tf.Graph().as_default() as graph:
        loss, _ = classifier(v1, v1.placeholder(tf.float32, [None, 4], "x"), use_resource=False)
        v1.train.GradientDescentOptimizer(0.1).minimize(loss)
        v1.global_variables_initializer()
        v1.train.Saver()
        proto = open_target(graph).proto()
    assert proto is not None
    names = {output.name for output in proto.graph.output}
    assert {"model/w after", "model/b after"} <= names


@pytest.mark.parametrize("call", ["uniform", "normal", "truncated", "integers", "stateless", "categorical"])
def test_random_numbers_keep_their_shape_and_range(tf: Any, call: str) -> None:
    draws: dict[str, Callable[[], Any]] = {
        "uniform": lambda: tf.random.uniform([3, 4]),
        "normal": lambda: tf.random.normal([3, 4]),
        "truncated": lambda: tf.random.truncated_normal([3, 4]),
        "integers": lambda: tf.random.uniform([3, 4], -3, 5, tf.int32),
        "stateless": lambda: (
            tf.random.stateless_uniform([3, 4], [1, 2])
            + tf.random.stateless_normal([3, 4], [1, 2])
            + tf.random.stateless_truncated_normal([3, 4], [1, 2])
            + tf.cast(tf.random.stateless_uniform([3, 4], [1, 2], 0, 5, tf.int32), tf.float32)
        ),
        "categorical": lambda: tf.random.categorical(tf.zeros([3, 5]), 4),
    }
    function = tf.function(draws[call]).get_concrete_function()
    proto = open_target(function).proto()
    assert proto is not None
    assert not [node.op_type for node in proto.graph.node if node.domain]
    expected = function()
    found = _values(proto)
    assert found.shape == expected.shape
    assert found.dtype == expected.dtype.as_numpy_dtype
    if call == "integers":
        assert found.min() >= -3
        assert found.max() <= 4


def _values(proto: onnx.ModelProto) -> Any:
    from nanproof.execution import onnx_runtime

    return onnx_runtime.run(proto.SerializeToString(), {})[0]


def test_an_unknown_operator_is_said_and_not_skipped(tf: Any) -> None:
    function = tf.function(lambda x: tf.math.digamma(x) + 1.0).get_concrete_function(
        tf.TensorSpec([None, 3], tf.float32, "x")
    )
    opened = open_target(function)
    proto = opened.proto()
    assert proto is not None
    assert [node.op_type for node in proto.graph.node if node.domain] == ["Digamma"]
    onnx.checker.check_model(proto, full_check=True)
