"""A job: what to collect again and again, and which strategy its runs get."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from tarantella.domain.errors import InvalidInput
from tarantella.domain.failure import Failure
from tarantella.domain.field import Field
from tarantella.domain.learning import REFUSALS
from tarantella.domain.spec import Spec
from tarantella.domain.struct import replace

MOST_FIELDS = 200
LONGEST_NAME = 200


class Wish(StrEnum):
    """The strategy that a job asks for."""

    AUTO = "auto"
    HTTP = "http"
    BROWSER = "browser"
    API_REPLAY = "api_replay"


class JobStatus(StrEnum):
    VALIDATED = "validated"
    DELETING = "deleting"  # gone for everybody; its runs are being removed


def checked_fields(fields: Sequence[Field]) -> tuple[Field, ...]:
    """The fields with their names trimmed; refused where one is blank or there twice."""
    if not 1 <= len(fields) <= MOST_FIELDS:
        raise InvalidInput(
            f"There are {len(fields)} fields.",
            field="fields",
            limit=MOST_FIELDS,
            remedy=f"Name at least one and at most {MOST_FIELDS}.",
        )
    trimmed = tuple(replace(field, name=field.name.strip()) for field in fields)
    seen: set[str] = set()
    for field in trimmed:
        if not field.name:
            raise InvalidInput("A field has no name.", field="fields", remedy="Give each field a name, like `title`.")
        if len(field.name) > LONGEST_NAME:
            raise InvalidInput(
                f"A field's name has {len(field.name)} characters.",
                field="fields",
                limit=LONGEST_NAME,
                remedy="Choose a shorter one.",
            )
        if field.name in seen:
            raise InvalidInput(
                f"The field {field.name!r} is there twice.", field="fields", remedy="Give each field its own name."
            )
        seen.add(field.name)
    return trimmed


def known_strategy(wish: Wish, *, requires_auth: bool) -> str | None:
    """The strategy of a run, where that needs no look at the site."""
    if requires_auth:
        return Wish.BROWSER
    return None if wish is Wish.AUTO else wish.value


def wish_of(text: str) -> Wish:
    try:
        return Wish(text)
    except ValueError:
        raise InvalidInput(
            f"There is no strategy {text!r}.", field="strategy", remedy=f"Choose one of {', '.join(Wish)}."
        ) from None


def wished(spec: Spec, wish: Wish, *, requires_auth: bool = False) -> Spec:
    """The spec with its strategy, as far as that needs no look at the site."""
    known = known_strategy(wish, requires_auth=requires_auth)
    if known is None and not spec.is_for_a_browser:
        return replace(spec, auto=True)
    return replace(spec, strategy=known or Wish.BROWSER.value)


def strategy_after(failure: Failure | None) -> str:
    """The strategy that a look at the site suggests; one that told nothing suggests the cheapest."""
    return Wish.BROWSER if failure in REFUSALS else Wish.HTTP
