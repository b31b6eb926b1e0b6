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
    """What decides every byte of a site. Links to other hosts have to name their port, so it is part of them."""

    pages: int
    hosts: int = 1
    port: int | None = None
    seed: int = 1
    version: int = GENERATOR_VERSION

    def __post_init__(self) -> None:
        if self.pages < self.hosts:
            raise ValueError(f"{self.hosts} hosts need at least as many pages, not {self.pages}: pass a larger --pages")
        if self.hosts > 1 and self.port is None:
            raise ValueError("hosts that link to one another need a port")

    @property
    def folder(self) -> str:
        return f"site-{self.pages}" if self.hosts == 1 else f"site-{self.pages}-{self.hosts}-hosts"

    def host_of(self, number: int) -> str:
        """Pages are dealt out to the hosts in turn."""
        return loopback(number % self.hosts)


@dataclass(frozen=True, slots=True)
class Site:
    """A generated site on disk."""

    shape: Shape
    root: Path


@dataclass(frozen=True, slots=True)
class Served:
    """A site that somebody serves on this port, and the log of its requests, if it is kept."""

    site: Site
    port: int
    log: Path | None = None

    @property
    def start_urls(self) -> tuple[str, ...]:
        """One per host: each host's other pages can be reached from it without leaving the host."""
        return tuple(self.url_of(number) for number in range(self.site.shape.hosts))

    def url_of(self, number: int) -> str:
        return f"http://{self.site.shape.host_of(number)}:{self.port}{page_path(number)}"

    def titles(self) -> dict[str, str]:
        """Every address of the site, with the title by which a contestant proves that it parsed the page."""
        return {self.url_of(number): page_title(number) for number in range(self.site.shape.pages)}


def loopback(index: int) -> str:
    """The address of the n-th host; all of 127.0.0.0/8 is this machine."""
    return f"127.0.0.{index + 1}"


def page_path(number: int) -> str:
    return f"/p/{number}.html"


def page_title(number: int) -> str:
    return f"Page {number} of the tarantula's travels"


def links_of(number: int, shape: Shape) -> list[int]:
    """The 40 pages that a page links to; the last two form a tree on each host, so that all can be reached."""
    scattered = [(number * 7 + k * k * 31 + k + 1) % shape.pages for k in range(LINKS_PER_PAGE - 2)]
    host, place = number % shape.hosts, number // shape.hosts
    children = [(2 * place + k) * shape.hosts + host for k in (1, 2)]
    return scattered + [child if child < shape.pages else host for child in children]


def prepare(shape: Shape, work_dir: Path) -> Site:
    """The site on disk, generated unless the very same one is already there."""
    root = work_dir / shape.folder
    stamp = root / "shape.json"
    wanted = json.dumps(asdict(shape), sort_keys=True)
    if not (stamp.is_file() and stamp.read_text() == wanted):
        shutil.rmtree(root, ignore_errors=True)
        _generate(shape, root)
        # Written last: a generation that was interrupted leaves no stamp and is done again.
        stamp.write_text(wanted)
    return Site(shape, root)


def port_before(pages: int, hosts: int, work_dir: Path) -> int | None:
    """The port that the links of an earlier site of this size name: with it, nothing has to be generated again."""
    stamp = work_dir / Shape(pages, hosts, port=0).folder / "shape.json"
    if not stamp.is_file():
        return None
    port: int | None = json.loads(stamp.read_text()).get("port")
    return port


def _generate(shape: Shape, root: Path) -> None:
    rng = random.Random(shape.seed)
    words = _words(rng, 2000)
    # A pool of paragraphs instead of fresh words per page: 30,000 pages take seconds, not minutes.
    paragraphs = [" ".join(rng.choices(words, k=WORDS_PER_PARAGRAPH)) + "." for _ in range(2000)]
    (root / "p").mkdir(parents=True)
    (root / "robots.txt").write_text("User-agent: *\nAllow: /\n")
    for number in range(shape.pages):
        page = _page(number, shape, rng, words, paragraphs)
        (root / "p" / f"{number}.html").write_text(page, encoding="utf-8")


def _words(rng: random.Random, count: int) -> list[str]:
    letters = "abcdefghijklmnopqrstuvwxyz"
    return ["".join(rng.choices(letters, k=rng.randint(3, 9))) for _ in range(count)]


def _page(number: int, shape: Shape, rng: random.Random, words: list[str], paragraphs: list[str]) -> str:
    anchors = [
        f'<a href="{_href(number, target, shape)}">{words[target % len(words)]}</a>'
        for target in links_of(number, shape)
    ]
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


def _href(number: int, target: int, shape: Shape) -> str:
    """As sites write it: a path on the same host, a whole address on another."""
    if shape.host_of(number) == shape.host_of(target):
        return page_path(target)
    return f"http://{shape.host_of(target)}:{shape.port}{page_path(target)}"
