"""Strings. They hold no numbers, so that their Boxes only have shapes; what is counted in them is bounded."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from math import inf
from typing import Any

import numpy as np

from nanproof.dims import Size, bounds, broadcast
from nanproof.domain.box import Box, Shape, top
from nanproof.domain.partition import everywhere
from nanproof.numerics.dtypes import BOOL, FLOAT32, INT64, STRING
from nanproof.ops.call import Call
from nanproof.ops.operands import MOST
from nanproof.ops.record import Case, Op, Operand, Samples

_WORDS = Operand((3,), dtype="string", values=("monday", "Tuesday", "see me"))


def _texts(function: Any, *arrays: Any) -> Any:
    return np.frompyfunc(function, len(arrays), 1)(*(np.asarray(a, object) for a in arrays))


# -- StringNormalizer ----------------------------------------------------------------------------------------


def _run_normalizer(xp: Any, x: Any, **attrs: Any) -> Any:
    stop = tuple(attrs.get("stopwords", ()))
    exact = bool(attrs.get("is_case_sensitive", 0))
    change = {"LOWER": str.lower, "UPPER": str.upper}.get(attrs.get("case_change_action", "NONE"), str)
    words = [str(w) for w in np.asarray(x, object).reshape(-1)]
    if stop:
        banned = set(stop) if exact else {w.lower() for w in stop}
        words = [w for w in words if (w if exact else w.lower()) not in banned] or [""]
    return np.array([change(w) for w in words], object).reshape((1, -1) if x.ndim == 2 else (-1,))


def _normalizer(call: Call, x: Box) -> Box:
    """Strings in, strings out: stop words go, so that only the values tell how many are left (at least one)."""
    if x.shape is None or not call.attr("stopwords"):
        return top(STRING, x.shape)
    return top(STRING, (*x.shape[:-1], call.fresh("words")))


STRING_NORMALIZER = Op(
    "StringNormalizer",
    run=_run_normalizer,
    bound=_normalizer,
    exact=True,
    result="string",
    samples=Samples(
        cases=(Case((_WORDS,)), Case((_WORDS,), {"stopwords": ("monday",), "case_change_action": "UPPER"})),
        dtypes=("string",),
    ),
)


# -- StringConcat, StringSplit, RegexFullMatch ---------------------------------------------------------------


def _concat(call: Call, x: Box, y: Box) -> Box:
    """Strings in, strings out; shapes broadcast."""
    return top(STRING, None if x.shape is None or y.shape is None else broadcast(x.shape, y.shape))


STRING_CONCAT = Op(
    "StringConcat",
    run=lambda xp, x, y, **_: _texts(lambda a, b: a + b, x, y),
    bound=_concat,
    exact=True,
    result="string",
    samples=Samples(cases=(Case((_WORDS, _WORDS)),), dtypes=("string",)),
)


def _run_split(xp: Any, x: Any, *, delimiter: str | None = None, maxsplit: int | None = None, **_: Any) -> Any:
    most = -1 if maxsplit is None else maxsplit
    parts = [str(w).split(delimiter or None, most) for w in np.asarray(x, object).reshape(-1)]
    width = max(map(len, parts), default=0)
    rows = [[*p, *[""] * (width - len(p))] for p in parts]
    table = np.array(rows, object).reshape((*x.shape, width))
    return table, np.array([len(p) for p in parts], np.int64).reshape(x.shape)


def _split(call: Call, x: Box) -> tuple[Box, ...]:
    """Strings in, strings and their number out: ``maxsplit`` limits it, nothing else does."""
    limit = call.attr("maxsplit")
    most = 2.0**63 if limit is None or int(limit) < 0 else float(int(limit) + 1)
    count = inf if x.shape is not None and 0 in x.shape else 0.0
    shape: Shape = None if x.shape is None else (*x.shape, call.fresh("parts"))
    counts = Box(INT64, x.shape, count, most if count == 0.0 else -inf)
    return (top(STRING, shape), counts)[: call.outputs]


STRING_SPLIT = Op(
    "StringSplit",
    run=_run_split,
    bound=_split,
    exact=True,
    result="string",
    samples=Samples(
        cases=(Case((_WORDS,), outputs=2), Case((_WORDS,), {"delimiter": "e", "maxsplit": 1}, outputs=2)),
        dtypes=("string",),
    ),
)


def _match(call: Call, x: Box) -> Box:
    """Strings in, truth values out: either may be."""
    empty = x.shape is not None and 0 in x.shape
    return Box(BOOL, x.shape, inf, -inf) if empty else Box(BOOL, x.shape, 0.0, 1.0)


REGEX_FULL_MATCH = Op(
    "RegexFullMatch",
    run=lambda xp, x, *, pattern="", **_: _texts(lambda w: re.fullmatch(pattern, w) is not None, x).astype(bool),
    bound=_match,
    exact=True,
    result="bool",
    samples=Samples(cases=(Case((_WORDS,), {"pattern": "[a-z]*"}),), dtypes=("string",)),
)


# -- TfIdfVectorizer -----------------------------------------------------------------------------------------


MOST_STEPS = 1 << 12
"""Most distances between the items of an n-gram that are counted one by one."""


def _grams(attrs: Any) -> list[tuple[Any, ...]]:
    """The n-grams of the pool in order: all of one item, then all of two ..."""
    pool = attrs.get("pool_strings") or attrs.get("pool_int64s") or ()
    starts = [*attrs["ngram_counts"], len(pool)]
    found = []
    for n, (start, stop) in enumerate(pairwise(starts), start=1):
        found += [tuple(pool[i : i + n]) for i in range(max(int(start), 0), min(int(stop), len(pool)), n)]
    return found


def _steps(n: int, attrs: Any) -> range:
    """The distances between the items of an n-gram: a single item has none."""
    return range(1, 2) if n == 1 else range(1, int(attrs["max_skip_count"]) + 2)


def _run_tfidf(xp: Any, x: Any, **attrs: Any) -> Any:
    places = {g: int(p) for g, p in zip(_grams(attrs), attrs["ngram_indexes"], strict=False)}
    width = max(map(int, attrs["ngram_indexes"])) + 1
    rows = np.asarray(x).reshape((-1, np.shape(x)[-1])).tolist()
    counts = np.zeros((len(rows), width))
    for row, items in enumerate(rows):
        for gram, times in _seen(items, attrs).items():
            if gram in places:
                counts[row, places[gram]] += times
    weights = np.asarray(attrs.get("weights") or np.ones(width), float)
    weighted = {
        "TF": counts,
        "IDF": np.where(counts > 0, _at(weights, width), 0.0),
        "TFIDF": counts * _at(weights, width),
    }
    return xp.asarray(weighted[attrs["mode"]].reshape((*np.shape(x)[:-1], width)))


def _at(weights: Any, width: int) -> Any:
    """The weight of each column: the runtimes take them in the order of the columns."""
    found = np.zeros(width)
    found[: min(width, len(weights))] = weights[:width]
    return found


def _seen(items: Sequence[Any], attrs: Any) -> Counter[tuple[Any, ...]]:
    found: Counter[tuple[Any, ...]] = Counter()
    for n in range(int(attrs["min_gram_length"]), int(attrs["max_gram_length"]) + 1):
        for step in _steps(n, attrs):
            span = step * (n - 1)
            found.update(tuple(items[i : i + span + 1 : step]) for i in range(len(items) - span))
    return found


def _most_counts(call: Call, size: Size) -> dict[int, float]:
    """How often an n-gram can be found in a row, for each n."""
    high = float(size) if isinstance(size, int) else bounds(size, call.setting.dims)[1]
    longest = inf if high is None else float(high)
    lengths = range(1, min(int(call.attrs["max_gram_length"]), len(call.attrs["ngram_counts"])) + 1)
    return {n: _most_times(longest, n, _steps(n, call.attrs)) for n in lengths}


def _most_times(longest: float, n: int, steps: range) -> float:
    """How often an n-gram fits into a row, over all distances between its items."""
    fitting = min(float(steps.stop - 1), longest / (n - 1)) if n > 1 else 1.0
    if fitting > MOST_STEPS:
        return fitting * longest
    return sum(max(0.0, longest - step * (n - 1)) for step in steps[: int(fitting) + 1])


def _tfidf(call: Call, x: Box) -> Box:
    """Counts of n-grams, at most as many as a row has places for; times their weights.

    The specification gives weights in the order of the n-grams, the runtimes read them in the
    order of the columns: a column is bounded for both.
    """
    places = [int(p) for p in call.attrs["ngram_indexes"]]
    width = max(places) + 1
    shape: Shape = None if x.shape is None else (*x.shape[:-1], width)
    if min(places) < 0 or width > MOST:
        return call.unknown(FLOAT32, shape)
    most = _most_counts(call, call.fresh("items") if x.shape is None else x.shape[-1])
    grams = _grams(call.attrs)
    high, mode, weights = np.zeros(width), call.attrs["mode"], call.attr("weights") or ()
    low_weight, high_weight = np.full(width, inf), np.full(width, -inf)
    for j, (gram, place) in enumerate(zip(grams, places, strict=False)):
        high[place] += most.get(len(gram), inf)
        for i in (j, place):
            weight = float(weights[i]) if i < len(weights) else 1.0
            low_weight[place] = min(low_weight[place], weight)
            high_weight[place] = max(high_weight[place], weight)
    if mode != "TF" and weights:
        high = np.minimum(high, 1.0) if mode == "IDF" else high
        unused = high == 0.0
        low_weight, high_weight = np.where(unused, 0.0, low_weight), np.where(unused, 0.0, high_weight)
        lo = np.where(low_weight < 0.0, high * low_weight, 0.0)
        hi = np.where(high_weight > 0.0, high * high_weight, 0.0)
    else:
        lo, hi = np.zeros(width), (np.minimum(high, 1.0) if mode == "IDF" else high)
    if shape is None or 0 in shape or width == 1:
        empty = shape is not None and 0 in shape
        return (
            Box(FLOAT32, shape, inf, -inf) if empty else call.settle(FLOAT32, shape, float(lo.min()), float(hi.max()))
        )
    grid = (*(1,) * (len(shape) - 1), width)
    cuts = (*(None,) * (len(shape) - 1), everywhere(width))
    return call.settle(FLOAT32, shape, lo.reshape(grid), hi.reshape(grid), cuts=cuts)


_POOL = {"pool_int64s": (2, 3, 5, 4, 5, 6, 7, 8, 6, 7), "ngram_counts": (0, 4), "ngram_indexes": (0, 1, 2, 3, 4, 5, 6)}
_ITEMS = Operand((2, 12), dtype="int64", low=2, high=8)


def _case(operand: Operand, **attrs: Any) -> Case:
    usual = {"mode": "TF", "min_gram_length": 1, "max_gram_length": 2, "max_skip_count": 0}
    return Case((operand,), {**_POOL, **usual, **attrs})


_WEIGHTS = (0.5, -2.0, 1.5, 3.0, -0.25, 1.0, 7.0)

TFIDF_VECTORIZER = Op(
    "TfIdfVectorizer",
    run=_run_tfidf,
    bound=_tfidf,
    overflow="NP214",
    result="float32",
    samples=Samples(
        cases=(
            _case(_ITEMS),
            _case(_ITEMS, max_skip_count=5),
            _case(_ITEMS, min_gram_length=2, max_skip_count=2),
            _case(Operand((12,), dtype="int64", low=2, high=8)),
            _case(_ITEMS, mode="IDF", weights=_WEIGHTS),
            _case(_ITEMS, mode="TFIDF", weights=_WEIGHTS),
            _case(_ITEMS, mode="TFIDF", ngram_indexes=(6, 5, 4, 3, 2, 1, 0), weights=_WEIGHTS),
        ),
        dtypes=("float32",),
    ),
)

OPS = (STRING_NORMALIZER, STRING_CONCAT, STRING_SPLIT, REGEX_FULL_MATCH, TFIDF_VECTORIZER)
