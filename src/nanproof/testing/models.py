"""Is what the analysis says of a whole model true of what a runtime computes?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnx

from nanproof.analysis.analyse import run
from nanproof.dims import Dim, evaluate, symbols
from nanproof.domain.box import Box
from nanproof.execution import onnx_runtime
from nanproof.execution.onnx_runtime import CannotRunError
from nanproof.frontends.onnx import load
from nanproof.model.lower import lower
from nanproof.model.ranges import decide, decide_sizes
from nanproof.numerics.dtypes import to_numpy
from nanproof.ops.call import Setting
from nanproof.ops.registry import lookup
from nanproof.testing.draws import elements, native_array
from nanproof.testing.laws.breach import Breach, shown
from nanproof.testing.node_cases import misses

LANDMARKS = (0.0, 1.0, -1.0)


def breaches_of_model(
    target: str | Path | onnx.ModelProto, ranges: Mapping[str, tuple[float, float]], *, samples: int = 20, seed: int = 0
) -> Iterator[Breach]:
    """Draw inputs in their ranges, mostly at the ends, and look for outputs outside their Boxes.

    Sizes that the model leaves open are 3 in the samples. Raises CannotRunError if ONNX Runtime can't run the model.
    """
    model = load(target)
    program = lower(model, lookup)
    sizes, _ = decide_sizes(model, {})
    state = run(model, program, decide(model, ranges), Setting(opset=model.opset, dims=sizes))
    boxes = [state.boxes[slot] for slot in program.outputs]
    proto = onnx.load(str(target)) if isinstance(target, (str, Path)) else target
    stored = {source.name for source in proto.graph.initializer}
    asked = [item.name for item in proto.graph.input if item.name not in stored]
    slots = {name: slot for slot, name in program.initial.items()}
    rng = np.random.default_rng(seed)
    for _ in range(samples):
        feeds = {name: _drawn(rng, state.hulls[slots[name]]) for name in asked if name in slots}
        results = onnx_runtime.run(proto.SerializeToString(), feeds)
        for i, (box, result) in enumerate(zip(boxes, results, strict=False)):
            problem = None if box is None else misses(box, result)
            if problem:
                yield Breach("sound", model.path, f"output {i} {problem}" + shown(list(feeds.values())))


def _drawn(rng: np.random.Generator, box: Box | None) -> Any:
    if box is None or box.shape is None:
        raise CannotRunError("an input has no shape: its samples can't be drawn")
    shape = tuple(n if isinstance(n, int) else _three(n) for n in box.shape)
    fixed = Box(box.dtype, shape, *box.hull(), box.flags)
    landmarks = np.asarray(LANDMARKS)
    values = elements(rng, fixed, landmarks, 3)[int(rng.integers(0, 3))]
    if box.dtype.is_bool:
        return values.astype(to_numpy(box.dtype))
    return native_array(box.dtype, values)


def _three(size: Dim) -> int:
    return evaluate(size, dict.fromkeys(symbols(size), 3))
