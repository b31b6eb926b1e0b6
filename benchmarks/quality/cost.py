"""What title, links and five CSS fields of a page cost, beside the bare parser for the same."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from statistics import median
from typing import NamedTuple

import turbohtml

from benchmarks.quality.stories import tell
from tarantella.domain.field import Field
from tarantella.domain.spec import Spec
from tarantella.extractors.memory import keep_freed_memory
from tarantella.extractors.page import Wants, extract

ROUNDS, CALLS = 300, 20
FIELDS = {"name": "h1.name", "price": ".price", "sku": ".sku", "when": "time", "brand": ".brand b"}


def page() -> bytes:
    """About 19 KB with forty links."""
    links = "".join(f'<li><a href="/p/{n}.html">Page {n} of many</a></li>' for n in range(40))
    text = "".join(f"<p>{paragraph}</p>" for seed in range(9) for paragraph in tell(seed, length=9).paragraphs)
    goods = '<h1 class="name">Loom</h1><b class="price">9.50</b><i class="sku">L1</i><time>2024</time><div class="brand"><b>X</b></div>'
    return f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>T</title></head><body><ul>{links}</ul>{goods}{text}</body></html>'.encode()


class Cost(NamedTuple):
    """Microseconds for a page: medians of many rounds in turn, and of how many times as much ours took in each."""

    ours: float
    bare: float
    ratio: float
    size: int


def measure() -> Cost:
    """Ours and the bare parser in turn, so that whatever else the machine does meets both."""
    keep_freed_memory()
    body = page()
    wants = Wants.of(Spec(text="none", fields=tuple(Field(name, css) for name, css in FIELDS.items())))

    def bare() -> object:
        html = turbohtml.parse(body, encoding="utf-8", positions=False)
        title = html.find("title")
        assert title is not None
        links = dict.fromkeys(html.xpath("//a/@href"))  # type: ignore[arg-type]
        return title.text, links, [html.select(css)[0].text for css in FIELDS.values()]

    def ours() -> object:
        return extract(body, "text/html; charset=utf-8", wants, "http://site.test/")

    gc.collect()
    gc.freeze()
    rounds = [(_timed(ours), _timed(bare)) for _ in range(ROUNDS)]
    return Cost(
        median(each for each, _ in rounds) * 1e6,
        median(each for _, each in rounds) * 1e6,
        median(first / second for first, second in rounds),
        len(body),
    )


def _timed(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    for _ in range(CALLS):
        work()
    return (time.perf_counter() - started) / CALLS
