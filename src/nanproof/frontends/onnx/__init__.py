"""ONNX files, bytes and ModelProto objects -> Model."""

from nanproof.frontends.onnx.load import load, load_text

__all__ = ["load", "load_text"]
