"""A model: its graph, the role and the range of every initial value, and its flat program."""
