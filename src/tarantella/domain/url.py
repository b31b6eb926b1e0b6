"""Addresses: parsed once, as browsers do, and told apart by what they mean rather than how they are written."""

from __future__ import annotations

import re
from functools import lru_cache
from hashlib import blake2b
from urllib.parse import unquote_plus

import ada_url

from tarantella.domain.errors import InvalidInput
from tarantella.domain.struct import Struct

MAX_LENGTH = 8_192
MAX_AUTHORITY = 255  # a host name has 253 characters at most
SCHEMES = frozenset({"http", "https"})

# Parameters that say where a visitor came from or who they are; the page is the same without them.
NOISE_PARAMETERS = frozenset(
    "gclid dclid fbclid msclkid yclid igshid mc_cid mc_eid _ga _gl ref_src phpsessid jsessionid aspsessionid "
    "zenid oscsid cftoken cfid".split()
)
# These name a visitor's session on one site and a story or a lecture on another; only a long value is the former.
SESSION_PARAMETERS = frozenset({"sid", "sessid", "sessionid", "session_id"})
SESSION_LENGTH = 16
SECRET_PARAMETERS = frozenset(
    "token access_token refresh_token id_token api_key apikey key secret client_secret password passwd pwd sslpassword auth "
    "authorization signature sig x-amz-signature x-amz-credential x-amz-security-token code jwt".split()
)
# Whatever stands before it: session_token, x-api-key, clientSecret.
SECRET_ENDINGS = ("token", "secret", "password", "passwd", "api_key", "api-key", "apikey", "signature", "credential")
# Sessions in a path: ;jsessionid=…, /(S(…))/ as ASP.NET writes it, /sid-…/ with something long that has digits in it.
_PATH_SESSION = re.compile(
    r";(?:jsessionid|phpsessid|sid)=[^/;?]*"
    r"|(?<!/)/\((?:[A-Z]\([^()/]*\))+\)(?=/|$)"
    r"|(?<!/)/(?:jsessionid|phpsessid|session_?id|session|sess|sid)[=:_-](?=(?:[a-z]*[0-9]){4})[a-z0-9]{16,}(?=/|$)",
    re.IGNORECASE,
)
# Up to the last "@" of the authority: a password may hold one itself. Browsers don't insist on two slashes.
_USERINFO = re.compile(r"(\b(?:https?|ftp|wss?):[/\\]*|//)[^/?#\s]+@", re.IGNORECASE)
_TYPED_USERINFO = re.compile(r"^\s*(?!mailto:)[^/?#\s:@]*:[^/?#\s]*@", re.IGNORECASE)
_PARAMETER = re.compile(r"[?&#;]([^=&#?;/]*)=")
_HAS_SCHEME = re.compile(r"^[a-zA-Z][a-zA-Z0-9+.-]*:")
_HOST_AND_PORT = re.compile(r"^[^/?#@:]+:\d{1,5}(?:[/?#]|$)")
# What looks like a host with a port and is none: tel:5551234, javascript:0.
_OTHER_SCHEME = re.compile(r"^(?:about|blob|data|file|ftp|gopher|javascript|mailto|tel|wss?):", re.IGNORECASE)
# Names and addresses that browsers, too, take for a server nearby, which rarely speaks https.
_NEARBY = re.compile(r"^(?:[^/?#.:@]+|(?:[^/?#:@]+\.)?localhost|[\d.]+|\[[^\]]*\])(?::\d*)?(?:[/?#]|$)", re.IGNORECASE)
_ROOT_DOT = re.compile(r"\.+(?=:|$)")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_BLANKS = "".join(map(chr, range(0x21)))
_BREAKS = str.maketrans("", "", "\t\n\r")


class Url(Struct, frozen=True):
    """An address that can be fetched: without fragment, without credentials."""

    href: str
    scheme: str
    host: str
    port: int

    @property
    def origin(self) -> tuple[str, str, int]:
        """Scheme, host and port."""
        return (self.scheme, self.host, self.port)

    @property
    def server(self) -> str:
        """Who answers there: the host, with its port unless that is a usual one. By http and https it is the same."""
        return self.host if self.port in (80, 443) else f"{self.host}:{self.port}"

    @property
    def lane(self) -> str:
        """Where a page with this address waits: its host, whatever the port."""
        return self.host


def stored(href: str) -> Url:
    """An address that `resolve` gave before: its parts can be read off without parsing it again."""
    path_starts = href.find("/", len("https://"))
    return Url(href, *_read_origin(href if path_starts < 0 else href[:path_starts]))


@lru_cache(maxsize=4_096)
def _read_origin(origin: str) -> tuple[str, str, int]:
    scheme, _, authority = origin.partition("://")
    host, colon, port = authority.rpartition(":")
    if not colon or authority.endswith("]"):
        return scheme, authority, 443 if scheme == "https" else 80
    return scheme, host, int(port)


class Unfetchable(InvalidInput):
    """An address that no strategy could fetch, with a short reason that can be counted."""

    code = "invalid_url"

    def __init__(self, reason: str, message: str, *, remedy: str | None = None) -> None:
        super().__init__(message, remedy=remedy, field="url")
        self.reason = reason


def resolve(reference: str, base: str | None = None) -> Url:
    """The address a browser would go to for this reference found at base."""
    # The parser's answer is in normal form, so that its parts can be read off; asking for each costs three times as much.
    scheme, _, rest = _parse(reference, base).href.partition("#")[0].partition("://")
    if scheme not in SCHEMES:
        raise Unfetchable("scheme", f"{shown(reference)} is not http or https.")
    authority, slash, path = rest.partition("/")
    if "@" in authority:
        authority = authority.rpartition("@")[2]
    if authority.endswith(".") or ".:" in authority:
        authority = _ROOT_DOT.sub("", authority)  # to certificates and clients "example.com." would be another name
    if not authority or authority.startswith(":"):
        raise Unfetchable("malformed", f"{shown(reference)} names no host.")
    if len(authority) > MAX_AUTHORITY:
        raise Unfetchable("malformed", f"{shown(reference)} names a host that is longer than names can be.")
    href = f"{scheme}://{authority}{slash}{path}"
    if len(href) > MAX_LENGTH:
        # Escaped, or put behind its base, a short reference can become a long address.
        raise _too_long(len(href))
    return stored(href)


def _parse(reference: str, base: str | None = None) -> ada_url.URL:
    if len(reference) > MAX_LENGTH:
        raise _too_long(len(reference))
    try:
        return ada_url.URL(reference, base=base)
    except (ValueError, UnicodeError):
        raise Unfetchable("malformed", f"{shown(reference)} is not a web address.") from None


def _too_long(length: int) -> Unfetchable:
    return Unfetchable("too_long", f"An address of {length} characters is longer than {MAX_LENGTH}.")


def with_scheme(text: str) -> str:
    """What a person types, as an address: `example.com` means https, `localhost:8000` and `10.0.0.7` http."""
    text = text.strip()
    if text and (not _HAS_SCHEME.match(text) or (_HOST_AND_PORT.match(text) and not _OTHER_SCHEME.match(text))):
        return f"{'http' if _NEARBY.match(text) else 'https'}://{text}"
    return text


def start_url(text: str) -> Url:
    """A start address as a person types it."""
    text = with_scheme(text)
    if not text:
        raise Unfetchable(
            "malformed", "An empty address can't be fetched.", remedy="Give one like https://example.com/."
        )
    if _CONTROL.search(text):
        raise Unfetchable("malformed", f"{shown(text)} has a control character in it.")
    parsed = _parse(text)
    if parsed.username or parsed.password:
        raise Unfetchable(
            "credentials",
            f"{shown(text)} carries a user name or password, which would end up in records and logs.",
            remedy="Send it as a header instead: Authorization: Basic …",
        )
    return resolve(text)


def identity(href: str) -> str:
    """What two addresses of one page have in common."""
    head, _, query = href.partition("?")
    low = head.lower()
    if ";" in head or "(" in head or "sid" in low or "sess" in low:
        head = _PATH_SESSION.sub("", head)
    if head.endswith("/"):
        head = head.rstrip("/")
    if not query:
        return head
    # Pairs stay as they are encoded: decoded, an escaped "&" would look like two parameters.
    kept = sorted(pair for pair in query.split("&") if pair and not _is_noise(pair))
    return head + "?" + "&".join(kept) if kept else head


def fingerprint(href: str) -> str:
    """The short, fixed-size form of an address's identity."""
    return blake2b(identity(href).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _is_noise(pair: str) -> bool:
    name, _, value = pair.partition("=")
    name = name.lower()
    if name in SESSION_PARAMETERS:
        return len(value) >= SESSION_LENGTH
    return name in NOISE_PARAMETERS or name.startswith("utm_")


def as_browsers_read(href: str) -> str:
    """What a page wrote, without blanks around it or line breaks within."""
    href = href.strip(_BLANKS)
    return href.translate(_BREAKS) if "\n" in href or "\t" in href or "\r" in href else href


def names_a_secret(name: str) -> bool:
    """Whether what bears this name is nobody else's business."""
    name = name.lower()
    return name in SECRET_PARAMETERS or name.endswith(SECRET_ENDINGS)


def redact(url: str) -> str:
    """The address with everything that could be a secret blotted out."""
    url = _USERINFO.sub(r"\1***@", url)
    told, position = [], 0
    # Name by name rather than pair by pair: the value of one may be an address with parameters of its own.
    while found := _PARAMETER.search(url, position):
        told.append(url[position : found.end()])
        position = found.end()
        if names_a_secret(unquote_plus(found[1])):
            told.append("***")
            # A parameter of a path ends with its part of the path.
            marks = "&#/;?" if found[0].startswith(";") else "&#"
            ends = (url.find(mark, position) for mark in marks)
            position = min((end for end in ends if end >= 0), default=len(url))
    return "".join(told) + url[position:]


def shown(text: str, limit: int = 120) -> str:
    """A value for an error message: safe to print, short, without secrets."""
    text = _TYPED_USERINFO.sub("***@", redact(text))
    return repr(text if len(text) <= limit else text[:limit] + "…")
