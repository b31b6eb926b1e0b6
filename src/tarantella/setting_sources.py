"""Where settings are set: TARANTELLA_* in the environment, a .env file, tarantella.toml; the first that has one wins."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from tarantella.domain.errors import InvalidInput

PREFIX = "TARANTELLA_"
ALIKE = 0.85  # DATABSE_URL is taken for DATABASE_URL, SERVICE_HOST not for HOST
# Kubernetes gives every pod the address of a service that is called tarantella in what is also our setting.
SERVICE_LINK = f"{PREFIX}PORT"
ENVIRONMENT, DOTENV, TOML = "environment", ".env", "tarantella.toml"

Names = Mapping[str, str]  # variable → setting; of two variables of one setting, the first wins


class Found(NamedTuple):
    """A value that was set somewhere; its name is that of a setting, or of none."""

    name: str
    value: Any
    origin: str
    line: int | None = None

    @property
    def place(self) -> str:
        return f"{self.origin}, line {self.line}" if self.line else self.origin


def from_environment(names: Names) -> Iterator[Found]:
    """Others' variables may begin as ours do: those that nobody knows are left alone, but for what looks misspelt."""
    given = {name.upper(): value for name, value in os.environ.items()}
    if given.get(SERVICE_LINK, "").startswith(("tcp://", "udp://", "sctp://")):
        del given[SERVICE_LINK]
    for variable, name in names.items():
        if given.get(variable):
            yield Found(name, given[variable], ENVIRONMENT)
    for stranger in given.keys() - names.keys():
        if stranger.startswith(PREFIX) and given[stranger] and _looks_like_one_of(names, stranger):
            yield Found(stranger, given[stranger], ENVIRONMENT)


def _looks_like_one_of(names: Names, stranger: str) -> bool:
    # Few have any, and nobody else should pay for comparing them.
    from difflib import get_close_matches

    ours = [variable.removeprefix(PREFIX) for variable in names if variable.startswith(PREFIX)]
    return bool(get_close_matches(stranger.removeprefix(PREFIX), ours, 1, cutoff=ALIKE))


def from_dotenv(names: Names) -> Iterator[Found]:
    """The file may be there for other programs too: what is not ours is left alone, but for what looks misspelt."""
    content = _content(DOTENV)
    if content is None:
        return
    # Only few have such a file, and nobody else should pay for reading it.
    from io import StringIO

    from dotenv import dotenv_values
    from dotenv.parser import parse_stream

    for binding in parse_stream(StringIO(content)):
        text = binding.original.string
        if binding.error and PREFIX in text.upper():
            line = binding.original.line + text[: len(text) - len(text.lstrip())].count("\n")
            raise InvalidInput(f"Line {line} of {DOTENV} can't be understood.", remedy="Write it as NAME=value.")
    given = {name.upper(): value for name, value in dotenv_values(stream=StringIO(content)).items()}
    strangers = {variable: variable for variable in given if variable.startswith(PREFIX) and variable not in names}
    for variable, name in {**names, **strangers}.items():
        if given.get(variable):
            yield Found(name, given[variable], DOTENV, _line(content, variable))


def from_toml(_names: Names) -> Iterator[Found]:
    content = _content(TOML)
    if content is None:
        return
    # Only few have such a file, and nobody else should pay for reading it.
    import tomllib

    try:
        given = tomllib.loads(content)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        told = str(error).replace("at end of document", f"at the end, line {len(content.splitlines())}")
        raise InvalidInput(f"{TOML} is not TOML: {told}.", remedy="Write it as name = value.") from None
    for name, value in given.items():
        yield Found(name.lower(), value, TOML, _line(content, name))


SOURCES: tuple[Callable[[Names], Iterator[Found]], ...] = (from_environment, from_dotenv, from_toml)


def _content(name: str) -> str | None:
    file = Path(name)
    if not file.exists() and not file.is_symlink():
        return None
    try:
        # Without the mark that some editors put at the beginning of a file.
        return file.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InvalidInput(f"{name} can't be read: {error.strerror}.", remedy="Mend it, or remove it.") from None
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise InvalidInput(f"{name} is not UTF-8 text: see line {line}.", remedy="Save it as UTF-8.") from None


def _line(content: str, name: str) -> int | None:
    """The line on which a name is set, or its table begins."""
    spelled = re.compile(rf"""\s*(export\s+|\[+\s*)?["']?{re.escape(name)}\b""", re.IGNORECASE)
    return next((number for number, line in enumerate(content.splitlines(), 1) if spelled.match(line)), None)
