"""How a browser treats each page of a run: what it waits for, what it does there, what it leaves out and what it keeps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

from tarantella.domain.errors import InvalidInput
from tarantella.domain.struct import Frozen, asdict

# What a page can ask for and a browser can go without.
BLOCKABLE = ("image", "font", "media", "stylesheet")
USUALLY_BLOCKED = ("image", "font", "media")
LONGEST_SELECTOR = 2_000
LONGEST_VALUE = 10_000
MOST_ACTIONS = 50
MOST_SCROLLS = 1_000
LONGEST_WAIT = 60.0


class Action(Frozen):
    """One thing to do on a page before it is read. Exactly one of the first four says what."""

    click: str | None = None
    fill: str | None = None
    wait: str | float | None = None  # for a selector, or for some seconds
    scroll: int | None = None  # to the end, so many times
    value: str | None = None  # what is filled in
    secret: str | None = None  # the name of a secret that is filled in instead
    optional: bool = False  # a page without it is read all the same

    def __post_init__(self) -> None:
        said = [name for name in ("click", "fill", "wait", "scroll") if getattr(self, name) is not None]
        if len(said) != 1:
            raise _wrong(
                "actions", "each action is one of click, fill, wait or scroll", 'Write it like {"click": "#more"}.'
            )
        for name in ("click", "fill"):
            _check_selector("actions", getattr(self, name))
        if (self.fill is not None) != ((self.value is None) != (self.secret is None)):
            raise _wrong("actions", "`fill` takes a `value` or a `secret`, and nothing else does", "Give one of them.")
        if self.value is not None and len(self.value) > LONGEST_VALUE:
            raise _wrong("actions", f"a value is longer than {LONGEST_VALUE} characters", "Shorten it.")
        if isinstance(self.wait, str):
            _check_selector("actions", self.wait)
        elif self.wait is not None:
            _check_range("actions", self.wait, 0, LONGEST_WAIT)
        if self.scroll is not None:
            _check_range("actions", self.scroll, 1, MOST_SCROLLS)

    def to_json(self) -> dict[str, Any]:
        return {name: value for name, value in asdict(self).items() if value not in (None, False)}

    @classmethod
    def from_json(cls, data: object) -> Self:
        _check_names("actions", data, cls.__struct_fields__)
        assert isinstance(data, Mapping)
        for name, kinds in _KINDS.items():
            value = data.get(name)
            if value is not None and (not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds)):
                raise _wrong("actions", f"`{name}` can't be {value!r}"[:200], "See docs/browser.md for what it may be.")
        return cls(**{name: value for name, value in data.items() if value is not None})


_KINDS: Mapping[str, tuple[type, ...]] = {
    **dict.fromkeys(("click", "fill", "value", "secret"), (str,)),
    "wait": (str, int, float),
    "scroll": (int,),
    "optional": (bool,),
}


class Browsing(Frozen):
    """What is not said is as usual: the page is read when its network has been quiet for a moment."""

    wait_for: str | None = None  # a CSS selector; the page is read when something matches it
    quiet_ms: int = 500
    scroll: int = 0  # to the end of the page, so often at most, while there is more
    load_more: str | None = None  # what is clicked while it is there
    load_more_times: int = 20
    actions: tuple[Action, ...] = ()
    block: tuple[str, ...] = USUALLY_BLOCKED
    screenshot: bool = False
    keep_html: bool = False

    def __post_init__(self) -> None:
        _check_range("quiet_ms", self.quiet_ms, 0, 10_000)
        _check_range("scroll", self.scroll, 0, MOST_SCROLLS)
        _check_range("load_more_times", self.load_more_times, 1, MOST_SCROLLS)
        _check_selector("wait_for", self.wait_for)
        _check_selector("load_more", self.load_more)
        if len(self.actions) > MOST_ACTIONS:
            raise _wrong("actions", f"there are {len(self.actions)}", f"Give at most {MOST_ACTIONS}.")
        for kind in self.block:
            if kind not in BLOCKABLE:
                raise _wrong("block", f"there is no {kind!r}", f"Choose among {', '.join(BLOCKABLE)}.")

    @property
    def secrets(self) -> tuple[str, ...]:
        """The names of the secrets that are filled in somewhere."""
        return tuple(dict.fromkeys(action.secret for action in self.actions if action.secret is not None))

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "block": list(self.block), "actions": [action.to_json() for action in self.actions]}

    @classmethod
    def from_json(cls, data: object) -> Self:
        """What somebody wrote down, or what was stored; raises InvalidInput for what makes no sense."""
        _check_names("", data, cls.__struct_fields__)
        assert isinstance(data, Mapping)
        values = {name: value for name, value in data.items() if value is not None}
        for name, kind in (("wait_for", str), ("load_more", str), ("screenshot", bool), ("keep_html", bool)):
            if values.get(name) is not None and not isinstance(values[name], kind):
                raise _wrong(name, f"it can't be {values[name]!r}"[:200], "See docs/browser.md for what it may be.")
        for name in ("quiet_ms", "scroll", "load_more_times"):
            if name in values and (isinstance(values[name], bool) or not isinstance(values[name], int)):
                raise _wrong(name, f"it can't be {values[name]!r}"[:200], "Give a whole number.")
        for name in ("actions", "block"):
            if not isinstance(values.get(name, []), Sequence) or isinstance(values.get(name), str):
                raise _wrong(name, "it has to be a list", "See docs/browser.md for what may be in it.")
        values["actions"] = tuple(map(Action.from_json, values.get("actions", ())))
        values["block"] = tuple(values.get("block", USUALLY_BLOCKED))
        return cls(**values)


def _check_names(where: str, data: object, known: Sequence[str]) -> None:
    if not isinstance(data, Mapping):
        raise _wrong(where, "it has to be an object", f"Its keys are {', '.join(known)}.")
    for name in data:
        if name not in known:
            raise _wrong(where, f"there is no {str(name)[:100]!r}", f"Choose among {', '.join(known)}.")


def _check_selector(where: str, selector: str | None) -> None:
    if selector is not None and not 0 < len(selector.strip()) <= LONGEST_SELECTOR:
        raise _wrong(where, "a selector is empty or too long", "Give a CSS selector, like `.price`.")


def _check_range(where: str, value: float, least: float, most: float) -> None:
    if not least <= value <= most:
        raise _wrong(where, f"{value} is not between {least} and {most}", "Choose a value in that range.")


def _wrong(name: str, problem: str, remedy: str) -> InvalidInput:
    field = f"browser.{name}" if name else "browser"
    return InvalidInput(f"{field}: {problem}.", field=field, remedy=remedy)
