"""Every error that a user can meet.

TarantellaError
├── InvalidInput      what was asked for makes no sense; says which value and what would
│   ├── KeyReused     an Idempotency-Key that came with another request before
│   └── KeyAmbiguous  more than one Idempotency-Key in one request
├── NotFound          no such run, page, file
├── Conflict          the state doesn't allow it now
├── Gone              it was there, and was deleted meanwhile
├── Overloaded        too many do this at once; try again
├── StoreError        the database
│   ├── StoreBusy     locked for too long; try again
│   ├── StoreBroken   disk full, read-only
│   │   └── StoreDamaged  what is stored can't be read any more; no trying again will help
│   └── SchemaTooNew  written by a newer Tarantella
└── WorkerDead        this process was declared dead while it slept; it must not write any more
"""

from __future__ import annotations

from tarantella.domain.sentence import with_one_stop


class TarantellaError(Exception):
    """An error with a stable code, a message for people, and what to do about it."""

    code = "error"

    def __init__(
        self, message: str, *, remedy: str | None = None, field: str | None = None, limit: str | float | None = None
    ) -> None:
        super().__init__(message)
        # Most messages end with what somebody else said, be it a sentence or not.
        self.message = with_one_stop(message)
        self.remedy = with_one_stop(remedy) if remedy else remedy
        self.field = field
        self.limit = limit

    def __str__(self) -> str:
        return f"{self.message} {self.remedy}" if self.remedy else self.message


class InvalidInput(TarantellaError):
    code = "invalid_input"


class KeyReused(InvalidInput):
    code = "idempotency_key_reused"


class KeyAmbiguous(InvalidInput):
    code = "idempotency_key_ambiguous"


class NotFound(TarantellaError):
    code = "not_found"


class Conflict(TarantellaError):
    code = "conflict"


class Gone(TarantellaError):
    code = "gone"


class Overloaded(TarantellaError):
    code = "overloaded"


class StoreError(TarantellaError):
    code = "store"


class StoreBusy(StoreError):
    code = "store_busy"


class StoreBroken(StoreError):
    code = "store_broken"


class StoreDamaged(StoreBroken):
    pass


class SchemaTooNew(StoreError):
    code = "schema_too_new"


class WorkerDead(TarantellaError):
    code = "worker_dead"
