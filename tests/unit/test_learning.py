"""What a site teaches: believed with evidence, given up with evidence, and never a matter of one page."""

from __future__ import annotations

import pytest

from tarantella.domain.learning import (
    DIFFERENT,
    FEWEST_REFUSALS,
    NONE_YET,
    Evidence,
    Learned,
    Sight,
    Sights,
    added,
    climbs,
    evidence_of,
    learned,
    recent,
)
from tarantella.domain.page import Page

DAY = 86_400.0
OK: Sight = ("http", None)
RENDERED: Sight = ("browser", None)
BLOCKED: Sight = ("http", "blocked")


def after(evidence: Evidence, *sights: Sight, now: float = 1_000.0, at_once: int = 1) -> Evidence:
    """The evidence after these, told so many at once."""
    for start in range(0, len(sights), at_once):
        seen: dict[Sight, Sights] = {}
        for sight in sights[start : start + at_once]:
            seen.setdefault(sight, Sights()).count += 1
        evidence = added(evidence, seen, now, 7 * DAY)
    return evidence


def verdict(evidence: Evidence, before: str | None = None) -> str | None:
    found = learned(evidence, before)
    return found.strategy if found is not None else None


def test_nothing_seen_is_nothing_known() -> None:
    assert verdict({}) is None
    assert verdict(after({}, RENDERED)) is None, "whether HTTP would do is not known"


def test_http_that_works_is_the_cheapest() -> None:
    assert verdict(after({}, OK)) == "http"
    assert verdict(after({}, OK, RENDERED)) == "http"


def test_a_browser_is_needed_where_http_was_refused_often_and_the_browser_was_not() -> None:
    refused = (BLOCKED,) * FEWEST_REFUSALS
    assert verdict(after({}, *refused)) is None
    assert verdict(after({}, *refused, RENDERED)) == "browser"
    assert verdict(after({}, *refused[1:], RENDERED)) is None, "fewer may be chance"
    assert verdict(after({}, *refused, ("browser", "blocked"), ("browser", "blocked"), RENDERED)) is None


def test_a_site_that_refuses_some_pages_is_asked_over_http_first() -> None:
    assert verdict(after({}, RENDERED, *(BLOCKED, OK) * 10)) == "http"
    assert verdict(after({}, RENDERED, OK, *(BLOCKED,) * 3)) == "http"


def test_what_is_believed_is_given_up_after_several_rechecks_and_not_after_one() -> None:
    evidence = after({}, *(BLOCKED,) * FEWEST_REFUSALS, RENDERED)
    assert verdict(after(evidence, OK), before="browser") == "browser"
    assert verdict(after(evidence, *(OK,) * 4), before="browser") == "http"
    assert verdict(after(evidence, OK, OK, ("http", DIFFERENT), OK), before="browser") == "browser"


@pytest.mark.parametrize("at_once", [1, 3, 100])
def test_it_does_not_matter_much_how_many_are_told_at_once(at_once: int) -> None:
    evidence = after({}, *(OK,) * 50, *(BLOCKED,) * 50, at_once=at_once)
    assert evidence["http"].share == pytest.approx(0.5 if at_once == 100 else 1.0, abs=0.05)
    assert (evidence["http"].ok, dict(evidence["http"].refused)) == (50, {"blocked": 50})


def test_what_is_older_than_it_is_worth_makes_room() -> None:
    old = after({}, *(BLOCKED,) * 9, RENDERED)
    new = after(old, OK, now=1_000.0 + 8 * DAY)
    assert (new["http"].ok, dict(new["http"].refused), new["http"].share) == (1, {}, 0.0)
    assert new["browser"] == old["browser"], "nothing new was seen of it"


def test_the_claim_that_http_does_not_do_is_as_old_as_its_last_try() -> None:
    evidence = after(after({}, *(BLOCKED,) * 5, RENDERED, now=100.0), RENDERED, now=900.0)
    found = learned(evidence, None)
    assert found is not None
    assert found.at == 100.0


def test_the_evidence_says_why_in_words() -> None:
    evidence = after({}, *(BLOCKED,) * 4, ("http", "needs_render"), RENDERED)
    assert learned(evidence, None) == Learned(
        "browser",
        1_000.0,
        "HTTP gave 0 pages, and was refused 5 times (blocked 4, needs_render 1); the browser gave 1 page",
    )


def test_it_is_stored_without_what_addresses_hide() -> None:
    page = Page(1, "run", "f", "a.example", "https://u:s3cret@a.example/x", 1, 0, 0, "http", 0, False)
    evidence = added({}, {OK: Sights(1, page)}, 5.0, DAY)
    stored = {name: each.to_json() for name, each in evidence.items()}
    assert "s3cret" not in str(stored)
    assert evidence_of(stored) == evidence
    assert NONE_YET.ok == 0


def judged(*pages: bool) -> bool:
    """Whether a host climbs after pages that were refused, or were not."""
    ok = refused = 0.0
    for page in pages:
        if page:
            ok, refused = recent(ok, refused + 1)
        else:
            ok += 1
    return climbs(ok, refused)


def test_a_host_that_turns_against_us_climbs_soon_and_one_that_refuses_some_never_does() -> None:
    assert not judged(*[False] * 10_000, *[True] * 10)
    assert judged(*[False] * 10_000, *[True] * 30)
    assert not judged(*[False, False, True] * 2_000)
    assert judged(*[False, True, True] * 2_000)


@pytest.mark.parametrize(
    ("ok", "refused", "climb"),
    [(0, FEWEST_REFUSALS, True), (0, FEWEST_REFUSALS - 1, False), (9, 9, False), (9, 10, True), (100, 20, False)],
)
def test_a_host_climbs_when_most_of_its_pages_had_to(ok: int, refused: int, climb: bool) -> None:
    assert climbs(ok, refused) is climb
