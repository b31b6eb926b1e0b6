"""How long a site asks us to stay away."""

from __future__ import annotations

import re
from datetime import UTC

_SECONDS = re.compile(r"[+-]?[0-9]+(?:\.[0-9]+)?")
# Far beyond what anybody obeys, and still a number that can be stored.
_LONGEST = 1e9


def parse_retry_after(value: str | None, now: float) -> float | None:
    """The seconds from `now` (Unix time) that a Retry-After header means; None for junk. May be negative."""
    if not value or len(value) > 1_000:
        return None
    value = value.strip()
    if _SECONDS.fullmatch(value):
        return max(-_LONGEST, min(float(value), _LONGEST))
    # Few sites give a date, and reading mail headers takes 3 ms to load.
    from email.utils import parsedate_to_datetime

    try:
        when = parsedate_to_datetime(value)
        # "-0000" gives a time without a zone; the header's dates are always GMT.
        return (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp() - now
    except (TypeError, ValueError, OverflowError, IndexError):
        return None
