"""Why a page ended as it did can be told by its reason alone."""

from __future__ import annotations

from tarantella.domain.failure import IN_WORDS, Failure
from tarantella.domain.page import SKIP_IN_WORDS, Skip
from tarantella.domain.reasons import in_words


def test_no_skip_has_the_name_of_a_failure() -> None:
    assert {failure.value for failure in Failure}.isdisjoint(skip.value for skip in Skip)


def test_every_reason_has_words_and_one_that_is_not_known_is_told_as_it_is() -> None:
    assert [in_words(failure.value) for failure in Failure] == [IN_WORDS[failure] for failure in Failure]
    assert [in_words(skip.value) for skip in Skip] == [SKIP_IN_WORDS[skip] for skip in Skip]
    assert (in_words("of_tomorrow"), in_words(None)) == ("of_tomorrow", "no reason was given")
