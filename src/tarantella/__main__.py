"""`python -m tarantella` is the command `tarantella`."""

from __future__ import annotations

from tarantella.cli.app import main

if __name__ == "__main__":
    main()
