"""Programs of the benchmark as TensorFlow 1 graphs: ``GRAPHS`` of each file are functions of placeholders that return the loss.

Variables have the names that the case's ranges are for, and lines the marks of its sites.
"""
