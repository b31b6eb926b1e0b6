"""The file of scrapers, `config/scraper_config.yaml`: what each accepts, and how often it may be asked."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tarantella.domain.errors import InvalidInput
from tarantella.domain.scraper import RateLimit, Retry, Scraper
from tarantella.domain.struct import Frozen
from tarantella.services.fields_file import parsed_file

USUAL = Path("config/scraper_config.yaml")
_REMEDY = "docs/queue.md shows what it can say."
_KNOWN = ("base_url", "rate_limit", "retry", "timeout", "max_concurrent", "accepted_parameters", "script")


class Scrapers(Frozen):
    """All that the file says, and what of it nobody understands."""

    by_name: Mapping[str, Scraper]
    warnings: tuple[str, ...] = ()


def read_scrapers_file(path: Path) -> Scrapers:
    """Raises InvalidInput that names the file and the place."""
    found = parsed_file(path, "scraper_config", _REMEDY)
    scrapers = found.get("scrapers") if isinstance(found, Mapping) else None
    if not isinstance(scrapers, Mapping):
        raise InvalidInput(f"{path} has no `scrapers` in it.", remedy=_REMEDY, field="scraper_config")
    file = _File(path)
    by_name = {str(name): file.scraper(str(name), said) for name, said in scrapers.items()}
    return Scrapers(by_name, tuple(file.warnings))


class _File:
    """Reads values, and knows where they stand."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.warnings: list[str] = []

    def scraper(self, name: str, said: Any) -> Scraper:
        place = f"scrapers.{name}"
        said = self._mapping({} if said is None else said, place)
        self.warnings += [f"{self._path}: {place}.{key} is not known here." for key in said if key not in _KNOWN]
        limit, retry = said.get("rate_limit"), said.get("retry")
        return Scraper(
            name,
            script=self._text(said, "script", place),
            base_url=self._text(said, "base_url", place),
            rate_limit=self._rate_limit(limit, f"{place}.rate_limit") if limit is not None else None,
            retry=self._retry(retry, f"{place}.retry") if retry is not None else Retry(),
            timeout=self._number(said, "timeout", place, 0.001, 7 * 86_400.0),
            max_concurrent=self._whole(said, "max_concurrent", place, 1, 1_000),
            accepted_parameters=self._names(said, "accepted_parameters", place),
        )

    def _rate_limit(self, said: Any, place: str) -> RateLimit:
        said = self._mapping(said, place)
        rate = self._number(said, "requests_per_second", place, 0.0001, 10_000.0)
        if rate is None:
            raise self._wrong(place, "has no requests_per_second")
        return RateLimit(rate, self._whole(said, "burst_size", place, 1, 10_000) or 1)

    def _retry(self, said: Any, place: str) -> Retry:
        said = self._mapping(said, place)
        usual = Retry()
        base = self._number(said, "base_delay", place, 0.0, 86_400.0)
        longest = self._number(said, "max_delay", place, 0.0, 86_400.0)
        return Retry(
            self._whole(said, "max_attempts", place, 1, 100) or usual.max_attempts,
            usual.base_delay if base is None else base,
            usual.max_delay if longest is None else longest,
        )

    def _mapping(self, said: Any, place: str) -> Mapping[str, Any]:
        if not isinstance(said, Mapping):
            raise self._wrong(place, f"is {said!r:.50}, not a list of settings")
        return said

    def _text(self, said: Mapping[str, Any], key: str, place: str) -> str | None:
        value = said.get(key)
        if value is not None and (not isinstance(value, str) or not value.strip() or "\0" in value):
            raise self._wrong(f"{place}.{key}", f"is {value!r:.50}, not a text")
        return value

    def _number(self, said: Mapping[str, Any], key: str, place: str, low: float, high: float) -> float | None:
        value = said.get(key)
        if value is None:
            return None
        is_number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
        if not is_number or not low <= value <= high:
            raise self._wrong(f"{place}.{key}", f"is {value!r:.50}, not a number from {low:g} to {high:g}")
        return float(value)

    def _whole(self, said: Mapping[str, Any], key: str, place: str, low: int, high: int) -> int | None:
        value = said.get(key)
        if value is None:
            return None
        if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
            raise self._wrong(f"{place}.{key}", f"is {value!r:.50}, not a whole number from {low} to {high}")
        return value

    def _names(self, said: Mapping[str, Any], key: str, place: str) -> tuple[str, ...] | None:
        value = said.get(key)
        if value is None:
            return None
        if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
            raise self._wrong(f"{place}.{key}", f"is {value!r:.50}, not a list of names")
        return tuple(value)

    def _wrong(self, place: str, told: str) -> InvalidInput:
        return InvalidInput(f"{self._path}: {place} {told}.", remedy=_REMEDY, field="scraper_config")
