"""Text with styles: a terminal shows them, everything else gets the words alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.text import Text

Piece = tuple[str, str]  # some text, and the name that its style has in Rich


class Styled:
    """A line, or a few, of which each piece may have a style of its own."""

    __slots__ = ("pieces",)

    def __init__(self, *pieces: str | Piece) -> None:
        self.pieces: list[Piece] = [(piece, "") if isinstance(piece, str) else piece for piece in pieces]

    @property
    def plain(self) -> str:
        return "".join(text for text, _ in self.pieces)

    def drawn(self) -> Text:
        """The same for Rich, which takes a while to load: only who draws calls this."""
        from rich.text import Text

        return Text.assemble(*self.pieces)
