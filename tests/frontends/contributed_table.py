"""Write down what the installed ONNX Runtime says of the operators that aren't in the onnx package.

python tests/frontends/contributed_table.py > src/nanproof/frontends/onnx/contributed.txt
"""

from __future__ import annotations

from typing import Any

DOMAINS = ("com.microsoft", "com.microsoft.nchwc")
OWN = ("SimplifiedLayerNormalization",)
"""ONNX Runtime's own operators in ONNX's domain."""

KINDS = {
    "FLOAT": "f", "INT": "i", "STRING": "s", "TENSOR": "t", "GRAPH": "g", "FLOATS": "ff", "INTS": "ii", "STRINGS": "ss",
    "TENSORS": "tt", "GRAPHS": "gg",
}  # fmt: skip


def lines() -> list[str]:
    """One line an operator."""
    from onnxruntime.capi import onnxruntime_pybind11_state as runtime

    found = {}
    for schema in runtime.get_all_operator_schema():
        if schema.domain in DOMAINS or (not schema.domain and schema.name in OWN):
            found[schema.domain, schema.name] = _line(schema)
    return [found[key] for key in sorted(found)]


def _line(schema: Any) -> str:
    attrs = " ".join(
        f"{name}={KINDS[str(attr.type).rpartition('.')[2]]}{'!' if attr.required else ''}"
        for name, attr in sorted(schema.attributes.items())
    )
    kinds = {c.type_param_str: ",".join(_type(k) for k in c.allowed_type_strs) for c in schema.type_constraints}
    variables = " ".join(f"{name}={kinds[name]}" for name in sorted(kinds))
    parts = (_formals(schema.inputs), _formals(schema.outputs), attrs, variables)
    return f"{schema.domain or 'ai.onnx'} {schema.name} | {' | '.join(parts)}"


def _formals(formals: Any) -> str:
    marks = {"Single": "", "Optional": "?", "Variadic": "*"}
    return " ".join(f"{f.name}:{_type(f.typeStr)}{marks[str(f.option).rpartition('.')[2]]}" for f in formals)


def _type(name: str) -> str:
    return name[7:-1] if name.startswith("tensor(") else name.replace(" ", "")


if __name__ == "__main__":
    print("\n".join(lines()))  # noqa: T201 - a script
