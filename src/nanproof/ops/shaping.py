"""Operators that change a tensor's shape and move its elements, by places that its shape alone decides."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from nanproof.dims import ShapeError, Size, broadcast, joint, product, reshape
from nanproof.domain.box import Box, Shape
from nanproof.domain.moves import expanded, repeated, reshaped, transposed
from nanproof.ops.call import Call
from nanproof.ops.operands import axes_in, ints, length_of, polished, sizes
from nanproof.ops.record import Case, Op, Operand, Samples

ANY = ("float32", "float64", "float16", "int32", "int64", "bool")


def _shape(*values: int) -> Operand:
    return Operand((len(values),), dtype="int64", values=values, stored=True)


def _x(*shape: int) -> Operand:
    return Operand(shape)


def integers(values: Any) -> list[int]:
    """The numbers of a shape-like operand, for a concrete run."""
    return [int(n) for n in values]


# -- Reshape and its special cases -------------------------------------------------------------


def run_reshape(xp: Any, x: Any, target: Any, *, allowzero: int = 0, **_: Any) -> Any:
    """Zero copies a size, -1 is what is left over."""
    wanted = [x.shape[i] if n == 0 and not allowzero else n for i, n in enumerate(integers(target))]
    return xp.reshape(x, tuple(wanted))


@lru_cache(maxsize=4096)  # a graph has few pairs of shapes, and the algebra costs more than the lookup
def _reshape_shape(shape: tuple[Size, ...], target: tuple[Size, ...], allow_zero: bool) -> tuple[Size, ...]:
    return reshape(shape, target, allow_zero=allow_zero)


def _reshape(call: Call, x: Box, target: Box) -> Box:
    """Data movement; where the target isn't known, its length still tells the rank."""
    wanted = sizes(target)
    allow_zero = bool(call.attr("allowzero", 0))
    if wanted is not None and any(isinstance(n, int) and n < -1 for n in wanted):
        raise ShapeError(f"Reshape to {list(wanted[:8])}: sizes are -1 or more")
    shape: Shape
    if wanted is None:
        rank = length_of(target)
        if rank is None:
            shape = None
        elif rank == 1 and x.shape is not None:
            shape = (product(x.shape),)
        else:
            shape = tuple(call.fresh(f"size{i}") for i in range(rank))
    elif x.shape is None:
        copies = (-1,) if allow_zero else (-1, 0)
        shape = tuple(call.fresh(f"size{i}") if n in copies else n for i, n in enumerate(wanted))
    else:
        shape = _reshape_shape(x.shape, wanted, allow_zero)
    return polished(call, reshaped(x, shape))


RESHAPE = Op(
    "Reshape",
    run=run_reshape,
    bound=_reshape,
    exact=True,
    grain=(1,),
    samples=Samples(
        cases=(
            Case((_x(2, 3, 4), _shape(6, 4))),
            Case((_x(2, 3, 4), _shape(0, -1))),
            Case((_x(2, 3, 4), _shape(-1))),
            Case((_x(24), _shape(2, 1, 3, 4))),
            Case((_x(1), Operand((0,), dtype="int64", values=(), stored=True))),
            Case((_x(0, 3), _shape(3, 0)), {"allowzero": 1}),
        ),
        dtypes=ANY,
    ),
)


def _flat_shape(shape: tuple[Any, ...], axis: int) -> tuple[Any, Any]:
    at = axis + len(shape) if axis < 0 else axis
    return product(shape[:at]), product(shape[at:])


def _flatten(call: Call, x: Box) -> Box:
    """Data movement to two axes."""
    axis = call.attr("axis", 1)
    if x.shape is None:
        return reshaped(x, (call.fresh("rows"), call.fresh("columns")))
    return polished(call, reshaped(x, _flat_shape(x.shape, axis)))


FLATTEN = Op(
    "Flatten",
    run=lambda xp, x, *, axis=1, **_: xp.reshape(x, _flat_shape(tuple(x.shape), axis)),
    bound=_flatten,
    exact=True,
    samples=Samples(cases=(*(Case((_x(2, 3, 4),), {"axis": a}) for a in (0, 1, 2, 3, -1)), Case((_x(5),))), dtypes=ANY),
)


def _run_squeeze(xp: Any, x: Any, axes: Any = None, **_: Any) -> Any:
    chosen = [i for i, n in enumerate(x.shape) if n == 1] if axes is None else axes_in(integers(axes), len(x.shape))
    return xp.reshape(x, tuple(n for i, n in enumerate(x.shape) if i not in chosen))


def _squeeze(call: Call, x: Box, axes: Box | None = None) -> Box:
    """Data movement: axes of size 1 go."""
    if x.shape is None:
        return reshaped(x, None)
    if axes is not None:
        wanted = ints(axes)
        if wanted is None:
            return reshaped(x, None)
        gone = axes_in(wanted, len(x.shape))
    elif all(isinstance(n, int) for n in x.shape):
        gone = tuple(i for i, n in enumerate(x.shape) if n == 1)
    else:
        return reshaped(x, None)  # an unknown size may be 1
    for i in gone:
        if isinstance(x.shape[i], int) and x.shape[i] != 1:
            raise ShapeError(f"Squeeze of axis {i}, which has {x.shape[i]} elements")
    return polished(call, reshaped(x, tuple(n for i, n in enumerate(x.shape) if i not in gone)))


SQUEEZE = Op(
    "Squeeze",
    run=_run_squeeze,
    bound=_squeeze,
    exact=True,
    grain=(1,),
    samples=Samples(
        cases=(
            Case((_x(1, 3, 1, 2),)),
            Case((_x(1, 3, 1, 2), _shape(0, -2))),
            Case((_x(1, 3), _shape(0))),
            Case((_x(1),)),
        ),
        dtypes=ANY,
    ),
)


def _unsqueezed_shape(shape: tuple[Any, ...], axes: Any) -> tuple[Any, ...]:
    rank = len(shape) + len(axes)
    new = axes_in(axes, rank)
    rest = iter(shape)
    return tuple(1 if i in new else next(rest) for i in range(rank))


def _unsqueeze(call: Call, x: Box, axes: Box) -> Box:
    """Data movement: new axes of size 1."""
    wanted = ints(axes)
    if x.shape is None or wanted is None:
        return reshaped(x, None)
    return polished(call, reshaped(x, _unsqueezed_shape(x.shape, wanted)))


UNSQUEEZE = Op(
    "Unsqueeze",
    run=lambda xp, x, axes, **_: xp.reshape(x, _unsqueezed_shape(tuple(x.shape), integers(axes))),
    bound=_unsqueeze,
    exact=True,
    grain=(1,),
    samples=Samples(
        cases=(
            Case((_x(3, 2), _shape(0))),
            Case((_x(3, 2), _shape(-1, 1))),
            Case((_x(), _shape(0))),
            Case((_x(2, 3), _shape(2, 0, 4))),
        ),
        dtypes=ANY,
    ),
)


# -- Transpose, and the two that are Reshape, Transpose, Reshape ---------------------------------


def _order(perm: Any, rank: int) -> tuple[int, ...]:
    order = tuple(range(rank - 1, -1, -1)) if perm is None else tuple(map(int, perm))
    if sorted(order) != list(range(rank)):
        raise ShapeError(f"perm {list(order[:8])} does not order {rank} axes")
    return order


def _transpose(call: Call, x: Box) -> Box:
    """Data movement: the axes change place."""
    if x.shape is None:
        return transposed(x, ())
    return transposed(x, _order(call.attr("perm"), len(x.shape)))


TRANSPOSE = Op(
    "Transpose",
    run=lambda xp, x, *, perm=None, **_: xp.permute_dims(x, _order(perm, len(x.shape))),
    bound=_transpose,
    exact=True,
    samples=Samples(
        cases=(
            Case((_x(2, 3, 4),)),
            Case((_x(2, 3, 4),), {"perm": (1, 0, 2)}),
            Case((_x(2, 3, 4, 5),), {"perm": (0, 2, 3, 1)}),
            Case((_x(3),)),
            Case((_x(),)),
        ),
        dtypes=ANY,
    ),
)


def _depth_plan(shape: tuple[Any, ...], b: int, mode: str) -> tuple[tuple[Any, ...], tuple[int, ...], tuple[Any, ...]]:
    n, c, h, w = shape
    last = (n, c // (b * b), h * b, w * b)
    if mode == "CRD":
        return (n, c // (b * b), b, b, h, w), (0, 1, 4, 2, 5, 3), last
    return (n, b, b, c // (b * b), h, w), (0, 3, 4, 1, 5, 2), last


def _space_plan(shape: tuple[Any, ...], b: int, mode: str) -> tuple[tuple[Any, ...], tuple[int, ...], tuple[Any, ...]]:
    n, c, h, w = shape
    order = (0, 1, 3, 5, 2, 4) if mode == "CRD" else (0, 3, 5, 1, 2, 4)
    return (n, c, h // b, b, w // b, b), order, (n, c * b * b, h // b, w // b)


def _run_depth_to_space(xp: Any, x: Any, *, blocksize: int = 1, mode: str = "DCR", **_: Any) -> Any:
    first, order, last = _depth_plan(tuple(x.shape), blocksize, mode)
    return xp.reshape(xp.permute_dims(xp.reshape(x, first), order), last)


def _run_space_to_depth(xp: Any, x: Any, *, blocksize: int = 1, mode: str = "DCR", **_: Any) -> Any:
    first, order, last = _space_plan(tuple(x.shape), blocksize, mode)
    return xp.reshape(xp.permute_dims(xp.reshape(x, first), order), last)


def _depth_to_space(call: Call, x: Box) -> Box:
    """Reshape, Transpose, Reshape."""
    if x.shape is None or len(x.shape) != 4:
        return reshaped(x, None)
    first, order, last = _depth_plan(x.shape, call.attr("blocksize", 1), call.attr("mode", "DCR"))
    return reshaped(transposed(reshaped(x, first), order), last)


def _space_to_depth(call: Call, x: Box) -> Box:
    """Reshape, Transpose, Reshape."""
    if x.shape is None or len(x.shape) != 4:
        return reshaped(x, None)
    block = call.attr("blocksize", 1)
    if block < 1 or any(isinstance(n, int) and n % block for n in x.shape[2:]):
        raise ShapeError(f"an image of {x.shape[2]} by {x.shape[3]} does not divide into blocks of {block}")
    first, order, last = _space_plan(x.shape, call.attr("blocksize", 1), call.attr("mode", "DCR"))
    return reshaped(transposed(reshaped(x, first), order), last)


DEPTH_TO_SPACE = Op(
    "DepthToSpace",
    run=_run_depth_to_space,
    bound=_depth_to_space,
    exact=True,
    samples=Samples(
        cases=(
            Case((_x(2, 8, 2, 3),), {"blocksize": 2}),
            Case((_x(2, 8, 2, 3),), {"blocksize": 2, "mode": "CRD"}),
            Case((_x(1, 9, 1, 2),), {"blocksize": 3}),
        ),
        dtypes=("float32", "float64"),
    ),
)

SPACE_TO_DEPTH = Op(
    "SpaceToDepth",
    run=_run_space_to_depth,
    bound=_space_to_depth,
    exact=True,
    samples=Samples(
        cases=(Case((_x(2, 2, 4, 6),), {"blocksize": 2}), Case((_x(1, 1, 3, 3),), {"blocksize": 3})),
        dtypes=("float32", "float64"),
    ),
)


# -- repeating ------------------------------------------------------------------------------------


def _run_expand(xp: Any, x: Any, shape: Any, **_: Any) -> Any:
    return xp.broadcast_to(x, broadcast(tuple(x.shape), tuple(integers(shape))))


def _expand(call: Call, x: Box, shape: Box) -> Box:
    """Data movement: broadcasting, in both directions."""
    wanted = sizes(shape)
    if x.shape is None:
        return reshaped(x, None)
    if wanted is not None:
        return polished(call, expanded(x, broadcast(x.shape, wanted)))
    length = length_of(shape)
    if length is None:
        return reshaped(x, None)
    rank = max(length, len(x.shape))
    have: tuple[Size, ...] = ((1,) * (rank - len(x.shape))) + x.shape
    first = rank - length
    return expanded(
        x,
        tuple(
            n if i < first or (isinstance(n, int) and n > 1) else joint(n, call.fresh(f"size{i}"))
            for i, n in enumerate(have)
        ),
    )


EXPAND = Op(
    "Expand",
    run=_run_expand,
    bound=_expand,
    exact=True,
    grain=(1,),
    samples=Samples(
        cases=(
            Case((_x(3, 1), _shape(2, 3, 4))),
            Case((_x(2, 3, 4), _shape(3, 1))),
            Case((_x(3, 1), _shape(3, 0))),
            Case((_x(), _shape(2))),
            Case((_x(1, 3), _shape(1))),
        ),
        dtypes=ANY,
    ),
)


def _tile(call: Call, x: Box, repeats: Box) -> Box:
    """Data movement: every axis is repeated as a whole."""
    times = sizes(repeats)
    if x.shape is None:
        return reshaped(x, None)
    if times is None:
        return Box(x.dtype, tuple(call.fresh(f"size{i}") for i in range(len(x.shape))), *x.hull(), x.flags)
    if len(times) != len(x.shape):
        raise ShapeError(f"Tile of a tensor of rank {len(x.shape)} by {len(times)} repeats")
    return polished(call, repeated(x, times))


TILE = Op(
    "Tile",
    run=lambda xp, x, repeats, **_: xp.tile(x, tuple(integers(repeats))),
    bound=_tile,
    exact=True,
    grain=(1,),
    samples=Samples(
        cases=(
            Case((_x(2, 3), _shape(2, 1))),
            Case((_x(2, 3), _shape(3, 2))),
            Case((_x(4), _shape(0))),
            Case((_x(2, 1, 3), _shape(1, 4, 2))),
        ),
        dtypes=ANY,
    ),
)


def _identity(call: Call, x: Box) -> Box:
    """The operand itself."""
    return x


IDENTITY = Op(
    "Identity",
    run=lambda xp, x, **_: x,
    bound=_identity,
    exact=True,
    samples=Samples(cases=(Case((_x(2, 3),)),), dtypes=ANY),
)


def flat(x: Box) -> Box:
    """All elements in one axis."""
    return reshaped(x, None if x.shape is None else (product(x.shape),))


OPS = (RESHAPE, FLATTEN, SQUEEZE, UNSQUEEZE, TRANSPOSE, DEPTH_TO_SPACE, SPACE_TO_DEPTH, EXPAND, TILE, IDENTITY)
