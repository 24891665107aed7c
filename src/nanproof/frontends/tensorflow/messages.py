"""TensorFlow's own messages (GraphDef, SavedModel, and what is in them), made without TensorFlow.

The field numbers are those of TensorFlow's .proto files; fields that nothing here reads are left out, and kept by the
parser as unknown ones. The messages live in a pool of their own, so that they never meet TensorFlow's in one process.
"""

from __future__ import annotations

from functools import cache
from typing import Any

PACKAGE = "tensorflow"

# "field:kind=number"; kind* repeats, {A,B} is a map, a capital is a message, and | joins the fields of a oneof.
_MESSAGES: dict[str, str] = {
    "GraphDef": "node:NodeDef*=1 library:FunctionDefLibrary=2 version:int32=3 versions:VersionDef=4 debug_info:GraphDebugInfo=5",
    "VersionDef": "producer:int32=1 min_consumer:int32=2 bad_consumers:int32*=3",
    "NodeDef": "name:string=1 op:string=2 input:string*=3 device:string=4 attr:{string,AttrValue}=5",
    "AttrValue": "list:ListValue=1| s:bytes=2| i:int64=3| f:float=4| b:bool=5| type:DataType=6| shape:TensorShapeProto=7| "
    "tensor:TensorProto=8| placeholder:string=9| func:NameAttrList=10|",
    "ListValue": "s:bytes*=2 i:int64*=3 f:float*=4 b:bool*=5 type:DataType*=6 shape:TensorShapeProto*=7 tensor:TensorProto*=8 "
    "func:NameAttrList*=9",
    "NameAttrList": "name:string=1 attr:{string,AttrValue}=2",
    "TensorShapeProto": "dim:Dimension*=2 unknown_rank:bool=3",
    "Dimension": "size:int64=1 name:string=2",
    "TensorProto": "dtype:DataType=1 tensor_shape:TensorShapeProto=2 version_number:int32=3 tensor_content:bytes=4 "
    "half_val:int32*=13 float_val:float*=5 double_val:double*=6 int_val:int32*=7 string_val:bytes*=8 scomplex_val:float*=9 "
    "int64_val:int64*=10 bool_val:bool*=11 dcomplex_val:double*=12 uint32_val:uint32*=16 uint64_val:uint64*=17 float8_val:bytes=18",
    "FunctionDefLibrary": "function:FunctionDef*=1",
    "FunctionDef": "signature:OpDef=1 attr:{string,AttrValue}=5 node_def:NodeDef*=3 ret:{string,string}=4 control_ret:{string,string}=6",
    "OpDef": "name:string=1 input_arg:ArgDef*=2 output_arg:ArgDef*=3 control_output:string*=20",
    "ArgDef": "name:string=1 description:string=2 type:DataType=3 type_attr:string=4 number_attr:string=5 type_list_attr:string=6",
    "OpList": "op:OpDef*=1",
    "SavedModel": "saved_model_schema_version:int64=1 meta_graphs:MetaGraphDef*=2",
    "MetaGraphDef": "meta_info_def:MetaInfoDef=1 graph_def:GraphDef=2 saver_def:SaverDef=3 signature_def:{string,SignatureDef}=5",
    "MetaInfoDef": "meta_graph_version:string=1 stripped_op_list:OpList=2 tags:string*=4 tensorflow_version:string=5",
    "SaverDef": "filename_tensor_name:string=1 save_tensor_name:string=2 restore_op_name:string=3",
    "SignatureDef": "inputs:{string,TensorInfo}=1 outputs:{string,TensorInfo}=2 method_name:string=3",
    "TensorInfo": "name:string=1 dtype:DataType=2 tensor_shape:TensorShapeProto=3",
    "BundleHeaderProto": "num_shards:int32=1 endianness:int32=2 version:VersionDef=3",
    "BundleEntryProto": "dtype:DataType=1 shape:TensorShapeProto=2 shard_id:int32=3 offset:int64=4 size:int64=5 crc32c:fixed32=6 "
    "slices:TensorSliceProto*=7",
    "TensorSliceProto": "extent:Extent*=1",
    "Extent": "start:int64=1 length:int64=2",
    "GraphDebugInfo": "files:string*=1 frames_by_id:{fixed64,FileLineCol}=4 traces_by_id:{fixed64,StackTrace}=6 "
    "traces:{string,StackTrace}=2 name_to_trace_id:{string,fixed64}=5",
    "FileLineCol": "file_index:int32=1 line:int32=2 col:int32=3 func:string=4 code:string=5",
    "StackTrace": "file_line_cols:FileLineCol*=1 frame_id:fixed64*=2",
}  # fmt: skip

TYPES: dict[str, int] = {
    "DT_INVALID": 0, "DT_FLOAT": 1, "DT_DOUBLE": 2, "DT_INT32": 3, "DT_UINT8": 4, "DT_INT16": 5, "DT_INT8": 6, "DT_STRING": 7,
    "DT_COMPLEX64": 8, "DT_INT64": 9, "DT_BOOL": 10, "DT_QINT8": 11, "DT_QUINT8": 12, "DT_QINT32": 13, "DT_BFLOAT16": 14,
    "DT_QINT16": 15, "DT_QUINT16": 16, "DT_UINT16": 17, "DT_COMPLEX128": 18, "DT_HALF": 19, "DT_RESOURCE": 20, "DT_VARIANT": 21,
    "DT_UINT32": 22, "DT_UINT64": 23, "DT_FLOAT8_E5M2": 24, "DT_FLOAT8_E4M3FN": 25, "DT_FLOAT8_E4M3FNUZ": 26,
    "DT_FLOAT8_E4M3B11FNUZ": 27, "DT_FLOAT8_E5M2FNUZ": 28, "DT_INT4": 29, "DT_UINT4": 30, "DT_INT2": 31, "DT_UINT2": 32,
}  # fmt: skip
"""TensorFlow's element types; a reference to one is 100 more."""
REFERENCE = 100

_SCALARS = {
    "double": 1, "float": 2, "int64": 3, "uint64": 4, "int32": 5, "fixed64": 6, "fixed32": 7, "bool": 8, "string": 9,
    "bytes": 12, "uint32": 13,
}  # fmt: skip


def message(name: str) -> Any:
    """A new empty message, such as a GraphDef."""
    return _classes()[name]()


@cache
def _classes() -> dict[str, Any]:
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory  # type: ignore[import-untyped]

    file = descriptor_pb2.FileDescriptorProto(name="nanproof/tensorflow.proto", package=PACKAGE, syntax="proto3")
    kinds = file.enum_type.add(name="DataType")
    for name, number in TYPES.items():
        kinds.value.add(name=name, number=number)
        if number:
            kinds.value.add(name=f"{name}_REF", number=number + REFERENCE)
    for name, fields in _MESSAGES.items():
        made = file.message_type.add(name=name)
        if "|" in fields:
            made.oneof_decl.add(name="value")
        for text in fields.split():
            _add_field(made, text)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return {
        name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{PACKAGE}.{name}")) for name in _MESSAGES
    }


def _add_field(owner: Any, text: str) -> None:
    field, _, number = text.partition("=")
    name, _, kind = field.partition(":")
    repeated = kind.endswith("*") or kind.startswith("{")
    made = owner.field.add(name=name, number=int(number.rstrip("|")), label=3 if repeated else 1)
    if number.endswith("|"):
        made.oneof_index = 0
    if kind.startswith("{"):
        key, value = kind[1:-1].split(",")
        entry = owner.nested_type.add(name="".join(part.capitalize() for part in name.split("_")) + "Entry")
        entry.options.map_entry = True
        _set_kind(entry.field.add(name="key", number=1, label=1), key)
        _set_kind(entry.field.add(name="value", number=2, label=1), value)
        made.type, made.type_name = 11, f".{PACKAGE}.{owner.name}.{entry.name}"
    else:
        _set_kind(made, kind.rstrip("*"))


def _set_kind(field: Any, kind: str) -> None:
    if kind in _SCALARS:
        field.type = _SCALARS[kind]
    else:
        field.type, field.type_name = (14 if kind == "DataType" else 11), f".{PACKAGE}.{kind}"
