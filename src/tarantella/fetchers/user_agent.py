"""Who we say we are: ourselves."""

from __future__ import annotations

from tarantella import __version__


def default_user_agent() -> str:
    """An honest name that a site can find in its logs and address in its robots.txt."""
    return f"Tarantella/{__version__} (web data collection; obeys robots.txt)"
