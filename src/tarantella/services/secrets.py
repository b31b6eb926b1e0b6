"""What is sent along with a run's requests, or filled in by its browser, and shown to nobody."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from tarantella.domain.errors import InvalidInput
from tarantella.domain.spec import Secrets
from tarantella.fetchers.contract import FetchError
from tarantella.fetchers.cookies import read_cookies
from tarantella.fetchers.proxy import parse_proxy

_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
# What it must not have: so written, it takes a hundredth of the time to compile that a list of what it may have does.
_HEADER_VALUE = re.compile(r"[^\x00-\x08\x0a-\x1f\x7f\U00010000-\U0010ffff]*")


def secrets_of(
    headers: Mapping[str, str],
    cookies_file: Path | None,
    proxy: str | None,
    values: Mapping[str, str],
    *,
    remedies: Mapping[str, str],
) -> Secrets:
    """Raises InvalidInput, which shows none of them: of a header its name at most. How each is written is for the caller to say."""
    for name, value in headers.items():
        if not _HEADER_NAME.fullmatch(name) or not _HEADER_VALUE.fullmatch(value):
            raise InvalidInput(f"{name[:40]!r} is not a header.", remedy=remedies["header"], field="header")
    if proxy is not None:
        try:
            parse_proxy(proxy)
        except FetchError as error:
            raise InvalidInput(error.message, remedy=remedies["proxy"], field="proxy") from None
    return Secrets(
        headers=dict(headers),
        cookies=read_cookies(cookies_file) if cookies_file is not None else (),
        proxy=proxy,
        values=dict(values),
    )
