"""Floating point as the runtimes do it: data types, rounding, and error bounds.

Everything that this package knows about numbers is held in float64: a bound of a float16 tensor is a
float64 that happens to be a float16 value. The modules, from the ground up:

``dtypes``      every ONNX data type and its limits
``rounding``    round once and right to a dtype, neighbours, inward rounding
``reductions``  how far a sum of n terms can be off
``runtimes``    how far each function of each runtime can be off, as data, and ``widen``
``scalar``      the array API's function names for Python floats, IEEE results instead of exceptions
``arrays``      the same names for NumPy arrays and PyTorch tensors

Import the module that is needed; nothing is re-exported here, so that a start costs only what it uses.
"""
