"""Numbers in an exported program, as torch's ONNX exporter can read them."""

from __future__ import annotations

from typing import Any


def made_alike(graph: Any) -> None:
    """Let the two limits of a clamp be of one kind: the exporter fails where one is 1e-6 and the other 50."""
    import torch

    clamp = torch.ops.aten.clamp.default
    for module in graph.modules():
        for node in module.graph.nodes if isinstance(module, torch.fx.GraphModule) else ():
            if node.op == "call_function" and node.target is clamp:
                limits = [*node.args[1:], *node.kwargs.values()]
                if any(isinstance(limit, float) for limit in limits):
                    node.args = tuple(map(_float, node.args))
                    node.kwargs = {name: _float(limit) for name, limit in node.kwargs.items()}


def _float(value: Any) -> Any:
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value
