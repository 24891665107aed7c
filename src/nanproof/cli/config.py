"""Settings from a file: [tool.nanproof] in pyproject.toml, or nanproof.toml with the same keys at the top.

The nearest file counts, looking in the current folder and upwards until the root of the repository. Options on the
command line win; ranges, sizes and roles are merged name by name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nanproof.cli import values
from nanproof.findings.errors import InputError
from nanproof.findings.names import hint, one_of

KEYS = ("ranges", "dims", "roles", "weights", "runtime", "effort", "time_limit", "select", "ignore", "baseline")


@dataclass(frozen=True, slots=True)
class Settings:
    """How to check: what a configuration file or a command line says. None and empty mean: not said."""

    ranges: Mapping[str, values.Ends] = field(default_factory=dict)
    dims: Mapping[str, values.Sizes] = field(default_factory=dict)
    roles: Mapping[str, str] = field(default_factory=dict)
    weights: str | None = None
    runtime: str | None = None
    effort: str | None = None
    time_limit: float | None = None
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    baseline: Path | None = None


def merge(base: Settings, over: Settings) -> Settings:
    """Both together; what ``over`` says wins."""
    return Settings(
        ranges={**base.ranges, **over.ranges},
        dims={**base.dims, **over.dims},
        roles={**base.roles, **over.roles},
        weights=over.weights or base.weights,
        runtime=over.runtime or base.runtime,
        effort=over.effort or base.effort,
        time_limit=base.time_limit if over.time_limit is None else over.time_limit,
        select=over.select or base.select,
        ignore=over.ignore or base.ignore,
        baseline=over.baseline or base.baseline,
    )


def load(given: str | None, start: Path) -> Settings:
    """The settings of the given file, or of the nearest one, or none."""
    if given is not None:
        path = Path(given)
        table = _table(path)
        if table is None:
            raise InputError(f"{given} has no [tool.nanproof] table")
        return settings(table, path)
    for folder in (start, *start.parents):
        for name in ("nanproof.toml", "pyproject.toml"):
            path = folder / name
            table = _table(path) if path.is_file() else None
            if table is not None:
                return settings(table, path)
        if (folder / ".git").exists():
            break
    return Settings()


def settings(table: Mapping[str, Any], path: Path) -> Settings:
    """Check the values of a configuration table. Errors name the file and the key."""
    for key in table:
        if key not in KEYS:
            raise InputError(f'{path}: the key "{key}" is not known: {hint(key, KEYS)}')
    return Settings(
        ranges={
            k: values.pair(_list(v, path, f"ranges.{k}"), f"{path}: ranges.{k}")
            for k, v in _items(table, "ranges", path)
        },
        dims={k: _dim(v, f"{path}: dims.{k}") for k, v in _items(table, "dims", path)},
        roles={k: values.role(str(v), f"{path}: roles.{k}") for k, v in _items(table, "roles", path)},
        weights=_choice(table, "weights", values.WEIGHTS, path),
        runtime=_choice(table, "runtime", values.RUNTIMES, path),
        effort=_choice(table, "effort", values.EFFORTS, path),
        time_limit=values.duration(str(table["time_limit"]), f"{path}: time_limit") if "time_limit" in table else None,
        select=values.codes(_texts(table, "select", path), f"{path}: select"),
        ignore=values.codes(_texts(table, "ignore", path), f"{path}: ignore"),
        baseline=path.parent / str(table["baseline"]) if "baseline" in table else None,
    )


def _table(path: Path) -> Mapping[str, Any] | None:
    """The table of nanproof in a TOML file, None if a pyproject.toml has none."""
    try:
        import tomllib
    except ModuleNotFoundError:
        import tomli as tomllib

    try:
        content = tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise InputError(f"{path} can't be read: {(error.strerror or str(error)).lower()}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path} is not valid TOML: {error}") from None
    if path.name != "pyproject.toml":
        return dict(content)
    tool = content.get("tool")
    table = tool.get("nanproof") if isinstance(tool, dict) else None
    return dict(table) if isinstance(table, dict) else None


def _items(table: Mapping[str, Any], key: str, path: Path) -> list[tuple[str, Any]]:
    value = table.get(key, {})
    if not isinstance(value, dict):
        raise InputError(f"{path}: {key} is a table of names, such as [tool.nanproof.{key}]")
    return list(value.items())


def _list(value: object, path: Path, key: str) -> Sequence[object]:
    if not isinstance(value, list):
        raise InputError(f"{path}: {key} is two numbers, such as [0, 1]")
    return value


def _dim(value: object, where: str) -> values.Sizes:
    """A size: 8, [1, 512] or "1..512"."""
    if isinstance(value, str):
        return values.sizes(value, where)
    if isinstance(value, list) and len(value) == 2:
        return values.size_pair(value[0], value[1], where)
    return values.size_pair(value, value, where)


def _choice(table: Mapping[str, Any], key: str, known: Sequence[str], path: Path) -> str | None:
    return one_of(str(table[key]), known, f"{path}: {key}") if key in table else None


def _texts(table: Mapping[str, Any], key: str, path: Path) -> list[str]:
    value = table.get(key, [])
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise InputError(f'{path}: {key} is a list of codes, such as ["NP101", "NP2"]')
    return value
