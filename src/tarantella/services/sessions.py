"""What a user asks of stored sessions: the logins of people, kept in files that nobody else can read."""

from __future__ import annotations

import asyncio
from pathlib import Path

import orjson

from tarantella.domain.errors import InvalidInput
from tarantella.domain.session import Session, session_of, session_of_cookies
from tarantella.fetchers.browser.sessions import Sessions, StoredSession
from tarantella.services.app import App

__all__ = ["StoredSession", "check", "delete", "listed", "read_session_file", "store"]

MAX_BYTES = 10_000_000


async def store(app: App, name: str, session: Session) -> StoredSession:
    return await asyncio.to_thread(_sessions(app).save, name, session)


async def listed(app: App) -> list[StoredSession]:
    return await asyncio.to_thread(_sessions(app).listed)


def check(app: App, name: str) -> None:
    """Refuse a run for which there is no such login, before it asks for pages that need it."""
    _sessions(app).load(name)


async def delete(app: App, name: str) -> None:
    await asyncio.to_thread(_sessions(app).delete, name)


def read_session_file(path: Path) -> Session:
    """A storage state of Playwright's, cookies in JSON, or a cookies.txt."""
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise _unusable(f"{path} can't be read: {error.strerror}.", "Check the path.") from None
    if len(data) > MAX_BYTES:
        raise _unusable(f"{path} is larger than {MAX_BYTES:,} bytes.", "That is not a session.")
    if data.lstrip()[:1] in (b"{", b"["):
        try:
            return session_of(orjson.loads(data))
        except orjson.JSONDecodeError:
            raise _unusable(f"{path} is not JSON, although it looks like it.", "Export it again.") from None
    from tarantella.fetchers.cookies import read_cookies

    return session_of_cookies(read_cookies(path))


def _sessions(app: App) -> Sessions:
    return Sessions(app.settings.sessions_dir)


def _unusable(message: str, remedy: str) -> InvalidInput:
    return InvalidInput(message, field="session", remedy=remedy)
