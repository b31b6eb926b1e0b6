"""Pages that could take long are read in processes of their own, and none of them keeps the others waiting."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import pytest

from tarantella.domain.field import fields_of
from tarantella.domain.spec import Spec
from tarantella.engine.reader import Readers
from tarantella.extractors.errors import ExtractionFailed, NotADocument
from tarantella.extractors.page import Wants, extract

URL = "http://site.test/"
HTML = b"<html lang=en><title>T</title><p>SKU 17 <a href=/a>a</a>" + b"<i>x</i>" * 3_000
# It walks through the whole page for each element, for each element.
EXPLODES = "//*[//*[//b='z']]"


def in_a_loop(test: Callable[[], Coroutine[Any, Any, None]]) -> Callable[[], None]:
    def run() -> None:
        asyncio.run(test())

    return run


@asynccontextmanager
async def reading(**options: Any) -> AsyncIterator[Readers]:
    readers = Readers(**options)
    try:
        yield readers
    finally:
        await readers.close()


def wants_of(*fields: Any) -> Wants:
    return Wants.of(Spec(fields=fields_of(fields), text="none"))


@in_a_loop
async def test_a_page_is_read_in_a_child_as_it_is_read_here() -> None:
    wants = wants_of({"name": "sku", "regex": r"SKU (\d+)", "type": "integer"}, {"name": "i", "css": "i"})
    async with reading(most=1) as readers:
        read = await readers.read(HTML, "text/html", wants, URL)
        again = await readers.read(HTML, "text/html", wants, URL)
    here = extract(HTML, "text/html", wants, URL)
    assert read == again == here._replace(hrefs=list(here.hrefs))
    assert read.data["fields"]["sku"] == 17


@in_a_loop
async def test_a_selector_that_explodes_is_ended_and_the_rest_of_the_page_is_read() -> None:
    wants = wants_of({"name": "bad", "xpath": EXPLODES, "default": "?"}, {"name": "good", "css": "title"})
    async with reading(most=1, seconds=1.0) as readers:
        started = time.monotonic()
        read = await readers.read(HTML, "text/html", wants, URL)
        assert time.monotonic() - started < 20
        assert read.data["fields"] == {"bad": "?", "good": "T"}
        assert "took longer" in read.data["problems"]["bad"]["problem"]
        assert read.lacking == {"bad": {"missing": 1}}
        assert list(read.hrefs) == ["/a"]
        # The next page gets a new child.
        assert (await readers.read(HTML, "text/html", wants_of({"name": "i", "regex": "i", "all": False}), URL)).data[
            "fields"
        ] == {"i": "i"}


@in_a_loop
async def test_others_are_served_while_a_page_is_read() -> None:
    async with reading(most=1, seconds=1.0) as readers:
        slow = asyncio.create_task(readers.read(HTML, "text/html", wants_of({"name": "bad", "xpath": EXPLODES}), URL))
        longest, last = 0.0, time.monotonic()
        while not slow.done():
            await asyncio.sleep(0.005)
            longest, last = max(longest, time.monotonic() - last), time.monotonic()
        assert (await slow).data["fields"] == {"bad": None}
    assert longest < 0.5


@in_a_loop
async def test_what_is_no_document_is_none_in_a_child_either() -> None:
    async with reading(most=1) as readers:
        with pytest.raises(NotADocument, match="image/png"):
            await readers.read(b"\x89PNG", "image/png", wants_of({"name": "i", "regex": "i"}), URL)


@in_a_loop
async def test_a_child_that_can_not_start_fails_the_page_and_nothing_else() -> None:
    async with reading(command=(sys.executable, "-c", "")) as readers:
        with pytest.raises(ExtractionFailed):
            await readers.read(HTML, "text/html", wants_of({"name": "i", "regex": "i"}), URL)


@in_a_loop
async def test_a_child_that_dies_at_a_page_costs_that_page_only_what_takes_long() -> None:
    dies = "import sys; sys.stdout.write('ready\\n'); sys.stdout.flush(); sys.stdin.read(8)"
    async with reading(command=(sys.executable, "-c", dies)) as readers:
        read = await readers.read(HTML, "text/html", wants_of({"name": "i", "regex": "i"}), URL)
    assert read.data["title"] == "T" and read.data["fields"] == {"i": None}


@in_a_loop
async def test_no_child_is_left_when_readers_are_closed() -> None:
    readers = Readers(most=1)
    await readers.read(HTML, "text/html", wants_of({"name": "i", "regex": "i"}), URL)
    (child,) = readers._children
    await readers.close()
    assert child.returncode is not None
