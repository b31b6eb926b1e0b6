"""Looks for the signs of an empty shell, at next to no cost for pages that can't be one."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NoReturn

from turbohtml import Document, Element, Text

from tarantella.domain.shell import MOST_AROUND, MOST_LINKS, MOST_WORDS, Signs, shell
from tarantella.extractors.text import count_words

Attrs = Mapping[str, str | list[str] | None]

# What is not part of what people see.
_UNSEEN = frozenset({"script", "style", "template", "noscript", "head", "title", "link", "meta"})
_AROUND = frozenset({"header", "nav", "footer", "aside"})
_AROUND_ROLES = frozenset({"banner", "navigation", "contentinfo", "complementary"})
# The same where it is only called so, and notices that stand before every page.
_AROUND_NAMES = re.compile(
    r"(?:^|\s)(?:site-|page-|main-|global-)?(?:header|footer|navbar|nav|menu|topbar|sidebar)(?:\s|$)|cookie|consent|gdpr",
    re.IGNORECASE,
)
_PLACES = frozenset({"div", "main", "section", "article"})
_PLAYERS = frozenset({"iframe", "frame", "frameset", "video", "audio", "object", "embed"})
_IMAGES = frozenset({"img", "picture", "svg", "canvas"})
_FIELDS = frozenset({"input", "textarea", "select"})
_NO_FIELD_TYPES = frozenset({"hidden", "submit", "button", "image", "reset"})
# Names of the place where an application, or the content of a page, belongs.
_MAIN = re.compile(
    r"^_*(?:(?:react|vue|svelte|ember|preact|elm|solid|ng|q|spa|web)[-_]?)?"
    r"(?:root|app|application|main|content|page|site|container|next|nuxt|gatsby|mount|svelte|view|layout)"
    r"(?:[-_]?(?:root|app|content|container|wrapper|view|main|page|mount))?$",
    re.IGNORECASE,
)
# Empty on ordinary pages, too, until somebody needs them.
_AT_HAND = re.compile(
    r"modal|toast|portal|popup|overlay|tooltip|dialog|drawer|cookie|consent|gdpr|banner|google|gtm|gpt|fb-root|facebook|"
    r"twitter|captcha|notif|alert|message|announce|live-region|chat|intercom|disqus|comment|map|chart|graph|player|video|"
    r"carousel|slider|swiper|widget|embed|calendar|share|search|badge|\bads?\b|advert|dfp|sentinel|anchor|\btop\b|spacer|clear",
    re.IGNORECASE,
)
_LOADING = re.compile(
    r"spinner|loader|(?<!lazy)(?<!lazy-)loading|skeleton|shimmer|preload|placeholder-|pulse", re.IGNORECASE
)
_LOADING_WORDS = re.compile(
    r"^\W*(?:(?:page|app|content|data|please|the|your|is|we|are|a|moment|just|now|one)\W+)*"
    r"(?:loading|please\W+wait|initiali[sz]ing|starting|wird\W+geladen|lädt|bitte\W+warten|chargement|cargando|carregando|"
    r"caricamento|laden|ładowanie|загрузка|yükleniyor|読み込み中|加载中|正在加载|로딩)"
    r"(?:\W+(?:page|app|content|data|please|wait|the|your|site|application|\w{1,12}))*\W*$",
    re.IGNORECASE,
)
_NEEDS_SCRIPTS = re.compile(
    r"(?:enable|turn on|activate|allow|requires?|needs?|without|aktivier\w*|activez|active|habilit\w*|attiva\w*)\W+(?:\w+\W+){0,4}?"
    r"java\W?script|java\W?script\W+(?:\w+\W+){0,4}?(?:enabled|required|needed|disabled|aktivier\w*|activé|habilitado)",
    re.IGNORECASE,
)
_OF_A_PART = re.compile(r"comments?|disqus|map|video|player|chat|form", re.IGNORECASE)
# Scripts that watch visitors and write nothing for them to read.
_COUNTERS = re.compile(
    r"googletagmanager|google-analytics|googleadservices|googlesyndication|doubleclick|analytics|gtag|gtm\.js|plausible|matomo|"
    r"piwik|hotjar|clarity\.ms|segment\.(?:com|io)|mixpanel|amplitude|fbevents|connect\.facebook|cloudflareinsights|newrelic|"
    r"nr-data|sentry|datadog|bugsnag|umami|fathom|counter|pixel|beacon|cookiebot|onetrust|consent|usercentrics|recaptcha|"
    r"hubspot|intercom|crisp\.chat|tawk\.to|adsbygoogle|snap\.licdn|static\.ads|yandex.*metrika|mc\.yandex",
    re.IGNORECASE,
)
_COUNTS = re.compile(
    r"gtag\(|dataLayer|_gaq|\bga\(|_paq|fbq\(|plausible|clarity|hotjar|_hjSettings|mixpanel|ym\(|umami"
)
# What a script in the page must do to fill it.
_WRITES = re.compile(
    r"getElementById|querySelector|innerHTML|insertAdjacent|append(?:Child)?\(|createElement|createRoot|createApp|hydrate|"
    r"\.mount\(|\.render\(|document\.write|fetch\(|XMLHttpRequest|import\(|\bimport\b|customElements|__next_f|System\.import"
)
_LEADS_AWAY = re.compile(
    r"(?:location(?:\.href)?\s*=[^=]|location\.(?:replace|assign)\()"
)  # whoever follows it gets another page
_MOST_CHARACTERS = 8 * (MOST_WORDS + MOST_AROUND)
_DEEPEST = 100  # a shell is flat, and pages that are not may be without end
_PROGRAM = re.compile(r"^\s*(?:$|module$|(?:text|application)/(?:x-)?(?:java|ecma)script)", re.IGNORECASE)


class _Enough(Exception):
    """There is more to see than a shell has."""


def find_shell(html: Document, links: int, words: int, *, refreshes: bool = False) -> str | None:
    """What gives this page away as an empty shell, or None for a page like any other; `words` are those known so far."""
    if links > MOST_LINKS or words > MOST_WORDS + MOST_AROUND or refreshes:
        return None
    # Looking for the first is cheaper than to select them all, and then nothing more is to be done for most pages.
    if html.find("script") is None or not any(map(_could_fill, html.select("script"))):
        return None
    body = html.find("body")
    if body is None or (not words and _says_much(body)):
        return None
    look = _Look()
    try:
        look.at(body)
    except _Enough:
        return None
    return shell(look.signs(asks=any(map(_asks, html.select("noscript")))))


def _says_much(body: Element) -> bool:
    """Whether there is more text than a shell has, seen without looking at what it stands in."""
    room = _MOST_CHARACTERS + sum(len(each.text) for each in body.select("script, style, noscript, template"))
    for text in body.strings:
        if not text.isspace():
            room -= len(text)
            if room < 0:
                return True
    return count_words(body.to_text()) > MOST_WORDS + MOST_AROUND


class _Look:
    """One look at what people would see. It ends as soon as there is too much for a shell."""

    def __init__(self) -> None:
        self.words = self.around = self.images = 0
        self.plays = self.fields = self.loading = False
        self.main: str | None = None
        self.place: str | None = None

    def signs(self, *, asks: bool) -> Signs:
        return Signs(
            words=self.words,
            around=self.around,
            images=self.images,
            plays=self.plays,
            fields=self.fields,
            scripts=True,
            main=self.main,
            place=self.place,
            loading=self.loading,
            asks=asks,
        )

    def at(self, element: Element, depth: int = 0, *, waits: bool = False) -> bool:
        """Look at an element, and say whether there is anything in it. What only waits is nothing."""
        if depth > _DEEPEST:
            _enough()
        something = False
        for child in element:
            if isinstance(child, Text):
                something |= self._reads(child.data, waits=waits)
            elif isinstance(child, Element) and child.tag not in _UNSEEN:
                something |= self._meets(child, depth, waits=waits)
        return something

    def _meets(self, element: Element, depth: int, *, waits: bool) -> bool:
        tag, attrs = element.tag, element.attrs
        if tag in _AROUND or (attrs and _is_around(attrs)):
            return self._passes(element)
        if tag in _PLAYERS:
            seen = not _is_hidden(attrs)
            self.plays |= seen
            return seen
        if tag in _FIELDS:
            seen = _text(attrs, "type").lower() not in _NO_FIELD_TYPES
            self.fields |= seen
            return seen
        waits = waits or (bool(attrs) and _is_waiting(attrs))
        self.loading |= waits
        if tag in _IMAGES:
            self.images += not waits
            return not waits
        something = self.at(element, depth + 1, waits=waits)
        if not something and (tag in _PLACES or "-" in tag):
            self._finds_empty(tag, attrs)
        return something

    def _passes(self, element: Element) -> bool:
        """What stands around a page is counted and not looked at: its pictures and fields are every page's."""
        self.around += _size(element.to_text())
        if self.around > MOST_AROUND:
            _enough()
        return True

    def _reads(self, text: str, *, waits: bool) -> bool:
        if not text or text.isspace():
            return False
        if (len(text) < 80 and _LOADING_WORDS.match(text)) or (waits and count_words(text) <= 3):
            self.loading = True
            return False
        self.words += _size(text)
        if self.words > MOST_WORDS:
            _enough()
        return True

    def _finds_empty(self, tag: str, attrs: Attrs) -> None:
        name = _text(attrs, "id")
        told = f"#{name[:60]}" if name else f"<{tag}>"
        if tag == "main" or _text(attrs, "role") == "main" or (name and _MAIN.match(name)):
            self.main = self.main or told
        elif "-" in tag and not _AT_HAND.search(tag):
            if _MAIN.match(tag):
                self.main = self.main or told
            self.place = self.place or told
        elif name and not _AT_HAND.search(name):
            self.place = self.place or told
        elif not name and any(map(_MAIN.match, _text(attrs, "class").split())):
            self.place = self.place or f".{_text(attrs, 'class').split()[0][:60]}"


def _enough() -> NoReturn:
    raise _Enough


def _size(text: str) -> int:
    """How many words there are; some languages write without blanks between them."""
    return max(count_words(text), len(text.strip()) // 8)


def _is_around(attrs: Attrs) -> bool:
    if _text(attrs, "role") in _AROUND_ROLES:
        return True
    return any(name and _AROUND_NAMES.search(name) for name in (_text(attrs, "id"), _text(attrs, "class")))


def _is_waiting(attrs: Attrs) -> bool:
    if _text(attrs, "aria-busy") == "true" or _text(attrs, "role") == "progressbar":
        return True
    return any(name and _LOADING.search(name) for name in (_text(attrs, "id"), _text(attrs, "class")))


def _text(attrs: Attrs, name: str) -> str:
    value = attrs.get(name) or ""
    return value if isinstance(value, str) else " ".join(value)


def _is_hidden(attrs: Attrs) -> bool:
    """Whether a frame is not for people: those that count visitors are a pixel wide."""
    style = _text(attrs, "style").replace(" ", "").lower()
    tiny = {_text(attrs, "width"), _text(attrs, "height")} & {"0", "1", "0px", "1px"}
    return bool(tiny) or "hidden" in attrs or "display:none" in style or "visibility:hidden" in style


def _could_fill(script: Element) -> bool:
    attrs = script.attrs
    if not _PROGRAM.match(_text(attrs, "type")) or "nomodule" in attrs:
        return False
    if source := _text(attrs, "src"):
        return not _COUNTERS.search(source)
    program = script.text
    if not program or not _WRITES.search(program) or _COUNTS.search(program):
        return False
    return not (_LEADS_AWAY.search(program) and len(program) < 2_000)


def _asks(noscript: Element) -> bool:
    text = noscript.text[:2_000]
    return bool(_NEEDS_SCRIPTS.search(text)) and not _OF_A_PART.search(text)
