"""Article text: precision, recall and F1 of each reader, and the processor time that it takes."""

from __future__ import annotations

import gc
import re
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from statistics import mean
from typing import NamedTuple

import turbohtml

from tarantella.extractors.article import read_article
from tarantella.extractors.prose import read_prose

Reader = Callable[[str], str]
ROUNDS = 3
WORDS = 4  # in a row that have to be the same


class Known(NamedTuple):
    """A page, and the text that stands on it."""

    name: str
    html: str
    text: str


class Score(NamedTuple):
    """How many runs of words were given, how many there are, and how many of them are the same."""

    right: int
    given: int
    wanted: int

    @property
    def precision(self) -> float:
        return self.right / self.given if self.given else 0.0

    @property
    def recall(self) -> float:
        return self.right / self.wanted if self.wanted else 1.0

    @property
    def f1(self) -> float:
        return _f1(self.precision, self.recall)


class Result(NamedTuple):
    name: str
    scores: list[tuple[str, Score]]  # by the page's name
    milliseconds: float

    def mean(self) -> tuple[float, float, float]:
        return _mean([score for _, score in self.scores])


def _mean(scores: Sequence[Score]) -> tuple[float, float, float]:
    """Each page counts alike, however long. A page of which nothing was given has no precision, and costs recall."""
    precision = mean([score.precision for score in scores if score.given] or [0.0])
    recall = mean(score.recall for score in scores)
    return precision, recall, _f1(precision, recall)


def _f1(precision: float, recall: float) -> float:
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def tarantella(html: str) -> str:
    return read_article(turbohtml.parse(html, positions=False), lambda: html).text


def quick(html: str) -> str:
    return read_prose(turbohtml.parse(html, positions=False)).text


def main_text(html: str) -> str:
    return turbohtml.parse(html, positions=False).main_text()


def trafilatura_fast(html: str) -> str:
    from trafilatura import extract

    return extract(html, fast=True, include_comments=False) or ""


READERS: dict[str, Reader] = {
    "Tarantella (`--text article`)": tarantella,
    "its quick reader alone": quick,
    "trafilatura 2.3, fast": trafilatura_fast,
    "turbohtml `main_text` (`--text fast`)": main_text,
}


def measure(known: Sequence[Known]) -> list[Result]:
    """All readers on all pages; the time is the least of several rounds."""
    return [_measure(name, reader, known) for name, reader in READERS.items()]


def _measure(name: str, reader: Reader, known: Sequence[Known]) -> Result:
    given = [reader(page.html) for page in known]
    least = float("inf")
    gc.collect()
    for _ in range(ROUNDS):
        started = time.process_time()
        for page in known:
            reader(page.html)
        least = min(least, time.process_time() - started)
    scores = [(page.name, score(text, page.text)) for page, text in zip(known, given, strict=True)]
    return Result(name, scores, least / len(known) * 1_000)


def score(given: str, truth: str) -> Score:
    """By runs of four words, each counted as often as it is there; letters where words have no blanks between them."""
    had, wanted = _runs(given), _runs(truth)
    return Score((had & wanted).total(), had.total(), wanted.total())


def _runs(text: str) -> Counter[tuple[str, ...]]:
    words = re.findall(r"[\u3040-\u30ff\u3400-\u9fff]|\w+", text)
    return Counter(tuple(words[at : at + WORDS]) for at in range(max(bool(words), len(words) - WORDS + 1)))


def by_name(results: Sequence[Result]) -> dict[str, list[float]]:
    """The F1 of each reader, by the name of the page, which can be that of several."""
    found: dict[str, list[float]] = defaultdict(list)
    for result in results:
        of: dict[str, list[Score]] = defaultdict(list)
        for name, each in result.scores:
            of[name].append(each)
        for name, scores in of.items():
            found[name].append(_mean(scores)[2])
    return dict(found)
