"""What is read from a page: the basic record, the fields, and where it leads."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from tarantella.domain.errors import InvalidInput
from tarantella.domain.refused import Refused
from tarantella.domain.scope import Scope, ScopeKind
from tarantella.domain.spec import Field, Spec
from tarantella.domain.url import resolve
from tarantella.extractors.links import LinkFilter
from tarantella.extractors.page import Extracted, ExtractionFailed, NotADocument, Wants, extract
from tarantella.extractors.selectors import MAX_CHARACTERS, MAX_VALUES

PAGE = """<!doctype html><html lang="en-GB"><head>
<title>  A
 title </title><base href="/shop/"><link rel="stylesheet" href="x.css"><link rel="Canonical" href="tea?x=1">
<meta name="Description" content="About&#10; tea"><meta property="og:title" content="Shared">
</head><body><h1>Tea</h1>
<a href="one">1</a><a href="/two" rel=nofollow>2</a><a href="one">1 again</a><a name=x>no link</a>
<map><area href="three"></map><p class="price">£ <b>4</b>.50</p><p class="price">£5</p>
<ul class=notes><li>hot<li>cold</ul><div class=lines>one<br>two<script>var x</script></div>
<a class=buy href="buy?a=1&amp;b=2" title=" spaced ">Buy</a><img class=buy src="tea.png">
</body></html>"""
URL = "http://site.test/index.html"


def read(
    markup: str | bytes, *wanted: str, text: str = "none", content_type: str = "text/html", url: str = URL
) -> Extracted:
    body = markup.encode() if isinstance(markup, str) else markup
    wants = Wants.of(Spec(text=text, fields=tuple(Field.parse(field) for field in wanted)))
    return extract(body, content_type, wants, url)


def field(markup: str, wanted: str, url: str = URL) -> Any:
    return read(markup, f"f={wanted}", url=url).data["fields"]["f"]


def test_the_basic_record_has_its_keys_in_order() -> None:
    data = read(PAGE, "name=h1", text="fast").data
    assert list(data) == ["title", "description", "language", "text", "word_count", "links", "fields"]
    assert (data["title"], data["description"], data["language"]) == ("A title", "About tea", "en-GB")
    assert data["links"] == 4
    assert data["word_count"] == len(data["text"].split())


def test_text_and_fields_are_there_only_when_wanted() -> None:
    assert list(read(PAGE).data) == ["title", "description", "language", "links"]


def test_hrefs_are_as_written_in_order_and_once() -> None:
    assert list(read(PAGE).hrefs) == ["one", "/two", "three", "buy?a=1&b=2"]


def test_what_is_in_a_template_is_not_part_of_the_page() -> None:
    page = "<head><template><meta name=robots content=nofollow><meta name=description content=no></template><title>T</title></head>"
    assert read(page).data["description"] is None
    assert list(read(f"{page}<a href=x>x</a>").hrefs) == ["x"]


def test_what_is_for_readers_without_scripts_is_for_us() -> None:
    page = "<head><title>T</title><noscript><meta name=description content=Plain></noscript></head>"
    assert read(page).data["description"] == "Plain"


def test_base_is_as_written() -> None:
    assert read(PAGE).base == "/shop/"


def test_what_is_made_for_sharing_fills_in_for_what_is_missing() -> None:
    data = read("<meta property=og:title content=T><meta property=og:description content=D>").data
    assert (data["title"], data["description"]) == ("T", "D")


def test_a_drawings_title_is_not_the_pages() -> None:
    assert read("<body><svg><title>icon</title></svg>").data["title"] is None
    assert read("<body><svg><title>icon</title></svg><title>page</title>").data["title"] == "page"


def test_the_language_may_be_said_in_a_meta_element() -> None:
    assert read('<meta http-equiv="Content-Language" content="de">').data["language"] == "de"


def test_titles_and_descriptions_are_bounded() -> None:
    data = read(f"<title>{'x y ' * 100_000}</title><meta name=description content='{'z' * 100_000}'>").data
    assert len(data["title"]) == 1_000 and len(data["description"]) == 5_000


def test_the_main_text_leaves_navigation_out_and_a_page_without_one_gives_all_it_has() -> None:
    story = "".join(
        f"<p>This is paragraph {n}, and it has enough words, commas and sense to be read.</p>" for n in range(9)
    )
    text = read(
        f"<nav><a href=/>Home page</a></nav><article>{story}</article><footer>Imprint</footer>", text="fast"
    ).data["text"]
    assert "paragraph 8" in text and "Imprint" not in text
    assert read("<h1>Hi</h1><script>no()</script>", text="fast").data["text"] == "Hi"
    empty = read("", text="fast").data
    assert (empty["text"], empty["word_count"]) == ("", 0)


@pytest.mark.parametrize(
    ("markup", "words"),
    [("one two", 2), (" one<br>\t two&nbsp;three ", 3), ("größer als — nichts", 4), ("日本語", 1)],
)
def test_words_are_what_stands_between_blanks(markup: str, words: int) -> None:
    assert read(markup.replace("&nbsp;", " "), text="fast").data["word_count"] == words


# --- fields ---


def test_a_field_is_a_value_several_a_list_and_nothing_null() -> None:
    data = read(PAGE, "name=h1", "price=.price", "gone=.nothing").data
    assert data["fields"] == {"name": "Tea", "price": ["£ 4.50", "£5"], "gone": None}


def test_a_field_reads_as_it_looks() -> None:
    assert field(PAGE, ".lines") == "one two"
    assert field(PAGE, ".notes") == "hot cold"


def test_a_field_with_an_attribute_skips_elements_without_it() -> None:
    assert field(PAGE, ".buy@title") == " spaced "
    assert field(PAGE, ".buy@data-nothing") is None
    assert field("<input disabled><input>", "input@disabled") == ""


def test_addresses_in_fields_are_absolute_where_that_is_possible() -> None:
    assert field(PAGE, ".buy@href") == "http://site.test/shop/buy?a=1&b=2"
    assert field(PAGE, ".buy@src") == "http://site.test/shop/tea.png"
    assert field(PAGE, ".buy@href", url="") == "buy?a=1&b=2"
    assert field("<a href='http://['>", "a@href") == "http://["


def test_one_field_takes_a_bounded_amount() -> None:
    assert len(field("<i>x</i>" * (MAX_VALUES + 5), "i")) == MAX_VALUES
    assert len(field(f"<p>{'x' * (MAX_CHARACTERS + 5)}</p>", "p")) == MAX_CHARACTERS
    nested = field("<div>word " * 3_000, "div")
    assert sum(map(len, nested)) <= MAX_CHARACTERS


@pytest.mark.parametrize("css", ["a[", "..", "a::text", "p:contains(x)", ":is(", ":not(" * 5_000, "x" * 3_000])
def test_a_bad_selector_is_refused_at_submit_and_named(css: str) -> None:
    with pytest.raises(InvalidInput, match="'price'") as refused:
        Wants.of(Spec(fields=(Field("name", "h1"), Field("price", css))))
    assert refused.value.field == "fields" and refused.value.remedy
    assert len(str(refused.value)) < 500


# --- what a page asks of crawlers ---


@pytest.mark.parametrize(
    ("content", "nofollow"),
    [("nofollow", True), ("NoIndex, Follow", False), ("none", True), ("all", False)],
)
def test_whether_links_are_to_be_followed_is_told(content: str, nofollow: bool) -> None:
    page = read(f'<meta name="ROBOTS" content="{content}"><a href=/x>x</a>')
    assert (page.nofollow, list(page.hrefs), page.data["links"]) == (nofollow, ["/x"], 1)


@pytest.mark.parametrize(
    ("content", "leads_to"),
    [
        ("5; URL='next'", ["http://site.test/next"]),
        ("0;url=/a#b", ["http://site.test/a#b"]),
        ("5", []),
        ("junk", []),
        ("9" * 400 + ";url=x", []),
    ],
)
def test_a_meta_refresh_is_a_link_unless_it_only_reloads(content: str, leads_to: list[str]) -> None:
    assert list(read(f'<meta http-equiv="refresh" content="{content}">').hrefs) == leads_to


@pytest.mark.parametrize(("content", "leads_to"), [("0;url=next", ["http://site.test/there/next"]), ("5", [])])
def test_a_meta_refresh_starts_from_the_base_as_links_do(content: str, leads_to: list[str]) -> None:
    page = read(f'<base href="/there/"><meta http-equiv="refresh" content="{content}">')
    assert list(page.hrefs) == leads_to


def test_a_base_behind_what_ends_the_head_is_that_of_the_page() -> None:
    page = read('<head><title>t</title><img src=pixel><base href="/there/"></head><a href=x>x</a>', "to=a@href")
    assert (page.base, page.data["fields"]["to"]) == ("/there/", "http://site.test/there/x")


@pytest.mark.parametrize("address", ["//[", "http://[bad/", "'http://[bad/'"])
def test_a_meta_refresh_to_no_address_is_a_link_that_is_refused(address: str) -> None:
    page = read(f'<title>t</title><meta http-equiv="Refresh" content="0; URL={address}"><a href=/x>x</a>')
    assert page.data["title"] == "t"
    assert list(page.hrefs) == ["/x", address.strip("'")]
    links = LinkFilter(Scope.of(ScopeKind.HOST, [resolve(URL)], (), ()), None)
    refused = links.discover(page.hrefs, URL, None, 1).refused
    assert refused == {"malformed": Refused(1, (address.strip("'"),))}


def test_a_refresh_for_those_without_scripts_is_left_alone() -> None:
    assert not read('<noscript><meta http-equiv="refresh" content="0;url=/nojs"></noscript>').hrefs


def test_a_shell_is_one_though_it_sends_those_without_scripts_elsewhere() -> None:
    head = '<title>App</title><noscript><meta http-equiv="refresh" content="0;url=/nojs"></noscript><script src=a.js></script>'
    assert read(f'<head>{head}</head><body><div id="root"></div></body>').shell == "nothing in #root"


@pytest.mark.parametrize("content_type", ["application/xhtml+xml", "application/xml", "text/xml; charset=utf-8"])
@pytest.mark.parametrize("tag", ['script src="a.js"', "title", "textarea ", 'iframe\nsrc="/ad"', "style"])
def test_in_xhtml_an_element_may_end_where_it_begins(content_type: str, tag: str) -> None:
    markup = (
        f'<?xml version="1.0"?><html xmlns="x"><head><{tag}/></head><body><p>Here</p><a href="/x">x</a></body></html>'
    )
    page = read(markup, "said=p", content_type=content_type)
    assert (page.data["fields"]["said"], list(page.hrefs)) == ("Here", ["/x"])


def test_in_html_it_may_not() -> None:
    assert not read('<script src="a.js"/><a href="/x">x</a>').hrefs


# --- other documents ---


def test_json_is_recorded_with_its_data() -> None:
    data = read('{"a": [1, "\\u0000b"], "\\u0000c": null}', "f=p", content_type="application/json", text="fast").data
    assert list(data) == ["title", "description", "language", "text", "word_count", "links", "fields", "data"]
    assert data["data"] == {"a": [1, "b"], "c": None}
    assert data["fields"] == {"f": None}


@pytest.mark.parametrize(
    "body", [b"{broken", b'["\\ud800"]', b"[NaN]", b"[" * 100_000, b"", b'"' + b"x" * 1_000_000 + b'"']
)
def test_json_that_is_broken_or_large_is_recorded_without_its_data(body: bytes) -> None:
    assert read(body, content_type="application/json").data["data"] is None


def test_json_in_another_charset_is_read() -> None:
    assert read('["é"]'.encode("utf-16"), content_type="application/json").data["data"] == ["é"]


def test_plain_text_is_recorded_without_nul() -> None:
    data = read(b"x" * 1_024 + b"<one> two\0three", content_type="text/plain", text="fast").data
    assert (data["text"][1_024:], data["word_count"], data["title"]) == ("<one> twothree", 2, None)


def test_a_pdf_is_recorded() -> None:
    assert read(b"%PDF-1.4 \0\1", content_type="application/pdf").data["links"] == 0


RSS = """<?xml version="1.0" encoding="macintosh"?>
<rss version="2.0"><channel><title>Café</title><description>D</description>
<item><title>1</title><link>/1</link></item>
<item><link>http://x.test/2</link></item></channel></rss>"""


@pytest.mark.parametrize("feed", [RSS, RSS.replace("</channel>", "&nbsp;")])
def test_a_feed_leads_to_its_entries_even_if_it_is_broken(feed: str) -> None:
    page = read(feed.encode("mac-roman"), "first=item > title", content_type="application/rss+xml")
    assert page.data["title"] == "Café"
    assert list(page.hrefs) == ["/1", "http://x.test/2"]
    assert page.data["fields"] == {"first": "1"}


def test_entities_in_xml_are_not_expanded_and_files_not_read() -> None:
    levels = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 10))
    bomb = f'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY e0 "lol">{levels}<!ENTITY f SYSTEM "file:///etc/passwd">]><x>&e9;&f;</x>'
    data = read(bomb, content_type="text/xml", text="fast").data
    assert len(data["text"]) < 3_000 and "root:" not in data["text"]


def test_nothing_but_the_two_errors_comes_out(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(NotADocument):
        read(b"\x89PNG\r\n", content_type="image/png")

    def explode(*_: object) -> None:
        raise RecursionError("too deep")

    monkeypatch.setattr("tarantella.extractors.charset.parse_html", explode)
    with pytest.raises(ExtractionFailed, match="too deep"):
        read("<p>x")


def test_whatever_is_extracted_can_be_stored_as_json() -> None:
    page = read("<title>&#xd800; \0 \ufdd0</title><p>\0&#0;</p>", "p=p", "t=title", text="fast")
    assert b"\\u0000" not in orjson.dumps(page.data)
