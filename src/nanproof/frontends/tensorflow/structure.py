"""TensorFlow 1's branches (Switch, Merge) and loops (Enter, NextIteration, Exit) as calls of functions.

What TensorFlow 2 has as If and While, TensorFlow 1 spells out in the graph itself: a Switch hands a value on to one of two
sides, a Merge takes whichever comes; a loop is a circle through NextIteration. Both are cut out here and put into functions,
innermost first, so that everything behind sees functions only.
"""

from __future__ import annotations

from nanproof.frontends.tensorflow.branches import with_branches
from nanproof.frontends.tensorflow.graph import Body, Graph
from nanproof.frontends.tensorflow.loops import with_loops

MARKS = frozenset({"Switch", "RefSwitch", "Merge", "RefMerge", "Enter", "RefEnter"})


def structured(graph: Graph) -> Graph:
    """The same program with branches and loops as functions."""
    bodies = [graph.main, *graph.functions.values()]
    if not any(call.op in MARKS for body in bodies for call in body.calls.values()):
        return graph
    functions: dict[str, Body] = {}
    places = dict(graph.places)
    waiting = bodies
    main = graph.main
    while waiting:
        body = waiting.pop()
        found, made = with_loops(body)
        found, more = with_branches(found)
        for inner in (*made, *more):
            places.update(
                {(inner.name, call): line for (name, call), line in graph.places.items() if name == body.name}
            )
        waiting.extend(made)
        functions.update({inner.name: inner for inner in more})
        if body is graph.main:
            main = found
        else:
            functions[body.name] = found
    return Graph(main, functions, places)
