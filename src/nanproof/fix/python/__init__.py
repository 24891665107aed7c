"""Fixes as changes of the user's own Python source: the same patterns, matched on what a function computes."""
