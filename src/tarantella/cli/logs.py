"""The log: short lines on stderr, as many as asked for, and all of it as JSON lines in a file."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable, Mapping, MutableMapping
from pathlib import Path
from typing import Any

import structlog

from tarantella.domain.errors import InvalidInput
from tarantella.domain.url import redact

# Other processes of the same command find the file here.
LOG_FILE_VARIABLE = "TARANTELLA_CHILD_LOG_FILE"
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
LEVELS = (logging.WARNING, logging.INFO, logging.DEBUG)
LONGEST_FACT = 120
SILENT = logging.CRITICAL + 1
_NOT_TOLD = frozenset({"event", "level", "timestamp", "action", "exception"})

Say = Callable[[str], None]
EventDict = MutableMapping[str, Any]


def configure(*, verbose: int = 0, warnings: bool = True, file: Path | None = None, say: Say | None = None) -> None:
    """Set the log up for this process. `say` writes a line where it doesn't disturb what is shown."""
    level = LEVELS[min(verbose, len(LEVELS) - 1)] if verbose or warnings else logging.ERROR
    if say is None:
        level = SILENT
    stream = _opened(file) if file is not None else None
    if file is not None:
        os.environ[LOG_FILE_VARIABLE] = str(file.absolute())
    everything = logging.DEBUG if stream is not None else level
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            redacted,
            _Deliver(level, say, stream),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(min(everything, logging.CRITICAL)),
        logger_factory=structlog.ReturnLoggerFactory(),
        cache_logger_on_first_use=False,
    )
    _adopt_other_libraries(everything)


def configure_child() -> None:
    """A process that somebody else watches: it logs to that command's file, or not at all."""
    path = os.environ.get(LOG_FILE_VARIABLE)
    configure(file=Path(path) if path else None)


def redacted(_logger: Any, _name: str, event: EventDict) -> EventDict:
    """Blot out what nobody may see."""
    return {name: _blotted(name, value) for name, value in event.items()}


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


class _Deliver:
    """The last step: a line for people, a line for machines."""

    def __init__(self, level: int, say: Say | None, stream: Any) -> None:
        self._level = level
        self._say = say
        self._stream = stream

    def __call__(self, _logger: Any, name: str, event: EventDict) -> str:
        if self._stream is not None:
            import orjson

            self._stream.write(orjson.dumps(event, default=str, option=orjson.OPT_NON_STR_KEYS) + b"\n")
        if self._say is not None and logging.getLevelNamesMapping().get(name.upper(), logging.ERROR) >= self._level:
            self._say(line(event))
        raise structlog.DropEvent


def line(event: EventDict) -> str:
    """`warning: The store does not answer (error=…)`."""
    facts = ", ".join(f"{name}={str(value)[:LONGEST_FACT]}" for name, value in event.items() if name not in _NOT_TOLD)
    told = f"{event.get('level', 'info')}: {event.get('event', '')}"
    text = f"{told} ({facts})" if facts else told
    return f"{text}\n{event['exception']}" if "exception" in event else text


def _opened(file: Path) -> Any:
    try:
        # Unbuffered, and at the end of the file whoever else writes to it.
        return file.open("ab", buffering=0)
    except OSError as error:
        raise InvalidInput(
            f"The log file {file} can't be written: {error.strerror}.",
            remedy="Choose another with --log-file.",
            field="log_file",
        ) from None


class _Forward(logging.Handler):
    """What other libraries log goes the same way."""

    def emit(self, record: logging.LogRecord) -> None:
        level = record.levelname.lower()
        log = structlog.get_logger()
        report = getattr(log, level if level in ("debug", "info", "warning", "error", "critical") else "info")
        report(
            record.getMessage(),
            logger=record.name,
            **({"exc_info": record.exc_info} if record.exc_info else {}),
        )


def _adopt_other_libraries(level: int) -> None:
    root = logging.getLogger()
    root.handlers[:] = [_Forward()]
    # Their finest details are not ours to tell.
    root.setLevel(max(level, logging.INFO))
    logging.captureWarnings(True)
    if not sys.flags.dev_mode:
        logging.getLogger("asyncio").setLevel(logging.WARNING)
