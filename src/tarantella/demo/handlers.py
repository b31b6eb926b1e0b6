"""What the demo site answers, address by address."""

from __future__ import annotations

import asyncio
import json
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from urllib.parse import parse_qs, urlsplit

from tarantella.demo import content, layout, market
from tarantella.demo.stories import SECTIONS

HTML = "text/html; charset=utf-8"
TEXT = "text/plain; charset=utf-8"
JSON = "application/json"


@dataclass(frozen=True, slots=True)
class Answer:
    """A response, before it is put on the wire."""

    status: HTTPStatus
    body: bytes
    content_type: str = HTML
    headers: Mapping[str, str] = field(default_factory=dict)


Handler = Callable[[str], Awaitable[Answer]]


class Handlers:
    """The answers of one running site; it counts, because some pages refuse their first callers."""

    def __init__(self, siesta_seconds: float = content.SIESTA_SECONDS) -> None:
        self.hits: Counter[str] = Counter()
        self._siesta_seconds = siesta_seconds
        self._refused: Counter[str] = Counter()
        self._pages = _rendered_pages()
        self._special: Mapping[str, Handler] = {
            "/archive": self._archive,
            "/robots.txt": self._robots,
            content.SWING_BRIDGE: self._swing_bridge,
            content.TICKET_WINDOW: self._ticket_window,
            content.SIESTA: self._siesta,
            content.TODAYS_STORY: self._redirect,
            content.OLD_ADDRESS: self._redirect,
            content.BACK_DOOR: self._back_door,
            content.TIDES: self._tides,
            market.PATH: self._market,
            market.STALLS_PATH: self._stalls,
        }

    async def answer(self, method: str, target: str, cookie: str = "") -> Answer:
        """Answer one request."""
        if method not in {"GET", "HEAD"}:
            text = "This site can only be read: use GET or HEAD."
            return _note(HTTPStatus.METHOD_NOT_ALLOWED, "Not allowed", text, {"Allow": "GET, HEAD"})
        path = urlsplit(target).path
        self.hits[path] += 1
        if page := self._pages.get(path):
            return Answer(HTTPStatus.OK, page)
        if path == content.BACK_DOOR and "knocks=3" in cookie:
            return _note(HTTPStatus.OK, "The back door", "So it is you. Mind the third step.")
        if handler := self._special.get(path):
            return await handler(target)
        return _not_found()

    async def _archive(self, target: str) -> Answer:
        number = parse_qs(urlsplit(target).query).get("page", ["1"])[0]
        if not re.fullmatch(r"[0-9]{1,3}", number) or not 1 <= int(number) <= content.ARCHIVE_PAGES:
            return _not_found()
        return Answer(HTTPStatus.OK, layout.archive(int(number)).encode())

    async def _robots(self, _target: str) -> Answer:
        return Answer(HTTPStatus.OK, content.ROBOTS_TXT.encode(), TEXT)

    async def _swing_bridge(self, _target: str) -> Answer:
        if self._refuses(content.SWING_BRIDGE, content.SWING_BRIDGE_REFUSALS):
            return _note(HTTPStatus.SERVICE_UNAVAILABLE, "The bridge is open", "A ship is passing. Try again soon.")
        return _note(HTTPStatus.OK, "The swing bridge", "Closed for ships, open for you: cross at your leisure.")

    async def _ticket_window(self, _target: str) -> Answer:
        if self._refuses(content.TICKET_WINDOW, content.TICKET_WINDOW_REFUSALS):
            wait = {"Retry-After": str(content.TICKET_WINDOW_RETRY_AFTER_SECONDS)}
            return _note(HTTPStatus.TOO_MANY_REQUESTS, "One at a time", "Please come back in a second.", wait)
        return _note(HTTPStatus.OK, "The ticket window", "One ticket to the other shore: keep it dry.")

    async def _siesta(self, _target: str) -> Answer:
        await asyncio.sleep(self._siesta_seconds)
        return _note(HTTPStatus.OK, "The siesta", "You waited. Hardly anybody does. The shutters are open again.")

    async def _redirect(self, target: str) -> Answer:
        goal = content.REDIRECTS[urlsplit(target).path]
        return _note(HTTPStatus.MOVED_PERMANENTLY, "Moved", f"This story now lives at {goal}.", {"Location": goal})

    async def _back_door(self, _target: str) -> Answer:
        return Answer(HTTPStatus.FORBIDDEN, layout.back_door().encode())

    async def _tides(self, _target: str) -> Answer:
        return Answer(HTTPStatus.OK, json.dumps(content.TIDE_TABLE, indent=2).encode(), JSON)

    async def _market(self, _target: str) -> Answer:
        return Answer(HTTPStatus.OK, market.PAGE.encode())

    async def _stalls(self, target: str) -> Answer:
        return Answer(HTTPStatus.OK, market.stalls(target), JSON)

    def _refuses(self, path: str, times: int) -> bool:
        self._refused[path] += 1
        return self._refused[path] <= times


def _rendered_pages() -> Mapping[str, bytes]:
    pages = {
        content.HOME: layout.home(),
        content.ABOUT: layout.about(),
        content.CURIOSITIES: layout.curiosities(),
        content.PUPPET_THEATRE: layout.puppet_theatre(),
        content.EDITORS_DRAWER: layout.note("The editor's drawer", "Letters, a stale biscuit, and robots.txt."),
    }
    pages |= {content.section_path(section.key): layout.section(section) for section in SECTIONS}
    pages |= {content.desk_path(section.key): layout.desk(section) for section in SECTIONS}
    pages |= {article.path: layout.article(article) for article in (*content.ARTICLES, content.UNLISTED)}
    return {path: page.encode() for path, page in pages.items()}


def _note(status: HTTPStatus, title: str, text: str, headers: Mapping[str, str] | None = None) -> Answer:
    return Answer(status, layout.note(title, text).encode(), headers=headers or {})


def _not_found() -> Answer:
    return _note(HTTPStatus.NOT_FOUND, "Lost at sea", "No such page has ever been washed ashore here.")
