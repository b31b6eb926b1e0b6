"""Looks for the signs of a challenge or a block page, at next to no cost for pages that can't be one."""

from __future__ import annotations

from turbohtml import Document

from tarantella.domain.challenge import MOST_LINKS, MOST_WORDS, TITLES, Signs, called, challenge
from tarantella.extractors.text import count_words

# Larger than any challenge, with all that it carries inside, and smaller than many pages.
MOST_BYTES = 256 * 1024
# What challenges have for themselves: a word that is looked for first, where it must stand, and who sends it.
# Scripts that some of them also add to ordinary pages prove nothing.
_OWN: tuple[tuple[bytes, str, str], ...] = (
    (b"_cf_chl_opt", '//script[contains(., "_cf_chl_opt")]', "cloudflare"),
    (b"challenge-form", '//form[@id="challenge-form"]', "cloudflare"),
    (b"cf-error-details", '//*[@id="cf-error-details"]', "cloudflare"),
    (b"captcha-delivery.com", '//*[contains(@src, "captcha-delivery.com")]', "datadome"),
    (b"px-captcha", '//*[@id="px-captcha"]', "perimeterx"),
    (b"gokuProps", '//script[contains(., "gokuProps")]', "aws waf"),
    (b"sucuri_cloudproxy_js", '//script[contains(., "sucuri_cloudproxy_js")]', "sucuri"),
    (b"_Incapsula_Resource", '//iframe[contains(@src, "_Incapsula_Resource")]', "imperva"),
    (b"sec-if-cpt-container", '//*[@id="sec-if-cpt-container"]', "akamai"),
)
_WIDGETS = (
    '.g-recaptcha, .h-captcha, .cf-turnstile, .captcha, #captcha, [id*="captcha" i][id$="container" i], '
    'form[action*="captcha" i], iframe[src*="captcha" i], img[src*="captcha" i]'
)
_FIELDS = (
    'input:not([type="hidden" i]):not([type="submit" i]):not([type="button" i]):not([type="checkbox" i])'
    ':not([name*="captcha" i]):not([id*="captcha" i]), textarea:not([name*="captcha" i]), select'
)


def find_challenge(html: Document, body: bytes, title: str | None, links: int, words: int) -> str | None:
    """What gives this page away as a challenge, or None for a page like any other; `words` are those known so far."""
    if links > MOST_LINKS or words > MOST_WORDS or len(body) > MOST_BYTES:
        return None
    own = next((owner for word, place, owner in _OWN if word in body and html.xpath(place)), None)
    widget = own is None and b"aptcha" in body and html.select_one(_WIDGETS) is not None
    if own is None and not widget and (not title or called(title) not in TITLES):
        return None
    text = html.find("body")
    signs = Signs(
        links=links,
        words=count_words(text.to_text()) if text is not None else 0,
        title=title or "",
        own=own,
        widget=widget,
        asks_more=widget and html.select_one(_FIELDS) is not None,
    )
    return challenge(signs)
