"""What a section of the gazette is made of before its articles are assembled."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Story:
    """One story: its own title and opening, and the place and thing that the shared paragraphs speak of."""

    title: str
    lead: str
    place: str
    thing: str


@dataclass(frozen=True, slots=True)
class Section:
    """One section: its stories, and the paragraphs that they share with the names filled in."""

    key: str
    name: str
    motto: str
    desk: str
    desk_note: str
    stories: tuple[Story, ...]
    paragraphs: tuple[str, ...]
    wares: tuple[str, ...]
