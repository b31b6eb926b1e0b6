"""The gazette's texts: one file per section, one line here."""

from __future__ import annotations

from tarantella.demo.stories.dance import DANCE
from tarantella.demo.stories.harbour import HARBOUR
from tarantella.demo.stories.music import MUSIC
from tarantella.demo.stories.section import Section, Story
from tarantella.demo.stories.spiders import SPIDERS
from tarantella.demo.stories.table import TABLE
from tarantella.demo.stories.weaving import WEAVING

SECTIONS: tuple[Section, ...] = (DANCE, SPIDERS, WEAVING, HARBOUR, MUSIC, TABLE)

__all__ = ["SECTIONS", "Section", "Story"]
