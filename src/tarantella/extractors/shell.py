"""Tells the empty shell of a single-page application from a page that has something to say."""

from __future__ import annotations

from tarantella.extractors import charset
from tarantella.extractors.document import Kind, identify
from tarantella.extractors.text import count_words

# What applications are mounted on. Looked for in the whole page: styles in the head can be longer than all the rest.
_MOUNTS = (
    "#root, #app, #__next, #__nuxt, #___gatsby, #svelte, #main-app, #application, #app-root, #react-root, #q-app, "
    "app-root, [ng-app], [data-reactroot], [ng-version]"
)
_NEEDS_SCRIPTS = ("enable javascript", "javascript is required", "requires javascript", "javascript to run this app")
MOST_WORDS = 30


def is_shell(body: bytes, content_type: str) -> bool:
    """Whether scripts would have to fill this page: it has hardly a word, and a place for them to write to."""
    try:
        document = identify(body, content_type)
        if document.kind is not Kind.HTML:
            return False
        html = charset.parse_html(document.body, document.charset)
        found = html.find("body")
        if found is None or html.select_one("script") is None:
            return False
        asks = any(_asks(element.text) for element in html.select("noscript"))
        words = count_words(found.to_text()) - sum(
            count_words(element.to_text()) for element in html.select("noscript")
        )
        if words > MOST_WORDS:
            return False
        mount = html.select_one(_MOUNTS)
        return asks or (mount is not None and count_words(mount.to_text()) <= MOST_WORDS)
    except Exception:
        # What can't be read is not a shell that we know.
        return False


def _asks(text: str) -> bool:
    low = " ".join(text.lower().split())
    return any(sentence in low for sentence in _NEEDS_SCRIPTS)
