"""A recording: a question that a page's own scripts asked for its data, and how to read and continue the answer."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from enum import StrEnum
from hashlib import blake2b
from typing import Any, Self

from tarantella.domain.field import Field
from tarantella.domain.json_tree import Path, path_of
from tarantella.domain.recording_request import Secret, Slot, Template
from tarantella.domain.struct import Discreet, Frozen, asdict, field

MOST_ITEMS = 5_000  # records of one answer


class Maker(StrEnum):
    """Where a recording came from."""

    BROWSER = "browser"
    HAR = "har"


class Place(Frozen):
    """Where a field stands in an item, and what was done to it on the page: a form, and a text around it."""

    path: Path
    form: str = "as_is"
    before: str = ""
    after: str = ""
    kinds: tuple[str, ...] = ()  # of the values that were there
    always: bool = False  # every record had it

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        return cls(**{**data, "path": path_of(data["path"]), "kinds": tuple(data["kinds"])})


class Paging(Frozen):
    """How the next part of a list is asked for.

    `number` counts in a slot of the question, `cursor` puts a value of the answer there, `address` and `link` find a whole
    address, in the answer or in its Link header.
    """

    kind: str
    slot: Slot = ()
    first: Any = None  # what the slot holds at the first part; None leaves it out
    start: int = 0  # what that means to a counter
    step: int = 1
    path: Path = ()  # in the answer, to the cursor or the address
    more: Path | None = None  # in the answer, to what says whether there is more
    total: Path | None = None  # in the answer, to how much there is
    total_is: str = "items"  # or pages
    size: int = 0  # items of one part
    seen: bool = False  # the page itself asked for more than one part
    most: int | None = None  # parts, where the page stopped although there were more

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        ways = {name: path_of(data[name]) if data[name] is not None else None for name in ("more", "total")}
        return cls(**{**data, **ways, "slot": tuple(data["slot"]), "path": path_of(data["path"])})


class Reading(Frozen):
    """How an answer becomes records."""

    items: Path | None = None  # to the list; None where the answer is one record
    places: Mapping[str, Place] = field(default_factory=dict)
    paging: Paging | None = None
    about: Mapping[str, Any] = field(default_factory=dict)  # what the page says of itself, and all its records share
    page_url: str = ""  # the page that it was recorded on: where relative addresses start from
    own: bool = False  # the job's own fields read the answer

    def to_json(self) -> dict[str, Any]:
        return {
            **asdict(self),
            "places": {name: asdict(place) for name, place in self.places.items()},
            "paging": asdict(self.paging) if self.paging is not None else None,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        return cls(
            items=path_of(data["items"]) if data["items"] is not None else None,
            places={name: Place.from_json(place) for name, place in data["places"].items()},
            paging=Paging.from_json(data["paging"]) if data["paging"] is not None else None,
            about=data["about"],
            page_url=data["page_url"],
            own=data["own"],
        )


class Recording(Discreet):
    """What a replay needs. The secrets are kept apart, and shown to nobody but the server that they were seen at."""

    unshown = frozenset({"secrets"})

    template: Template
    reading: Reading
    shape: str
    confidence: float
    secrets: Sequence[Secret] = ()
    made_by: Maker = Maker.BROWSER


class Made(Frozen):
    """A page's attempt led to a recording."""

    id: str
    purpose: str
    recording: Recording


class Worked(Frozen):
    """A replay gave what it should."""

    id: str
    shape: str


class Stopped(Frozen):
    """A replay did not give what it should."""

    id: str
    why: str


News = Made | Worked | Stopped


RESTS = 86_400.0
ENOUGH_FAILURES = 2


def rests(uses: int, failures: Sequence[tuple[int, float | None]], now: float) -> bool:
    """Whether a new recording is left alone for a day: the last ones failed before they ever worked, and so would this."""
    last = failures[:ENOUGH_FAILURES]
    if uses or len(last) < ENOUGH_FAILURES:
        return False
    return all(not used and at is not None and now - at < RESTS for used, at in last)


def purpose_of(target_url: str, fields: Sequence[Field], item: Field | None) -> str:
    """A mark of what a recording is for: that of a job which wants something else is of no use to it."""
    wanted = [target_url, [each.to_json() for each in fields], item.to_json() if item is not None else None]
    return blake2b(json.dumps(wanted, sort_keys=True).encode(), digest_size=16).hexdigest()
