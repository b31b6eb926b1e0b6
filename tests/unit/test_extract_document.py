"""What a response is, and in which characters it is written."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tarantella.extractors import charset
from tarantella.extractors.document import Kind, identify, media_type
from tarantella.extractors.errors import NotADocument

PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0"


@pytest.mark.parametrize(
    ("content_type", "kind"),
    [
        ("text/html", Kind.HTML),
        ("TEXT/HTML; charset=utf-8", Kind.HTML),
        ("text/html, text/html", Kind.HTML),
        ("application/xhtml+xml", Kind.HTML),
        ("application/json", Kind.JSON),
        ("application/ld+json; charset=utf-8", Kind.JSON),
        ("application/rss+xml", Kind.XML),
        ("text/xml", Kind.XML),
        ("application/pdf", Kind.PDF),
        ("text/plain", Kind.TEXT),
        ("text/csv", Kind.TEXT),
        ("application/javascript", Kind.TEXT),
    ],
)
def test_a_claimed_type_is_believed_where_the_bytes_do_not_contradict(content_type: str, kind: Kind) -> None:
    assert identify(b"something", content_type).kind is kind


@pytest.mark.parametrize(
    "content_type",
    "image/png image/svg+xml video/mp4 audio/mpeg font/woff2 application/octet-stream application/zip "
    "application/vnd.ms-excel multipart/form-data".split(),
)
def test_what_is_not_a_document_is_named(content_type: str) -> None:
    with pytest.raises(NotADocument) as refused:
        identify(b"<html>", content_type + "; charset=binary")
    assert refused.value.kind == content_type


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"  <!doctype html><p>x", Kind.HTML),
        (b"hello <html>", Kind.HTML),
        (b'<?xml version="1.0"?><rss/>', Kind.XML),
        (b'<?xml version="1.0"?><html xmlns="x"/>', Kind.HTML),
        (b'\xef\xbb\xbf{"a": 1}', Kind.JSON),
        (b"[1]", Kind.JSON),
        (b"plain words", Kind.TEXT),
        (b"", Kind.TEXT),
        (b"%PDF-1.7 \0\0", Kind.PDF),
        ("<p>é".encode("utf-16"), Kind.HTML),
    ],
)
@pytest.mark.parametrize("content_type", ["", "unknown/unknown", "nonsense", ";;;"])
def test_without_a_type_the_bytes_decide(body: bytes, kind: Kind, content_type: str) -> None:
    assert identify(body, content_type).kind is kind


@pytest.mark.parametrize("content_type", ["text/html", "text/plain", "application/json", ""])
@pytest.mark.parametrize(
    "body", [PNG, b"GIF89a\1\1", b"PK\x03\x04\x14", b"\x1f\x8b\x08", b"RIFF\x24\0\0\0WEBP", b"MZ\x90\0\3\0"]
)
def test_binary_that_is_called_text_is_not_a_document(body: bytes, content_type: str) -> None:
    with pytest.raises(NotADocument):
        identify(body, content_type)


def test_a_pdf_that_is_called_html_is_a_pdf() -> None:
    assert identify(b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n\0\0", "text/html").kind is Kind.PDF


def test_a_stray_nul_does_not_make_markup_binary() -> None:
    assert identify(b"<html><p>a\0b" + b"x" * 200, "text/html").kind is Kind.HTML


def test_xml_that_is_a_web_page_is_read_as_one() -> None:
    assert identify(b'<?xml version="1.0"?>\n<HTML>', "application/xml").kind is Kind.HTML


@pytest.mark.parametrize("label", ["foo", "", '"', "utf-7", "iso-2022-kr", "a\0b", "x" * 10_000, "é", "utf-8utf-8"])
def test_an_unknown_charset_is_as_good_as_none(label: str) -> None:
    assert media_type(f"text/html; charset={label}").charset is None


def test_a_header_charset_is_found_among_other_parameters() -> None:
    assert media_type("text/html; boundary=x; Charset = 'Latin1' ; q=1").charset == "windows-1252"


def read(body: bytes, content_type: str = "text/html") -> str:
    document = identify(body, content_type)
    return charset.parse_html(document.body, document.charset).text


RUSSIAN = "Привет, мир. Это обычная страница на русском языке, и больше ничего. " * 5
JAPANESE = "日本語のページです。これは普通の文章です。" * 5


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        ("<p>é".encode(), "text/html; charset=utf-8"),
        ("<p>é".encode("latin1"), "text/html; charset=iso-8859-1"),
        ("<meta charset=windows-1252><p>é".encode("cp1252"), "text/html"),
        ("<p>é".encode(), "text/html"),
        ("<p>é".encode(), "text/html; charset=klingon"),
        ("<meta charset=klingon><p>é".encode(), "text/html"),
        (b"\xef\xbb\xbf" + "<p>é".encode(), "text/html; charset=iso-8859-1"),
        ("<p>é".encode("utf-16"), "text/html"),
        ("<p>é".encode("utf-16"), "text/html; charset=utf-8"),
        ("<p>é".encode("utf-16-le"), "text/html; charset=utf-16"),
        ("<p>é".encode("utf-16-be"), "text/html; charset=utf-16be"),
        ("<p>é".encode("utf-16-le"), "text/html"),
        ("<p>é".encode("utf-16-be"), "text/html"),
        ("<p>é".encode(), "text/html; charset=utf-16"),
        ("<meta charset=utf-16><p>é".encode(), "text/html"),
    ],
)
def test_a_page_is_decoded_by_mark_header_or_declaration(body: bytes, content_type: str) -> None:
    assert read(body, content_type) == "é"


@pytest.mark.parametrize(("text", "codec"), [(RUSSIAN, "cp1251"), (JAPANESE, "shift_jis"), (JAPANESE, "euc-jp")])
def test_a_page_that_says_nothing_is_guessed(text: str, codec: str) -> None:
    # The first words in another alphabet may come late.
    body = b"<p>" + b"<!-- -->" * 5_000 + text.encode(codec)
    assert read(body) == text
    assert charset.decode(text.encode(codec), None) == text


@pytest.mark.parametrize("label", ["hz-gb-2312", "iso-2022-kr", "utf-16", "shift_jis"])
def test_ascii_is_read_whatever_the_page_says_it_is(label: str) -> None:
    # Browsers show nothing of a page in the first two, for fear of what else could be in it.
    html = charset.parse_html(f"<meta charset={label}><title>Still here</title>".encode(), None)
    assert (title := html.find("title")) is not None and title.text == "Still here"


@given(st.binary(max_size=300), st.text(max_size=60))
def test_no_bytes_and_no_header_break_the_decoding(body: bytes, label: str) -> None:
    try:
        document = identify(body, f"text/html; charset={label}")
    except NotADocument:
        return
    assert "\ud800" not in charset.parse_html(document.body, document.charset).text
    charset.decode(document.body, document.charset).encode("utf-8")
