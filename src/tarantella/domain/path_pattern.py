"""Patterns of paths, as in `raw/{season}/{key}.json`: which files they mean, of which partition, and with which key."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache

from tarantella.domain.struct import Frozen

KEY = "key"
LONGEST = 1_000
# With more of them, holding a path against a pattern could take as long as one likes.
MOST_STARS, MOST_ENDLESS = 4, 2
LONGEST_TEXT = 200  # characters that stand for a placeholder
_PIECE = re.compile(r"\{([^{}]*)\}|\[[!^]?\]?[^\]/]*\]|\*+|\?|[^{}\[*?]+|.", re.DOTALL)
_NAME = re.compile(r"(\w+)(?::([^:]+))?")
# What can be said of a day, month or year in a path, and how it looks there.
_FORMATS = {"Y": r"\d{4}", "m": r"\d\d", "d": r"\d\d", "j": r"\d{3}", "y": r"\d\d"}
_WILD = ("*", "?", "[")

Texts = tuple[str, ...]


class NoPattern(ValueError):
    """A pattern that makes no sense; says why."""


class Slot(Frozen):
    """What stands for something: `{season}`, `{day:%Y/%m}`, `{key}`."""

    name: str
    format: str | None = None


class PathPattern(Frozen):
    """One pattern, taken apart: its segments, each of pieces that are text, wildcards or slots."""

    text: str
    segments: tuple[tuple[str | Slot, ...], ...]
    slots: tuple[Slot, ...]  # those of the partition, each once
    has_key: bool

    def folder(self, texts: Mapping[Slot, str]) -> str:
        """The folder in which all is that it can mean: its beginning, up to the first thing that isn't fixed."""
        fixed: list[str] = []
        for pieces in self.segments[:-1]:
            if any(_is_open(piece) for piece in pieces):
                break
            fixed.append("".join(texts[piece] if isinstance(piece, Slot) else piece for piece in pieces))
        return "/".join(fixed)

    def depth(self) -> int | None:
        """How many levels below its folder it can mean something; None where there is no end."""
        if self.endless:
            return None
        fixed = 0
        for pieces in self.segments[:-1]:
            if any(_is_open(piece) for piece in pieces):
                break
            fixed += 1
        return len(self.segments) - fixed

    @property
    def endless(self) -> bool:
        return ("**",) in self.segments

    @property
    def is_plain(self) -> bool:
        """Whether it means one file of a partition, whose path is known."""
        return not any(_is_open(piece) for pieces in self.segments for piece in pieces)

    @property
    def is_certain(self) -> bool:
        """Whether a path can be read in one way only: each slot has its segment, and can be found in it."""
        for pieces in self.segments:
            slots = sum(isinstance(piece, Slot) for piece in pieces)
            wild = any(isinstance(piece, str) and piece.startswith(_WILD) for piece in pieces)
            if slots > 1 or (slots and wild):
                return False
        return self.segments.count(("**",)) <= 1

    def path(self, texts: Mapping[Slot, str]) -> str:
        """The file that a plain one means."""
        return "/".join(
            "".join(texts[piece] if isinstance(piece, Slot) else piece for piece in pieces) for pieces in self.segments
        )

    def regex(self, texts: Mapping[Slot, str] | None = None) -> re.Pattern[str]:
        """What whole paths are held against; without texts, each slot is a group."""
        return re.compile(_regex_of(self, texts), re.DOTALL)


def pattern_of(text: str, partition: str | None, dated: bool) -> PathPattern:
    """Take a pattern apart. Raises NoPattern that says what would be right."""
    _check(text)
    segments: list[tuple[str | Slot, ...]] = []
    current: list[str | Slot] = []
    for match in _PIECE.finditer(text):
        piece = match[0]
        if match[1] is not None:
            slot, *below = _slots(match[1], partition, dated)
            current.append(slot)
            for each in below:
                segments.append(tuple(current))
                current = [each]
        elif piece in "{}":
            raise NoPattern(f"{text!r} has a brace without the other.")
        elif piece == "[":
            raise NoPattern(f"{text!r} has a `[` without its `]`.")
        else:
            first, *others = piece.split("/")
            current += [first] if first else []
            for other in others:
                segments.append(tuple(current))
                current = [other] if other else []
    segments.append(tuple(current))
    if segments[-1] == ("**",):
        segments.append(("*",))
    _check_segments(text, segments)
    slots = [piece for pieces in segments for piece in pieces if isinstance(piece, Slot)]
    found = PathPattern(
        text,
        tuple(segments),
        tuple(dict.fromkeys(slot for slot in slots if slot.name != KEY)),
        any(slot.name == KEY for slot in slots),
    )
    try:
        found.regex()
    except re.error as error:
        raise NoPattern(f"{text!r} makes no sense: {error.msg}.") from None
    return found


def _check_segments(text: str, segments: Sequence[Sequence[str | Slot]]) -> None:
    for pieces in segments:
        if pieces in ((), (".",)):
            raise NoPattern(f"{text!r} has a part that names nothing.")
        if pieces == ("..",):
            raise NoPattern(f"{text!r} leads out of the inventory.")
        if pieces != ("**",) and any(isinstance(piece, str) and piece.startswith("**") for piece in pieces):
            raise NoPattern(f"{text!r}: `**` stands for folders, and must stand alone between slashes.")
        if pieces.count("*") > MOST_STARS:
            raise NoPattern(f"{text!r} has more than {MOST_STARS} stars in one name.")
    if list(segments).count(("**",)) > MOST_ENDLESS:
        raise NoPattern(f"{text!r} has `**` more than {MOST_ENDLESS} times.")


def no_text_of_a_path(text: str) -> str | None:
    """Why this can't stand for a placeholder; None when it can."""
    if not text or len(text) > LONGEST_TEXT:
        return f"it must have 1 to {LONGEST_TEXT} characters"
    if text in (".", "..") or "/" in text or not text.isprintable():
        return "it can't be a part of a path"
    return None


class Reader:
    """Reads from paths which partition they belong to, and with which key, as one pattern says it."""

    def __init__(
        self, pattern: PathPattern, partitions: Mapping[Texts, str], keys: Mapping[str, Collection[str]]
    ) -> None:
        """`partitions` has what stands for the slots of the pattern, and the partition that it means."""
        self.pattern = pattern
        self._partitions = partitions
        self._keys = keys  # of the partitions of which keys are expected
        self._regex = pattern.regex()
        self._of_first: dict[str, list[Texts]] = {}
        for texts in partitions if pattern.slots else ():
            self._of_first.setdefault(texts[0], []).append(texts)
        self._lengths = sorted({len(text) for text in self._of_first})
        self._key_lengths = sorted({len(key) for some in keys.values() for key in some})

    def read(self, path: str) -> Iterator[tuple[str, str | None]]:
        """The partitions that a file belongs to, each with its keys; nearly always one or none.

        A key that nobody expects is told where it is certain what it is.
        """
        if (match := self._regex.fullmatch(path)) is None:
            return
        if self.pattern.is_certain:
            texts = tuple(match[f"p{number}"] for number in range(len(self.pattern.slots)))
            if (partition := self._partitions.get(texts)) is not None:
                yield partition, match["k"] if self.pattern.has_key else None
            return
        for texts in self._candidates(path):
            yield from self._tried(path, texts)

    def _candidates(self, path: str) -> Iterator[Texts]:
        if not self.pattern.slots:
            yield from self._partitions
            return
        for first in sorted({text for _, text in _parts(path, self._lengths) if text in self._of_first}):
            yield from (texts for texts in self._of_first[first] if all(text in path for text in texts))

    def _tried(self, path: str, texts: Texts) -> Iterator[tuple[str, str | None]]:
        partition = self._partitions[texts]
        if _exact(self.pattern, texts, None).fullmatch(path) is None:
            return
        expected = self._keys.get(partition)
        if not self.pattern.has_key or expected is None:
            yield partition, None
            return
        around = _around_key(self.pattern, texts)
        found = set()
        for start, key in _parts(path, self._key_lengths):
            if key not in expected or key in found:
                continue
            if around is None:
                is_one = _exact(self.pattern, texts, key).fullmatch(path)
            else:
                is_one = around[0].fullmatch(path, 0, start) and around[1].fullmatch(path, start + len(key))
            if is_one:
                found.add(key)
                yield partition, key
        if not found:
            yield partition, ""  # some key, that is none of those expected


def _parts(path: str, lengths: Sequence[int]) -> Iterator[tuple[int, str]]:
    for length in lengths:
        for start in range(len(path) - length + 1):
            yield start, path[start : start + length]


@lru_cache(maxsize=10_000)
def _around_key(pattern: PathPattern, texts: Texts) -> tuple[re.Pattern[str], re.Pattern[str]] | None:
    """What stands before and behind the key, so that there need not be an expression for each of many keys.

    None where the key is there more than once.
    """
    mark = "\0"  # which no pattern has in it
    known = {**dict(zip(pattern.slots, texts, strict=True)), Slot(KEY): mark}
    parts = _regex_of(pattern, known).split(mark)
    if len(parts) != 2:
        return None
    return re.compile(parts[0], re.DOTALL), re.compile(parts[1], re.DOTALL)


@lru_cache(maxsize=10_000)
def _exact(pattern: PathPattern, texts: Texts, key: str | None) -> re.Pattern[str]:
    known = dict(zip(pattern.slots, texts, strict=True))
    return pattern.regex(known if key is None else {**known, Slot(KEY): key})


def _regex_of(pattern: PathPattern, texts: Mapping[Slot, str] | None) -> str:
    told = ""
    seen: set[Slot] = set()
    for number, pieces in enumerate(pattern.segments):
        if pieces == ("**",):
            told += r"(?:(?!\.)[^/]+/)*"
            continue
        # As in a shell: what begins with a dot is hidden, unless it is asked for.
        told += r"(?!\.)" if isinstance(pieces[0], str) and pieces[0].startswith(_WILD) else ""
        told += "".join(_regex_of_piece(piece, pattern, texts, seen) for piece in pieces)
        told += "/" if number < len(pattern.segments) - 1 else ""
    return told


def _regex_of_piece(piece: str | Slot, pattern: PathPattern, texts: Mapping[Slot, str] | None, seen: set[Slot]) -> str:
    if isinstance(piece, Slot):
        if texts is not None and piece in texts:
            return re.escape(texts[piece])
        name = "k" if piece.name == KEY else f"p{pattern.slots.index(piece)}"
        if piece in seen:
            return f"(?P={name})"
        seen.add(piece)
        return f"(?P<{name}>{_looks_of(piece)})"
    if piece == "*":
        return "[^/]*"
    if piece == "?":
        return "[^/]"
    if piece.startswith("["):
        inside = piece[1:-1].replace("\\", "\\\\").replace("[", "\\[").replace("&", "\\&").replace("~", "\\~")
        inside = f"^/{inside[1:]}" if inside.startswith(("!", "^")) else inside
        return f"[{inside.replace('|', chr(92) + '|').replace(']', chr(92) + ']')}]"
    return re.escape(piece)


def _looks_of(slot: Slot) -> str:
    if slot.format is None:
        return "[^/]+"
    return re.sub(r"%(.)|([^%]+)", lambda found: _FORMATS[found[1]] if found[1] else re.escape(found[2]), slot.format)


def _slots(said: str, partition: str | None, dated: bool) -> list[Slot]:
    """`{day:%Y/%m}` is a folder for the year, and in it one for the month."""
    known = [f"{{{name}}}" for name in (partition, KEY) if name is not None]
    match = _NAME.fullmatch(said)
    if match is None or match[1] not in (partition, KEY):
        raise NoPattern(f"{{{said}}} stands for nothing here; {' and '.join(known)} would.")
    name, shape = match[1], match[2]
    if shape is None:
        return [Slot(name)]
    else:
        if name == KEY or not dated:
            raise NoPattern(f"{{{said}}}: only days, months and years can be written in another way.")
        if re.fullmatch(rf"(?:%[{''.join(_FORMATS)}]|[\w=.,/ -])+", shape) is None or ".." in shape:
            letters = ", ".join(f"%{letter}" for letter in _FORMATS)
            raise NoPattern(f"{{{said}}} can have {letters}, letters, digits, and any of = - _ . , / in it.")
        if shape.startswith("/") or shape.endswith("/") or "//" in shape:
            raise NoPattern(f"{{{said}}} has a part that names nothing.")
        return [Slot(name, part) for part in shape.split("/")]


def _check(text: str) -> None:
    if not text.strip() or len(text) > LONGEST:
        raise NoPattern(f"A pattern has 1 to {LONGEST:,} characters.")
    if not text.isprintable():
        raise NoPattern(f"{text!r} has a character in it that can't be shown; `?` stands for any.")
    if text.startswith(("/", "~")) or re.match(r"[A-Za-z]:[\\/]|\w+://", text):
        raise NoPattern(f"{text!r} leads out of the inventory: patterns begin in it, as in raw/*.json.")


def _is_open(piece: str | Slot) -> bool:
    return piece.name == KEY if isinstance(piece, Slot) else piece.startswith(_WILD)
