"""What a page says about itself."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Self

from turbohtml import Document, Element, Namespace, Node

# Where the head is not where it should be. What is in a template is not part of the page.
_ELSEWHERE = "title, base, meta"
_HTML = Namespace.HTML


class Head:
    """The first of each, as written; where title or description is missing, the one made for sharing."""

    # No dataclass: most of these stay as they are, and one is made for every page.
    title: str | None = None
    description: str | None = None
    language: str | None = None
    base: str | None = None
    nofollow: bool = False
    refreshes: bool = False

    @classmethod
    def of(cls, html: Document) -> Self:
        head = cls()
        shared: dict[str, str] = {}
        place = html.find("head")
        if place is not None:
            # Child by child: on most pages that is quicker than to select them.
            head._read(place, shared)
        if head.title is None:
            # Broken pages have their title in the body: then the rest of the head may be there as well.
            head._read(html.select(_ELSEWHERE), shared)
        elif head.base is None and (base := html.find("base")) is not None:
            # A head ends at the first thing that does not belong there, and what follows is in the body.
            head.base = base.attr("href")
        head.title = head.title or shared.get("og:title")
        head.description = head.description or shared.get("og:description")
        if (root := html.root) is not None:
            head.language = root.attr("lang") or root.attr("xml:lang") or head.language
        return head

    def _read(self, nodes: Iterable[Node], shared: dict[str, str]) -> None:
        for node in nodes:
            if not isinstance(node, Element):
                continue
            tag = node.tag
            if tag == "meta":
                if content := node.attr("content"):
                    self._read_meta(node, content, shared)
            elif tag == "title":
                # Drawings have titles too, which are not the page's.
                if self.title is None and node.namespace is _HTML:
                    self.title = node.text
            elif tag == "base":
                self.base = node.attr("href") if self.base is None else self.base
            elif tag == "noscript":
                refreshes = self.refreshes
                self._read(node, shared)
                # Where those go who have no scripts: nobody else leaves the page.
                self.refreshes = refreshes

    def _read_meta(self, meta: Element, content: str, shared: dict[str, str]) -> None:
        if (name := meta.attr("name")) is not None:
            name = name.lower()
            if name == "description":
                self.description = self.description or content
            elif name == "robots":
                self._obey(content)
        elif (about := meta.attr("property")) is not None:
            shared.setdefault(about.lower(), content)
        elif (equivalent := meta.attr("http-equiv")) is not None:
            equivalent = equivalent.lower()
            if equivalent == "refresh":
                self.refreshes = True
            elif equivalent == "content-language":
                self.language = self.language or content

    def _obey(self, content: str) -> None:
        rules = {rule.strip() for rule in content.lower().split(",")}
        self.nofollow = self.nofollow or not rules.isdisjoint({"nofollow", "none"})
