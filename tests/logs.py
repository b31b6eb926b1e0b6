"""What was said while something happened, and an end to what a command set up."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tarantella.cli.logs import Deliver
from tarantella.log import NAME, Told


class _Keep(logging.Handler):
    def __init__(self, kept: list[dict[str, Any]]) -> None:
        super().__init__()
        self._kept = kept

    def emit(self, record: logging.LogRecord) -> None:
        assert isinstance(record.msg, Told)
        self._kept.append({"event": record.msg.sentence, "level": record.levelname.lower(), **record.msg.facts})


@contextmanager
def captured_log() -> Iterator[list[dict[str, Any]]]:
    """Everything that Tarantella says meanwhile, whoever else listens."""
    kept: list[dict[str, Any]] = []
    logger, keep = logging.getLogger(NAME), _Keep(kept)
    level = logger.level
    logger.addHandler(keep)
    logger.setLevel(logging.DEBUG)
    try:
        yield kept
    finally:
        logger.setLevel(level)
        logger.removeHandler(keep)


@contextmanager
def own_log() -> Iterator[None]:
    """A command sets up the log of its whole process; what is set up meanwhile ends with the block."""
    loggers = [logging.getLogger(name) for name in (None, NAME, "asyncio")]
    levels = [logger.level for logger in loggers]
    yield
    root = loggers[0]
    root.handlers[:] = [handler for handler in root.handlers if not isinstance(handler, Deliver)]
    for logger, level in zip(loggers, levels, strict=True):
        logger.setLevel(level)
    logging.captureWarnings(False)
