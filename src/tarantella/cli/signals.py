"""Ctrl-C, or the end of the terminal: the first asks for a clean stop, the second stops at once."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from types import FrameType, TracebackType
from typing import Any, Self

from tarantella.cli import exits

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
# One wish can arrive twice: timeout(1) signals the command and then its whole group.
SAME_WISH_SECONDS = 0.5
SHOW_CURSOR = "\x1b[?25h"


class Signals(AbstractContextManager["Signals"]):
    """Listens while the block runs, with handlers that work even when the event loop is busy."""

    def __init__(self) -> None:
        self.asked = False
        self._asked_at = 0.0
        self._stop: Callable[[], object] | None = None
        self._at_once: Callable[[], object] | None = None
        self._previous: dict[int, Any] = {}

    def __enter__(self) -> Self:
        for number in SIGNALS:
            # Under nohup, the end of a terminal is nobody's business.
            if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN:
                self._previous[number] = signal.signal(number, self._on_signal)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._previous.items():
            signal.signal(number, handler)

    def on_first(self, stop: Callable[[], object]) -> None:
        """What a clean stop means from now on; at once if it has been asked for."""
        self._stop = stop
        if self.asked:
            stop()

    def on_second(self, last: Callable[[], object]) -> None:
        """What is to be done before a stop at once; it must be quick, and nothing that waits."""
        self._at_once = last

    def _on_signal(self, _number: int, _frame: FrameType | None) -> None:
        if self.asked:
            if time.monotonic() - self._asked_at < SAME_WISH_SECONDS:
                return
            if self._at_once is not None:
                self._at_once()
            leave_at_once()
        self.asked, self._asked_at = True, time.monotonic()
        if self._stop is not None:
            self._stop()


def leave_at_once() -> None:
    """End without another word, with the terminal as we found it. What is stored stays stored."""
    if sys.stderr.isatty():
        os.write(sys.stderr.fileno(), f"{SHOW_CURSOR}\n".encode())
    os._exit(exits.INTERRUPTED)
