"""The HTTP client's exceptions, in the words of the failure table."""

from __future__ import annotations

import re

from wreq import exceptions

from tarantella.domain.failure import Failure
from tarantella.domain.url import Url, redact
from tarantella.fetchers.contract import FetchError

# The client tells its exceptions apart only roughly; the rest is in their text. The first match counts.
_DETAILS: tuple[tuple[str, str], ...] = (
    ("SSL routines", "tls"),
    ("Parse(TooLarge)", "headers"),
    ("ConnectionRefused", "refused"),
    ("Too many open files", "open_files"),
    ("NetworkUnreachable", "unreachable"),
    ("Network unreachable", "unreachable"),
    ("HostUnreachable", "unreachable"),
    ("ConnectionReset", "reset"),
    ("ConnectionAborted", "reset"),
    ("BrokenPipe", "reset"),
    ("error: IncompleteBody", "truncated"),
    ('error: "unexpected EOF', "truncated"),
    ("IncompleteMessage", "closed"),
    ("netty::Error(", "protocol"),
)
_BY_CLASS: dict[type[Exception], str] = {
    exceptions.TlsError: "tls",
    exceptions.ConnectionError: "connect",
    exceptions.ConnectionResetError: "reset",
    exceptions.BodyError: "truncated",
    exceptions.DecodingError: "decode",
    exceptions.RequestError: "protocol",
}
_PROXY_DETAILS: tuple[tuple[str, str], ...] = (
    ("ProxyAuthRequired", "auth"),
    ("NoAcceptableAuthMethods", "auth"),
    ("AuthenticationFailure", "auth"),
    ("TimedOut", "timeout"),
    ("TunnelUnsuccessful", "tunnel"),
    ("Socks(", "tunnel"),
    ("ConnectionRefused", "refused"),
)
IN_WORDS = {
    "tls": "The secure connection to {host} failed",
    "headers": "{host} sent too many or too long headers",
    "refused": "{host} refuses connections on port {port}",
    "open_files": "Too many open files on this machine; raise the limit (ulimit -n) or lower the concurrency",
    "unreachable": "There is no way to {host} from this machine",
    "reset": "{host} reset the connection",
    "truncated": "{host} sent less than it promised",
    "closed": "{host} closed the connection without an answer",
    "goaway": "{host} ended the HTTP/2 connection",
    "stream_reset": "{host} broke off its answer",
    "protocol": "{host} does not speak proper HTTP",
    "decode": "The body from {host} is not what its encoding says",
    "connect": "No connection to {host} came about",
}
_TLS_REASON = re.compile(r'reason: "([A-Z0-9_]{1,80})"')
# A server may say something along when it ends a connection, and could say what else we look for here.
_LAST_WORDS = re.compile(r'GoAway\(b"(?:[^"\\]|\\.)*", ')
_HTTP2 = re.compile(r"(GoAway|Reset)\((?:StreamId\(\d+\), )?([A-Z0-9_]{1,40}), (\w+)\)")


def translated(error: Exception, url: Url, *, proxied: bool, proxy_answers: bool) -> FetchError:
    """What went wrong with this URL. `proxy_answers`: we talk HTTP with the proxy, not with the site."""
    # Only what follows the address counts: nobody should steer this with words in a URL.
    # It can't be shown either, since it may hold the proxy's credentials.
    text = _LAST_WORDS.sub("GoAway(", str(error).partition("source: ")[2])
    if _timed_out(error, text):
        return _timeout(error, url, proxied=proxied)
    if (said := _HTTP2.search(text)) is not None:
        return _broken_off(said[1], said[2], url, by_us=said[3] != "Remote")
    detail = next((detail for fragment, detail in _DETAILS if fragment in text), _BY_CLASS.get(type(error)))
    if isinstance(error, exceptions.ProxyConnectionError) or (
        proxied and isinstance(error, exceptions.ConnectionError) and detail != "tls"
    ):
        return proxy_failure(next((said for fragment, said in _PROXY_DETAILS if fragment in text), "connect"))
    if proxy_answers and detail in ("closed", "reset", "protocol"):
        return proxy_failure(detail)
    if detail is None:
        return _unknown(error, url)
    words = IN_WORDS[detail].format(host=url.host, port=url.port)
    reason = _TLS_REASON.search(text) if detail == "tls" else None
    if reason is not None and reason[1] == "WRONG_VERSION_NUMBER":
        # What people get who type the address of a server without saying that it speaks plain HTTP.
        plain = f"http://{url.host}:{url.port}/" if url.port != 443 else f"http://{url.host}/"
        return FetchError(Failure.NETWORK, detail, f"{words}: it does not seem to speak TLS; {plain} may be meant.")
    return FetchError(Failure.NETWORK, detail, f"{words}: {reason[1]}." if reason else f"{words}.")


def _broken_off(kind: str, code: str, url: Url, *, by_us: bool) -> FetchError:
    """The end of an HTTP/2 stream or connection before its time, with the reason that was given."""
    detail = "protocol" if by_us else "goaway" if kind == "GoAway" else "stream_reset"
    return FetchError(Failure.NETWORK, detail, f"{IN_WORDS[detail].format(host=url.host)}: {code}.")


def proxy_failure(detail: str) -> FetchError:
    """The proxy failed, not the site. Which proxy it was is not said, for its address may be a secret."""
    words = {
        "auth": "The proxy does not accept these credentials.",
        "timeout": "The proxy took too long.",
        "tunnel": "The proxy found no way to the site.",
        "refused": "The proxy refuses connections.",
        "dns": "The proxy's name has no address.",
    }
    return FetchError(Failure.PROXY, detail, words.get(detail, "The proxy failed."))


def _timed_out(error: Exception, text: str) -> bool:
    return isinstance(error, exceptions.TimeoutError | TimeoutError) or "TimedOut" in text


def _timeout(error: Exception, url: Url, *, proxied: bool) -> FetchError:
    if isinstance(error, exceptions.ConnectionError | exceptions.ProxyConnectionError):
        if proxied:
            return proxy_failure("timeout")
        return FetchError(Failure.TIMEOUT, "connect", f"{url.host} did not accept a connection in time.")
    if isinstance(error, exceptions.BodyError | exceptions.DecodingError):
        return FetchError(Failure.TIMEOUT, "read", f"{url.host} began to answer, but did not finish in time.")
    return FetchError(Failure.TIMEOUT, "total", f"{url.host} did not answer in time.")


def _unknown(error: Exception, url: Url) -> FetchError:
    name = type(error).__name__
    # The client's own texts stay inside, see above; Python's are short and harmless.
    said = "" if type(error).__module__ == exceptions.TlsError.__module__ else f": {redact(str(error))[:200]}"
    return FetchError(Failure.UNKNOWN, name, f"Fetching {redact(url.href)[:200]} failed with {name}{said}")
