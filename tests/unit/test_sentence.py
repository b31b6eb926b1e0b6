"""Sentences that others' sentences stand in."""

from __future__ import annotations

import pytest

from tarantella.domain.errors import InvalidInput
from tarantella.domain.sentence import with_one_stop


@pytest.mark.parametrize(
    ("told", "meant"),
    [
        ("It can't be read: nobody answers..", "It can't be read: nobody answers."),
        ("It says: no.. Ask again.", "It says: no. Ask again."),
        ("It says: who are you?. Tell it.", "It says: who are you? Tell it."),
        ("It says: go away!.", "It says: go away!"),
        ("Wait...", "Wait..."),
        ("Look in .. and ../x, or in a/.. again.", "Look in .. and ../x, or in a/.. again."),
        ("Nothing between 1..5.", "Nothing between 1..5."),
    ],
)
def test_what_ended_before_ends_once(told: str, meant: str) -> None:
    assert with_one_stop(told) == meant


def test_every_error_is_told_so() -> None:
    error = InvalidInput("No: it is so..", remedy="Do that..")
    assert (error.message, error.remedy, str(error)) == ("No: it is so.", "Do that.", "No: it is so. Do that.")
