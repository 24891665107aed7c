"""The cases in TensorFlow are what the cases are: their inputs, weights and sites are there, and they are answered right."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pytest
from bench.grist import RANGE_SETS, cases
from bench.grist.examples import example
from bench.grist.export import nodes_of
from bench.grist.measure import training_read, twin_answer
from bench.grist.twins import FORMS, Form, ids, twin

from nanproof.execution import onnx_runtime

SMALL: tuple[tuple[Form, str], ...] = (("tf1", "2a"), ("tf1", "11a"), ("tf1", "26"), ("tf1", "35b"), ("keras", "9a"))
"""A few that take a moment only; the bench runs all of them."""


@pytest.fixture(autouse=True)
def quiet() -> None:
    warnings.filterwarnings("ignore", module="keras|tensorflow")


def test_enough_programs_are_there() -> None:
    numbers = {form: {int(re.sub(r"\D", "", name)) for name in ids(form)} for form in FORMS}
    assert len(numbers["tf1"]) >= 15
    assert len(numbers["keras"]) >= 6


@pytest.mark.parametrize(("form", "name"), SMALL)
def test_a_twin_is_answered_right(form: Form, name: str) -> None:
    (case,) = cases([name])
    read = twin(case, form)
    proto = read.opened.proto()
    assert proto is not None
    assert [node.name for node in proto.graph.input] == [item.name for item in case.inputs]
    stored = {tensor.name for tensor in proto.graph.initializer}
    assert stored >= {read.weights.get(weight, weight) for weight in case.weights}
    for site in case.sites:
        assert nodes_of(site, proto), site
    for kind in RANGE_SETS:
        told = twin_answer(case, form, kind)
        assert told.right, told


@pytest.mark.parametrize(("form", "name"), SMALL)
def test_a_twin_computes_what_the_module_computes(form: Form, name: str) -> None:
    """With the module's weights, and where no random number is drawn."""
    import torch

    (case,) = cases([name])
    read = twin(case, form)
    proto = read.opened.proto()
    assert proto is not None
    module, batch = case.make(), example(case)
    for parameter, weight in module.named_parameters():
        values = weight.detach().numpy()
        for tensor in proto.graph.initializer:
            if tensor.name == read.weights.get(parameter, parameter):
                tensor.raw_data = np.ascontiguousarray(values, np.float32).tobytes()
    with torch.no_grad():
        expected = module(*batch.values())
    names = [value.name for value in proto.graph.input]
    fed = {key: value.numpy() for key, value in batch.items()}
    found = onnx_runtime.run(proto.SerializeToString(), {key: fed[key] for key in names})[0]
    np.testing.assert_allclose(found, expected.numpy(), rtol=1e-4)


@pytest.mark.parametrize("name", ["2a", "11a", "26", "35b", "61"])
def test_training_graphs_are_read_whole(name: str) -> None:
    read = training_read(cases([name])[0])
    assert read["training_nodes"] > 40
    assert not read["training_unknown"]
