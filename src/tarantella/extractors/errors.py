"""What can come of a response other than a record."""

from __future__ import annotations


class NotADocument(Exception):
    """The response holds nothing to read: an image, an archive, a film. `kind` says what, as a media type."""

    def __init__(self, kind: str) -> None:
        super().__init__(f"{kind} is not a document")
        self.kind = kind


class ExtractionFailed(Exception):
    """Reading the response failed in a way that nobody foresaw."""
