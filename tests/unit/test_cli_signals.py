"""Who asks once is heard once, and who asks again is heard at once."""

from __future__ import annotations

import pytest

from tarantella.cli import signals
from tarantella.cli.signals import SAME_WISH_SECONDS, Signals


@pytest.mark.parametrize(("later", "at_once"), [(0.001, 0), (SAME_WISH_SECONDS + 0.1, 1)])
def test_a_wish_that_arrives_twice_is_one_wish(monkeypatch: pytest.MonkeyPatch, later: float, at_once: int) -> None:
    now, left = [100.0], []
    monkeypatch.setattr("tarantella.cli.signals.time.monotonic", lambda: now[0])
    monkeypatch.setattr(signals, "leave_at_once", lambda: left.append(True))
    asked = Signals()
    asked._on_signal(15, None)
    now[0] += later
    asked._on_signal(15, None)
    assert (asked.asked, len(left)) == (True, at_once)
