"""Write model.onnx: a two-class logistic regression with the cross-entropy written out by hand.

The program is the one of Figure 2 of the RANUM paper, built here from its description: a linear layer, a softmax, and
the loss -(y*log(p) + (1 - y)*log(1 - p)), averaged. In exact arithmetic p lies strictly between 0 and 1. In float32 the
softmax reaches both ends as soon as the two scores are far enough apart, and then one of the logarithms is -Inf.

    python make_model.py
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

FEATURES, CLASSES = 2, 2


def logistic_regression() -> onnx.ModelProto:
    """The graph from features and labels to the loss."""
    node = helper.make_node
    nodes = [
        node("MatMul", ["x", "W"], ["xW"], "linear/MatMul"),
        node("Add", ["xW", "b"], ["scores"], "linear/Add"),
        node("Softmax", ["scores"], ["p"], "Softmax", axis=-1),
        node("Log", ["p"], ["log_p"], "loss/Log"),
        node("Mul", ["y", "log_p"], ["hit"], "loss/Mul"),
        node("Sub", ["one", "y"], ["not_y"], "loss/Sub"),
        node("Sub", ["one", "p"], ["not_p"], "loss/Sub_1"),
        node("Log", ["not_p"], ["log_not_p"], "loss/Log_1"),
        node("Mul", ["not_y", "log_not_p"], ["miss"], "loss/Mul_1"),
        node("Add", ["hit", "miss"], ["likelihood"], "loss/Add"),
        node("Neg", ["likelihood"], ["cross_entropy"], "loss/Neg"),
        node("ReduceMean", ["cross_entropy"], ["loss"], "loss/Mean", keepdims=0),
    ]
    random = np.random.default_rng(2)
    constants = {
        "W": random.normal(0.0, 0.5, (FEATURES, CLASSES)).astype(np.float32),
        "b": np.zeros(CLASSES, np.float32),
        "one": np.float32(1.0),
    }
    graph = helper.make_graph(
        nodes,
        "logistic_regression",
        [
            helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", FEATURES]),
            helper.make_tensor_value_info("y", TensorProto.FLOAT, ["batch", CLASSES]),
        ],
        [helper.make_tensor_value_info("loss", TensorProto.FLOAT, [])],
        [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    model.producer_name = "nanproof examples"
    onnx.checker.check_model(model, full_check=True)
    return model


if __name__ == "__main__":
    onnx.save(logistic_regression(), Path(__file__).with_name("model.onnx"))
