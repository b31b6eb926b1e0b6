"""What `runs show` and `runs events` say to people."""

from __future__ import annotations

import io
from typing import TextIO, cast

import pytest

from tarantella.cli.listing import event_line, run_lines
from tarantella.cli.terminal import Screen
from tarantella.domain.spec import Field, Spec
from tarantella.domain.struct import replace
from tests.unit.made import RUN

FIELDS = (
    Field("title", "h1"),
    Field("link", "a[href]", "href"),
    Field("sku", xpath="//b", regex=r"\\d+"),
    Field("specs", "tr", fields=(Field("key", "th"), Field("value", jmespath="a.b"))),
)
LISTED = replace(
    RUN, spec=Spec(fields=FIELDS, item=Field("item", "li"), pagination=Field("pagination", "a.next", "href"))
)


def shown(width: int) -> list[str]:
    out = io.StringIO()
    screen = Screen(cast(TextIO, out), draws=False, width=width)
    for line in run_lines(replace(LISTED, roots=("https://example.com/" + "x" * 100,)), [], []):
        screen.print(line)
    return out.getvalue().splitlines()


def test_a_value_that_does_not_fit_goes_on_below_itself() -> None:
    lines = shown(60)
    first = next(number for number, line in enumerate(lines) if line.startswith("  options   depth 1"))
    assert lines[first + 1].startswith(" " * 12 + "concurrency 10")
    assert "  start     https://example.com/" + "x" * 100 in lines
    assert [line for line in lines if len(line) > 60 and "xxx" not in line] == []


@pytest.mark.parametrize(
    "told",
    [
        "item=li, pagination=a.next@href, field title=h1, field link=a[href]@href",
        r"field sku (xpath //b, regex \\d+)",
        "field specs=tr {key=th, value (jmespath a.b)}",
    ],
)
def test_options_tell_where_every_field_is_looked_for(told: str) -> None:
    [options] = [line for line in shown(10_000) if line.startswith("  options")]
    assert told in options


def test_what_is_within_a_value_of_an_event_is_in_brackets() -> None:
    meta = {"stats": {"http_status": 200, "cost": {"requests": 70, "hosts": ["a", "b"]}}, "pages": 3, "seconds": 1.50}
    event = {"sequence": 7, "created_at": 0.0, "level": "info", "message": "Run completed", "meta": meta}
    told = "stats={http_status=200, cost={requests=70, hosts=[a, b]}}, pages=3, seconds=1.5"
    assert event_line(event).plain.endswith(f"Run completed  {told}")
