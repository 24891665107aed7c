"""What the front end makes of modules equals the modules."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import pytest
import torch
from tests.frontends.torch import modules
from torch import Tensor, nn

from nanproof.frontends.request import Request
from nanproof.testing.front_ends import ConformanceError, assert_conforms

Draw = Callable[[np.random.Generator, int], Mapping[str, Any]]


def floats(*shape: int | None, **names: Any) -> Callable[[np.random.Generator, int], Any]:
    """Draws float32 tensors; None is the size that varies."""
    return lambda rng, size: rng.normal(size=[size if n is None else n for n in shape]).astype(np.float32)


def tokens(limit: int, *shape: int | None) -> Callable[[np.random.Generator, int], Any]:
    return lambda rng, size: rng.integers(0, limit, [size if n is None else n for n in shape])


CASES: dict[str, tuple[Callable[[], nn.Module], dict[str, Any], bool]] = {
    "convolutional": (modules.Convolutional, {"image": floats(None, 3, 8, 8)}, True),
    "recurrent": (modules.Recurrent, {"tokens": tokens(11, None, 5)}, True),
    "attention": (modules.Attention, {"x": floats(None, 5, 8)}, True),
    "causal": (
        modules.Causal,
        {"q": floats(None, 2, 4, 8), "k": floats(None, 2, 4, 8), "v": floats(None, 2, 4, 8)},
        True,
    ),
    "decoding": (modules.Decoding, {"source": floats(None, 5, 8), "target": floats(None, 4, 8)}, True),
    "squashed": (modules.Squashed, {"state": floats(None, 4), "noise": floats(None, 2)}, True),
    "branching": (modules.Branching, {"x": floats(4)}, False),
    "looping": (modules.Looping, {"x": floats(None, 3)}, True),
    "scanning": (modules.Scanning, {"x": floats(6, 3)}, False),
    "buffered": (modules.Buffered, {"x": floats(None, 3)}, True),
    "tied": (modules.Tied, {"tokens": tokens(7, None, 3)}, True),
}


@pytest.mark.parametrize("name", CASES)
def test_equals_the_module(name: str) -> None:
    make, draws, varies = CASES[name]
    torch.manual_seed(7)
    module = make().train()
    rng = np.random.default_rng(3)

    def feeds() -> Iterator[dict[str, Any]]:
        for size in (4, 2, 9) if varies else (4, 4):
            yield {key: draw(rng, size) for key, draw in draws.items()}

    def reference(fed: Mapping[str, Any]) -> list[Any]:
        with torch.no_grad():
            found = eager(*(torch.from_numpy(value) for value in fed.values()))
        return [value.numpy() for value in (found if isinstance(found, tuple) else (found,))]

    example = {key: torch.from_numpy(draw(rng, 4)) for key, draw in draws.items()}
    request = Request(inputs=example, dynamic=("batch",) if varies else ())
    torch.manual_seed(7)
    eager = make().eval()
    opened = assert_conforms(module, reference, feeds(), request=request)
    assert module.training, "the caller's module was left in another mode"
    assert opened.runtime == "torch"
    assert opened.module is module
    if varies:
        assert [str(item.shape[0]) for item in opened.model.graph.inputs if item.shape] == ["batch"] * len(draws)


def test_nested_inputs_and_outputs_by_name() -> None:
    module = modules.Nested()
    batch = {"a": torch.rand(2, 3), "b": torch.rand(3, 3)}

    def reference(fed: Mapping[str, Any]) -> list[Any]:
        a, b, shift = (torch.from_numpy(fed[name]) for name in ("batch_a", "batch_b", "shift"))
        return [value.numpy() for value in module({"a": a, "b": b}, 2.0, shift=shift).values()]

    rng = np.random.default_rng(0)
    feeds = [{"batch_a": rng.random((2, 3), np.float32), "batch_b": rng.random((3, 3), np.float32),
              "shift": rng.random((1, 3), np.float32)}]  # fmt: skip
    request = Request(inputs={"batch": batch, "scale": 2.0, "shift": torch.rand(1, 3)})
    assert_conforms(module, reference, feeds, request=request)


def test_bfloat16_is_read_as_it_is() -> None:
    from nanproof.frontends.opening import open_target

    module = nn.Sequential(nn.Linear(4, 4), nn.LayerNorm(4)).to(torch.bfloat16)
    opened = open_target(module, Request(inputs=(torch.rand(2, 4, dtype=torch.bfloat16),)))
    kinds = {source.dtype.name for name, source in opened.model.graph.constants.items() if "weight" in name}
    assert kinds == {"bfloat16"}


def test_functions_of_tensors_are_targets() -> None:
    def squared_distance(a: Tensor, b: Tensor) -> Tensor:
        return ((a - b) ** 2).sum()

    inputs = (torch.rand(3), torch.rand(3))
    assert_conforms(
        (squared_distance, inputs),
        lambda fed: [squared_distance(torch.from_numpy(fed["a"]), torch.from_numpy(fed["b"])).numpy()],
        [{"a": np.float32([1, 2, 3]), "b": np.float32([3, 5, 1])}],
    )


def test_the_kit_tells_a_wrong_front_end() -> None:
    inputs = (torch.rand(3),)
    feeds = [{"x": np.float32([1, 2, 3])}]

    def double(x: Tensor) -> Tensor:
        return x * 2

    with pytest.raises(ConformanceError, match="differs from the framework's by 1 "):
        assert_conforms((double, inputs), lambda fed: [fed["x"]], feeds)
    with pytest.raises(ConformanceError, match="NaN is at other places"):
        assert_conforms((double, inputs), lambda fed: [fed["x"] * np.float32("nan")], feeds)
    with pytest.raises(ConformanceError, match="has 1 outputs, the framework 2"):
        assert_conforms((double, inputs), lambda fed: [fed["x"], fed["x"]], feeds)
    with pytest.raises(ConformanceError, match="the shape is"):
        assert_conforms((double, inputs), lambda fed: [fed["x"][:1]], feeds)
