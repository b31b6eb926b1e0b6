"""How the quality of articles is measured."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from benchmarks.quality.articles import Known, Result, score
from benchmarks.quality.corpus import known_pages


def test_what_is_given_and_what_is_left_out_both_count() -> None:
    truth = "one two three four five six seven eight"
    assert score(truth, truth).f1 == 1.0
    half = score("one two three four five", truth)
    assert (half.precision, half.recall) == (1.0, 2 / 5)
    more = score(truth + " nine ten", truth)
    assert (more.precision, more.recall) == (5 / 7, 1.0)
    assert score("", truth).f1 == 0.0


def test_a_page_of_which_nothing_was_given_costs_recall_only() -> None:
    truth = "one two three four"
    result = Result("somebody", [("a", score(truth, truth)), ("b", score("", truth))], 1.0)
    assert result.mean() == pytest.approx((1.0, 0.5, 2 / 3))


def test_pages_with_texts_beside_them_are_known(tmp_path: Path) -> None:
    (tmp_path / "plain.html").write_text("<p>one")
    (tmp_path / "plain.txt").write_text("one")
    (tmp_path / "nobody-knows.html").write_text("<p>?")
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "packed.html.gz").write_bytes(gzip.compress("<meta charset=latin1><p>é".encode("latin-1")))
    (tmp_path / "ground-truth.json").write_text(
        json.dumps({"packed": {"articleBody": "é"}, "gone": {"articleBody": ""}})
    )
    assert known_pages(tmp_path) == [Known("packed", "<meta charset=latin1><p>é", "é"), Known("plain", "<p>one", "one")]
