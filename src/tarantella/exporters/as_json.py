"""A JSON array, one record to a line."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tarantella.exporters.contract import Output, Record
from tarantella.exporters.values import to_json


class JsonExporter:
    extension = "json"
    needs_file = False

    def write(self, records: Iterable[Record], fields: Sequence[str], out: Output) -> int:
        count = 0
        out.write(b"[")
        for record in records:
            out.write(b",\n" if count else b"\n")
            out.write(to_json(record))
            count += 1
        out.write(b"\n]\n" if count else b"]\n")
        return count
