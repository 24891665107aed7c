"""The data types of ONNX and their limits.

A float kind is fixed by three numbers: its precision p (bits of the significand, the hidden one
included), its smallest normal number and its largest finite one. The rest follows:
``quantum = tiny * 2**(1 - p)`` (the distance of neighbours below ``tiny``) and ``unit = 2**-p`` (half the
relative distance of neighbours above it).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

if TYPE_CHECKING:
    import numpy as np

Kind = Literal["float", "int", "uint", "bool", "string", "complex"]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class DType:
    """One data type. There is one object a type: compare with ``is`` or ``==``, use it as a key.

    ``max`` and ``min`` are the largest and the lowest finite value, as floats; those of the 64-bit integers
    are rounded inward (a float64 can't hold ``2**63 - 1``). For kinds other than float, ``tiny``, ``quantum``
    and ``unit`` have the values that the integers suggest: 1, 1 and 0.
    """

    name: str
    kind: Kind
    bits: int
    precision: int
    max: float
    min: float
    tiny: float
    quantum: float
    unit: float
    overflows_to: Literal["inf", "nan", "max"]
    onnx: int

    @property
    def is_float(self) -> bool:
        return self.kind == "float"

    @property
    def is_integer(self) -> bool:
        return self.kind in {"int", "uint"}

    @property
    def is_bool(self) -> bool:
        return self.kind == "bool"

    @property
    def is_complex(self) -> bool:
        return self.kind == "complex"

    def __repr__(self) -> str:
        return self.name

    def __reduce__(self) -> tuple[Any, ...]:
        # Copies and pickles lead back to the one object of the type.
        return by_name, (self.name,)


def _float(
    name: str,
    code: int,
    bits: int,
    limits: tuple[int, float, float],
    overflows_to: Literal["inf", "nan", "max"] = "inf",
) -> DType:
    precision, tiny, largest = limits
    return DType(
        name=name,
        kind="float",
        bits=bits,
        precision=precision,
        max=largest,
        min=-largest,
        tiny=tiny,
        quantum=tiny * 2.0 ** (1 - precision),
        unit=2.0**-precision,
        overflows_to=overflows_to,
        onnx=code,
    )


def _integer(name: str, code: int, bits: int) -> DType:
    signed = name.startswith("int")
    low, high = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if signed else (0, 2**bits - 1)
    # float(2**63 - 1) rounds up to 2**63, which is no int64: take the float64 below.
    largest = float(high) if int(float(high)) <= high else float(high - (high >> 53))
    return DType(
        name=name,
        kind="int" if signed else "uint",
        bits=bits,
        precision=bits - signed,
        max=largest,
        min=float(low),
        tiny=1.0,
        quantum=1.0,
        unit=0.0,
        overflows_to="max",
        onnx=code,
    )


def _other(name: str, code: int, kind: Kind, bits: int, like: DType | None = None) -> DType:
    return DType(
        name=name,
        kind=kind,
        bits=bits,
        precision=like.precision if like else 1,
        max=like.max if like else 1.0,
        min=like.min if like else 0.0,
        tiny=like.tiny if like else 1.0,
        quantum=like.quantum if like else 1.0,
        unit=like.unit if like else 0.0,
        overflows_to=like.overflows_to if like else "max",
        onnx=code,
    )


FLOAT32: Final = _float("float32", 1, 32, (24, 2.0**-126, (2 - 2.0**-23) * 2.0**127))
UINT8: Final = _integer("uint8", 2, 8)
INT8: Final = _integer("int8", 3, 8)
UINT16: Final = _integer("uint16", 4, 16)
INT16: Final = _integer("int16", 5, 16)
INT32: Final = _integer("int32", 6, 32)
INT64: Final = _integer("int64", 7, 64)
STRING: Final = _other("string", 8, "string", 0)
BOOL: Final = _other("bool", 9, "bool", 8)
FLOAT16: Final = _float("float16", 10, 16, (11, 2.0**-14, 65504.0))
FLOAT64: Final = _float("float64", 11, 64, (53, 2.0**-1022, (2 - 2.0**-52) * 2.0**1023))
UINT32: Final = _integer("uint32", 12, 32)
UINT64: Final = _integer("uint64", 13, 64)
COMPLEX64: Final = _other("complex64", 14, "complex", 64, FLOAT32)
COMPLEX128: Final = _other("complex128", 15, "complex", 128, FLOAT64)
BFLOAT16: Final = _float("bfloat16", 16, 16, (8, 2.0**-126, (2 - 2.0**-7) * 2.0**127))
FLOAT8_E4M3FN: Final = _float("float8_e4m3fn", 17, 8, (4, 2.0**-6, 448.0), "nan")
FLOAT8_E4M3FNUZ: Final = _float("float8_e4m3fnuz", 18, 8, (4, 2.0**-7, 240.0), "nan")
FLOAT8_E5M2: Final = _float("float8_e5m2", 19, 8, (3, 2.0**-14, 57344.0))
FLOAT8_E5M2FNUZ: Final = _float("float8_e5m2fnuz", 20, 8, (3, 2.0**-15, 57344.0), "nan")
UINT4: Final = _integer("uint4", 21, 4)
INT4: Final = _integer("int4", 22, 4)
FLOAT4_E2M1FN: Final = _float("float4_e2m1fn", 23, 4, (2, 1.0, 6.0), "max")
# Powers of two only: no sign, no zero, no subnormals.
FLOAT8_E8M0FNU: Final = DType(
    name="float8_e8m0fnu",
    kind="float",
    bits=8,
    precision=1,
    max=2.0**127,
    min=2.0**-127,
    tiny=2.0**-127,
    quantum=2.0**-127,
    unit=0.5,
    overflows_to="nan",
    onnx=24,
)
UINT2: Final = _integer("uint2", 25, 2)
INT2: Final = _integer("int2", 26, 2)

DTYPES: Final[tuple[DType, ...]] = (
    FLOAT32, UINT8, INT8, UINT16, INT16, INT32, INT64, STRING, BOOL, FLOAT16, FLOAT64, UINT32, UINT64,
    COMPLEX64, COMPLEX128, BFLOAT16, FLOAT8_E4M3FN, FLOAT8_E4M3FNUZ, FLOAT8_E5M2, FLOAT8_E5M2FNUZ,
    UINT4, INT4, FLOAT4_E2M1FN, FLOAT8_E8M0FNU, UINT2, INT2,
)  # fmt: skip
"""Every type, in the order of the ONNX codes."""

FLOATS: Final[tuple[DType, ...]] = tuple(d for d in DTYPES if d.kind == "float")

_ALIASES: Final[dict[str, DType]] = {
    "float": FLOAT32, "fp32": FLOAT32, "f32": FLOAT32, "single": FLOAT32,
    "double": FLOAT64, "fp64": FLOAT64, "f64": FLOAT64,
    "half": FLOAT16, "fp16": FLOAT16, "f16": FLOAT16,
    "bf16": BFLOAT16,
    "float8e4m3fn": FLOAT8_E4M3FN, "float8e4m3fnuz": FLOAT8_E4M3FNUZ,
    "float8e5m2": FLOAT8_E5M2, "float8e5m2fnuz": FLOAT8_E5M2FNUZ,
    "float8e8m0": FLOAT8_E8M0FNU, "float8_e8m0": FLOAT8_E8M0FNU, "float8e8m0fnu": FLOAT8_E8M0FNU,
    "float4e2m1": FLOAT4_E2M1FN, "float4_e2m1": FLOAT4_E2M1FN, "float4e2m1fn": FLOAT4_E2M1FN,
    "str": STRING, "object": STRING,
}  # fmt: skip
_BY_NAME: Final[dict[str, DType]] = {d.name: d for d in DTYPES} | _ALIASES
_BY_ONNX: Final[dict[int, DType]] = {d.onnx: d for d in DTYPES}


def by_name(name: str) -> DType:
    """The type of that name: ``float32``, ``fp16``, ``FLOAT8E4M3FN``, ``tensor(double)`` ...; KeyError if none."""
    key = name.lower().removeprefix("tensor(").removesuffix(")")
    found = _BY_NAME.get(key)
    if found is None:
        raise KeyError(f"no data type is called {name!r}; known: {', '.join(d.name for d in DTYPES)}")
    return found


def by_onnx(code: int) -> DType:
    """The type of a ``TensorProto.DataType`` code; KeyError for 0 (undefined) and codes yet to come."""
    found = _BY_ONNX.get(code)
    if found is None:
        raise KeyError(f"ONNX data type {code} is not known")
    return found


def of_numpy(dtype: np.dtype[Any]) -> DType:
    """The type of a NumPy array, the types of ``ml_dtypes`` included."""
    return STRING if dtype.kind in "OUST" else by_name(dtype.name)


def to_numpy(dtype: DType) -> np.dtype[Any]:
    """The NumPy type; ``ml_dtypes`` is imported for the types that NumPy itself lacks."""
    import numpy as np

    if dtype is STRING:
        return np.dtype(object)
    try:
        return np.dtype(dtype.name)
    except TypeError:
        import ml_dtypes

        found: np.dtype[Any] = np.dtype(getattr(ml_dtypes, dtype.name))
        return found
