"""The joint graph of a loss and its gradients, as an exported program whose outputs are the loss, the outputs and the gradients.

torch has no public way to get at it: this is the one file that uses its private parts for this, which is why the version
of torch is pinned. A test says which version they were read in, and compares gradients with eager ones by name.
"""

from __future__ import annotations

import contextlib
import copy
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

VERSION = "2.13.0"
"""The torch whose private parts this file knows."""
LOSS = "loss"
FOREIGN = "torch.aten"
"""The domain of operators that stand for torch's own."""
PART = "<{phase} of {op} {number}>"
"""The innermost frame of nodes that derivatives are about: the operator, and a number that it shares with its derivative; of
nodes of an optimiser's step: the optimiser, and the parameter. It travels in stack traces, which torch keeps."""

_PART = re.compile(r"\n  File \"<(forward|gradient|step) of (\w+) ([^>\n]+)>\"")
_ACCUMULATES = "accumulation"
Extend = Callable[[Any, list[Any], list[Any], list[str]], object]


def joint(
    traced: Any, prefix: str, own: Mapping[Any, Callable[..., Any]], extend: Extend = lambda *_: None
) -> tuple[Any, list[str]]:
    """The program of a loss (its first output, one number) with the gradients of what requires any; and its outputs' names.

    ``prefix`` is taken off the names of parameters and buffers; ``own`` are decompositions beside torch's. ``extend`` may append
    to the graph, to the specifications of its inputs, and to its outputs and their names.
    """
    graph = _traced_back(traced, own)
    nodes = list(graph.graph.nodes)
    _tag(nodes)
    placeholders = [node for node in nodes if node.op == "placeholder"]
    known = len(traced.graph_signature.input_specs)
    _start_from_one(graph, placeholders[known:])
    specs = [_without(prefix, spec) for spec in traced.graph_signature.input_specs]
    for node, spec in zip(placeholders, specs, strict=False):
        node.name = node.target = spec.arg.name
    outputs, names = _outputs(graph, specs)
    extend(graph, specs, outputs, names)
    _replace_output(graph, outputs)
    stand_ins(graph)
    return _program(traced, (graph, specs, outputs, names), prefix), names


def part_of(stack: str) -> tuple[str, tuple[str, str, str] | None]:
    """The user's stack of a node, and its phase, the operator that it computes or derives, and the number that both share."""
    found = _PART.search(stack)
    return (stack[: found.start()], (found[1], found[2], found[3])) if found else (stack, None)


def stand_ins(graph: Any) -> None:
    """Put an operator of a foreign domain in the place of each that torch's exporter has no translation for.

    It keeps name, operands, types and sizes: the analysis then takes its results for any values, and says so.
    """
    import torch
    from torch.onnx._internal.exporter import _registration

    registry = _registration.ONNXRegistry.from_torchlib()
    for node in graph.graph.nodes:
        operator = node.target
        is_known = not isinstance(operator, torch._ops.OpOverload) or registry.is_registered(operator)  # noqa: SLF001
        if is_known or "val" not in node.meta:
            continue
        several = isinstance(node.meta["val"], (list, tuple))
        values = list(node.meta["val"]) if several else [node.meta["val"]]
        if all(isinstance(value, torch.Tensor) and not value.is_complex() for value in values):
            _stand_in(node, operator, values, several=several)


def _stand_in(node: Any, operator: Any, values: list[Any], *, several: bool) -> None:
    import torch
    from torch.onnx.ops import _TORCH_DTYPE_TO_ONNX_DTYPE

    operators = torch.ops.onnx_symbolic
    operator_of = getattr(operators, "_symbolic_multi_out" if several else "_symbolic").default
    operands = [a for a in node.all_input_nodes if isinstance(a.meta.get("val"), torch.Tensor)]
    types = [_TORCH_DTYPE_TO_ONNX_DTYPE[value.dtype] for value in values]
    shapes = [list(value.shape) for value in values]
    nothing = ("attr_keys", "attr_types", "attr_pos", "attr_ints", "attr_floats", "attr_strs", "metadata_props_keys",
               "metadata_props_values")  # fmt: skip
    node.target = operator_of
    node.args = (operands, _named(operator), types if several else types[0])
    node.kwargs = {
        "shapes" if several else "shape": shapes if several else shapes[0],
        "domain": FOREIGN,
        "version": 1,
        **{name: [] for name in nothing},
    }


def table(own: Mapping[Any, Callable[..., Any]]) -> dict[Any, Callable[..., Any]]:
    """How operators are taken apart: as torch's ONNX exporter does, except where ``own`` says otherwise."""
    from torch.onnx._internal.exporter import _decomp, _registration

    registry = _registration.ONNXRegistry.from_torchlib()
    found = _decomp.create_onnx_friendly_decomposition_table(set(_decomp.get_onnx_implemented_overloads(registry)))
    return {**found, **own}


def stock(operators: Iterable[Any]) -> dict[Any, Callable[..., Any]]:
    """How torch takes these operators apart."""
    from torch._decomp import decomposition_table

    return {operator: decomposition_table[operator] for operator in operators}


def _traced_back(traced: Any, own: Mapping[Any, Callable[..., Any]]) -> Any:
    import torch
    from torch._functorch.aot_autograd import aot_export_joint_with_descriptors

    _made_simple(traced.graph_module)
    arguments = tuple(node.meta["val"] for node in traced.graph.nodes if node.op == "placeholder")
    with contextlib.ExitStack() as stack:
        stack.enter_context(torch.enable_grad())
        stack.enter_context(math_attention())
        stack.enter_context(torch.backends.mkldnn.flags(enabled=False))  # its recurrent layers are one opaque operator
        found = aot_export_joint_with_descriptors(stack, traced.graph_module, arguments, decompositions=table(own))
        return found.graph_module


def _made_simple(graph: Any) -> None:
    """Put in simple operators where torch's own derivative is one that nobody takes apart; autograd then sees these."""
    import torch

    aten = torch.ops.aten
    simple = {aten.grid_sampler.default: stock([aten.grid_sampler_2d.default])[aten.grid_sampler_2d.default]}
    for module in graph.modules():
        for node in module.graph.nodes if isinstance(module, torch.fx.GraphModule) else ():
            if node.op == "call_function" and node.target in simple:
                node.target = simple[node.target]


def math_attention() -> contextlib.AbstractContextManager[None]:
    """Attention by its formula: the fused kernels have derivatives that no other runtime knows."""
    from torch.nn.attention import SDPBackend, sdpa_kernel

    return sdpa_kernel([SDPBackend.MATH])  # type: ignore[no-any-return]


def _tag(nodes: list[Any]) -> None:
    """Say of every node on the way back what it is the derivative of, and of those which derivatives are taken of."""
    forward: dict[int, Any] = {}
    for node in nodes:
        number = node.meta.get("seq_nr")
        if node.op != "call_function" or number is None:
            continue
        if node.meta.get("partitioner_tag") != "is_backward":
            source = forward.setdefault(number, node)
            if _origin(source) == _origin(node):
                _mark(node, "forward", _named(_origin(source)), number)
        elif node.meta.get("is_gradient_acc") or number not in forward:
            _mark(node, "gradient", _ACCUMULATES, 0)
        else:
            _mark(node, "gradient", _named(_origin(forward[number])), number)


def _origin(node: Any) -> Any:
    """What a node was before it was taken apart."""
    return node.meta.get("original_aten") or node.target


def _mark(node: Any, phase: str, op: str, number: int) -> None:
    trace = (node.meta.get("stack_trace") or "").split("Gradient addition node")[0].rstrip()
    node.meta["stack_trace"] = f'{trace}\n  File "{PART.format(phase=phase, op=op, number=number)}", line 1, in {phase}'


def _named(target: Any) -> str:
    """The name of an operator without its namespace and overload: 'sqrt'."""
    parts = str(target).split(".")
    return (parts[1] if len(parts) > 1 else parts[0]).strip("_<> ").replace(" ", "_") or "operator"


def _start_from_one(graph: Any, tangents: list[Any]) -> None:
    """Put 1, the derivative of the loss by itself, in the place of the tangents that the joint graph takes."""
    import torch

    for node in tangents:
        value = node.meta["val"]
        with graph.graph.inserting_after(_last_placeholder(graph)):
            one = graph.graph.call_function(
                torch.ops.aten.full.default, (list(value.shape), 1.0), {"dtype": value.dtype, "pin_memory": False}
            )
        one.meta.update(node.meta)
        one.meta.pop("desc", None)
        node.replace_all_uses_with(one)
        graph.graph.erase_node(node)


def _last_placeholder(graph: Any) -> Any:
    return [node for node in graph.graph.nodes if node.op == "placeholder"][-1]


def _without(prefix: str, spec: Any) -> Any:
    """An input's specification with the prefix off its names."""
    spec = copy.copy(spec)
    if spec.target is not None and spec.target.startswith(prefix):
        spec.target = spec.target[len(prefix) :]
    return spec


def _outputs(graph: Any, specs: list[Any]) -> tuple[list[Any], list[str]]:
    """What the program gives: the loss, the model's outputs, the gradients; with their names."""
    import torch
    from torch._functorch._aot_autograd.descriptors import GradAOTOutput, PlainAOTOutput

    output = graph.graph.output_node()
    outputs, names = [], []
    kinds = torch.export.graph_signature.InputKind
    for node, what in zip(output.args[0], output.meta["desc"], strict=True):
        if node is None or not isinstance(node, torch.fx.Node):
            continue
        if isinstance(what, PlainAOTOutput):
            outputs.append(node)
            names.append(LOSS if what.idx == 0 else f"output_{what.idx}" if what.idx > 1 else "output")
        elif isinstance(what, GradAOTOutput):
            spec = specs[what.grad_of.idx]
            outputs.append(node)
            names.append(f"{spec.arg.name if spec.kind is kinds.USER_INPUT else spec.target}.grad")
    return outputs, names


def _replace_output(graph: Any, outputs: list[Any]) -> None:
    """Let the graph give these; each through a node of its own, since one value may be given twice."""
    import torch

    given: set[Any] = set()
    old = graph.graph.output_node()
    for index, node in enumerate(outputs):
        if node in given or node.op == "placeholder":
            with graph.graph.inserting_before(old):
                twin = graph.graph.call_function(torch.ops.aten.clone.default, (node,))
            twin.meta.update(node.meta)
            outputs[index] = twin
        given.add(outputs[index])
    old.args = (tuple(outputs),)
    graph.graph.eliminate_dead_code()
    graph.recompile()


def _program(traced: Any, parts: tuple[Any, list[Any], list[Any], list[str]], prefix: str) -> Any:
    import torch
    from torch.export.graph_signature import ExportGraphSignature, OutputKind, OutputSpec, TensorArgument
    from torch.utils import _pytree as pytree

    graph, inputs, outputs, _ = parts
    given = [OutputSpec(OutputKind.USER_OUTPUT, TensorArgument(name=node.name), None) for node in outputs]
    calls = copy.deepcopy(traced.module_call_graph)[:1]
    calls[0].signature.out_spec = pytree.tree_structure(tuple(range(len(outputs))))
    calls[0].signature.outputs = []

    def renamed(values: Mapping[str, Any]) -> dict[str, Any]:
        return {name.removeprefix(prefix): value for name, value in values.items()}

    made = torch.export.ExportedProgram(
        root=graph,
        graph=graph.graph,
        graph_signature=ExportGraphSignature(inputs, given),
        state_dict=renamed(traced.state_dict),
        range_constraints=copy.deepcopy(traced.range_constraints),
        module_call_graph=calls,
        example_inputs=traced.example_inputs,
        constants=renamed(traced.constants),
        verifiers=traced.verifiers,
    )
    # the exporter would trace it once more, which what torch's own tables leave in it doesn't allow
    made.run_decompositions = lambda _table=None: made
    return made
