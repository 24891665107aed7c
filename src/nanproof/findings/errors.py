"""The errors that a caller of nanproof may see."""

from __future__ import annotations


class InputError(Exception):
    """What the user gave can't be used. ``str(error)`` is the one sentence that says what, where and the way out.

    The command line prints that sentence and ends with exit code 2, so raise it for a wrong file, range, name or
    option, and never for a bug of our own.
    """


class InternalError(Exception):
    """A bug of our own, with what we were at. The exception that it was made from is its ``__cause__``.

    The command line says how to report it and ends with exit code 3.
    """
