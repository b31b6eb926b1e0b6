"""The site that tests crawl: on loopback, with many faults, each at its own address."""

from __future__ import annotations

from tests.site import (
    bombs,
    control,
    documents,
    hostile,
    links,
    markup,
    pages,
    redirects,
    scripted,
    shells,
    shop,
    sitemaps,
    statuses,
    strategies,
    traps,
    walls,
)
from tests.site.hits import Hit
from tests.site.pages import tree_path, tree_paths
from tests.site.proxy import Proxy
from tests.site.registry import Call
from tests.site.reply import Reply
from tests.site.request import Request
from tests.site.server import Site

# Importing a family registers its routes.
FAMILIES = (
    bombs,
    control,
    documents,
    hostile,
    links,
    markup,
    pages,
    redirects,
    scripted,
    shells,
    shop,
    sitemaps,
    statuses,
    strategies,
    traps,
    walls,
)

__all__ = ["FAMILIES", "Call", "Hit", "Proxy", "Reply", "Request", "Site", "tree_path", "tree_paths"]
