"""Commands that speak to the API: that of a server if there is one, otherwise one that lives as long as the command."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import SplitResult, quote, urlencode, urlsplit

from tarantella.cli.answers import Answer, not_ours, refusal, understood
from tarantella.cli.terminal import Terminal, open_terminal
from tarantella.domain.errors import InvalidInput, TarantellaError
from tarantella.domain.struct import Frozen

if TYPE_CHECKING:
    from http.client import HTTPResponse

NEXT = "x-next-cursor"
NO_CONTENT = 204
TIMEOUT = 60.0
AT_ONCE = 200  # as many as the API gives of anything


class Api(Protocol):
    """Somebody who answers requests."""

    def request(self, method: str, target: str, body: bytes | None) -> Answer: ...

    def close(self) -> None: ...


def _understood(url: str) -> SplitResult | None:
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        return None
    return parts if usable else None


class Remote:
    """A server, reached over HTTP."""

    def __init__(self, url: str, token: str | None) -> None:
        parts = _understood(url if "//" in url else f"http://{url}")
        if parts is None:
            raise InvalidInput(
                "The server's address can't be understood.", field="server", remedy="Write http://127.0.0.1:8000."
            )
        self._url = f"{parts.scheme}://{parts.hostname}:{parts.port or (443 if parts.scheme == 'https' else 80)}"
        self._parts = parts
        self._token = token

    def request(self, method: str, target: str, body: bytes | None) -> Answer:
        # Not urllib's opener: it would follow redirects, and take a proxy from the environment for a local server.
        from http.client import HTTPConnection, HTTPException, HTTPSConnection

        parts = self._parts
        kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
        assert parts.hostname is not None
        connection = kind(parts.hostname, parts.port, timeout=TIMEOUT)
        headers = {"Accept": "*/*", **({"Content-Type": "application/json"} if body is not None else {})}
        if self._token:
            headers["Authorization"] = f"Bearer {self._token}"
        try:
            connection.request(method, parts.path.rstrip("/") + target, body, headers)
            answer = connection.getresponse()
        except (OSError, HTTPException) as error:
            raise Unreachable(
                f"The server at {self._url} can't be reached: {_why(error)}.",
                remedy="Start it with `tarantella serve`, or choose another with --server.",
            ) from None
        return Answer(answer.status, {name.lower(): value for name, value in answer.getheaders()}, _chunks(answer))

    def close(self) -> None:
        pass


class Unreachable(TarantellaError):
    code = "server_unreachable"


class Connection(Frozen):
    """What a command works with."""

    api: Api
    terminal: Terminal
    server: str | None  # the address of the server; None when there is none

    def ask(self, method: str, path: str, body: Any = None, **parameters: Any) -> Any:
        """What the API says of one thing; what it refuses is raised as the error that it is."""
        answer = self._answered(method, path, body, parameters)
        return None if answer.status == NO_CONTENT else _checked(understood(answer.read()), Mapping)

    def ask_all(self, path: str, **parameters: Any) -> list[Any]:
        """A list that the API gives at once."""
        return _things(self._answered("GET", path, None, parameters))

    def listed(self, path: str, limit: int, **parameters: Any) -> list[Any]:
        """So many of a list, which the API gives in slices."""
        found: list[Any] = []
        cursor: str | None = None
        while True:
            more = {**parameters, "limit": min(AT_ONCE, limit - len(found)), "cursor": cursor}
            answer = self._answered("GET", path, None, more)
            found += _things(answer)
            cursor = answer.headers.get(NEXT)
            if cursor is None or len(found) >= limit:
                return found

    def download(self, path: str, kind: str, **parameters: Any) -> Iterator[bytes]:
        """What is no JSON, but of this media type."""
        answer = self._answered("GET", path, None, parameters)
        if not answer.headers.get("content-type", "").startswith(kind):
            raise not_ours()
        return answer.chunks

    def _answered(self, method: str, path: str, body: Any, parameters: Mapping[str, Any]) -> Answer:
        query = urlencode({name: _plain(value) for name, value in parameters.items() if value is not None})
        target = f"{path}?{query}" if query else path
        answer = self.api.request(method, target, json.dumps(body).encode() if body is not None else None)
        if not answer.is_good:
            raise refusal(answer, (self.server or "").rstrip("/"), target)
        return answer


def part(text: str) -> str:
    """A part of a path, whatever is in it."""
    return quote(text, safe="")


@contextmanager
def connected(
    data_dir: Path | None, database_url: str | None, server: str | None, *, verbose: int = 0, quiet: bool = False
) -> Iterator[Connection]:
    """The API of the server that is meant, or one of our own on the same data."""
    from tarantella.cli import logs
    from tarantella.services.seat import running
    from tarantella.settings import load

    terminal = open_terminal(quiet=quiet)
    logs.configure(verbose=verbose, warnings=False, say=terminal.log)
    settings = load(data_dir=data_dir, database_url=database_url, server=server)
    there = running(settings.data_dir) if settings.server is None else None
    url = settings.server or (there.url if there is not None else None)
    api = Remote(url, settings.token) if url is not None else _local(settings)
    try:
        yield Connection(api, terminal, url)
    finally:
        api.close()


def _local(settings: Any) -> Api:
    from tarantella.bootstrap import open_app
    from tarantella.cli.local_api import LocalApi

    return LocalApi(open_app(settings))


def _chunks(answer: HTTPResponse) -> Iterator[bytes]:
    """All of an answer, or an error: part of it is of no use, and nobody could tell."""
    from http.client import HTTPException

    left = answer.length  # None where it is not known before the end
    try:
        while chunk := answer.read1(65_536):
            left = None if left is None else left - len(chunk)
            yield chunk
    except HTTPException:
        raise _cut_off("it stopped in the middle") from None
    except OSError as error:
        raise _cut_off(_why(error)) from None
    if left:
        raise _cut_off(f"{left:,} bytes are missing")


def _cut_off(why: str) -> Unreachable:
    return Unreachable(f"The connection to the server ended before the answer did: {why}.", remedy="Ask again.")


def _why(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error) or type(error).__name__


def _things(answer: Answer) -> list[Any]:
    found: list[Any] = _checked(understood(answer.read()), list)
    return [_checked(each, Mapping) for each in found]


def _checked(found: Any, kind: type) -> Any:
    if not isinstance(found, kind):
        raise not_ours()
    return found


def _plain(value: Any) -> Any:
    return str(value).lower() if isinstance(value, bool) else value
