"""A response's headers, read only where somebody asks for them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeVar, overload

from wreq import HeaderMap

T = TypeVar("T")

# These may come several times, and mean something together. What a robots tag says is only for whom that one names.
_BETWEEN = {"link": ", ", "content-encoding": ", ", "x-robots-tag": "\n"}


class Headers(Mapping[str, str]):
    """Names in lower case. Copying them all for every page would cost more than asking the client for the two that count."""

    __slots__ = ("_raw",)

    def __init__(self, raw: HeaderMap) -> None:
        self._raw = raw

    @overload
    def get(self, key: str, /) -> str | None: ...
    @overload
    def get(self, key: str, default: str | T, /) -> str | T: ...
    def get(self, key: str, default: str | T | None = None, /) -> str | T | None:
        value = self._raw.get(key)
        if value is None:
            return default
        if (between := _BETWEEN.get(key)) is not None:
            return between.join(str(each, "latin-1") for each in self._raw.get_all(key))
        return str(value, "latin-1")

    def __getitem__(self, key: str) -> str:
        if (value := self.get(key)) is None:
            raise KeyError(key)
        return value

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and self._raw.contains_key(key)

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys(str(name, "latin-1") for name, _ in self._raw))

    def __len__(self) -> int:
        return sum(1 for _ in self)
