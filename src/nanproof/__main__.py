"""``python -m nanproof``."""

from __future__ import annotations

from nanproof.cli.main import main

if __name__ == "__main__":
    raise SystemExit(main())
