"""What a page says about itself."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

from turbohtml import Document, Element, Namespace

_WANTED = (
    'title, base[href], link[rel~="canonical" i][href], meta[name="description" i], meta[name="robots" i], '
    'meta[property="og:title" i], meta[property="og:description" i], meta[http-equiv="content-language" i], '
    'meta[http-equiv="refresh" i]'
)
_HTML = Namespace.HTML


@dataclass(slots=True)
class Head:
    """The first of each, as written; where title or description is missing, the one made for sharing."""

    title: str | None = None
    description: str | None = None
    language: str | None = None
    base: str | None = None
    canonical: str | None = None
    nofollow: bool = False
    noindex: bool = False
    refreshes: bool = False

    @classmethod
    def of(cls, html: Document) -> Self:
        place = html.find("head")
        found = place.select(_WANTED) if place is not None else []
        if "title" not in [element.tag for element in found]:
            # Broken pages have their title in the body: then the rest of the head may be there as well.
            found = html.select(_WANTED)
        head = cls()
        head._read(found)
        root = html.root
        if root is not None:
            head.language = root.attr("lang") or root.attr("xml:lang") or head.language
        return head

    def _read(self, found: Iterable[Element]) -> None:
        shared: dict[str, str] = {}
        for element in found:
            tag = element.tag
            if tag == "title":
                # Drawings have titles too, which are not the page's.
                if self.title is None and element.namespace is _HTML:
                    self.title = element.text
            elif tag == "base":
                self.base = element.attr("href") if self.base is None else self.base
            elif tag == "link":
                self.canonical = element.attr("href") if self.canonical is None else self.canonical
            elif content := element.attr("content"):
                self._read_meta(element, content, shared)
        self.title = self.title or shared.get("og:title")
        self.description = self.description or shared.get("og:description")

    def _read_meta(self, meta: Element, content: str, shared: dict[str, str]) -> None:
        name = (meta.attr("name") or "").lower()
        if name == "description":
            self.description = self.description or content
        elif name == "robots":
            self._obey(content)
        elif about := meta.attr("property"):
            shared.setdefault(about.lower(), content)
        elif (meta.attr("http-equiv") or "").lower() == "refresh":
            self.refreshes = True
        else:
            self.language = self.language or content

    def _obey(self, content: str) -> None:
        rules = {rule.strip() for rule in content.lower().split(",")}
        self.nofollow = self.nofollow or not rules.isdisjoint({"nofollow", "none"})
        self.noindex = self.noindex or not rules.isdisjoint({"noindex", "none"})
