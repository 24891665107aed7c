"""Abstract values of tensors: Boxes, their partitions, lattice and relations.

Knows nothing of ONNX, files or users: shapes, dtypes and numbers only.
"""
