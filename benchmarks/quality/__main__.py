"""Measure, and write what was found: python -m benchmarks.quality [FILE]."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from benchmarks.quality import articles, cost, names


def lines() -> Iterator[str]:
    """The tables of docs/quality.md."""
    results = articles.measure()
    pages = len(results[0].scores)
    yield f"## Article text\n\n{pages} pages in {len(articles.by_layout(results))} layouts.\n"
    yield "| reader | precision | recall | F1 | CPU per page |"
    yield "|---|---|---|---|---|"
    for result in results:
        precision, recall, f1 = result.mean()
        yield f"| {result.name} | {precision:.3f} | {recall:.3f} | {f1:.3f} | {result.milliseconds:.2f} ms |"
    yield "\nF1 by layout, in the order of the readers above:\n"
    yield "| layout | " + " | ".join(str(number) for number in range(1, len(results) + 1)) + " |"
    yield "|---|" + "---|" * len(results)
    for layout, f1s in articles.by_layout(results).items():
        yield f"| {layout.replace('_', ' ')} | " + " | ".join(f"{f1:.3f}" for f1 in f1s) + " |"
    by_name, by_style, _ = names.measure()
    for title, found in (("name", by_name), ("the page says it in", by_style)):
        yield f"\n## Plain names, by {'name' if title == 'name' else 'style'}\n"
        yield f"| {title} | precision | recall | F1 | values |"
        yield "|---|---|---|---|---|"
        for name, tally in found.items():
            told = f"{tally.precision:.3f} | {tally.recall:.3f} | {tally.f1:.3f} | {tally.right + tally.overlooked}"
            yield f"| {name} | {told} |"


def cost_lines() -> Iterator[str]:
    ours, bare, size = cost.measure()
    yield f"\n## What fields cost\n\nTitle, links and five CSS fields of a page of {size:,} bytes, without text:\n"
    yield "| | per page |\n|---|---|"
    yield f"| the bare parser | {bare:.0f} µs |"
    yield f"| Tarantella | {ours:.0f} µs, {ours / bare:.2f} times as much |"


def main() -> None:
    written = "\n".join([*lines(), *cost_lines()]) + "\n"
    if len(sys.argv) > 1:
        Path(sys.argv[1]).write_text(written, encoding="utf-8")
    else:
        sys.stdout.write(written)


main()
