"""Commands that speak to the API: that of a server if there is one, otherwise one that lives as long as the command."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import SplitResult, quote, urlencode, urlsplit

from tarantella.cli.terminal import Terminal, open_terminal
from tarantella.domain.errors import Conflict, InvalidInput, NotFound, StoreError, TarantellaError
from tarantella.domain.struct import Frozen

NEXT = "x-next-cursor"
TIMEOUT = 60.0
AT_ONCE = 200  # as many as the API gives of anything
TOKEN_VARIABLE = "TARANTELLA_TOKEN"  # noqa: S105 - the name of a variable, not a token
_KINDS: Mapping[int, type[TarantellaError]] = {
    401: InvalidInput,
    403: InvalidInput,
    404: NotFound,
    409: Conflict,
    422: InvalidInput,
    400: InvalidInput,
}


class Answer(Frozen):
    """What the API said."""

    status: int
    headers: Mapping[str, str]
    chunks: Iterator[bytes]

    def read(self) -> bytes:
        return b"".join(self.chunks)


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
            why = getattr(error, "strerror", None) or str(error) or type(error).__name__
            raise Unreachable(
                f"The server at {self._url} can't be reached: {why}.",
                remedy="Start it with `tarantella serve`, or choose another with --server.",
            ) from None
        return Answer(
            answer.status, {name.lower(): value for name, value in answer.getheaders()}, _chunks(answer.read1)
        )

    def close(self) -> None:
        pass


class Unreachable(TarantellaError):
    code = "server_unreachable"


class Refused(TarantellaError):
    """An answer of the API that is none of the usual errors."""

    code = "refused"


class Connection(Frozen):
    """What a command works with."""

    api: Api
    terminal: Terminal
    server: str | None  # the address of the server; None when there is none

    def ask(self, method: str, path: str, body: Any = None, **parameters: Any) -> Any:
        """The answer's JSON; what the API refuses is raised as the error that it is."""
        content = self._answered(method, path, body, parameters).read()
        return json.loads(content) if content else None

    def listed(self, path: str, limit: int, **parameters: Any) -> list[Any]:
        """So many of a list, which the API gives in slices."""
        found: list[Any] = []
        cursor: str | None = None
        while True:
            more = {**parameters, "limit": min(AT_ONCE, limit - len(found)), "cursor": cursor}
            answer = self._answered("GET", path, None, more)
            found += json.loads(answer.read())
            cursor = answer.headers.get(NEXT)
            if cursor is None or len(found) >= limit:
                return found

    def download(self, path: str, **parameters: Any) -> Iterator[bytes]:
        return self._answered("GET", path, None, parameters).chunks

    def _answered(self, method: str, path: str, body: Any, parameters: Mapping[str, Any]) -> Answer:
        query = urlencode({name: _plain(value) for name, value in parameters.items() if value is not None})
        answer = self.api.request(
            method, f"{path}?{query}" if query else path, json.dumps(body).encode() if body is not None else None
        )
        if answer.status >= 400:
            raise _error(answer)
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


def _chunks(read: Callable[[int], bytes]) -> Iterator[bytes]:
    while chunk := read(65_536):
        yield chunk


def _plain(value: Any) -> Any:
    return str(value).lower() if isinstance(value, bool) else value


def _error(answer: Answer) -> TarantellaError:
    try:
        problem = json.loads(answer.read())
        message, remedy, code = str(problem["detail"]), problem.get("remedy"), str(problem["code"])
    except (ValueError, KeyError, TypeError):
        return Refused(f"The server answered with status {answer.status}.", remedy="Is it a Tarantella?")
    if answer.status == 401:
        remedy = f"Set {TOKEN_VARIABLE} to a token; `tarantella tokens create` makes one."
    kind = _KINDS.get(answer.status, StoreError if code.startswith("store") else Refused)
    return kind(message, remedy=remedy, field=problem.get("field"))
