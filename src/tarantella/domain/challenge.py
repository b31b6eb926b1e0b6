"""Pages that stand in the way of the one that was asked for: a check for robots, or a refusal that calls itself a page."""

from __future__ import annotations

from typing import NamedTuple

# A page with more than this to read or to follow is a page, whatever else is on it.
MOST_LINKS = 8
MOST_WORDS = 200

# What such pages are called; a page that merely talks about them has a longer title.
TITLES = frozenset(
    {
        "access denied",
        "access to this page has been denied",
        "are you a robot?",
        "are you human?",
        "attention required! | cloudflare",
        "bot verification",
        "checking your browser",
        "checking your browser before accessing",
        "ddos-guard",
        "human verification",
        "just a moment",
        "one moment, please",
        "pardon our interruption",
        "please verify you are a human",
        "please wait... | cloudflare",
        "request rejected",
        "robot check",
        "security check",
        "security verification",
        "verify you are human",
        "verifying your browser",
        "you have been blocked",
    }
)
# Of these, what asks for a moment and means it: scripts of theirs look at the browser, and let it through.
PASSING = frozenset(
    {
        "bot verification",
        "checking your browser",
        "checking your browser before accessing",
        "ddos-guard",
        "just a moment",
        "one moment, please",
        "please wait... | cloudflare",
        "security verification",
        "verifying your browser",
    }
)


class Signs(NamedTuple):
    """What of a page can tell that it is none."""

    links: int
    words: int
    title: str = ""
    own: str | None = None  # an element or a script that only a challenge has
    widget: bool = False  # a captcha, which an ordinary form may have as well
    asks_more: bool = False  # fields for something else than the captcha: such a form is there to be used


def challenge(signs: Signs) -> str | None:
    """What gives the page away as a challenge or a block page, or None for a page like any other."""
    if signs.links > MOST_LINKS or signs.words > MOST_WORDS:
        return None
    if signs.own is not None:
        return signs.own
    if signs.widget and not signs.asks_more:
        return "a captcha and little else"
    title = called(signs.title)
    return f"its title, {title!r}" if title in TITLES else None


def passes_by_itself(signs: Signs) -> bool:
    """Whether a browser that waits may see the page behind this one."""
    return called(signs.title) in PASSING and challenge(signs) is not None


def called(title: str) -> str:
    """A title as it is compared: in lower case, on one line, without the dots at its end."""
    return " ".join(title.lower().split()).rstrip(" .…")
