"""What a page's headers ask of crawlers."""

from __future__ import annotations

import pytest

from tarantella.domain.robots_tag import asks_not_to_be_followed

US = "Tarantella"


@pytest.mark.parametrize(
    ("headers", "asks"),
    [
        (["nofollow"], True),
        (["NONE"], True),
        (["noindex, NoFollow"], True),
        (["noindex", "nofollow"], True),
        (["all"], False),
        (["noindex, follow"], False),
        ([""], False),
        (["otherbot: nofollow"], False),
        (["otherbot: noindex, nofollow"], False),
        (["otherbot: nofollow", "noindex"], False),
        (["otherbot: noindex", "nofollow"], True),
        (["tarantella: nofollow"], True),
        (["Tarantella/0.1 : noindex, none"], True),
        (["* : nofollow"], True),
        (["otherbot: nofollow, tarantella: noindex"], False),
        (["otherbot: noindex, tarantella: nofollow"], True),
        (["unavailable_after: Friday, 25 Jun 2027 15:00:00 PST, nofollow"], True),
        (["max-snippet: 20, max-image-preview:large, nofollow"], True),
        (["otherbot: max-snippet: 20, nofollow"], False),
        (["nofollowing, anofollow"], False),
        ([",:,: nofollow,", "/1: nofollow"], False),
    ],
)
def test_rules_count_where_they_are_for_all_or_for_us(headers: list[str], asks: bool) -> None:
    assert asks_not_to_be_followed("\n".join(headers), US) is asks


def test_who_goes_by_the_name_of_a_browser_is_meant_by_any_word_of_it() -> None:
    name = "Mozilla/5.0 (compatible; OtherBot/2.1)"
    assert asks_not_to_be_followed("otherbot: nofollow", name)
    assert not asks_not_to_be_followed("thirdbot: nofollow", name)
