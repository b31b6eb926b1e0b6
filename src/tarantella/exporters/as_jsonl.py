"""One JSON object to a line."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tarantella.exporters.contract import Output, Record
from tarantella.exporters.values import to_json


class JsonLinesExporter:
    extension = "jsonl"
    needs_file = False

    def write(self, records: Iterable[Record], fields: Sequence[str], out: Output) -> int:
        count = 0
        for record in records:
            out.write(to_json(record) + b"\n")
            count += 1
        return count
