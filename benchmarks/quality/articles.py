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

from benchmarks.quality.layouts import Page, pages
from tarantella.extractors.article import read_article
from tarantella.extractors.prose import read_prose

Reader = Callable[[str], str]
ROUNDS = 3
WORDS = 4  # in a row that have to be the same


class Score(NamedTuple):
    """Of what was given, how much is right; of what is right, how much was given."""

    precision: float
    recall: float

    @property
    def f1(self) -> float:
        return (
            2 * self.precision * self.recall / (self.precision + self.recall) if self.precision + self.recall else 0.0
        )


class Result(NamedTuple):
    name: str
    scores: list[tuple[str, Score]]  # by layout
    milliseconds: float

    def mean(self) -> tuple[float, float, float]:
        found = [score for _, score in self.scores]
        return mean(s.precision for s in found), mean(s.recall for s in found), mean(s.f1 for s in found)


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


def measure() -> list[Result]:
    """All readers on all pages; the time is the least of several rounds."""
    written = pages()
    return [_measure(name, reader, written) for name, reader in READERS.items()]


def _measure(name: str, reader: Reader, written: Sequence[Page]) -> Result:
    given = [reader(page.html) for page in written]
    least = float("inf")
    gc.collect()
    for _ in range(ROUNDS):
        started = time.process_time()
        for page in written:
            reader(page.html)
        least = min(least, time.process_time() - started)
    scores = [(page.name, score(text, page.story.text)) for page, text in zip(written, given, strict=True)]
    return Result(name, scores, least / len(written) * 1_000)


def score(given: str, truth: str) -> Score:
    """By runs of four words, each counted as often as it is there; letters where words have no blanks between them."""
    had, wanted = _runs(given), _runs(truth)
    same = sum((had & wanted).values())
    return Score(same / max(1, sum(had.values())), same / max(1, sum(wanted.values())))


def _runs(text: str) -> Counter[tuple[str, ...]]:
    words = re.findall(r"[\u3040-\u30ff\u3400-\u9fff]|\w+", text)
    return Counter(tuple(words[at : at + WORDS]) for at in range(max(1, len(words) - WORDS + 1)))


def by_layout(results: Sequence[Result]) -> dict[str, list[float]]:
    """The mean F1 of each reader, by layout."""
    found: dict[str, list[float]] = defaultdict(list)
    for result in results:
        of: dict[str, list[float]] = defaultdict(list)
        for name, each in result.scores:
            of[name].append(each.f1)
        for name, f1 in of.items():
            found[name].append(mean(f1))
    return dict(found)
