"""The whole story of one page, told in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tarantella.cli import words
from tarantella.cli.plain import one_line
from tarantella.domain.page import PageKind
from tarantella.domain.reasons import in_words

MOST_SHOWN = 200


def story_lines(found: Mapping[str, Any], now: float) -> Iterator[str]:
    """Where it was found, every attempt, and what became of it."""
    page = found["page"]
    yield words.clean(page["asked_url"] or page["url"])
    yield f"  {_origin(page, found['found_on'])}"
    for attempt in found["attempts"]:
        yield f"  {_attempt(attempt)}"
        yield f"     {_followed(attempt)}"
    if not found["attempts"]:
        yield "  It has not been requested."
    yield f"  {_end(page, now)}"
    if found["waits"]:
        yield f"  It waits because {found['waits']}."
    for field in found.get("fields", ()):
        yield f"  {_field(field)}"


def _origin(page: Mapping[str, Any], found_on: Mapping[str, Any] | None) -> str:
    if page["is_start"]:
        return "It is a start address (depth 1)."
    if page["kind"] != PageKind.PAGE:
        return _sitemap_origin(page, found_on)
    if found_on is None:
        return f"It was found on a page that is gone (depth {page['depth']})."
    where = "on" if found_on["kind"] == PageKind.PAGE else "in the sitemap"
    return f"It was found {where} {words.clean(found_on['url'])} (depth {page['depth']})."


def _sitemap_origin(page: Mapping[str, Any], found_on: Mapping[str, Any] | None) -> str:
    if page["kind"] == PageKind.SITEMAP_GUESS:
        return "It is where the sitemap of its host should be."
    if found_on is None or found_on["kind"] == PageKind.PAGE:
        return "It is a sitemap that was asked for."
    if found_on["kind"] == PageKind.SITEMAP_GUESS:
        return f"It is a sitemap that the robots.txt of {words.host_of(found_on['url'])} names."
    return f"It is a sitemap that {words.clean(found_on['url'])} names."


def _attempt(attempt: Mapping[str, Any]) -> str:
    status = f"answered {attempt['status']}" if attempt["status"] else "got no answer"
    told = f"{attempt['n']}. {words.when(attempt['started_at'])}, over {attempt['protocol'] or attempt['strategy']}: {status}"
    told += f" after {words.duration(attempt['elapsed_ms'] / 1000)}"
    return told + (f", {words.size(attempt['bytes'])}" if attempt["bytes"] else "") + "."


def _followed(attempt: Mapping[str, Any]) -> str:
    """What the attempt meant and what was decided."""
    if attempt["failure"]:
        reason = in_words(attempt["failure"])
        detail = _in_brackets(attempt["detail"])
        return f"{reason[:1].upper()}{reason[1:]}: {attempt['failure']}{detail}. {_decided(attempt)}"
    return _decided(attempt)


def _in_brackets(detail: str | None) -> str:
    """What stands within a sentence does not end it."""
    return f" ({words.clean(detail).removesuffix('.')})" if detail else ""


def _decided(attempt: Mapping[str, Any]) -> str:
    return f"Decided: {words.clean(attempt['decision'])}."


def _field(field: Mapping[str, Any]) -> str:
    """A field, where its value came from, and what was wrong with it."""
    item = f"{field['item']}. " if "item" in field else ""
    if "problem" in field:
        raw = f", which is {words.shortened(words.clean(field['raw']), MOST_SHOWN)!r}" if field["raw"] else ""
        return f"Field {item}{field['name']}: {field['problem']}{raw}."
    if field["value"] is None:
        return f"Field {item}{field['name']}: not found."
    value = words.shortened(words.value(field["value"]), MOST_SHOWN)
    source = f", from {one_line(field['source'])}" if field["source"] else ""
    return f"Field {item}{field['name']}: {value}{source}."


def _end(page: Mapping[str, Any], now: float) -> str:
    state = page["state"]
    if state == "done":
        moved = f" It now lives at {words.clean(page['final_url'])}." if page["final_url"] else ""
        return f"It is done, with status {page['status']}.{moved}"
    if state == "pending":
        wait = page["next_at"] - now
        when = f"is due in {words.wait(wait)}" if wait > 0 else "is waiting for its turn"
        return f"It {when}." + (f" Last trouble: {in_words(page['reason'])}." if page["reason"] else "")
    detail = _in_brackets(page["detail"])
    if state == "failed":
        return f"It failed, because {in_words(page['reason'])}: {page['reason']}{detail}."
    return f"It was skipped, because {in_words(page['reason'])}: {page['reason']}{detail}."
