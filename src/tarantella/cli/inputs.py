"""What is typed at the command line, turned into what a run is told."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from tarantella.domain.backoff import Backoff
from tarantella.domain.browsing import Browsing
from tarantella.domain.errors import InvalidInput, TarantellaError
from tarantella.domain.field import FieldSet
from tarantella.domain.spec import DEADLINE_BOUNDS, Secrets
from tarantella.domain.struct import replace
from tarantella.domain.trap import TrapLimits
from tarantella.domain.url import MAX_LENGTH, start_url

if TYPE_CHECKING:
    from tarantella.settings import Settings

STDIN = "-"
LONGEST_BACKOFF = 3_600.0
_REMEDIES = {
    "header": "Write it as --header 'Name: value'.",
    "proxy": "Write it as --proxy http://host:3128; https and socks5 work too.",
}


class Stopped(Exception):
    """Ctrl-C while addresses were still being read: nothing was submitted yet."""


def depth_of(text: str) -> int | None:
    """`all` has no end."""
    if text.strip().lower() == "all":
        return None
    try:
        return int(text)
    except ValueError:
        raise InvalidInput(
            f"The depth is {text!r}.", remedy="Give a number from 1 on, or all.", field="depth"
        ) from None


def deadline_of(minutes: float | None, seconds: float | None) -> float | None:
    """Both together, in seconds."""
    if minutes is None and seconds is None:
        return None
    deadline = (minutes or 0.0) * 60 + (seconds or 0.0)
    least, most = DEADLINE_BOUNDS
    if not least <= deadline <= most:
        raise InvalidInput(
            f"The time for the run is {deadline:g} s.",
            remedy=f"Choose --timeout-minutes and --timeout-seconds that are together between {least:g} and {most:,.0f} s.",
            field="deadline_seconds",
        )
    return deadline


def trap_limits_of(texts: Sequence[str], *, none: bool) -> TrapLimits:
    """The usual limits, or none at all, with those that were given."""
    limits = TrapLimits.none() if none else TrapLimits()
    for text in texts:
        limits = limits.with_limit(text)
    return limits


def backoff_of(base: float) -> Backoff:
    if not 0 <= base <= LONGEST_BACKOFF:
        raise InvalidInput(
            f"The backoff is {base:g} s.",
            remedy=f"Choose between 0 and {LONGEST_BACKOFF:g} seconds.",
            field="backoff",
        )
    return Backoff(base=base, cap=max(Backoff().cap, base))


def browsing_of(file: Path | None, **said: Any) -> Browsing:
    """What a browser file says, and on top of it what was said at the command line."""
    if file is None:
        base = Browsing()
    else:
        from tarantella.services.browsing_file import read_browsing_file

        base = read_browsing_file(file)
    return replace(base, **{name: value for name, value in said.items() if value is not None})


def secrets_of(
    headers: Sequence[str], cookies_file: Path | None, proxy: str | None, filled_in: Sequence[str] = ()
) -> Secrets:
    """What is sent along with requests, or filled in, and shown to nobody."""
    from tarantella.services import secrets

    given = dict(_header(text) for text in headers)
    values = {name: os.environ[name] for name in filled_in if name in os.environ}
    return secrets.secrets_of(given, cookies_file, proxy, values, remedies=_REMEDIES)


def _header(text: str) -> tuple[str, str]:
    name, colon, value = text.partition(":")
    if not colon:
        # The whole may be a password.
        raise InvalidInput("One of them is not a header.", remedy=_REMEDIES["header"], field="header")
    return name.strip(), value.strip()


def field_set_of_file(path: Path | None) -> FieldSet:
    """What a fields file asks for; nothing without one."""
    if path is None:
        return FieldSet()
    from tarantella.services.fields_file import read_fields_file

    return read_fields_file(path)


def ca_file_of(path: Path | None) -> str | None:
    """The absolute path: a run can be resumed from another folder."""
    if path is None:
        return None
    if not path.is_file():
        raise InvalidInput(f"There is no file {path}.", remedy="Give a PEM file with --ca-file.", field="ca_file")
    import ssl  # takes a while to load, and most have no such file

    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(cafile=path)
    except (ssl.SSLError, OSError):
        raise InvalidInput(
            f"{path} can't be read, or holds no PEM certificate.",
            remedy="Give a PEM file with --ca-file.",
            field="ca_file",
        ) from None
    return str(path.absolute())


def cache_dir_of(settings: Settings, given: Path | None, ttl: float | None, *, wanted: bool) -> str | None:
    """Where answers are kept, if they are; a folder that can't be used is better known before the crawl."""
    from tarantella.services.cache import folder_of

    if not wanted and given is None:
        if ttl is not None:
            raise InvalidInput("--cache-ttl is for a cache.", remedy="Add --cache.", field="cache_ttl")
        return None
    folder = folder_of(settings, given)
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidInput(
            f"{folder} can't be used as a cache: {error.strerror}.",
            remedy="Choose another folder with --cache-dir.",
            field="cache_dir",
        ) from None
    return str(folder)


def start_addresses(urls: Sequence[str], file: str | None, stopped: Callable[[], bool]) -> Iterator[str]:
    """All start addresses, from the command line and then from the file, each checked."""
    yield from urls
    if file is None:
        return
    name = "stdin" if file == STDIN else file
    with _lines_of(file) as lines:
        for number, line in enumerate(iter(lambda: lines.readline(MAX_LENGTH + 2), b""), 1):
            if stopped():
                raise Stopped
            if (address := _address(line, number, name)) is not None:
                yield address


def _address(line: bytes, number: int, name: str) -> str | None:
    """The address in a line, or None for a blank or a comment."""
    if len(line) > MAX_LENGTH:
        raise InvalidInput(
            f"Line {number} of {name} is longer than {MAX_LENGTH} characters.",
            remedy="One address a line, please.",
            field="urls_file",
        )
    try:
        text = line.decode("utf-8-sig" if number == 1 else "utf-8").strip()
        if not text or text.startswith("#"):
            return None
        start_url(text)
    except UnicodeDecodeError:
        raise InvalidInput(
            f"Line {number} of {name} is not UTF-8 text.",
            remedy="Give a text file with one address a line.",
            field="urls_file",
        ) from None
    except TarantellaError as error:
        raise InvalidInput(
            f"Line {number} of {name}: {error.message}", remedy=error.remedy, field="urls_file"
        ) from None
    return text


@contextmanager
def _lines_of(file: str) -> Iterator[IO[bytes]]:
    if file == STDIN:
        yield sys.stdin.buffer
        return
    try:
        lines = Path(file).open("rb")  # noqa: SIM115 (closed below; only what happens at its opening is excused)
    except OSError as error:
        raise InvalidInput(
            f"{file} can't be read: {error.strerror}.", remedy="Check --urls-file.", field="urls_file"
        ) from None
    with lines:
        yield lines
