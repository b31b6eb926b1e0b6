"""Runs the migrations on the connection that the schema step opened, inside its transaction."""

from __future__ import annotations

from alembic import context

from tarantella.store.tables import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata)
context.run_migrations()
