"""A record as it is stored."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import orjson


class StoredRecord(Mapping[str, Any]):
    """JSON that only those read who look inside: a format that is JSON itself takes it as it is."""

    __slots__ = ("_values", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self._values: dict[str, Any] | None = None

    def __getitem__(self, name: str) -> Any:
        return self._read()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._read())

    def __len__(self) -> int:
        return len(self._read())

    def _read(self) -> dict[str, Any]:
        if self._values is None:
            self._values = orjson.loads(self.text)
        return self._values
