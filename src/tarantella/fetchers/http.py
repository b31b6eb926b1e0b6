"""The plain HTTP strategy."""

from __future__ import annotations

from datetime import timedelta
from time import monotonic, time

from wreq import Client, Version
from wreq import Response as Answer

from tarantella.domain.failure import Failure
from tarantella.domain.url import Url
from tarantella.fetchers.body import read_body, read_error_page, release
from tarantella.fetchers.clients import IDLE_SECONDS, MAX_CLIENTS, Clients
from tarantella.fetchers.contract import HTTP_1, HTTP_2, FetchError, Request, Response
from tarantella.fetchers.cookies import cookie_pairs, set_by
from tarantella.fetchers.guard import Guard
from tarantella.fetchers.headers import Headers
from tarantella.fetchers.proxy import parse_proxy
from tarantella.fetchers.redirects import STATUSES, Trail
from tarantella.fetchers.translation import proxy_failure, translated

_HTTP_2 = Version.HTTP_2


class HttpFetcher:
    """Fetches pages, follows redirects on the same host, and dials only what the guard allows."""

    def __init__(self, guard: Guard, *, max_clients: int = MAX_CLIENTS) -> None:
        self._clients = Clients(guard, max_clients)

    async def fetch(self, request: Request) -> Response:
        """The page, or where it has moved to; raises FetchError and nothing else."""
        began = monotonic()
        url, options = request.url, request.options
        trail: Trail | None = None
        try:
            while True:
                trusted = bool(options.trusted_servers) and _is_trusted(request, url)
                pinned = self._clients.ready(options, url, began, trusted=trusted)
                plain = pinned is not None and trail is None and _is_plain(request)
                if pinned is None:
                    left = _time_left(request, began)
                    pinned = await self._clients.prepare(options, url, trusted=trusted, within=left)
                try:
                    if plain:
                        # Nearly every page: no time has passed yet, and the client has its own total.
                        answer = await pinned.client.get(url.href)
                    else:
                        answer = await _ask_with_more(pinned.client, request, url, trail, began, trusted=trusted)
                except Exception as error:
                    if not _was_kept_too_long(error, request, pinned.answered, began):
                        raise
                    # Others that it keeps open may have been closed as well.
                    pinned = self._clients.renewed(options, url, pinned, trusted=trusted)
                    answer = await _ask_with_more(pinned.client, request, url, trail, began, trusted=trusted)
                pinned.answered = began
                status = answer.status.as_int()
                raw = answer.headers
                headers = Headers(raw)
                protocol = HTTP_2 if answer.version == _HTTP_2 else HTTP_1
                if status in STATUSES and (location := raw.get("location")) is not None:
                    trail = trail or Trail(request)
                    target = trail.step(url, bytes(location), raw)
                    await release(answer)
                    if target.host == url.host and (request.follows is None or request.follows(target)):
                        url = target
                        continue
                    return Response(url.href, status, headers, b"", trail.hops, target, tuple(trail.set), protocol)
                if status == 407 and options.proxy is not None:
                    raise proxy_failure("auth")
                encoding = headers.get("content-encoding") if raw.contains_key("content-encoding") else None
                if status < 400:
                    body = await read_body(answer, encoding, options, cut=request.cut)
                else:
                    body = await read_error_page(answer, encoding, options)
                if trail is None and not raw.contains_key("set-cookie"):
                    return Response(url.href, status, headers, body, request.hops, None, (), protocol)
                cookies = [*(trail.set if trail is not None else ()), *set_by(raw, url, time())]
                hops = request.hops if trail is None else trail.hops
                return Response(url.href, status, headers, body, hops, None, tuple(cookies), protocol)
        except FetchError:
            raise
        except Exception as error:
            failure = _translate(error, request)
        # Raised out here, it does not carry the client's exception along, whose text may hold secrets.
        raise failure

    async def close(self) -> None:
        """Let go of all connections."""
        self._clients.forget()


def _is_plain(request: Request) -> bool:
    """Whether nothing is to be sent but what the client sends by itself."""
    return request.method == "GET" and not (request.cookies or request.options.cookies or request.headers)


async def _ask_with_more(
    client: Client, request: Request, url: Url, trail: Trail | None, began: float, *, trusted: bool
) -> Answer:
    """Send one request within what is left of the total time."""
    timeout = timedelta(seconds=_time_left(request, began))
    kept = request.cookies if trail is None else trail.cookies
    pairs = cookie_pairs(url, request.options.cookies, kept, time())
    more = dict(request.headers or {}) if trail is None else {}
    if pairs:
        if trusted:
            pairs[:0] = [value for name, value in request.options.headers.items() if name.lower() == "cookie"]
        more["cookie"] = "; ".join(pairs)
    if request.method == "POST" and trail is None:
        return await client.post(url.href, timeout=timeout, headers=more, body=request.body or b"")
    return await client.get(url.href, timeout=timeout, headers=more)


def _was_kept_too_long(error: Exception, request: Request, answered: float | None, began: float) -> bool:
    """Whether this may only mean that the server had closed a connection that we kept open: then it was never asked.

    Browsers ask once more, and so do we; but no server that has not answered a moment ago, and nothing that changes it.
    """
    if answered is None or began - answered > IDLE_SECONDS or request.method != "GET":
        return False
    return _translate(error, request).detail in ("reset", "closed")


def _is_trusted(request: Request, url: Url) -> bool:
    """Whether a user's credentials were meant for this server, and would not travel in the clear where they did not before."""
    # Of a page that came here from elsewhere we don't know how it started.
    downgraded = url.scheme == "http" and (request.url.scheme == "https" or request.hops > 0)
    return url.server in request.options.trusted_servers and not downgraded


def _time_left(request: Request, began: float) -> float:
    left = request.options.total_timeout - (monotonic() - began)
    if left <= 0:
        raise FetchError(Failure.TIMEOUT, "total", f"{request.url.host} did not answer in time.")
    return left


def _translate(error: Exception, request: Request) -> FetchError:
    url, proxy = request.url, request.options.proxy
    if proxy is None:
        return translated(error, url, proxied=False, proxy_answers=False)
    # Through SOCKS, and for https, we talk with the site; otherwise with the proxy itself.
    proxy_answers = url.scheme == "http" and parse_proxy(proxy).scheme in ("http", "https")
    return translated(error, url, proxied=True, proxy_answers=proxy_answers)
