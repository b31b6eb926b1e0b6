"""A browser and its contexts are used up and replaced, and no page notices."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tarantella.domain.struct import replace
from tarantella.fetchers.browser import fetcher
from tests.browsers import program_or_skip
from tests.fault.processes import until
from tests.integration.browser.conftest import Lab


@pytest.fixture
def worn(tmp_path: Path) -> Iterator[Lab]:
    """A browser whose contexts last for two pages."""
    lab = Lab(program_or_skip(), tmp_path, pages_per_context=2)
    yield lab
    lab.close()


def visits(lab: Lab) -> int:
    return int(lab.html("/scripted/stored", owner="one").partition('class="visits">')[2].partition("<")[0])


def test_what_a_site_has_stored_outlives_the_context_that_it_was_stored_in(worn: Lab) -> None:
    contexts = []
    counted = []
    for _ in range(5):
        counted.append(visits(worn))
        running = worn.browser._running
        assert running is not None and running.chromium.browser is not None
        # One at a time: the old one is closed when its pages are.
        [context] = running.chromium.browser.contexts
        contexts.append(id(context))
    assert counted == [1, 2, 3, 4, 5]
    assert len(set(contexts)) == 3


def test_a_browser_that_has_grown_too_large_is_replaced_when_its_pages_have_ended(
    worn: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetcher, "LOOKS_AT_MEMORY_EVERY", 1)
    assert worn.fetch("/ok").status == 200
    first = worn.browser._running
    assert first is not None and not first.worn
    worn.browser._means = replace(worn.browser._means, most_memory=1)
    assert worn.fetch("/ok").status == 200
    assert first.worn
    worn.browser._means = replace(worn.browser._means, most_memory=10**12)
    assert worn.fetch("/ok").status == 200
    assert worn.browser._running is not first
    assert not first.chromium.is_alive


def test_a_browser_that_has_grown_too_large_waits_for_the_pages_in_it(
    worn: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetcher, "LOOKS_AT_MEMORY_EVERY", 1)
    assert worn.fetch("/ok").status == 200
    first = worn.browser._running
    assert first is not None and not first.busy, "it had nothing to do for a moment"
    slow = worn.begin("/slow?s=2")
    until(lambda: first.busy == 1, 10, "the slow page is not asked for")
    worn.browser._means = replace(worn.browser._means, most_memory=1)
    assert worn.fetch("/ok").status == 200
    assert first.worn and not slow.done()
    worn.browser._means = replace(worn.browser._means, most_memory=10**12)
    assert worn.fetch("/ok").status == 200
    assert slow.result(0).status == 200, "its browser was taken from it"
    assert worn.browser._running is not first
