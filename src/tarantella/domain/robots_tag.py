"""What a page asks of crawlers in the headers that it comes with: X-Robots-Tag."""

from __future__ import annotations

import re

_ADDRESSED = re.compile(r"([^\s:/][^\s:]*)\s*:(.*)")
# Rules with a value of their own look as if they were for a crawler of that name.
_WITH_VALUES = frozenset({"unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"})
_NOT_FOLLOWED = frozenset({"nofollow", "none"})


def asks_not_to_be_followed(tags: str, product: str) -> bool:
    """Whether links are not for the crawler of this name. `tags` has a line for each header: whom one names, it names for all its rules."""
    return any(_forbids(tag, product.lower()) for tag in tags.lower().split("\n"))


def _forbids(tag: str, product: str) -> bool:
    for_us = True
    for rule in tag.split(","):
        rule = rule.strip()
        named = _ADDRESSED.fullmatch(rule)
        if named is not None and named[1] not in _WITH_VALUES:
            name = named[1].partition("/")[0]
            for_us = name == "*" or name in product
            rule = named[2].strip()
        if for_us and rule in _NOT_FOLLOWED:
            return True
    return False
