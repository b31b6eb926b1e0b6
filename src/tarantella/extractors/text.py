"""The text in a page."""

from __future__ import annotations

from turbohtml import Document

# What a byte of a text becomes: 1 within a word, 0 between two.
_WITHIN_WORDS = bytes(not bytes([byte]).isspace() for byte in range(256))


def main_text(html: Document) -> str:
    """The text people come for; on a page where nothing stands out, all of it."""
    text = html.main_text()
    if not text and (body := html.find("body")) is not None:
        text = body.to_text()
    return text.strip()


def count_words(text: str) -> int:
    """How many words there are between blanks, three times as fast as splitting: a tenth of a page's time goes here."""
    within = int.from_bytes(text.encode("utf-8", "replace").translate(_WITHIN_WORDS), "little")
    # In this large number a byte differs from the one before it where a word begins, and where one has ended.
    return (within ^ within << 8).bit_count() // 2


def one_line(text: str | None, limit: int) -> str | None:
    """At most so many characters on one line, or None where nothing is left."""
    if not text:
        return None
    # Cut before as well as after: a title may be as long as the whole page.
    return " ".join(text[: 4 * limit].split())[:limit].replace("\0", "") or None


def without_nul(text: str) -> str:
    """Databases don't take NUL in a text."""
    return text.replace("\0", "") if "\0" in text else text
