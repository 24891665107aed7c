"""Random programs of data movement and sums: partitions, known elements and relations must stay sound.

A program moves one or two tensors about in random ways, then subtracts results of the same shape. Whatever the
relations say about the difference must hold for concrete tensors, computed in float32.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.ops.soundness import allowed, random_box

from nanproof.domain import moves
from nanproof.domain.box import Box
from nanproof.numerics.dtypes import FLOAT32
from nanproof.ops.call import Call, Setting
from nanproof.ops.record import Operand
from nanproof.ops.registry import lookup

Pair = tuple[Box, Any]


def arithmetic(name: str, one: Pair, two: Pair) -> Pair:
    """A sum or difference, of Boxes and of tensors."""
    op = lookup("", name)
    assert op is not None
    with np.errstate(all="ignore"):
        box = op.bound(Call(op, {}, Setting(), 1, label=name), one[0], two[0])
        array = one[1] + two[1] if name == "Add" else one[1] - two[1]
    assert isinstance(box, Box)
    return box, array


def shapes_like(rng: Any, size: int) -> tuple[int, ...]:
    """A random shape with so many elements."""
    shape: list[int] = []
    while size > 1 and len(shape) < 3 and rng.random() < 0.7:
        divisors = [d for d in range(1, size + 1) if size % d == 0]
        shape.append(int(rng.choice(divisors)))
        size //= shape[-1]
    return (*shape, size)


def moved(rng: Any, pair: Pair) -> Pair:
    """One random movement."""
    box, x = pair
    rank = x.ndim
    axis = int(rng.integers(rank)) if rank else 0
    kind = int(rng.integers(7))
    if kind == 0:
        shape = shapes_like(rng, x.size)
        return moves.reshaped(box, shape), x.reshape(shape)
    if kind == 1:
        order = tuple(int(i) for i in rng.permutation(rank))
        return moves.transposed(box, order), x.transpose(order)
    if kind == 2 and rank and x.shape[axis] > 1:
        n = x.shape[axis]
        start, stop = sorted(int(v) for v in rng.choice(n + 1, 2, replace=False))
        stride = int(rng.choice([1, 1, 2]))
        return moves.part(box, axis, (start, stop, stride)), np.take(x, np.arange(start, stop, stride), axis)
    if kind == 3 and rank:
        places = rng.integers(0, x.shape[axis], int(rng.integers(1, 4)))
        return moves.taken(box, axis, places), np.take(x, places, axis)
    if kind == 4 and x.size <= 30:
        shape = (2, *x.shape)
        return moves.expanded(box, shape), np.broadcast_to(x, shape)
    if kind == 5 and rank and x.size <= 30:
        return moves.concatenated([box, box], axis), np.concatenate([x, x], axis)
    if kind == 6 and rank and x.size <= 30:
        times = tuple(int(v) for v in rng.integers(1, 3, rank))
        return moves.repeated(box, times), np.tile(x, times)
    return pair


@pytest.mark.parametrize("seed", range(150))
def test_random_programs(seed: int) -> None:
    rng = np.random.default_rng(seed)
    shape = tuple(int(n) for n in rng.integers(1, 5, int(rng.integers(1, 4))))
    pool: list[Pair] = [random_box(rng, Operand(shape, low=-9, high=9), "float32") for _ in range(2)]
    for _ in range(14):
        choice = rng.random()
        first = pool[int(rng.integers(len(pool)))]
        if choice < 0.5:
            new = moved(rng, first)
        else:
            partners = [p for p in pool if fits(first[1].shape, p[1].shape)]
            new = arithmetic("Sub" if choice < 0.75 else "Add", first, partners[int(rng.integers(len(partners)))])
        if new[1].size > 200:
            continue
        wrong = allowed(new[0], new[1].astype(np.float32))
        assert wrong is None, f"seed {seed}: {wrong}"
        pool.append(new)


def fits(one: tuple[int, ...], two: tuple[int, ...]) -> bool:
    try:
        np.broadcast_shapes(one, two)
    except ValueError:
        return False
    return True


def test_the_same_movement_cancels() -> None:
    """x[1:] - x[1:] is 0, x[1:] - x[:-1] isn't."""
    x = Box(FLOAT32, (4, 3), -1.0, 1.0)
    op = lookup("", "Sub")
    assert op is not None
    call = Call(op, {}, Setting())
    upper = moves.part(x, 0, (1, 4, 1))
    assert op.bound(call, upper, moves.part(x, 0, (1, 4, 1))).hull() == (0.0, 0.0)  # type: ignore[union-attr]
    assert op.bound(call, upper, moves.part(x, 0, (0, 3, 1))).hull() == (-2.0, 2.0)  # type: ignore[union-attr]
    turned = moves.transposed(x, (1, 0))
    again = moves.transposed(x, (1, 0))
    assert op.bound(call, turned, again).hull() == (0.0, 0.0)  # type: ignore[union-attr]
    assert op.bound(call, x, moves.expanded(x, (2, 4, 3))).hull() == (0.0, 0.0)  # type: ignore[union-attr]
