"""What a browser does on pages, as clients say it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import ConfigDict, Field, StringConstraints

from tarantella.api.views.base import Flag, Number, Said, Whole
from tarantella.domain.browsing import LONGEST_SELECTOR, LONGEST_VALUE, LONGEST_WAIT, MOST_ACTIONS, MOST_SCROLLS

Selector = Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_SELECTOR)]


class ActionView(Said):
    """One thing to do before a page is read: one of `click`, `fill`, `wait` and `scroll`."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"click": "#more"}, {"fill": "#q", "value": "tea"}]})

    click: Selector | None = Field(None, description="What is clicked.")
    fill: Selector | None = Field(None, description="Where something is filled in.")
    value: str | None = Field(None, max_length=LONGEST_VALUE, description="What is filled in.")
    secret: str | None = Field(
        None, min_length=1, max_length=100, description="The name in `fill` of what is filled in, and never shown."
    )
    wait: Selector | Annotated[Number, Field(ge=0, le=LONGEST_WAIT)] | None = Field(
        None, description="What is waited for, or for how many seconds."
    )
    scroll: Whole | None = Field(None, ge=1, le=MOST_SCROLLS, description="How often to scroll to the end.")
    optional: Flag = Field(False, description="Whether a page without it is read all the same.")


class BrowserView(Said):
    """How pages are treated in a browser. What is not said is as usual."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"wait_for": ".price", "scroll": 10}]})

    wait_for: Selector | None = Field(None, description="A page is read when something matches this.")
    quiet_ms: Whole | None = Field(
        None, ge=0, le=10_000, description="Otherwise when its network has been quiet for so long; 500 as usual."
    )
    scroll: Whole | None = Field(
        None, ge=0, le=MOST_SCROLLS, description="How often to scroll to the end at most, while that brings more."
    )
    load_more: Selector | None = Field(None, description="What is clicked while it is there.")
    load_more_times: Whole | None = Field(None, ge=1, le=MOST_SCROLLS, description="How often at most; 20 as usual.")
    actions: list[ActionView] | None = Field(
        None, max_length=MOST_ACTIONS, description="What is done on each page before it is read."
    )
    block: list[Literal["image", "font", "media", "stylesheet"]] | None = Field(
        None, max_length=4, description="What is not loaded; images, fonts and media as usual."
    )
    screenshot: Flag | None = Field(None, description="Whether a picture of each page is kept.")
    keep_html: Flag | None = Field(None, description="Whether the HTML of each page is kept, as its scripts left it.")
