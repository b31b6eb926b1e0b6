"""The site that everybody crawls: generated once, the same bytes on every machine."""

from __future__ import annotations

import json
import random
import shutil
from dataclasses import asdict, dataclass
from pathlib import Path

LINKS_PER_PAGE = 40
NAV_LINKS = 8
WORDS_PER_PARAGRAPH = 76
GENERATOR_VERSION = 1


@dataclass(frozen=True, slots=True)
class Shape:
    """What decides every byte of a site."""

    pages: int
    seed: int = 1
    version: int = GENERATOR_VERSION

    def __post_init__(self) -> None:
        if self.pages < 1:
            raise ValueError(f"a site needs at least 1 page, not {self.pages}: pass a larger --pages")


@dataclass(frozen=True, slots=True)
class Site:
    """A generated site on disk."""

    shape: Shape
    root: Path

    @property
    def first_path(self) -> str:
        return page_path(0)

    def paths(self) -> list[str]:
        return [page_path(number) for number in range(self.shape.pages)]


def page_path(number: int) -> str:
    """The address of a page within the site."""
    return f"/p/{number}.html"


def page_title(number: int) -> str:
    """The title by which a contestant proves that it parsed the page."""
    return f"Page {number} of the tarantula's travels"


def links_of(number: int, pages: int) -> list[int]:
    """The 40 pages that a page links to; the last two form a tree, so that all are reachable from page 0."""
    scattered = [(number * 7 + k * k * 31 + k + 1) % pages for k in range(LINKS_PER_PAGE - 2)]
    children = [child if child < pages else 0 for child in (2 * number + 1, 2 * number + 2)]
    return scattered + children


def prepare(shape: Shape, work_dir: Path) -> Site:
    """The site on disk, generated unless the very same one is already there."""
    root = work_dir / f"site-{shape.pages}"
    stamp = root / "shape.json"
    wanted = json.dumps(asdict(shape), sort_keys=True)
    if not (stamp.is_file() and stamp.read_text() == wanted):
        shutil.rmtree(root, ignore_errors=True)
        _generate(shape, root)
        # Written last: a generation that was interrupted leaves no stamp and is done again.
        stamp.write_text(wanted)
    return Site(shape, root)


def _generate(shape: Shape, root: Path) -> None:
    rng = random.Random(shape.seed)
    words = _words(rng, 2000)
    # A pool of paragraphs instead of fresh words per page: 30,000 pages take seconds, not minutes.
    paragraphs = [" ".join(rng.choices(words, k=WORDS_PER_PARAGRAPH)) + "." for _ in range(2000)]
    (root / "p").mkdir(parents=True)
    (root / "robots.txt").write_text("User-agent: *\nAllow: /\n")
    for number in range(shape.pages):
        page = _page(number, shape.pages, rng, words, paragraphs)
        (root / "p" / f"{number}.html").write_text(page, encoding="utf-8")


def _words(rng: random.Random, count: int) -> list[str]:
    letters = "abcdefghijklmnopqrstuvwxyz"
    return ["".join(rng.choices(letters, k=rng.randint(3, 9))) for _ in range(count)]


def _page(number: int, pages: int, rng: random.Random, words: list[str], paragraphs: list[str]) -> str:
    anchors = [f'<a href="{page_path(n)}">{words[n % len(words)]}</a>' for n in links_of(number, pages)]
    nav, inline = anchors[:NAV_LINKS], anchors[NAV_LINKS:]
    items = "".join(f"<li>{anchor}</li>" for anchor in nav)
    body = "\n".join(
        f'<div class="c"><p>{text} {anchor}</p></div>'
        for text, anchor in zip(rng.choices(paragraphs, k=len(inline)), inline, strict=True)
    )
    title = page_title(number)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f"<title>{title}</title>"
        f'<meta name="description" content="What page {number} is about: {words[number % len(words)]}.">'
        '<meta name="viewport" content="width=device-width"></head>\n'
        f"<body><header><nav><ul>{items}</ul></nav></header>\n<main><article><h1>{title}</h1>\n"
        f"{body}\n</article></main><footer><p>Made of words that mean nothing.</p></footer></body></html>\n"
    )
