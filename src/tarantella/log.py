"""What Tarantella says while it works: a short sentence, and its facts by name.

Sentences are records of the standard library's logging, under the name `tarantella`: a program that uses Tarantella hears
of them as of any other library's. What the commands make of them is in `cli/logs.py`.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from tarantella.domain.url import redact

NAME = "tarantella"
LONGEST_FACT = 120
SECRET_NAMES = frozenset(
    {
        "authorization",
        "proxy-authorization",
        "cookie",
        "cookies",
        "set-cookie",
        "password",
        "token",
        "secret",
        "secrets",
    }
)
_NOT_TOLD = frozenset({"action"})  # for machines


class Told:
    """The message of a record; nothing of it is a secret."""

    __slots__ = ("facts", "sentence")

    def __init__(self, sentence: str, facts: Mapping[str, Any]) -> None:
        self.sentence = redact(sentence)
        self.facts = {name: _blotted(name, value) for name, value in facts.items()}

    def __str__(self) -> str:
        """`The store does not answer (error=…)`."""
        facts = ", ".join(
            f"{name}={str(value)[:LONGEST_FACT]}" for name, value in self.facts.items() if name not in _NOT_TOLD
        )
        return f"{self.sentence} ({facts})" if facts else self.sentence


class Log:
    """Says things. What nobody listens to costs next to nothing."""

    __slots__ = ("_logger",)

    def __init__(self) -> None:
        self._logger = logging.getLogger(NAME)

    def debug(self, sentence: str, **facts: Any) -> None:
        self._say(logging.DEBUG, sentence, facts)

    def info(self, sentence: str, **facts: Any) -> None:
        self._say(logging.INFO, sentence, facts)

    def warning(self, sentence: str, **facts: Any) -> None:
        self._say(logging.WARNING, sentence, facts)

    def error(self, sentence: str, **facts: Any) -> None:
        self._say(logging.ERROR, sentence, facts)

    def exception(self, sentence: str, **facts: Any) -> None:
        """An error, with the traceback of the exception that is being handled."""
        self._say(logging.ERROR, sentence, facts, exc_info=True)

    def _say(self, level: int, sentence: str, facts: Mapping[str, Any], *, exc_info: bool = False) -> None:
        if self._logger.isEnabledFor(level):
            self._logger.log(level, Told(sentence, facts), exc_info=exc_info, stacklevel=3)


log = Log()


def _blotted(name: str, value: Any) -> Any:
    if name.lower() in SECRET_NAMES:
        return "***"
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, Mapping):
        return {key: _blotted(str(key), inner) for key, inner in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_blotted("", inner) for inner in value]
    return value
