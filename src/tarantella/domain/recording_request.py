"""The question of a recording: its parts that can change, and those that nobody may see."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Self, TypeAlias
from urllib.parse import quote, unquote_plus

from tarantella.domain.json_tree import at, walk
from tarantella.domain.struct import Frozen, asdict, field, replace
from tarantella.domain.url import SECRET_PARAMETERS

# A part of a question: ("query", 2), ("query", 2, "after") in JSON within a parameter, ("form", 0), ("path", 3), ("header", "x-key"),
# ("body", "variables", "after").
Slot: TypeAlias = tuple[Any, ...]
Secret: TypeAlias = tuple[Slot, Any]

HIDDEN = "***"
MOST_BODY = 200_000
MOST_SLOTS = 500
JSON_TYPE = "application/json"
FORM_TYPE = "application/x-www-form-urlencoded"

# What a browser or a client says by itself, and would be wrong from another.
_NOISE = frozenset(
    "host connection content-length accept-encoding user-agent upgrade-insecure-requests pragma cache-control priority te "
    "if-none-match if-modified-since dnt range expect transfer-encoding upgrade proxy-connection proxy-authorization".split()
)
# The only headers whose values can be shown: in any other there may be a secret.
_HARMLESS = frozenset("accept accept-language content-type origin x-requested-with".split())
_SECRET_NAME = re.compile(
    r"token|secret|passw|pwd|auth|api[-_]?key|session|csrf|xsrf|signature|credential|jwt|bearer|cookie", re.IGNORECASE
)
_JWT = re.compile(r"^(?:Bearer\s+)?eyJ[\w-]{8,}\.[\w-]+", re.IGNORECASE)


class Template(Frozen):
    """A question as it was asked."""

    method: str
    url: str
    headers: Mapping[str, str] = field(default_factory=dict)
    body: str | None = None

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        return cls(**data)

    @property
    def body_type(self) -> str:
        """What its body is: JSON, a form, or something else."""
        said = self.headers.get("content-type", "").partition(";")[0].strip().lower()
        if said == FORM_TYPE:
            return FORM_TYPE
        return JSON_TYPE if self.body is not None and _json(self.body) is not None else said


def template_of(method: str, url: str, headers: Mapping[str, str], body: bytes | None) -> Template | None:
    """The question without what every client says anew; None for one that can't be asked again."""
    if method.upper() not in ("GET", "POST") or (body is not None and len(body) > MOST_BODY):
        return None
    try:
        text = body.decode("utf-8") if body else None
    except UnicodeDecodeError:
        return None
    kept = {}
    for name, value in headers.items():
        name = name.lower()
        if not name.startswith((":", "sec-")) and name not in _NOISE:
            kept[name] = value
    return Template(method.upper(), url.partition("#")[0], kept, text)


# -- its parts


def slots(template: Template) -> dict[Slot, Any]:
    """Every plain value in a question, headers aside."""
    found: dict[Slot, Any] = {}
    for number, segment in enumerate(_segments(template.url)):
        if segment.isdecimal():
            found["path", number] = segment
    for number, (_, value) in enumerate(_pairs(_query(template.url))):
        found["query", number] = value
        found |= {("query", number, *path): each for path, each in _within(_object(value))}
    if template.body is not None:
        if template.body_type == FORM_TYPE:
            found |= {("form", number): value for number, (_, value) in enumerate(_pairs(template.body))}
        else:
            found |= {("body", *path): each for path, each in _within(_json(template.body))}
    return dict(list(found.items())[:MOST_SLOTS])


def name_of(template: Template, slot: Slot) -> str:
    """What a slot is called."""
    place, *rest = slot
    if place == "header":
        return str(rest[0])
    if place == "path":
        before = _segments(template.url)[rest[0] - 1 : rest[0]]
        return before[0] if before else ""
    if place in ("query", "form") and len(rest) == 1:
        text = _query(template.url) if place == "query" else template.body or ""
        return _pairs(text)[rest[0]][0]
    names = [step for step in rest if isinstance(step, str)]
    return names[-1] if names else ""


def with_slot(template: Template, slot: Slot, value: Any) -> Template:
    """The question with another value there; None leaves it out, or makes it null in JSON."""
    place, *rest = slot
    if place == "header":
        return replace(template, headers={**template.headers, rest[0]: value})
    if place == "path":
        segments = _segments(template.url)
        segments[rest[0]] = quote(str(value), safe="")
        origin, query = _origin(template.url), _query(template.url)
        return replace(template, url=f"{origin}/{'/'.join(segments)}" + (f"?{query}" if query else ""))
    if place == "form":
        return replace(template, body=_with_pair(template.body or "", rest[0], value))
    if place == "body":
        return replace(template, body=_dumped(_changed(_json(template.body or ""), rest, value)))
    query = _query(template.url)
    if len(rest) > 1:
        value = _dumped(_changed(_object(_pairs(query)[rest[0]][1]), rest[1:], value))
    query = _with_pair(query, rest[0], value)
    return replace(template, url=template.url.partition("?")[0] + (f"?{query}" if query else ""))


# -- what nobody may see


def hidden(template: Template, keep: Iterable[Slot] = ()) -> tuple[Template, list[Secret]]:
    """The question with its secrets blotted out, and the secrets. Slots that change anyway stay as they are."""
    secrets: list[Secret] = [
        (("header", name), value) for name, value in template.headers.items() if name not in _HARMLESS
    ]
    spared = set(keep)
    for slot, value in slots(template).items():
        # What stands within a parameter that is blotted out is blotted out with it.
        if slot in spared or slot[:2] in spared or isinstance(value, bool) or value in (None, ""):
            continue
        if is_secret(name_of(template, slot), value):
            secrets.append((slot, value))
            spared.add(slot if slot[0] == "query" else ())
    if template.body is not None and template.body_type not in (JSON_TYPE, FORM_TYPE):
        secrets.append((("text",), template.body))
    for slot, _ in secrets:
        template = replace(template, body=HIDDEN) if slot == ("text",) else with_slot(template, slot, HIDDEN)
    return template, secrets


def is_secret(name: str, value: Any) -> bool:
    if name.lower() in SECRET_PARAMETERS or _SECRET_NAME.search(name):
        return True
    return isinstance(value, str) and _JWT.match(value) is not None


def filled(template: Template, secrets: Sequence[Secret]) -> Template:
    """The question as it is asked, secrets and all."""
    for slot, value in secrets:
        template = replace(template, body=value) if slot == ("text",) else with_slot(template, slot, value)
    return template


def filled_url(url: str, template: Template, secrets: Sequence[Secret]) -> str:
    """Another address of the same server, with the secrets of the parameters that were blotted out."""
    by_name = {name_of(template, slot): value for slot, value in secrets if slot[0] == "query" and len(slot) == 2}
    query = _query(url)
    for number, (name, value) in enumerate(_pairs(query)):
        if value == HIDDEN and name in by_name:
            query = _with_pair(query, number, by_name[name])
    return url.partition("?")[0] + (f"?{query}" if query else "")


def hidden_url(url: str, template: Template, secrets: Sequence[Secret]) -> str:
    """An address that the server gave, without the secrets that it put there."""
    names = {name_of(template, slot) for slot, _ in secrets if slot[0] == "query" and len(slot) == 2}
    query = _query(url)
    for number, (name, _) in enumerate(_pairs(query)):
        if name in names:
            query = _with_pair(query, number, HIDDEN)
    return url.partition("?")[0] + (f"?{query}" if query else "")


# -- how they are written


def _origin(url: str) -> str:
    return url[: url.find("/", url.find("//") + 2)] if "/" in url[url.find("//") + 2 :] else url.partition("?")[0]


def _segments(url: str) -> list[str]:
    path = url[len(_origin(url)) :].partition("?")[0]
    return path.removeprefix("/").split("/")


def _query(url: str) -> str:
    return url.partition("?")[2].partition("#")[0]


def _pairs(text: str) -> list[tuple[str, str]]:
    """Names and values, one for each part of the text, so that their numbers are its numbers."""
    return (
        [
            (unquote_plus(name), unquote_plus(value))
            for name, _, value in (pair.partition("=") for pair in text.split("&")[:MOST_SLOTS])
        ]
        if text
        else []
    )


def _with_pair(text: str, number: int, value: Any) -> str:
    """Only this one is written anew: how the others are escaped may matter to the server."""
    pairs = text.split("&")
    if value is None:
        del pairs[number]
    else:
        pairs[number] = f"{pairs[number].partition('=')[0]}={quote(_plain(value), safe='*')}"
    return "&".join(pairs)


def _plain(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _within(value: Any) -> list[tuple[tuple[Any, ...], Any]]:
    if not isinstance(value, (dict, list)):
        return []
    return [(path, each) for path, each in walk(value, most=2_000) if path and not isinstance(each, (dict, list))]


def _changed(value: Any, path: Sequence[Any], new: Any) -> Any:
    above = at(value, tuple(path[:-1]))
    if isinstance(above, dict) or (isinstance(above, list) and isinstance(path[-1], int) and path[-1] < len(above)):
        above[path[-1]] = new
    return value


def _dumped(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _object(text: str) -> Any:
    return _json(text) if text[:1] in ("{", "[") else None


def _json(text: str) -> Any:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, (dict, list)) else None
