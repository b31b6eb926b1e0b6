"""The exit codes, and which of them an error or the end of a run gives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from tarantella.domain.errors import Conflict, InvalidInput, NotFound, TarantellaError

if TYPE_CHECKING:
    from tarantella.domain.run import RunStatus

COMPLETE = 0
FAILED = 1
USAGE = 2
PARTIAL = 3
INTERRUPTED = 130
READER_GONE = 141

MEANINGS = {
    COMPLETE: "complete: everything that was asked for was done",
    FAILED: "failed: nothing was had, or something went wrong",
    USAGE: "usage: what was asked for makes no sense; the message says what would",
    PARTIAL: "partial: something was had, and something is missing",
    INTERRUPTED: "interrupted: stopped by Ctrl-C, a signal, or a pause or cancel from elsewhere",
    READER_GONE: "whoever read the output stopped reading, as `| head` does",
}

FailOn = Literal["failed", "partial", "never"]


def of_error(error: TarantellaError) -> int:
    """The user can mend the first kind by asking differently, the second not."""
    return USAGE if isinstance(error, InvalidInput | NotFound | Conflict) else FAILED


def of_run(status: RunStatus, done: int, fail_on: FailOn) -> int:
    """How a command that worked on a run ends, of which so many pages are done."""
    if status == "completed":
        # Nothing went wrong, and there is nothing: robots.txt closes all of it, say. Who runs it from cron wants to know.
        return COMPLETE if done or fail_on == "never" else FAILED
    if status == "partial":
        return PARTIAL if fail_on == "partial" else COMPLETE
    if status == "failed":
        return COMPLETE if fail_on == "never" else FAILED
    # Paused or cancelled: somebody stopped it, and that is no outcome of the crawl.
    return INTERRUPTED
