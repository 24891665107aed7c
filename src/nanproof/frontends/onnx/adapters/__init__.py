"""Operators of older opsets, brought to the form that they have at opset 26.

`ADAPTERS` maps an operator to (version, adapter): a node written for an opset under that version goes through the adapter, which
knows all its older forms. An operator that isn't here has changed at most by new types and by new attributes whose defaults mean what
it meant before; a test compares every version of every schema and holds that this is so.
"""

TARGET = 26
ADAPTERS: dict = {}
