"""Fields, as clients try them out."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import ConfigDict, Field

from tarantella.api.views.base import Said, Told
from tarantella.api.views.jobs import Address, Place, PlaceView, Wanted, wanted_fields
from tarantella.domain.field import FieldSet, check_names, place_of
from tarantella.domain.job import MOST_FIELDS


class _Asked(Said):
    item: Place | None = Field(None, description="On list pages: what each record is made of.", examples=[".product"])
    pagination: Place | None = Field(None, description="On list pages: the link to the next one.", examples=["a.next"])

    def set_of(self, wanted: list[Any]) -> FieldSet:
        fields = wanted_fields(wanted)
        check_names(fields)
        return FieldSet(fields, _place(self.item, "item"), _place(self.pagination, "pagination", "href"))


def _place(place: str | PlaceView | None, name: str, attr: str | None = None) -> Any:
    if place is None:
        return None
    said = place if isinstance(place, str) else place.model_dump(exclude_unset=True, exclude_none=True)
    return place_of(said, name, attr=attr)


class PreviewAsk(_Asked):
    """A page to look at."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"url": "https://example.com/tea", "fields": ["title", "price"], "find": "19.99"}]
        }
    )

    url: Address = Field(description="An http or https address.", examples=["https://example.com/tea"])
    fields: list[Wanted] = Field(
        default_factory=list, max_length=MOST_FIELDS, description="Without any, what most people want is looked for."
    )
    find: str | None = Field(
        None, min_length=1, max_length=300, description="A text or number on the page that a selector is wanted for."
    )

    def wanted(self) -> FieldSet:
        return self.set_of(self.fields)


class ReextractAsk(_Asked):
    """What to look for in the pages of a run."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"fields": ["title", "price"]}]})

    fields: list[Wanted] = Field(min_length=1, max_length=MOST_FIELDS, examples=[["title", "price"]])
    text: Literal["fast", "article", "none"] | None = Field(None, description="As before, if it is not said.")

    def wanted(self) -> FieldSet:
        return self.set_of(self.fields)


class SuggestionView(Told):
    """A way to a value, and how much to trust it."""

    css: str | None = None
    attr: str | None = None
    jmespath: str | None = None
    value: str
    confidence: float = Field(ge=0, le=1)
    matches: int = Field(description="How many values it finds.")


class PreviewView(Told):
    """One page as a run would see it."""

    url: str
    status: int | None
    content_type: str
    record: dict[str, Any] = Field(description="The record that it would become; of a list, the first.")
    fields: list[dict[str, Any]] = Field(
        description="Each with its name, value and source; with problem and raw where it did not fit."
    )
    suggestions: dict[str, list[SuggestionView]] = Field(description="Selectors for what was found by its name.")
    found: list[SuggestionView] = Field(description="Selectors for what was asked to be found.")
    items: int | None = Field(description="Of a list page.")
    pagination: list[str] = Field(description="Where its next pages are.")
