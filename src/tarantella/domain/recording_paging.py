"""How the next part of a list is asked for: found out from what was asked and answered, then followed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlencode, urljoin

from tarantella.domain.json_tree import Path, at, leaves, walk
from tarantella.domain.recording import Paging
from tarantella.domain.recording_request import Slot, Template, name_of, slots
from tarantella.domain.struct import Frozen, replace

MOST_AHEAD = 1_000  # parts that are asked for at once, where it is known how many there are
LONGEST_CURSOR = 2_000
_WORD = re.compile(r"[^a-z0-9]+")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")

_PAGE = frozenset("page p pg pageno pagenumber pagenum pageindex pageno currentpage paged pn".split())
_OFFSET = frozenset("offset start skip from startindex first startat begin".split())
_CURSOR = frozenset(
    "cursor after aftercursor endcursor startcursor nextcursor pagetoken nexttoken nextpagetoken continuation continuationtoken "
    "token marker scrollid pagecursor next".split()
)
_NEXT_CURSOR = frozenset(
    "nextcursor endcursor cursor nexttoken nextpagetoken pagetoken continuation continuationtoken nextmarker scrollid "
    "aftercursor cursornext".split()
)
_ADDRESS = frozenset("next nexturl nextpage nextpageurl nextlink odatanextlink nexthref href nextpagelink".split())
_MORE = frozenset("hasmore hasnext hasnextpage more morepages nextpageexists hasmorepages hasmoreitems".split())
_NO_MORE = frozenset("islast last lastpagereached end isend".split())
_TOTAL_ITEMS = frozenset(
    "total totalcount totalitems totalresults totalelements totalhits numfound nbhits recordstotal".split()
)
_TOTAL_PAGES = frozenset("totalpages pagecount lastpage nbpages pages numpages pagestotal maxpage".split())
# These change with every question, and say nothing.
_NOISE = frozenset("_ t ts timestamp time cb cachebuster nonce rnd rand requestid".split())


class Part(NamedTuple):
    """One question for a part of a list, and the answer."""

    template: Template
    url: str
    answer: Any
    items: Sequence[Any]
    link: str | None = None


def word(name: str) -> str:
    """A name without the ways of writing it."""
    return _WORD.sub("", name.lower())


def words(name: str) -> list[str]:
    return [part for part in _WORD.split(_CAMEL.sub("_", name).lower()) if part]


# -- found out


def find_paging(parts: Sequence[Part]) -> tuple[Template, Paging | None]:
    """How a list goes on, and the question to do it with: seen at work between two parts, else by what things are called."""
    first = parts[0]
    for one, other in pairwise(parts):
        if (found := _seen(one, other)) is not None:
            paging = _with_ends(replace(found[1], seen=True), parts)
            return found[0], paging if _is_over(paging, parts) else replace(paging, most=len(parts))
    named = _named(first)
    return first.template, _with_ends(named, parts) if named is not None else None


def _seen(one: Part, other: Part) -> tuple[Template, Paging] | None:
    """What was different in the second question, if the first answer or plain counting explains it."""
    for path, value in _texts(one.answer):
        if urljoin(one.url, value) == other.url and other.url != one.url:
            return one.template, Paging("address", path=path)
    if one.link is not None and urljoin(one.url, one.link) == other.url:
        return one.template, Paging("link")
    base = other.template
    before = {_mark(one.template, slot): value for slot, value in slots(one.template).items()}
    for slot, value in slots(base).items():
        name = word(name_of(base, slot))
        was = before.get(_mark(base, slot))
        if was == value or name in _NOISE or isinstance(value, bool) or value in (None, ""):
            continue
        if (found := _counted(slot, name, was, value, len(one.items))) is not None:
            return base, found
        for path, said in leaves(one.answer).items():
            if said == value or (isinstance(said, (int, float)) and str(said) == value):
                return base, Paging("cursor", slot=slot, first=was, path=path)
    return None


def _mark(template: Template, slot: Slot) -> tuple[Any, ...]:
    """A slot by what it is called: numbers of parameters shift when one is added."""
    if slot[0] in ("query", "form"):
        return (slot[0], name_of(template, slot[:2]), *slot[2:])
    return slot


def _counted(slot: Slot, name: str, was: Any, now: Any, items: int) -> Paging | None:
    number, before = _whole(now), _whole(was)
    if number is None:
        return None
    if before is None:
        if was not in (None, ""):
            return None
        # The first part was asked for without it.
        if name in _PAGE and number in (1, 2):
            return Paging("number", slot=slot, first=was, step=1, start=number - 1)
        return Paging("number", slot=slot, first=was, step=number) if name in _OFFSET and number == items else None
    step = number - before
    if step < 1 or not (step == 1 or step == items or name in _PAGE | _OFFSET):
        return None
    return Paging("number", slot=slot, first=was, step=step, start=before)


def _named(part: Part) -> Paging | None:
    """How it could go on, by what things are called; what is not plain is not taken for granted."""
    by_address = [
        (path, value)
        for path, value in _texts(part.answer)
        if _is_next_address(path) and (value.startswith(("http://", "https://", "/", "?")))
    ]
    if by_address:
        return Paging("address", path=by_address[0][0])
    if part.link is not None:
        return Paging("link")
    here = slots(part.template)
    cursors = [slot for slot in here if word(name_of(part.template, slot)) in _CURSOR and _whole(here[slot]) is None]
    answers = [path for path in _outside(part) if word(str(path[-1])) in _NEXT_CURSOR]
    if cursors and answers:
        best = max(answers, key=lambda path: ("end" in words(str(path[-1]))) * 2 + ("next" in words(str(path[-1]))))
        return Paging("cursor", slot=cursors[0], first=here[cursors[0]], path=best)
    for slot, value in here.items():
        name, number = word(name_of(part.template, slot)), _whole(value)
        if number is None or number > 1:
            continue
        if name in _PAGE:
            return Paging("number", slot=slot, first=value, step=1, start=number)
        if name in _OFFSET and number == 0:
            return Paging("number", slot=slot, first=value, step=len(part.items))
    return None


def _is_next_address(path: Path) -> bool:
    names = [word(str(step)) for step in path[-2:] if isinstance(step, str)]
    if not names or names[-1] not in _ADDRESS:
        return False
    return names[-1] != "href" or names[0] == "next"


def _with_ends(paging: Paging, parts: Sequence[Part]) -> Paging:
    """The same with what tells that there is no more."""
    first = parts[0]
    size = len(first.items)
    more = total = None
    total_is = "items"
    for path in _outside(first):
        value, name = at(first.answer, path), word(str(path[-1]))
        if isinstance(value, bool):
            if more is None and (name in _MORE or name in _NO_MORE):
                more = path
        elif isinstance(value, int) and total is None and paging.kind == "number":
            if not all(at(part.answer, path) == value for part in parts):
                continue
            if name in _TOTAL_ITEMS and value >= size:
                total, total_is = path, "items"
            elif name in _TOTAL_PAGES and value >= len(parts):
                total, total_is = path, "pages"
    return replace(paging, more=more, total=total, total_is=total_is, size=size)


def _is_over(paging: Paging, parts: Sequence[Part]) -> bool:
    """Whether the last of these parts is the last of the list."""
    last = parts[-1]
    if not last.items or (paging.more is not None and not _says_more(last.answer, paging.more)):
        return True
    if paging.kind == "link":
        return last.link is None
    if paging.kind != "number":
        return at(last.answer, paging.path) in (None, "", False)
    total = at(last.answer, paging.total) if paging.total is not None else None
    if isinstance(total, int):
        return len(parts) >= (total if paging.total_is == "pages" else -(-total // max(1, paging.size)))
    return len(last.items) < paging.size


def _outside(part: Part) -> Iterator[Path]:
    """Ways to plain values that are not within a list."""
    for path, value in walk(part.answer, most=20_000, deepest=8):
        if path and isinstance(path[-1], str) and not isinstance(value, (dict, list)):
            if all(isinstance(step, str) for step in path):
                yield path


def _texts(answer: Any) -> Iterator[tuple[Path, str]]:
    for path, value in walk(answer, most=20_000, deepest=8):
        if isinstance(value, str) and value and path and all(isinstance(step, str) for step in path):
            yield path, value


def _whole(value: Any) -> int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    return int(value) if isinstance(value, str) and value.isdecimal() and len(value) < 10 else None


# -- followed


class Position(Frozen):
    """Which part of a list a page of a replay is."""

    recording: str
    value: int | str | None = None  # what the slot holds; None at the first part
    part: int = 1  # the how manieth
    last: bool = True  # nothing behind it was asked for yet: it leads on
    seen: str = ""  # a mark of the part before: where a server gives the same again, the list is over

    @property
    def is_first(self) -> bool:
        return self.value is None

    def written(self) -> str:
        """As it stands behind the address of a page."""
        # To a server that reads JSON, 2 and "2" are different things.
        place = "n" if isinstance(self.value, int) else "at"
        said = {"replay": self.recording, place: self.value, "part": self.part, "on": int(self.last), "seen": self.seen}
        usual = {"part": 1, "on": 1, "seen": "", place: None}
        return urlencode({name: value for name, value in said.items() if value != usual.get(name)})


def slot_value(paging: Paging, position: Position) -> Any:
    """What the slot holds at a position, written as it was at the first."""
    if position.is_first:
        return paging.first
    return str(position.value) if isinstance(paging.first, str) else position.value


def position_of(url: str) -> Position | None:
    """The position that stands behind an address, if one does."""
    said = dict(parse_qsl(url.partition("#")[2]))
    if "replay" not in said:
        return None
    value = int(said["n"]) if said.get("n", "").lstrip("-").isdecimal() else said.get("at")
    part = said.get("part", "1")
    return Position(
        said["replay"], value, int(part) if part.isdecimal() else 1, said.get("on") != "0", said.get("seen", "")
    )


def next_positions(paging: Paging, here: Position, answer: Any, items: int, mark: str) -> list[Position]:
    """The parts that follow this one, as far as the answer tells."""
    if not items or (mark and mark == here.seen) or not here.last:
        return []
    if paging.most is not None and here.part >= paging.most:
        return []
    if paging.more is not None and not _says_more(answer, paging.more):
        return []
    if paging.kind == "number":
        return _further(paging, here, answer, items, mark)
    # A link is in the headers: whoever has those finds it.
    found = at(answer, paging.path) if paging.kind != "link" else None
    if isinstance(found, bool) or not isinstance(found, (str, int)) or found in ("", here.value):
        return []
    if len(str(found)) > LONGEST_CURSOR:
        return []
    return [replace(here, value=found, part=here.part + 1, seen=mark)]


def _says_more(answer: Any, path: Path) -> bool:
    said = at(answer, path)
    if word(str(path[-1])) in _NO_MORE:
        return said is not True
    return said is not False and said is not None


def _further(paging: Paging, here: Position, answer: Any, items: int, mark: str) -> list[Position]:
    start = paging.start
    now = start if here.is_first else int(here.value or 0)
    total = at(answer, paging.total) if paging.total is not None else None
    if isinstance(total, bool) or not isinstance(total, int):
        return [replace(here, value=now + paging.step, part=here.part + 1, seen=mark)]
    size = items if here.is_first else max(paging.size, items)
    parts = total if paging.total_is == "pages" else -(-total // max(1, size))
    parts = min(parts, paging.most) if paging.most is not None else parts
    end = start + (parts - 1) * paging.step
    ahead = range(now + paging.step, end + 1, paging.step)[:MOST_AHEAD]
    return [
        Position(here.recording, value, here.part + number, last=value == ahead[-1] and value < end)
        for number, value in enumerate(ahead, 1)
    ]
