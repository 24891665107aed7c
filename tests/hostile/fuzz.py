"""Feed mutated models to the tool for a while: anything but a success or an InputError fails the run.

The models are those that ship inside the onnx package, and single nodes that ask for too much (see claims.py).

    python -m tests.hostile.fuzz --seconds 60 --seed 0

A failing model is written to the folder given by --keep (default: build/fuzz-input) with the seed that makes it again.
"""

from __future__ import annotations

import argparse
import random
import resource
import signal
import sys
import time
import traceback
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import onnx
from tests.hostile.claims import claiming, claims

from nanproof.analysis import Options, analyse
from nanproof.findings.errors import InputError
from nanproof.frontends.onnx import load
from nanproof.model.lower import lower
from nanproof.model.ranges import decide, decide_sizes
from nanproof.ops.registry import lookup

if TYPE_CHECKING:
    from collections.abc import Callable

    from nanproof.testing.single import Subject

MEMORY = 6 << 30
HANG = 20
CLAIMING = 0.2
"""The share of models that are a single node with absurd numbers."""
LARGEST = 300_000
"""Models above this many bytes teach a fuzzer little and cost it much."""
WORDS = (0, 1, -1, 2, 7, 127, 255, 1 << 16, (1 << 31) - 1, -(1 << 31), 1 << 40, 1 << 60, (1 << 63) - 1, -(1 << 63))


def seeds() -> list[bytes]:
    """Return the models that ship inside the onnx package, the small ones."""
    folder = Path(onnx.__file__).parent / "backend" / "test" / "data"
    files = sorted(path for path in folder.rglob("*.onnx") if path.stat().st_size <= LARGEST)
    return [path.read_bytes() for path in files]


def flip(data: bytes, rng: random.Random, corpus: list[bytes]) -> bytes:
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 4, 16))):
        changed[rng.randrange(len(changed))] = rng.choice((0, 1, 127, 128, 255, rng.randrange(256)))
    return bytes(changed)


def cut(data: bytes, rng: random.Random, corpus: list[bytes]) -> bytes:
    start = rng.randrange(len(data))
    return data[:start] if rng.random() < 0.5 else data[:start] + data[start + rng.randrange(1, 64) :]


def splice(data: bytes, rng: random.Random, corpus: list[bytes]) -> bytes:
    other = rng.choice(corpus)
    start = rng.randrange(len(other))
    piece = other[start : start + rng.randrange(1, 400)]
    place = rng.randrange(len(data))
    return data[:place] + piece + data[place + (len(piece) if rng.random() < 0.5 else 0) :]


def edit(data: bytes, rng: random.Random, corpus: list[bytes]) -> bytes:
    """Change a model that stays a readable message: this gets past the parser."""
    proto = onnx.ModelProto.FromString(data)
    graph = proto.graph
    names = [name for node in graph.node for name in (*node.input, *node.output)] or ["x"]
    for _ in range(rng.choice((1, 1, 2, 3))):
        node = rng.choice(graph.node) if graph.node else None
        kind = rng.randrange(12)
        if kind == 0 and node is not None and node.input:
            node.input[rng.randrange(len(node.input))] = rng.choice((*names, "", "ghost"))
        elif kind == 1 and node is not None and node.output:
            node.output[rng.randrange(len(node.output))] = rng.choice((*names, ""))
        elif kind == 2 and node is not None:
            node.op_type = rng.choice(graph.node).op_type if rng.random() < 0.7 else "Nonsense"
        elif kind == 3 and node is not None and node.attribute:
            _edit_attribute(rng.choice(node.attribute), rng)
        elif kind == 4 and node is not None and node.attribute:
            del node.attribute[rng.randrange(len(node.attribute))]
        elif kind == 5 and node is not None:
            graph.node.remove(node)
        elif kind == 6 and node is not None:
            graph.node.insert(rng.randrange(len(graph.node)), node)
        elif kind == 7 and graph.initializer:
            _edit_tensor(rng.choice(graph.initializer), rng)
        elif kind == 8 and proto.opset_import:
            rng.choice(proto.opset_import).version = rng.choice(
                (0, 1, 5, 6, 7, 9, 11, 13, 18, 21, 26, 28, 99, -1, 1 << 60)
            )
        elif kind == 9 and graph.input:
            _edit_type(rng.choice(graph.input), rng)
        elif kind == 10 and node is not None and node.input:
            del node.input[rng.randrange(len(node.input))]
        elif kind == 11 and node is not None:
            node.input.append(rng.choice(names))
    return proto.SerializeToString()


def _edit_attribute(attribute: onnx.AttributeProto, rng: random.Random) -> None:
    kind = rng.randrange(5)
    if kind == 0:
        attribute.type = rng.randrange(15)
    elif kind == 1:
        attribute.i = rng.choice(WORDS)
    elif kind == 2 and attribute.ints:
        attribute.ints[rng.randrange(len(attribute.ints))] = rng.choice(WORDS)
    elif kind == 3:
        attribute.ints.extend([rng.choice(WORDS)] * rng.choice((1, 5, 100)))
    else:
        attribute.f = rng.choice((0.0, -1.0, 1e38, float("inf"), float("nan")))


def _edit_tensor(tensor: onnx.TensorProto, rng: random.Random) -> None:
    kind = rng.randrange(5)
    if kind == 0 and tensor.dims:
        tensor.dims[rng.randrange(len(tensor.dims))] = rng.choice(WORDS)
    elif kind == 1:
        tensor.data_type = rng.randrange(30)
    elif kind == 2:
        tensor.raw_data = tensor.raw_data[: rng.randrange(len(tensor.raw_data) + 1)]
    elif kind == 3:
        tensor.data_location = onnx.TensorProto.EXTERNAL
        tensor.external_data.add(key="location", value=rng.choice(("w.bin", "../w.bin", "/dev/zero", "")))
    else:
        tensor.dims.extend([rng.choice(WORDS)])


def _edit_type(info: onnx.ValueInfoProto, rng: random.Random) -> None:
    tensor = info.type.tensor_type
    kind = rng.randrange(4)
    if kind == 0:
        tensor.elem_type = rng.randrange(30)
    elif kind == 1 and tensor.shape.dim:
        rng.choice(tensor.shape.dim).dim_value = rng.choice(WORDS)
    elif kind == 2 and tensor.shape.dim:
        rng.choice(tensor.shape.dim).dim_param = rng.choice(("N", "2*N + 1", "", "a b", "\u00e9"))
    else:
        tensor.ClearField("shape")


MUTATIONS: tuple[Callable[[bytes, random.Random, list[bytes]], bytes], ...] = (
    flip,
    cut,
    splice,
    edit,
    edit,
    edit,
    edit,
)


def target(*, load_only: bool) -> Callable[[bytes], object]:
    """Return what is fuzzed: all that `check` does with a model, or only what comes before the analysis."""

    def run(data: bytes) -> None:
        model = load(data)
        if load_only:
            lower(model, lookup)
            decide(model, {}, "architecture")
            decide_sizes(model, {})
        else:
            analyse(model, Options())

    return run


class Hang(BaseException):
    """No answer in time. Not an Exception: no part of the tool may take it for a failure of a model."""


def hang(*_: object) -> NoReturn:
    raise Hang(f"no answer within {HANG} s")


def mutant(rng: random.Random, corpus: list[bytes], absurd: list[Subject]) -> bytes:
    """Make one model to try."""
    if absurd and rng.random() < CLAIMING:
        return claiming(rng.choice(absurd), rng)
    data = rng.choice(corpus)
    for _ in range(rng.choice((1, 1, 2))):
        try:
            data = rng.choice(MUTATIONS)(data, rng, corpus) or b"\0"
        except Exception:  # noqa: BLE001, PERF203 - the mutation before made it unreadable: take it as it is
            break
    return data


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=Path, default=Path("build/fuzz-input"))
    parser.add_argument("--load-only", action="store_true", help="leave the analysis out")
    given = parser.parse_args()
    most = resource.getrlimit(resource.RLIMIT_AS)[1]
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY if most < 0 else min(MEMORY, most), most))
    signal.signal(signal.SIGALRM, hang)
    corpus, absurd = seeds(), [] if given.load_only else claims()
    run, outcomes = target(load_only=given.load_only), Counter[str]()
    end, seed = time.monotonic() + given.seconds, given.seed
    slowest = 0.0
    while time.monotonic() < end:
        seed += 1
        rng = random.Random(seed)
        data = mutant(rng, corpus, absurd)
        start = time.monotonic()
        signal.alarm(HANG)
        try:
            run(data)
            outcomes["success"] += 1
        except InputError:
            outcomes["told"] += 1
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                raise
            outcomes["failure"] += 1
            given.keep.mkdir(parents=True, exist_ok=True)
            path = given.keep / f"seed-{seed}.onnx"
            path.write_bytes(data)
            print(f"seed {seed} -> {path}: {type(error).__name__}: {error}")  # noqa: T201
            if outcomes["failure"] <= 5:
                traceback.print_exc()
        finally:
            signal.alarm(0)
        slowest = max(slowest, time.monotonic() - start)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(f"fuzz-input: {dict(outcomes)}, slowest {slowest:.2f} s, {peak} MB")  # noqa: T201
    return 1 if outcomes["failure"] else 0


if __name__ == "__main__":
    sys.exit(main())
