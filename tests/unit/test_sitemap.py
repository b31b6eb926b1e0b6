"""Sitemaps: whatever they are, what they list is found, and nothing in them costs more than its length."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from xml.sax.saxutils import escape

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tarantella.domain.errors import InvalidInput
from tarantella.domain.outcome import Link
from tarantella.domain.page import PageKind
from tarantella.domain.scope import Scope, ScopeKind
from tarantella.domain.sitemap import AUTO, chosen, guess_link, marks, may_name, sitemap_link
from tarantella.domain.trap import TrapLimits
from tarantella.domain.trap_counts import Traps
from tarantella.domain.url import MAX_LENGTH, fingerprint, resolve
from tarantella.extractors import sitemap, unpack
from tarantella.extractors.links import LinkFilter
from tarantella.extractors.sitemap import MAX_ADDRESSES, MAX_BYTES, Listing, read_sitemap

DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>'
MEGABYTE = 1024 * 1024
ROOT = Path(__file__).resolve().parents[2]


def read(body: bytes | str, steps: list[float] | None = None) -> Listing:
    """Read it to the end, and note how long each step took."""
    reading = read_sitemap(body.encode() if isinstance(body, str) else body)
    while True:
        began = time.process_time()
        try:
            next(reading)
        except StopIteration as end:
            found: Listing = end.value
            return found
        finally:
            if steps is not None:
                steps.append(time.process_time() - began)


def urlset(*urls: str) -> str:
    return f"{DECLARATION}<urlset xmlns='x'>{''.join(f'<url><loc>{url}</loc></url>' for url in urls)}</urlset>"


# --- what there is to find ---


@pytest.mark.parametrize(
    ("body", "form", "urls"),
    [
        (urlset("http://a/1", " http://a/2\n", ""), "sitemap", ["http://a/1", "http://a/2"]),
        ("\n \n" + urlset("http://a/1"), "sitemap", ["http://a/1"]),
        ("\ufeff" + urlset("http://a/1"), "sitemap", ["http://a/1"]),
        (urlset("http://a/?b=1&amp;c=2", "http://a/?b=1&c=2", "http://a/&eacute;"), "sitemap", None),
        (urlset("<![CDATA[http://a/?b=1&c=2]]>"), "sitemap", ["http://a/?b=1&c=2"]),
        (urlset("http://a/&#49;&#x32;"), "sitemap", ["http://a/12"]),
        ("<sm:urlset><sm:url><sm:loc>http://a/1</sm:loc></sm:url></sm:urlset>", "sitemap", ["http://a/1"]),
        (
            "<urlset><url><loc>http://a/1</loc><image:image><image:loc>http://b/i.png</image:loc></image:image>"
            "<xhtml:link rel='alternate' href='http://b/de'/><lastmod>2026-11-16</lastmod></url></urlset>",
            "sitemap",
            ["http://a/1"],
        ),
        (
            "<rss><channel><link>http://b/</link><item><link>http://a/1</link></item></channel></rss>",
            "feed",
            ["http://a/1"],
        ),
        ("<rdf:RDF><item><link>http://a/1</link></item></rdf:RDF>", "feed", ["http://a/1"]),
        (
            "<feed><link href='http://b/'/><entry><link rel='edit' href='http://b/e'/><link href='http://a/1'/>"
            "<link rel='alternate' href='http://a/2'/></entry></feed>",
            "feed",
            ["http://a/1", "http://a/2"],
        ),
        ("http://a/1\r\nhttps://a/2\n\n  http://a/3", "text", ["http://a/1", "https://a/2", "http://a/3"]),
    ],
)
def test_addresses_are_found_in_every_form(body: str, form: str, urls: list[str] | None) -> None:
    found = read(body)
    assert (found.form, found.trouble) == (form, None)
    assert found.urls == (urls or ["http://a/?b=1&c=2", "http://a/?b=1&c=2", "http://a/&eacute;"])
    assert found.sitemaps == []


def test_an_index_names_sitemaps_and_no_pages() -> None:
    found = read("<sitemapindex><sitemap><loc>http://a/1.xml</loc></sitemap></sitemapindex>")
    assert found == Listing("index", [], ["http://a/1.xml"])


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "windows-1251", "iso-8859-1", "utf-8-sig"])
def test_other_encodings_are_read(encoding: str) -> None:
    text = urlset("http://a/1", "http://a/?b&c").replace("UTF-8", encoding.removesuffix("-le").removesuffix("-be"))
    assert read(text.replace("utf-8-sig", "utf-8").encode(encoding)).urls == ["http://a/1", "http://a/?b&c"]


@pytest.mark.parametrize(
    ("encoding", "word"),
    [
        ("gb2312", "中文"),
        ("gbk", "中文镕"),
        ("gb18030", "中文㐀"),
        ("big5", "中文"),
        ("euc-kr", "한국"),
        ("euc-jp", "日本"),
        ("shift_jis", "日本ソ"),
        ("iso-2022-jp", "日本"),
        ("koi8-r", "мир"),
    ],
)
def test_what_declares_its_charset_is_read_in_it_wherever_the_pieces_are_cut(
    encoding: str, word: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    urls = [f"http://a/{number}/{word}?b&c" for number in range(20)]
    body = urlset(*urls).replace("UTF-8", encoding).encode(encoding)
    assert read(body) == read(gzip.compress(body)) == Listing("sitemap", urls, [])
    for piece in range(64, 80):
        monkeypatch.setattr(unpack, "PIECE", piece)
        assert read(body).urls == urls


@pytest.mark.parametrize("label", ["nonsense", "utf-7", "utf-16", "utf-32", "hz-gb-2312", "x" * 60])
def test_what_declares_a_charset_that_it_can_t_be_in_is_read_as_utf_8(label: str) -> None:
    body = urlset("http://a/é", "http://a/2").replace("UTF-8", label).encode()
    assert read(body) == Listing("sitemap", ["http://a/é", "http://a/2"], [])


def test_bytes_that_stand_for_nothing_in_a_declared_charset_are_marked_and_the_rest_is_read() -> None:
    for label in ("euc-jp", "nonsense"):
        body = urlset("http://a/1", "http://a/!", "http://a/3").replace("UTF-8", label).encode().replace(b"!", b"\xff")
        assert read(body) == Listing("sitemap", ["http://a/1", "http://a/\ufffd", "http://a/3"], [])


@pytest.mark.parametrize("form", ["sitemap", "text"])
@pytest.mark.parametrize(
    ("odd", "read_as"), [(b"\xe9", "\ufffd"), (b"\xff\xfe", "\ufffd\ufffd"), (b"\xf0\x9f\x95\xb7", "\U0001f577")]
)
def test_a_byte_that_is_no_utf_8_costs_nothing_that_follows_it(form: str, odd: bytes, read_as: str) -> None:
    many = [f"http://a/{number}" for number in range(20_000)]
    before, behind = urlset("http://a/ODD", *many).encode().split(b"ODD")
    lines = "\n".join(("http://a/ODD", *many)).encode().replace(b"ODD", odd)
    assert read(before + odd + behind if form == "sitemap" else lines).urls == [f"http://a/{read_as}", *many]


def test_control_characters_that_xml_forbids_are_left_out() -> None:
    assert read(urlset("http://a/\x0b1\0", "http://a/2\x1f")) == Listing("sitemap", ["http://a/1", "http://a/2"], [])


def test_lines_end_as_on_any_system() -> None:
    assert read("http://a/1\rhttp://a/2\r\nhttp://a/3\n") == Listing("text", [f"http://a/{n}" for n in (1, 2, 3)], [])


def test_a_comment_in_a_list_is_no_address() -> None:
    assert read("# all\nhttp://a/1\n  # more\nhttp://a/2#x\n") == Listing("text", ["http://a/1", "http://a/2#x"], [])


def test_of_broken_xml_in_a_declared_charset_what_was_found_before_is_kept() -> None:
    for label in ("gbk", "nonsense"):
        found = read(urlset("http://a/1", "http://a/2</url>", "http://a/3").replace("UTF-8", label))
        assert found.urls == ["http://a/1"]
        assert str(found.trouble).startswith("it is broken: mismatched tag")


def test_lines_of_nothing_but_blanks_and_control_characters_are_no_addresses() -> None:
    body = "\0\n\0 \0\nhttp://a/1\n\0\0\n \x01\t\x7f\x85\u2003\0\n\ufeff\r\nhttp://a/2\n\x0b\0"
    assert read(body) == Listing("text", ["http://a/1", "http://a/2"], [])


@pytest.mark.parametrize("times", [1, 2])
def test_gzip_is_known_by_its_first_bytes(times: int) -> None:
    body = urlset("http://a/1").encode()
    for _ in range(times):
        body = gzip.compress(body)
    assert read(body).urls == ["http://a/1"]
    assert read(body + b"\0" * 512).urls == ["http://a/1"], "padding is not a fault"


def test_files_that_were_compressed_and_put_together_are_read_to_the_end() -> None:
    assert read(gzip.compress(b"http://a/1\n") + gzip.compress(b"http://a/2\n")).urls == ["http://a/1", "http://a/2"]


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"  \n",
        b"<!doctype html><html><body><a href='http://a/'>a</a></body></html>",
        b"<!DOCTYPE html><html/>",
        b"<svg><url><loc>http://a/</loc></url></svg>",
        b"Not found",
        b"\x89PNG\r\n\x1a\n",
        b"\x1f\x8bgarbage",
        b'{"urls": ["http://a/"]}',
    ],
)
def test_what_is_no_sitemap_is_told_as_such(body: bytes) -> None:
    found = read(body)
    assert found.form is None
    assert found.found == 0
    assert found.trouble


URLS = st.lists(st.from_regex(r"http://a/[a-z0-9?&=;<>\"'é%\]-]{0,30}", fullmatch=True), max_size=20)


@given(URLS, st.integers(2, 64))
@example(["http://a/?a=1&b=2&&amp;c"], 2)
@example(["http://a/00000000000000000000000é"], 33)  # the first piece ends within the name of the charset
def test_what_was_escaped_comes_out_as_it_was_wherever_the_pieces_are_cut(urls: list[str], piece: int) -> None:
    usual = unpack.PIECE
    unpack.PIECE = piece
    try:
        assert read(urlset(*map(escape, urls))).urls == urls
        assert read(gzip.compress(urlset(*map(escape, urls)).encode())).urls == urls
    finally:
        unpack.PIECE = usual


@given(URLS, st.integers(0, 400))
def test_of_a_file_that_ends_too_early_all_whole_addresses_are_kept(urls: list[str], lost: int) -> None:
    body = urlset(*map(escape, urls)).encode()
    cut = body[: max(0, len(body) - lost)]
    found = read(cut)
    assert found.urls == urls[: len(found.urls)]
    assert len(found.urls) == cut.count(b"</loc>")
    assert (found.trouble is None) == (lost == 0)


@given(st.binary(max_size=300))
def test_no_bytes_make_reading_raise(body: bytes) -> None:
    for start in (b"", b"<urlset>", b"\x1f\x8b\x08", b"http://a/\n", b"\xff\xfe", b"<!DOCTYPE a ["):
        read(start + body)
    for label in (b"gbk", b"shift_jis", b"iso-2022-jp", b"utf-7", b"x-user-defined", b"\xff", b"'"):
        read(b'<?xml version="1.0" encoding="' + label + b'"?><urlset>' + body)


# --- bad ones ---


def test_after_broken_xml_what_was_found_before_is_kept_and_it_is_told_where_it_broke() -> None:
    found = read(urlset("http://a/1", "http://a/2</url>", "http://a/3"))
    assert found.urls == ["http://a/1"]
    assert "mismatched tag: line 1" in str(found.trouble)


LAUGHS = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 12))
BOMBS = {
    "a billion laughs": f'<!DOCTYPE u [<!ENTITY l0 "ha">{LAUGHS}]>',
    "laughs in an attribute": f'<!DOCTYPE u [<!ENTITY l0 "ha">{LAUGHS}<!ATTLIST urlset a CDATA "&l11;">]>',
    "a long entity": f'<!DOCTYPE u [<!ENTITY l11 "{"x" * 100_000}">]>',
    "parameter entities": '<!DOCTYPE u [<!ENTITY % a "<!ENTITY l11 \'x\'>">%a;%a;<!ENTITY b "c">]>',
    "a file": '<!DOCTYPE u [<!ENTITY l11 SYSTEM "file:///etc/passwd">]>',
    "an external DTD": '<!DOCTYPE u SYSTEM "http://127.0.0.1:9/x.dtd" [<!ENTITY b "c">]>',
}


@pytest.mark.parametrize("name", BOMBS)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "gbk"])
def test_entities_are_never_expanded_and_cost_nothing(name: str, encoding: str) -> None:
    references = "&l11;" * 10_000
    body = f"{BOMBS[name]}<urlset>{references}<url><loc>http://a/&l11;</loc></url><url><loc>http://a/2</loc></url></urlset>"
    began = time.process_time()
    found = read(f'<?xml version="1.0" encoding="{encoding}"?>{body}'.encode(encoding))
    assert found.urls == ["http://a/&l11;", "http://a/2"]
    assert found.trouble == "it declares entities, which are not expanded"
    assert time.process_time() - began < 2.0


START = b"<urlset><url><loc>http://a/1</loc></url>"


def different(start: bytes, form: bytes, size: int = 8 * MEGABYTE) -> bytes:
    """Megabytes of things of which each is another one; made without needing much more memory than that."""
    body = bytearray(start)
    for number in range(size // len(form)):
        body += form % (0xA0000 + number)
    return bytes(body)


# As many megabytes as there can be, or enough to fill the memory where each is another one; and what is said about them.
HOSTILE: dict[str, tuple[Callable[[], bytes], str]] = {
    "nested tags": (lambda: START + b"<a>" * (MAX_BYTES // 3), "nested more than"),
    "names": (lambda: different(START, b"<x%x/>"), "names of elements"),
    "attributes": (lambda: different(START + b"<a ", b" a%x=''"), "tag of more than"),
    "declarations": (lambda: different(b"<!DOCTYPE a [", b"<!ELEMENT a%x ANY>"), "DTD of more than"),
    "entities": (lambda: different(b"<!DOCTYPE a [", b"<!ENTITY a%x 'x'>"), "names of elements"),
    "one tag": (lambda: START + b"<a b='" + b"x" * MAX_BYTES, "tag of more than"),
    "a comment": (lambda: START + b"<!--" + b"x" * MAX_BYTES, "tag of more than"),
    "a text": (lambda: START + b"<url><loc>" + b"x" * MAX_BYTES, "longer than"),
    "a text in GBK": (
        lambda: b"<?xml version='1.0' encoding='gbk'?>" + START + b"<url><loc>" + b"\xd6\xd0" * (MAX_BYTES // 2),
        "longer than",
    ),
    "CDATA": (lambda: START + b"<url><loc><![CDATA[" + b"x" * MAX_BYTES, "longer than"),
    "ampersands": (lambda: START + b"&" * MAX_BYTES, "ampersands"),
    "a line": (lambda: b"http://a/1\n" + b"x" * MAX_BYTES, "longer than"),
    "lines": (lambda: b"http://a/1\n" * (MAX_BYTES // 11), "more than 200,000 addresses"),
    "a gzip bomb": (lambda: gzip.compress(START + b" " * (2 * MAX_BYTES), 1), "longer than"),
    "addresses": (
        lambda: START + b"<url><loc>http://a/</loc></url>" * (MAX_BYTES // 31),
        "more than 200,000 addresses",
    ),
}
FILL_THE_MEMORY = ("nested tags", "names", "attributes", "declarations", "entities")


@pytest.mark.slow
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_megabytes_are_bounded_in_time_and_in_every_step(name: str) -> None:
    make, said = HOSTILE[name]
    steps: list[float] = []
    found = read(make(), steps)
    assert sum(steps) < 15.0
    assert max(steps) < 0.5, "nobody else could work meanwhile"
    assert said in str(found.trouble)
    assert found.urls[:1] == ([] if name in ("declarations", "entities") else ["http://a/1"])


@pytest.mark.slow
def test_hostile_megabytes_are_bounded_in_memory() -> None:
    code = (
        "import resource\nfrom tests.unit.test_sitemap import FILL_THE_MEMORY, HOSTILE, read\n"
        "def peak(): return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "bodies = {name: HOSTILE[name][0]() for name in FILL_THE_MEMORY}\n"
        "for name, body in bodies.items():\n"
        "    before = peak()\n    read(body)\n    print(name, peak() - before)\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(ROOT), *sys.path))}
    told = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT, env=environment
    ).stdout
    grown = {line.rpartition(" ")[0]: int(line.rpartition(" ")[2]) for line in told.splitlines()}
    scale = 1 if sys.platform == "linux" else 1024
    assert set(grown) == set(FILL_THE_MEMORY)
    assert max(grown.values()) // scale < 20 * 1024, grown


def test_more_addresses_than_the_limit_are_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sitemap, "MAX_ADDRESSES", 10)
    found = read(urlset(*(f"http://a/{n}" for n in range(12))))
    assert found.urls == [f"http://a/{n}" for n in range(10)]
    assert found.trouble == "it lists more than 10 addresses"
    assert MAX_ADDRESSES >= 50_000, "what the protocol allows"


@pytest.mark.slow
def test_what_is_longer_than_fifty_megabytes_is_cut_there_and_told() -> None:
    body = urlset("http://a/1").encode().removesuffix(b"</urlset>") + b" " * MAX_BYTES
    found = read(body + b"<url><loc>http://a/2</loc></url></urlset>")
    assert (found.urls, found.trouble) == (["http://a/1"], "it is longer than 52,428,800 bytes")


# --- the rules around them ---


def test_a_sitemap_is_another_page_than_the_page_at_its_address() -> None:
    url = resolve("https://example.com/sitemap.xml")
    link, guess = sitemap_link(url), guess_link("https://example.com/a/b?c")
    assert (link.kind, guess.kind) == (PageKind.SITEMAP, PageKind.SITEMAP_GUESS)
    assert guess.url == link.url == url.href
    assert len({link.fingerprint, guess.fingerprint, fingerprint(url.href)}) == 3
    assert marks(url.href) == [link.fingerprint, guess.fingerprint]


def test_an_index_may_name_what_is_on_its_own_site() -> None:
    index = resolve("https://www.example.co.uk/sitemap.xml")
    assert may_name(index, resolve("https://cdn.example.co.uk/1.xml"))
    assert not may_name(index, resolve("https://www.other.co.uk/1.xml"))


def test_a_sitemap_is_chosen_as_a_person_types_it() -> None:
    assert chosen(" AUTO ") == AUTO
    assert chosen("example.com/sitemap.xml") == "https://example.com/sitemap.xml"
    for nonsense in ("", "ftp://example.com/", "https://u:pw@example.com/"):
        with pytest.raises(InvalidInput) as caught:
            chosen(nonsense)
        assert caught.value.field == "sitemap"
        assert caught.value.remedy


def test_listed_addresses_are_in_scope_of_depth_1_and_no_traps() -> None:
    scope = Scope.of(ScopeKind.HOST, [resolve("http://a/")], (), ())
    links = LinkFilter(scope, 1, traps=Traps(TrapLimits(repeats=1, dates=1, queries=1), 2026))
    urls = ["http://a/x/x/x", "http://a/2020/01/01", "http://a/2020/01/02", "/relative", "http://b/", "mailto:x@y"]
    found = links.listed([*urls, "http://a/relative#again", "http://a/" + "x" * MAX_LENGTH], "http://a/maps/1.xml")
    assert list(found.links) == [
        Link(url, fingerprint(url), "a", 1)
        for url in ("http://a/x/x/x", "http://a/2020/01/01", "http://a/2020/01/02", "http://a/relative")
    ]
    assert {reason: entry.count for reason, entry in found.refused.items()} == {"scope": 1, "scheme": 1, "too_long": 1}
    assert links.discover(["/y/y/y/y"], "http://a/", None, 0).refused["trap_repeats"].count == 1
    assert len(links.listed(["http://a/y/y/y/y"], "http://a/maps/1.xml").links) == 1, "a trap that is listed is none"
    assert not links.discover(["/x/x/x"], "http://a/", None, 0).links, (
        "a page that links to one of them finds nothing new"
    )
