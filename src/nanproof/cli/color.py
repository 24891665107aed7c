"""Whether to use colours."""

from __future__ import annotations

import os
from typing import TextIO


def colored(stream: TextIO, *, forbidden: bool) -> bool:
    """On a terminal that knows them, unless the user said no: by option or by the NO_COLOR convention."""
    if forbidden or os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return stream.isatty() and os.environ.get("TERM") != "dumb"
