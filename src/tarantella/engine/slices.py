"""An outcome with more links than one transaction should take is stored in slices; the last one ends the page.

Each slice leaves the page pending and makes its `tries` grow, as every outcome does. Whoever dies in between leaves a page
that is read again, and whose links are mostly known.
"""

from __future__ import annotations

from tarantella.domain.outcome import Outcome
from tarantella.domain.page import PageState, Skip
from tarantella.domain.refused import Refused, summed

LINKS_AT_ONCE = 5_000  # more than of many pages together: each slice costs the page a settle of its own


def is_large(outcome: Outcome) -> bool:
    return len(outcome.links) > LINKS_AT_ONCE


def first_slice(outcome: Outcome) -> tuple[Outcome, Outcome]:
    """The first links as an outcome of their own, and what is left for later."""
    page = outcome.page
    first = Outcome(
        page,
        PageState.PENDING,
        status=outcome.status,
        links=outcome.links[:LINKS_AT_ONCE],
        partial=True,
    )
    rest = outcome._replace(page=page._replace(tries=page.tries + 1), links=outcome.links[LINKS_AT_ONCE:])
    return first, rest


def without_links(outcome: Outcome) -> Outcome:
    """The same for a run that is full: the links are counted, and become no rows."""
    surplus = {Skip.MAX_PAGES.value: Refused.of([link.url for link in outcome.links])}
    return outcome._replace(links=(), refused=summed(surplus, outcome.refused))
