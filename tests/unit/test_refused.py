"""What is told of links that are not followed: always as many samples, of the same length, without secrets."""

from __future__ import annotations

import pytest

from tarantella.domain.outcome import Attempt
from tarantella.domain.page import Page
from tarantella.domain.refused import NOTHING_REFUSED, Refused, summed
from tarantella.domain.spec import Spec
from tarantella.domain.url import fingerprint
from tarantella.engine import answering
from tarantella.engine.visit import Visit
from tarantella.extractors.page import Extracted
from tests.unit.made import served

HOME = "https://a.example/"


def test_a_few_are_shown_and_all_are_counted() -> None:
    hrefs = [f"/{n}" for n in range(5)]
    assert Refused.of(hrefs) == Refused(5, ("/0", "/1", "/2"))


def test_two_mappings_are_added_reason_by_reason() -> None:
    one = {"scope": Refused(1, ("a",)), "depth": Refused(2)}
    other = {"scope": Refused(3, ("b", "c", "d")), "nofollow": Refused(1, ("e",))}
    assert summed(one, other) == {
        "scope": Refused(4, ("a", "b", "c")),
        "depth": Refused(2),
        "nofollow": Refused(1, ("e",)),
    }
    assert one == {"scope": Refused(1, ("a",)), "depth": Refused(2)}


def test_where_nothing_is_refused_nothing_is_made() -> None:
    known = {"scope": Refused(1)}
    assert summed(known, NOTHING_REFUSED) is known


@pytest.mark.parametrize("reason", ["nofollow", "too_many", "max_pages"])
def test_samples_are_short_and_show_no_secret_whatever_they_were_refused_for(
    reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answering, "MAX_LINKS", 0 if reason == "too_many" else 10)
    run = served("r", spec=Spec(depth=None))
    run.full = reason == "max_pages"
    hrefs = ["/?to\nken=hunter2", "/" + "x" * 1_000]
    page = Page(1, "r", fingerprint(HOME), "a.example", HOME, 1, 0, 0, "http", 0, False, None)
    visit = Visit(HOME, 200, extracted=Extracted({}, hrefs=hrefs, nofollow=reason == "nofollow"))
    refused = answering.done(page, run, visit, Attempt("http", 0.0, 1, "done")).refused[reason]
    assert refused.count == 2
    assert refused.samples[0].endswith("/?token=***")
    assert len(refused.samples[1]) == 300
