"""What is in the answer to a recorded question, and where the list goes on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import Any, Self

import orjson

from tarantella.domain.coverage import MISSING
from tarantella.domain.field import Field
from tarantella.domain.recording import Reading
from tarantella.domain.recording_paging import Position, next_positions
from tarantella.domain.recording_reading import Read, read
from tarantella.domain.struct import Frozen, asdict
from tarantella.extractors import charset, data

# Guards against being read as a script, which some servers put before their JSON.
_PREFIXES = (b")]}',", b")]}'", b"while(1);", b"for(;;);")


class Recorded(Frozen):
    """How to read an answer, and which part of the list it is."""

    reading: Reading
    position: Position

    def to_json(self) -> dict[str, Any]:
        """For another process."""
        return {"reading": self.reading.to_json(), "position": asdict(self.position)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        return cls(Reading.from_json(data["reading"]), Position(**data["position"]))


class Replayed(Frozen):
    """How an answer fits its recording: why it doesn't, how it is built, and the positions that follow, as written."""

    unfit: str | None = None
    shape: str = ""
    following: Sequence[str] = ()


def answer_of(body: bytes) -> Any:
    """The JSON of an answer, whatever its type says; None where it is none."""
    body = body.lstrip()
    for prefix in _PREFIXES:
        if body.startswith(prefix):
            body = body[len(prefix) :]
    value = data.read_json(charset.decode(body, "utf-8")) if body.lstrip()[:1] in (b"{", b"[") else None
    return value if isinstance(value, (dict, list)) else None


def read_recorded(answer: Any, recorded: Recorded, wanted: Sequence[Field]) -> tuple[Read, Replayed]:
    if answer is None:
        return Read(), Replayed("the answer is no JSON")
    found = read(answer, recorded.reading, wanted, first=recorded.position.is_first)
    if found.unfit is not None:
        return found, Replayed(found.unfit)
    how = replayed(answer, recorded, found.records, found.shape)
    if recorded.position.seen and recorded.position.seen == _mark(found.records):
        # Beyond the end some servers give the last part again.
        found = Read(shape=found.shape)
    return found, how


def replayed(answer: Any, recorded: Recorded, records: Sequence[Mapping[str, Any]], shape: str = "") -> Replayed:
    paging, here = recorded.reading.paging, recorded.position
    if not records and here.is_first:
        return Replayed("the list is empty")
    if paging is None:
        return Replayed(shape=shape)
    ahead = next_positions(paging, here, answer, len(records), _mark(records))
    return Replayed(shape=shape, following=[position.written() for position in ahead])


def _mark(records: Sequence[Mapping[str, Any]]) -> str:
    return blake2b(orjson.dumps(list(records)), digest_size=8).hexdigest() if records else ""


def lacking_in(records: Sequence[Mapping[str, Any]], wanted: Sequence[Field]) -> dict[str, dict[str, int]]:
    """How many records lack a field."""
    missing = {field.name: sum(record.get(field.name) is None for record in records) for field in wanted}
    return {name: {MISSING: count} for name, count in missing.items() if count}


def with_defaults(record: Mapping[str, Any], wanted: Sequence[Field]) -> dict[str, Any]:
    return {field.name: field.default if record.get(field.name) is None else record[field.name] for field in wanted}
