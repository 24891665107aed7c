"""Every operator that is translated computes what TensorFlow computes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from tests.frontends.tensorflow.cases import CASES, GRADIENTS, Case

from nanproof.testing.front_ends import assert_conforms

ALL = {**CASES, **GRADIENTS}


def traced(tf: Any, case: Case) -> Any:
    """The case's function with descriptions of its inputs."""
    specs = [
        tf.TensorSpec([None, *array.shape[1:]] if case.open_batch else array.shape, array.dtype, name=f"x{number}")
        for number, array in enumerate(case.inputs)
    ]
    return tf.function(case.make(tf)).get_concrete_function(*specs)


@pytest.mark.parametrize("name", ALL)
def test_equals_tensorflow(tf: Any, name: str) -> None:
    case = ALL[name]
    function = traced(tf, case)

    def reference(fed: Mapping[str, Any]) -> list[Any]:
        found = function(*(tf.constant(array) for array in fed.values()))
        return [tensor.numpy() for tensor in tf.nest.flatten(found)]

    feeds = {f"x{number}": array for number, array in enumerate(case.inputs)}
    opened = assert_conforms(function, reference, [feeds], tolerance=case.tolerance)
    assert not opened.model.notes
    proto = opened.proto()
    assert proto is not None
    assert not [node.op_type for node in proto.graph.node if node.domain]
