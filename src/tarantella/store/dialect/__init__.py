"""The databases, one file each: what has no common spelling is there, and the rest of the store is the same SQL for all."""

from __future__ import annotations

from pathlib import Path

from tarantella.store.dialect.contract import Dialect, Place

__all__ = ["Dialect", "Place", "dialect_of"]


def dialect_of(place: Place) -> Dialect:
    """How to speak to the database at this place."""
    if isinstance(place, Path):
        from tarantella.store.dialect.sqlite import Sqlite

        return Sqlite(place)
    from tarantella.store.dialect.postgres import Postgres

    return Postgres(place)
