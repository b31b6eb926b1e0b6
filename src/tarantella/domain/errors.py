"""Every error that a user can meet.

TarantellaError
├── InvalidInput      what was asked for makes no sense; says which value and what would
├── NotFound          no such run, page, file
├── Conflict          the state doesn't allow it now
├── StoreError        the database
│   ├── StoreBusy     locked for too long; try again
│   ├── StoreBroken   disk full, read-only, not a database
│   └── SchemaTooNew  written by a newer Tarantella
└── WorkerDead        this process was declared dead while it slept; it must not write any more
"""

from __future__ import annotations


class TarantellaError(Exception):
    """An error with a stable code, a message for people, and what to do about it."""

    code = "error"

    def __init__(self, message: str, *, remedy: str | None = None, field: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy
        self.field = field

    def __str__(self) -> str:
        return f"{self.message} {self.remedy}" if self.remedy else self.message


class InvalidInput(TarantellaError):
    code = "invalid_input"


class NotFound(TarantellaError):
    code = "not_found"


class Conflict(TarantellaError):
    code = "conflict"


class StoreError(TarantellaError):
    code = "store"


class StoreBusy(StoreError):
    code = "store_busy"


class StoreBroken(StoreError):
    code = "store_broken"


class SchemaTooNew(StoreError):
    code = "schema_too_new"


class WorkerDead(TarantellaError):
    code = "worker_dead"
