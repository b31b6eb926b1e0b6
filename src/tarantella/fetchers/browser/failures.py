"""What a browser says when something goes wrong, in the words of the failure table."""

from __future__ import annotations

import re

from tarantella.domain.failure import Failure
from tarantella.domain.url import Url
from tarantella.fetchers.contract import FetchError
from tarantella.fetchers.translation import IN_WORDS

DOWNLOAD = "download"
_NET = re.compile(r"net::(ERR_[A-Z0-9_]+)")
_DETAILS = (
    ("ERR_CERT_", "tls"),
    ("ERR_SSL_", "tls"),
    ("ERR_BAD_SSL", "tls"),
    ("ERR_EMPTY_RESPONSE", "closed"),
    ("ERR_CONNECTION_CLOSED", "closed"),
    ("ERR_CONNECTION_RESET", "reset"),
    ("ERR_CONTENT_LENGTH_MISMATCH", "truncated"),
    ("ERR_INCOMPLETE_CHUNKED_ENCODING", "truncated"),
    ("ERR_CONTENT_DECODING", "decode"),
    ("ERR_RESPONSE_HEADERS_TOO_BIG", "headers"),
    ("ERR_HTTP2", "protocol"),
    ("ERR_INVALID_", "protocol"),
    ("ERR_RESPONSE_HEADERS_MULTIPLE", "protocol"),
)
_GONE = ("Target crashed", "Page crashed", "Target page, context or browser has been closed", "Connection closed")


def took_too_long(what: str, url: Url) -> FetchError:
    words = {
        "navigation": f"{url.host} did not give the page in time.",
        "script": f"The page of {url.host} is busy with its own scripts and does not answer.",
        "wait_for": f"What was to be waited for did not appear on the page of {url.host} in time.",
        "action": f"What was to be done on the page of {url.host} could not be done in time.",
    }
    return FetchError(Failure.TIMEOUT, what, words.get(what, f"The browser did not answer in time ({what})."))


def crashed(what: str = "crashed") -> FetchError:
    words = {
        "crashed": "The page crashed in the browser.",
        "closed": "The page was closed before it could be read.",
        "gone": "The browser died.",
        "hung": "The browser did not answer any more, and was replaced.",
    }
    return FetchError(Failure.BROWSER, what, words[what])


def translated(error: Exception, url: Url, what: str) -> FetchError:
    """What an error of Playwright's means for this page."""
    text = str(error)
    if type(error).__name__ == "TimeoutError":
        return took_too_long(what, url)
    if "Download is starting" in text:
        return FetchError(Failure.BROWSER, DOWNLOAD, "The address gives a file, not a page.")
    if (said := _NET.search(text)) is not None:
        return _network(said[1], url)
    if any(sign in text for sign in _GONE):
        return crashed("crashed" if "crashed" in text else "gone")
    # The rest of the text is a log of what was tried, with addresses in it.
    first = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return FetchError(Failure.BROWSER, what, f"The browser failed: {first[:200]}")


def _network(code: str, url: Url) -> FetchError:
    if code == "ERR_TOO_MANY_REDIRECTS":
        return FetchError(Failure.BAD_RESPONSE, "too_many_redirects", "More redirects in a row than a browser follows.")
    if code == "ERR_UNSAFE_REDIRECT":
        return FetchError(Failure.DENIED, "scheme", "A redirect leads to what is not http or https.")
    if code == "ERR_UNSAFE_PORT":
        return FetchError(Failure.DENIED, "port", f"Browsers refuse to go to port {url.port}.")
    if code == "ERR_TIMED_OUT":
        return took_too_long("navigation", url)
    detail = next((detail for start, detail in _DETAILS if code.startswith(start)), "connect")
    words = IN_WORDS[detail].format(host=url.host, port=url.port)
    return FetchError(Failure.NETWORK, detail, f"{words}: {code}.")
