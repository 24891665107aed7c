"""The command line: parse, call, render. One module a command."""

from __future__ import annotations

from nanproof.cli.main import main

__all__ = ["main"]
