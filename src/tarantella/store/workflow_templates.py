"""Definitions of workflows that are kept under a name."""

from __future__ import annotations

from typing import Self

import orjson

from tarantella.domain.errors import NotFound
from tarantella.domain.struct import Frozen
from tarantella.domain.workflow import Definition
from tarantella.store.connection import Row
from tarantella.store.tx import Tx


class Template(Frozen):
    """A template's row."""

    name: str
    version: int
    definition: Definition
    created_at: float
    updated_at: float

    @classmethod
    def of(cls, row: Row) -> Self:
        definition = Definition.from_json(orjson.loads(row.definition))
        return cls(row.name, row.version, definition, row.created_at, row.updated_at)


def keep(tx: Tx, name: str, definition: Definition, now: float) -> Template:
    """Keep a definition; where it differs from what was kept under the name, that is a new version."""
    packed = orjson.dumps(definition.to_json()).decode()
    tx.execute(
        "INSERT INTO workflow_templates (name, version, definition, created_at, updated_at) "
        "VALUES (:name, 1, :definition, :now, :now) ON CONFLICT (name) DO UPDATE SET "
        "version = workflow_templates.version + 1, definition = excluded.definition, updated_at = excluded.updated_at "
        "WHERE workflow_templates.definition <> excluded.definition",
        name=name,
        definition=packed,
        now=now,
    )
    return get(tx, name)


def get(tx: Tx, name: str) -> Template:
    row = tx.first("SELECT * FROM workflow_templates WHERE name = :name", name=name)
    if row is None:
        remedy = "GET /workflows/templates, or `tarantella workflows templates list`, has those that there are."
        raise NotFound(f"There is no template {name[:100]!r}.", remedy=remedy, field="template")
    return Template.of(row)


def listed(tx: Tx, *, limit: int, after: str = "") -> list[Template]:
    """By name."""
    sql = "SELECT * FROM workflow_templates WHERE name > :after ORDER BY name LIMIT :limit"
    rows = tx.all(sql, after=after, limit=limit)
    return [Template.of(row) for row in rows]


def delete(tx: Tx, name: str) -> None:
    if not tx.execute("DELETE FROM workflow_templates WHERE name = :name", name=name):
        get(tx, name)
