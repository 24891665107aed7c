"""GraphProto -> Graph in one pass: decode, check against the schema, inline functions, bring old operators to today's form."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from nanproof.dims import symbol
from nanproof.findings.errors import InputError
from nanproof.frontends.onnx.adapters import ADAPTERS, TARGET
from nanproof.frontends.onnx.attributes import attributes, constant_source
from nanproof.frontends.onnx.functions import expanded_size, plain_body, schema_defaults, typed_body
from nanproof.frontends.onnx.location import locate, part
from nanproof.frontends.onnx.signatures import Signature, signature
from nanproof.frontends.onnx.tensors import data_type, read_sparse, read_tensor
from nanproof.model.graph import FORWARD, Declared, Graph, Node, Part
from nanproof.model.sources import from_array

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from onnx import FunctionProto, GraphProto, ModelProto, NodeProto, TypeProto, ValueInfoProto

    from nanproof.dims import Size
    from nanproof.findings.location import Location
    from nanproof.frontends.onnx.adapters.context import Adapter
    from nanproof.frontends.onnx.external import DataFolder
    from nanproof.model.graph import Array, Attr, Source
    from nanproof.numerics.dtypes import DType

    Known = Callable[[str, str], bool]

MAX_EXPANDED = 1_000_000
"""Nodes that inlined functions may add in all: nested functions can multiply without end."""
OWN_DOMAIN = "nanproof"
MAX_DEPTH = 48
"""Functions within functions."""


_NOTHING_LEFT: Mapping[int, tuple[int, int]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Handler:
    """What the reader does with an operator at one opset."""

    signature: Signature | None
    types: dict[str, int] | None  # None: no schema, anything goes
    fits: frozenset[int]  # numbers of inputs that need no closer look
    adapter: Adapter | None
    constant: bool
    function: FunctionProto | None  # local, or of the schema
    typed_function: bool  # the schema makes the body from the types of the operands


@dataclass(slots=True)
class Frame:
    """Where nodes are read: the outermost graph, a subgraph, or the body of a function."""

    graph: Graph
    opsets: Mapping[str, int]
    handlers: dict[tuple[str, str, str], Handler]
    rename: dict[str, str] | None = None
    bindings: Mapping[str, Attr] | None = None  # the values of attribute references, in a function
    location: Location | None = None  # of the call, in a function
    part: Part = FORWARD  # of the call, too
    calls: tuple[str, ...] = ()
    outer: Frame | None = None


@dataclass(slots=True)
class Reader:
    """Reads one model. `known` tells which operators need not be expanded from the function bodies of their schemas."""

    folder: DataFolder
    known: Known | None = None
    located: bool = True  # may nodes carry the lines of the user's program
    functions: dict[tuple[str, str, str], FunctionProto] = field(default_factory=dict)
    notes: dict[str, None] = field(default_factory=dict)
    locations: dict[str, Location | None] = field(default_factory=dict)
    handlers: dict[frozenset[tuple[str, int]], dict[tuple[str, str, str], Handler]] = field(default_factory=dict)
    types: dict[bytes, tuple[DType | None, tuple[Size, ...] | None]] = field(default_factory=dict)
    taken: set[str] | None = None
    outermost: Graph | None = None
    expanded: int = 0
    promised: int = 0
    sizes: dict[str, int] = field(default_factory=dict)
    fresh_names: int = 0

    def model(self, proto: ModelProto, opsets: dict[str, int], left: Mapping[int, tuple[int, int]]) -> Graph:
        """Read the graph of a model; `left` says where in the file the data of some initialisers was left."""
        for function in proto.functions:
            key = (_domain(function.domain), function.name, function.overload)
            if key in self.functions:
                raise InputError(
                    f'the function "{function.name}" of domain "{function.domain}" is defined twice: remove one of them'
                )
            self.functions[key] = function
        return self.graph(proto.graph, opsets, left=left)

    def graph(
        self,
        proto: GraphProto,
        opsets: Mapping[str, int],
        outer: Frame | None = None,
        left: Mapping[int, tuple[int, int]] = _NOTHING_LEFT,
    ) -> Graph:
        """Read a graph; `outer` is where the node is read that the graph is an attribute of."""
        graph = Graph(proto.name, [], (), ())
        rename = None
        if outer is None:
            self.outermost = graph
        else:
            rename = self._nested_names(proto, outer)
        frame = Frame(graph, opsets, self._handlers(opsets), rename, outer=outer)
        if outer is not None:
            frame.bindings, frame.location, frame.calls = outer.bindings, outer.location, outer.calls
            frame.part = outer.part
        named = rename or {}
        graph.inputs = tuple([self._declared(info, named.get(info.name, info.name)) for info in proto.input])
        for number, tensor in enumerate(proto.initializer):
            name = named.get(tensor.name, tensor.name)
            if not name:
                raise InputError(f'an initialiser of the graph "{proto.name}" has no name: export the model again')
            self._add_constant(graph, name, read_tensor(tensor, name, self.folder, left.get(number)))
        for sparse in proto.sparse_initializer:
            name = named.get(sparse.values.name, sparse.values.name)
            self._add_constant(graph, name, read_sparse(sparse, name, self.folder))
        for infos in (proto.value_info, proto.output):
            for info in infos:
                name = named.get(info.name, info.name)
                graph.declared[name] = self._declared(info, name)
        self._nodes(proto.node, frame)
        graph.outputs = tuple([named.get(info.name, info.name) for info in proto.output])
        if "" in graph.outputs:
            raise InputError(f'an output of the graph "{proto.name}" has no name: export the model again')
        return graph

    # ------------------------------------------------------------------------------------------------------- nodes

    def _nodes(self, protos: Iterable[NodeProto], frame: Frame) -> None:
        handlers, rename, out, located = frame.handlers, frame.rename, frame.graph.nodes, self.located
        for proto in protos:
            op, domain = proto.op_type, proto.domain
            handler = handlers.get((domain, op, ""))
            if handler is None or self.functions:
                handler = self._handler(proto, frame)
            inputs, outputs = tuple(proto.input[:]), tuple(proto.output[:])  # slices first: twice as fast
            if rename is not None:
                inputs = tuple([rename.get(name, name) for name in inputs])
                outputs = tuple([rename.get(name, name) for name in outputs])
            location, belongs = frame.location, frame.part
            if located and (proto.metadata_props or proto.doc_string):
                location = locate(proto, self.locations) or location
                if proto.metadata_props and belongs is FORWARD:
                    belongs = part(proto)
            attribute = proto.attribute
            if handler.constant:
                node = Node(op, "", inputs, outputs, {}, text(proto.name), location)
                self._constant(node, proto, frame)
                continue
            attrs = attributes(attribute, handler.types, self, frame, proto) if attribute else {}
            name = proto.name
            if type(name) is not str:
                name = text(name)
            domain = "" if domain == "ai.onnx" else domain
            node = Node(op, domain, inputs, outputs, attrs, name, location, belongs)
            if len(inputs) not in handler.fits or "" in inputs or not outputs or len(outputs) > 1:
                self._check(node, handler)
            if handler.adapter is not None:
                self._adapt(node, handler, frame)
            elif handler.function is not None or handler.typed_function:
                self._expand(node, proto, handler, frame)
            else:
                out.append(node)

    def _check(self, node: Node, handler: Handler) -> None:
        complaint = handler.signature.complaint(node) if handler.signature is not None else None
        if complaint is None and not any(node.outputs):
            complaint = "has no output"
            if node.outputs or handler.signature is None:
                return
        if complaint is not None:
            raise InputError(f"{label(node)} {complaint}: export the model again, or correct the node")

    def _constant(self, node: Node, proto: NodeProto, frame: Frame) -> None:
        if len(node.outputs) != 1 or not node.outputs[0]:
            raise InputError(f'the Constant node "{node.name}" needs one output with a name: export the model again')
        name = node.outputs[0]
        if any(name == declared.name for declared in frame.graph.inputs):
            raise InputError(f'the value "{name}" is defined twice, as an input and as a Constant: rename one of them')
        self._add_constant(frame.graph, name, constant_source(proto, name, self, frame))

    def _add_constant(self, graph: Graph, name: str, source: Source) -> None:
        if name in graph.constants:
            raise InputError(
                f'the value "{name}" is defined twice as a stored tensor: every value needs one definition, rename one of them'
            )
        graph.constants[name] = source

    def _adapt(self, node: Node, handler: Handler, frame: Frame) -> None:
        assert handler.adapter is not None
        _check_names(node)
        for made in handler.adapter(node, _Context(self, frame)):
            made.part = node.part
            inner = (
                None
                if made.op == node.op
                else self._handler_of(made.domain, made.op, "", {"": TARGET}, self._handlers({"": TARGET}))
            )
            if inner is not None and (inner.function is not None or inner.typed_function):
                self._expand(made, None, inner, frame)
            else:
                frame.graph.nodes.append(made)

    # --------------------------------------------------------------------------------------------------- functions

    def _expand(self, node: Node, proto: NodeProto | None, handler: Handler, frame: Frame) -> None:
        """Put the body of a function in the place of its call."""
        function = handler.function
        if handler.typed_function:
            function = typed_body(node, proto, frame, self.dtype_of)
        local = function is not None and self.functions.get((node.domain, node.op, function.overload)) is function
        if function is None or not (local or self.expanded + len(function.node) <= MAX_EXPANDED):
            frame.graph.nodes.append(node)  # an operator without a record
            return
        _check_names(node)
        ident = f"{node.domain}:{node.op}"
        if ident in frame.calls:
            raise InputError(
                f'the function "{node.op}" calls itself, through {" -> ".join([*frame.calls, ident][:6])}: ONNX functions can\'t be recursive'
            )
        self.expanded += len(function.node)
        if not frame.calls:
            self.promised += expanded_size(function, self.functions, self.sizes)
        if max(self.expanded, self.promised) > MAX_EXPANDED or len(frame.calls) >= MAX_DEPTH:
            raise InputError(
                f"the functions of the model expand to more than {MAX_EXPANDED} nodes or {MAX_DEPTH} levels (at {label(node)}): "
                "the file is damaged or hostile"
            )
        self._inline(node, function, frame, local=local)

    def _inline(self, node: Node, function: FunctionProto, frame: Frame, *, local: bool) -> None:
        if len(node.inputs) > len(function.input) or len(node.outputs) > len(function.output):
            raise InputError(
                f"{label(node)} has {len(node.inputs)} inputs and {len(node.outputs)} outputs, its function takes "
                f"{len(function.input)} and makes {len(function.output)}: correct the call"
            )
        rename = dict.fromkeys(function.input, "")
        rename.update(zip(function.input, node.inputs, strict=False))
        rename[""] = ""
        results = dict(zip(function.output, node.outputs, strict=False))
        made: set[str] = set()
        for inner in function.node:
            for name in inner.output:
                if name and name not in made:
                    made.add(name)
                    rename[name] = results.get(name) or self.fresh(f"{node.name or node.outputs[0]}/{name}")
        defaults = function.attribute_proto if local else schema_defaults(node.op, node.domain, frame.opsets)
        bindings: dict[str, Attr] = attributes(defaults, None, self, frame, None) if defaults else {}
        bindings.update(node.attrs)
        opsets = {_domain(entry.domain): entry.version for entry in function.opset_import} or frame.opsets
        inner_frame = Frame(
            frame.graph,
            opsets,
            self._handlers(opsets),
            rename,
            bindings,
            node.location or frame.location,
            node.part,
            (*frame.calls, f"{node.domain}:{node.op}"),
            frame.outer,
        )
        self._nodes(function.node, inner_frame)
        for formal, actual in results.items():
            if actual and formal not in made:
                source = rename.get(formal, "")
                if not source:
                    raise InputError(
                        f'the function "{node.op}" doesn\'t make its output "{formal}": correct the function'
                    )
                kept = node.name, node.location, node.part
                frame.graph.nodes.append(Node("Identity", "", (source,), (actual,), {}, *kept))

    # ------------------------------------------------------------------------------------------------------ lookups

    def _handlers(self, opsets: Mapping[str, int]) -> dict[tuple[str, str, str], Handler]:
        return self.handlers.setdefault(frozenset(opsets.items()), {})

    def _handler(self, proto: NodeProto, frame: Frame) -> Handler:
        return self._handler_of(proto.domain, proto.op_type, proto.overload, frame.opsets, frame.handlers)

    def _handler_of(
        self,
        domain: str,
        op: str,
        overload: str,
        opsets: Mapping[str, int],
        handlers: dict[tuple[str, str, str], Handler],
    ) -> Handler:
        key = (domain, op, overload)
        handler = handlers.get(key)
        if handler is None:
            handler = handlers[key] = self._make_handler(_domain(domain), op, overload, opsets)
        return handler

    def _make_handler(self, domain: str, op: str, overload: str, opsets: Mapping[str, int]) -> Handler:
        if type(op) is not str or type(domain) is not str:
            raise InputError(
                f"a node has an operator name that isn't UTF-8 ({op!r:.60}): the file is damaged, export the model again"
            )
        if not op:
            raise InputError("a node has no operator name: the file is damaged, export the model again")
        function = None if self._has_own_record(domain, op) else self.functions.get((domain, op, overload))
        if function is not None:
            return Handler(None, None, frozenset(range(1, len(function.input) + 1)), None, False, function, False)
        opset = opsets.get(domain)
        if opset is None:
            if domain:
                return Handler(None, None, frozenset(range(1, 9)), None, False, None, False)
            raise InputError(
                f"the model uses {op} but doesn't say which opset it is written for (no opset_import for the default domain): "
                "export it again with an opset of 7 or more"
            )
        found = signature(domain, op, opset)
        if found is None and not domain:  # an operator that came later than the model says: read it as it is today
            found = signature(domain, op, TARGET)
        adapter: Adapter | None = None
        typed = False
        if not domain:
            until, adapt = ADAPTERS.get(op, (0, None))
            adapter = adapt if opset < until else None
            if adapter is None and self.known is not None and op != "Constant" and not self.known(domain, op):
                function, typed = plain_body(op, max(opset, TARGET))
        fits: frozenset[int] = frozenset()
        if found is not None and not found.required:
            fits = frozenset(range(max(found.inputs[0], 1), min(found.inputs[1], 64) + 1))
        return Handler(
            found, found.types if found else None, fits, adapter, not domain and op == "Constant", function, typed
        )

    def _has_own_record(self, domain: str, op: str) -> bool:
        """Whether an operator is one of ours, whose function body only serves other runtimes."""
        return domain == OWN_DOMAIN and self.known is not None and self.known(domain, op)

    def fresh(self, base: str) -> str:
        """Make a value name that the file doesn't use."""
        self.fresh_names += 1
        return f"{base}@{self.fresh_names}"

    def dtype_of(self, name: str, frame: Frame) -> DType | None:
        """Return what the file says of the dtype of a value."""
        at: Frame | None = frame
        while at is not None:
            if name in at.graph.constants:
                return at.graph.constants[name].dtype
            found = at.graph.declared.get(name) or next((item for item in at.graph.inputs if item.name == name), None)
            if found is not None:
                return found.dtype
            at = at.outer
        return None

    def shape_of(self, name: str, frame: Frame) -> tuple[Size, ...] | None:
        """Return what the file says of the shape of a value."""
        at: Frame | None = frame
        while at is not None:
            if name in at.graph.constants:
                return at.graph.constants[name].shape
            found = at.graph.declared.get(name) or next((item for item in at.graph.inputs if item.name == name), None)
            if found is not None:
                return found.shape
            at = at.outer
        return None

    def _nested_names(self, proto: GraphProto, outer: Frame) -> dict[str, str] | None:
        """Names are unique over all nesting levels afterwards: what a subgraph defines anew under a used name is renamed."""
        if self.taken is None:
            assert self.outermost is not None
            self.taken = {declared.name for declared in self.outermost.inputs}
            self.taken.update(self.outermost.constants)
        rename = dict(outer.rename) if outer.rename is not None else {}
        in_function = bool(outer.calls)
        own = [info.name for info in proto.input]
        own += [tensor.name for tensor in proto.initializer if tensor.name not in own]
        own += [sparse.values.name for sparse in proto.sparse_initializer]
        own += [name for node in proto.node for name in node.output if name]
        for name in own:
            if in_function or name in self.taken or name in rename:
                rename[name] = self.fresh(name)
            else:
                self.taken.add(name)
        return rename or None

    def _declared(self, info: ValueInfoProto, name: str) -> Declared:
        if info.type.HasField("sequence_type") or info.type.HasField("optional_type"):
            return _wrapped(info.type, name)
        key = info.type.SerializeToString()  # most values of a model share a few types
        known = self.types.get(key)
        if known is None:
            dtype, shape, shared = _type(info.type, name)
            if not shared:
                return Declared(name, dtype, shape)
            known = self.types[key] = (dtype, shape)
        return Declared(name, *known)


def _wrapped(kind: TypeProto, name: str) -> Declared:
    """Decode the type of a sequence or an optional value."""
    kinds: list[str] = []
    while len(kinds) < MAX_DEPTH:
        inner = next((k for k in ("sequence", "optional") if kind.HasField(f"{k}_type")), None)
        if inner is None:
            break
        kinds.append(inner)
        kind = getattr(kind, f"{inner}_type").elem_type
    dtype, shape, _ = _type(kind, name)
    return Declared(name, None, None, tuple(kinds), Declared(name, dtype, shape))


def _type(kind: TypeProto, name: str) -> tuple[DType | None, tuple[Size, ...] | None, bool]:
    """Decode a type; the last result says whether it is the same for any other value."""
    if kind.HasField("tensor_type"):
        tensor: Any = kind.tensor_type
    elif kind.HasField("sparse_tensor_type"):
        tensor = kind.sparse_tensor_type
    else:
        return None, None, True
    code = tensor.elem_type
    dtype = data_type(code, f'value "{name}"') if code else None
    if not tensor.HasField("shape"):
        return dtype, None, True
    sizes: list[Size] = []
    shared = True
    for axis, dim in enumerate(tensor.shape.dim):
        size = dim.dim_value
        if size > 0 or (size == 0 and dim.HasField("dim_value")):
            sizes.append(size)
        elif dim.dim_param:
            sizes.append(symbol(text(dim.dim_param)))
        else:  # a negative size is how some exporters write an unknown one
            sizes.append(symbol(f"{name}.{axis}"))
            shared = False
    return dtype, tuple(sizes), shared


@dataclass(frozen=True, slots=True)
class _Context:
    """What an adapter may ask of the reader."""

    reader: Reader
    frame: Frame

    @property
    def opset(self) -> int:
        return self.frame.opsets[""]

    def fresh(self, base: str) -> str:
        return self.reader.fresh(base)

    def constant(self, values: Array, base: str) -> str:
        name = self.reader.fresh(base)
        self.frame.graph.constants[name] = from_array(values)
        return name

    def dtype(self, name: str) -> DType | None:
        return self.reader.dtype_of(name, self.frame)

    def shape(self, name: str) -> tuple[Size, ...] | None:
        return self.reader.shape_of(name, self.frame)

    def note(self, text: str) -> None:
        self.reader.notes[text] = None

    def ints(self, values: Iterable[int], base: str) -> str:
        return self.constant(np.array(tuple(values), np.int64), base)


def _check_names(node: Node) -> None:
    for name in (*node.inputs, *node.outputs):
        if type(name) is not str:
            raise InputError(
                f"{node.op} has a value whose name isn't UTF-8 ({name!r:.60}): the file is damaged, export the model again"
            )


def text(value: str | bytes) -> str:
    """Return a string of the file; protobuf gives bytes where it isn't UTF-8."""
    return value if isinstance(value, str) else value.decode("utf-8", "replace")


def label(node: Node) -> str:
    """Name a node in a message."""
    if node.name:
        return f'node "{node.name}" ({node.op})'
    return f'the {node.op} node that makes "{node.outputs[0] if node.outputs else ""}"'


def _domain(domain: str) -> str:
    return "" if domain == "ai.onnx" else domain
