"""Measure, and write what was found: python -m benchmarks.quality [--pages FOLDER] [--output FILE]."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.quality import articles, cost, names
from benchmarks.quality.corpus import known_pages
from benchmarks.quality.layouts import pages

WORST = 10


def own_pages() -> Iterator[str]:
    """The tables of docs/quality.md."""
    results = articles.measure([articles.Known(page.name, page.html, page.story.text) for page in pages()])
    layouts = articles.by_name(results)
    yield f"### Article text\n\n{len(results[0].scores)} pages in {len(layouts)} layouts.\n"
    yield from readers(results)
    yield "\nF1 by layout, in the order of the readers above:\n"
    yield from by_name("layout", layouts)
    tallies, by_style, _ = names.measure()
    for title, found in (("name", tallies), ("the page says it in", by_style)):
        yield f"\n### Plain names, by {'name' if title == 'name' else 'style'}\n"
        yield f"| {title} | precision | recall | F1 | values |"
        yield "|---|---|---|---|---|"
        for name, tally in found.items():
            told = f"{tally.precision:.3f} | {tally.recall:.3f} | {tally.f1:.3f} | {tally.right + tally.overlooked}"
            yield f"| {name} | {told} |"
    yield from cost_lines()


def pages_of(folder: Path) -> Iterator[str]:
    """The same for pages that are not ours: what each reader makes of them, and where we are furthest from the truth."""
    known = known_pages(folder)
    if not known:
        sys.exit(f"{folder} has no pages with known texts: NAME.html and NAME.txt, or a ground-truth.json.")
    results = articles.measure(known)
    yield f"{len(known)} pages.\n"
    yield from readers(results)
    yield "\nThe pages with the lowest F1, in the order of the readers above:\n"
    worst = sorted(articles.by_name(results).items(), key=lambda found: found[1][0])
    yield from by_name("page", dict(worst[:WORST]))


def readers(results: Sequence[articles.Result]) -> Iterator[str]:
    yield "| reader | precision | recall | F1 | CPU per page |"
    yield "|---|---|---|---|---|"
    for result in results:
        precision, recall, f1 = result.mean()
        yield f"| {result.name} | {precision:.3f} | {recall:.3f} | {f1:.3f} | {result.milliseconds:.2f} ms |"


def by_name(title: str, found: dict[str, list[float]]) -> Iterator[str]:
    numbers = range(1, len(articles.READERS) + 1)
    yield f"| {title} | " + " | ".join(map(str, numbers)) + " |"
    yield "|---|" + "---|" * len(numbers)
    for name, f1s in found.items():
        yield f"| {name.replace('_', ' ')} | " + " | ".join(f"{f1:.3f}" for f1 in f1s) + " |"


def cost_lines() -> Iterator[str]:
    found = cost.measure()
    yield f"\n### What fields cost\n\nTitle, links and five CSS fields of a page of {found.size:,} bytes, without text:\n"
    yield "| | per page |\n|---|---|"
    yield f"| the bare parser | {found.bare:.0f} µs |"
    yield f"| Tarantella | {found.ours:.0f} µs, {found.ratio:.2f} times as much |"


def main() -> None:
    parser = ArgumentParser(prog="python -m benchmarks.quality", description="How well articles and fields are found.")
    parser.add_argument("--pages", type=Path, metavar="FOLDER", help="pages with known texts, instead of our own")
    parser.add_argument("--output", type=Path, metavar="FILE", help="where the tables go, instead of being shown")
    given = parser.parse_args()
    written = "\n".join(pages_of(given.pages) if given.pages else own_pages()) + "\n"
    if given.output:
        given.output.write_text(written, encoding="utf-8")
    else:
        sys.stdout.write(written)


main()
