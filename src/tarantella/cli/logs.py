"""The log: short lines on stderr, as many as asked for, and all of it as JSON lines in a file."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

from tarantella.domain.errors import InvalidInput
from tarantella.domain.url import redact
from tarantella.log import NAME, Told

# Other processes of the same command find the file here.
LOG_FILE_VARIABLE = "TARANTELLA_CHILD_LOG_FILE"
LEVELS = (logging.WARNING, logging.INFO, logging.DEBUG)
SILENT = logging.CRITICAL + 1

Say = Callable[[str], None]


def configure(*, verbose: int = 0, warnings: bool = True, file: Path | None = None, say: Say | None = None) -> None:
    """Set the log up for this process. `say` writes a line where it doesn't disturb what is shown."""
    level = LEVELS[min(verbose, len(LEVELS) - 1)] if verbose or warnings else logging.ERROR
    if say is None:
        level = SILENT
    stream = _opened(file) if file is not None else None
    if file is not None:
        os.environ[LOG_FILE_VARIABLE] = str(file.absolute())
    everything = logging.DEBUG if stream is not None else level
    logging.getLogger(NAME).setLevel(everything)
    root = logging.getLogger()
    root.handlers[:] = [Deliver(level, say, stream)]
    # What other libraries log goes the same way, but their finest details are not ours to tell.
    root.setLevel(max(everything, logging.INFO))
    logging.captureWarnings(True)
    if not sys.flags.dev_mode:
        logging.getLogger("asyncio").setLevel(logging.WARNING)


def configure_child(*, verbose: int = 0, say: Say | None = None) -> None:
    """A process that somebody else watches: it logs to that command's file, and where it may, to its stderr."""
    path = os.environ.get(LOG_FILE_VARIABLE)
    configure(verbose=verbose, file=Path(path) if path else None, say=say)


def line_on_stderr(line: str) -> None:
    """A whole line at once, so that those of several processes don't mix."""
    with suppress(OSError):
        os.write(sys.stderr.fileno(), f"{line}\n".encode("utf-8", "replace"))


class Deliver(logging.Handler):
    """A line for people, a line for machines."""

    def __init__(self, level: int, say: Say | None, stream: IO[bytes] | None) -> None:
        super().__init__()
        self._least = level
        self._say = say
        self._stream = stream

    def emit(self, record: logging.LogRecord) -> None:
        told = record.msg
        if not isinstance(told, Told):
            told = Told(record.getMessage(), {"logger": record.name})
        trace = _trace(record)
        if self._stream is not None:
            # A full disk is no reason to stop working.
            with suppress(OSError):
                self._stream.write(_json_line(record, told, trace))
        if self._say is not None and record.levelno >= self._least:
            line = f"{record.levelname.lower()}: {told}"
            self._say(f"{line}\n{trace}" if trace else line)


def _trace(record: logging.LogRecord) -> str | None:
    if not record.exc_info:
        return None
    # Line by line: a secret ends with its line, and what follows is needed.
    return "\n".join(map(redact, logging.Formatter().formatException(record.exc_info).splitlines()))


def _json_line(record: logging.LogRecord, told: Told, trace: str | None) -> bytes:
    import json

    entry = {
        "timestamp": datetime.fromtimestamp(record.created, UTC).isoformat().replace("+00:00", "Z"),
        "level": record.levelname.lower(),
        "event": told.sentence,
        **told.facts,
        **({"exception": trace} if trace else {}),
    }
    # Not with orjson, which refuses halves of characters: what can't be stored must still be told.
    return json.dumps(entry, default=str, ensure_ascii=False).encode("utf-8", "replace") + b"\n"


def _opened(file: Path) -> IO[bytes]:
    try:
        # Unbuffered, and at the end of the file whoever else writes to it.
        return file.open("ab", buffering=0)
    except OSError as error:
        raise InvalidInput(
            f"The log file {file} can't be written: {error.strerror}.",
            remedy="Choose another with --log-file.",
            field="log_file",
        ) from None
