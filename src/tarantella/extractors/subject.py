"""A page as fields look at it. What takes time to make is made when somebody asks for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

from turbohtml import Document, Element

from tarantella.domain.locale import Locale
from tarantella.extractors import shadow
from tarantella.extractors.patterns import Stopwatch
from tarantella.extractors.scripts import json_in_scripts

if TYPE_CHECKING:
    from tarantella.extractors.article import Article
    from tarantella.extractors.structured import Structure

# Where a value is looked for: a page, an element of it, or a part of what JSON has.
Root: TypeAlias = Any


class Subject:
    """One page, in all the forms in which its values can stand."""

    def __init__(
        self,
        tree: Document | None,
        *,
        source: Callable[[], str],
        base_url: Callable[[], str] = str,
        page_url: str = "",
        language: str | None = None,
        data: Any = None,
    ) -> None:
        self.tree = tree
        self.page_url = page_url
        self.language = language
        self.stopwatch = Stopwatch()
        self._source = source
        self._base_url = base_url
        self._data = data

    @cached_property
    def source(self) -> str:
        """The page as it was sent."""
        return self._source()

    @cached_property
    def base_url(self) -> str:
        return self._base_url()

    @cached_property
    def locale(self) -> Locale:
        """How this page writes numbers and dates."""
        return Locale.of(self.language).at(self.page_url)

    @cached_property
    def json(self) -> Sequence[Any]:
        """Every JSON value that the page is or has."""
        if self._data is not None:
            return (self._data,)
        return tuple(json_in_scripts(self.tree)) if self.tree is not None else ()

    @cached_property
    def is_tangled(self) -> bool:
        """Whether looking at its elements one by one would take too long."""
        from tarantella.extractors.tangle import is_tangled

        return self.tree is not None and is_tangled(self.tree)

    @cached_property
    def structure(self) -> Structure:
        """What the page says about itself for machines."""
        from tarantella.extractors.structured import Structure

        assert self.tree is not None
        return Structure.of(self.tree)

    @cached_property
    def article(self) -> Article:
        """The article on the page."""
        from tarantella.extractors.article import read_article

        return read_article(shadow.parse(self.source), lambda: self.source)

    def last_article(self) -> Article:
        """The same for a page that nobody looks at any more, which may be taken apart for it."""
        from tarantella.extractors.article import read_article

        if "article" in self.__dict__:
            return self.article
        assert self.tree is not None
        return read_article(self.tree, lambda: self.source)


def is_element(root: Root) -> bool:
    return isinstance(root, (Document, Element))
