"""Lines of the user's program in a file's debug information, where it was saved along."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from nanproof.frontends.programs.frames import LIBRARIES, shown

Places = dict[tuple[str, str], str]


def places_in(info: Any) -> Places:
    """'file:line' by (function, call): the innermost line that is no library's. Traces are keyed 'call@function'."""
    found: Places = {}
    files = list(info.files)
    for key, lines in _traces(info):
        users = [line for line in lines if 0 <= line.file_index < len(files) and _is_users(files[line.file_index])]
        if users:
            name, _, function = key.partition("@")
            found[function, name] = f"{shown(files[users[-1].file_index])}:{users[-1].line}"
    return found


def _traces(info: Any) -> Iterator[tuple[str, list[Any]]]:
    def lines(trace: Any) -> list[Any]:
        return [
            *trace.file_line_cols,
            *(info.frames_by_id[number] for number in trace.frame_id if number in info.frames_by_id),
        ]

    for key, trace in info.traces.items():
        yield key, lines(trace)
    for key, number in info.name_to_trace_id.items():
        if number in info.traces_by_id:
            yield key, lines(info.traces_by_id[number])


def _is_users(file: str) -> bool:
    return not file.startswith("<") and not any(part in file for part in (*LIBRARIES, "/lib/python3"))
