"""The text in a page."""

from __future__ import annotations

from turbohtml import Document

# Blanks become one byte and everything else another: then where words begin is one fast search.
_BLANK_OR_NOT = bytes(0x20 if bytes([byte]).isspace() else 0x78 for byte in range(256))


def main_text(html: Document) -> str:
    """The text people come for; on a page where nothing stands out, all of it."""
    text = html.main_text()
    if not text and (body := html.find("body")) is not None:
        text = body.to_text()
    return text.strip()


def count_words(text: str) -> int:
    """How many words there are between blanks; twice as fast as splitting, and that counts here."""
    marked = text.encode("utf-8", "replace").translate(_BLANK_OR_NOT)
    return marked.count(b" x") + marked.startswith(b"x")


def one_line(text: str | None, limit: int) -> str | None:
    """At most so many characters on one line, or None where nothing is left."""
    if not text:
        return None
    if len(text) > limit:
        # Before as well as after: a title may be as long as the whole page.
        text = " ".join(text[: 4 * limit].split())[:limit]
    else:
        text = " ".join(text.split())
    return text.replace("\0", "") or None


def without_nul(text: str) -> str:
    """Databases don't take NUL in a text."""
    return text.replace("\0", "") if "\0" in text else text
