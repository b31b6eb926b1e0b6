"""Pages that nobody wrote to be read: so deep, or of so many parts, that looking at each part would take for ever."""

from __future__ import annotations

from turbohtml import Document

# Pages that people write are thirty deep and have a few thousand elements.
DEEPEST = 300
MOST_ELEMENTS = 100_000
MOST_ATTRIBUTES = 1_000  # of one element
_RICHER = f"boolean(//*[count(@*) > {MOST_ATTRIBUTES}])"
_DEEPER = "boolean(" + "/*" * DEEPEST + ")"


def is_tangled(html: Document) -> bool:
    """Whether a page is to be looked at only as a whole."""
    many = html.xpath("count(//*)")
    return (
        (isinstance(many, float) and many > MOST_ELEMENTS) or html.xpath(_DEEPER) is True or html.xpath(_RICHER) is True
    )
