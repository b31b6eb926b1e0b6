"""When a job runs by itself: how often, by the clock of which place, and what becomes of a time that can't be kept."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, tzinfo
from enum import StrEnum
from itertools import islice, takewhile
from math import floor
from zoneinfo import ZoneInfo

from cronsim import CronSim, CronSimError

from tarantella.domain.errors import InvalidInput
from tarantella.domain.struct import Frozen

ON_DEMAND = "on_demand"
LONGEST_FREQUENCY = 100
LONGEST_ZONE = 64
LEAST_SECONDS, MOST_SECONDS = 60.0, 366 * 86_400.0
LATE_SECONDS = 300.0  # after which a time counts as missed: it passed while nobody was there
WRONG_SECONDS = 300.0  # a time that lies so far ahead can't have been kept: the clock was wrong then
MOST_COUNTED = 1_000
LONGEST_FOLD = 10_800.0  # seconds by which clocks are put back at once, and some to spare

NAMED = {
    "hourly": "0 * * * *",
    "daily": "0 0 * * *",
    "midnight": "0 0 * * *",
    "weekly": "0 0 * * 0",
    "monthly": "0 0 1 * *",
    "yearly": "0 0 1 1 *",
    "annually": "0 0 1 1 *",
}
DAYS = {
    "day": "*",
    "daily": "*",
    "weekday": "1-5",
    "weekend": "0,6",
    **{f"{day}day": str(n) for n, day in enumerate(("sun", "mon", "tues", "wednes", "thurs", "fri", "satur"))},
}
UNITS = {"m": 60.0, "min": 60.0, "minute": 60.0, "h": 3_600.0, "hour": 3_600.0, "d": 86_400.0, "day": 86_400.0}
UNITS |= {"week": 604_800.0}
FIELDS = (("minute", 60), ("hour", 24), ("day-of-month", 31), ("month", 12), ("day-of-week", 7))
_AT = re.compile(r"(?:every )?([a-z]+) at ([0-9]{1,2}):([0-9]{2})")
_EVERY = re.compile(r"every (?:([0-9]{1,6}) ?)?([a-z]+)")
_REMEDY = "Write a line as for cron (`30 6 * * 1-5`), `daily at 06:30`, `every 15 minutes`, `hourly`, or `on_demand`."


class IfRunning(StrEnum):
    """What becomes of a time at which the last run is not over yet."""

    SKIP = "skip"
    QUEUE = "queue"


class IfMissed(StrEnum):
    """What becomes of times that passed while nobody was there: one run for all of them, or none."""

    RUN = "run"
    SKIP = "skip"


class Came(StrEnum):
    """What came of a time."""

    RUN = "run"
    SKIPPED = "skipped"  # the last run was not over
    MISSED = "missed"  # nobody was there
    REFUSED = "refused"  # the job can't be run as it is


class Rhythm(Frozen):
    """The times of a cron line in a time zone, or every so many seconds."""

    cron: str | None
    every: float | None
    zone: str


def rhythm_of(frequency: str, zone: str) -> Rhythm | None:
    """What is meant by these words; None where a job runs only when somebody says so."""
    if len(frequency) > LONGEST_FREQUENCY:
        raise _refused(frequency, f"it has {len(frequency):,} characters, and {LONGEST_FREQUENCY} are the most")
    text = " ".join(frequency.lower().split())
    _zone(zone)
    if text == ON_DEMAND:
        return None
    if (every := _EVERY.fullmatch(text)) and (unit := _unit(every[2])) is not None:
        seconds = int(every[1] or 1) * unit
        if not LEAST_SECONDS <= seconds <= MOST_SECONDS:
            raise _refused(frequency, "it should be at least a minute and at most 366 days apart")
        return Rhythm(None, seconds, zone)
    return Rhythm(_cron(frequency, text), None, zone)


def meant(frequency: str, zone: str) -> Rhythm | None:
    """The same for somebody who writes it now: what can't be meant, although it means something, is refused."""
    rhythm = rhythm_of(frequency, zone)
    if rhythm is not None and rhythm.cron is not None:
        for field, (name, most) in zip(rhythm.cron.split(), FIELDS, strict=True):
            steps = [int(step) for each in field.split(",") if (step := each.partition("/")[2]).isdecimal()]
            if max(steps, default=1) > most:
                why = f"its {name} steps by {max(steps)}, and there are only {most}: it would be the first of them each time"
                raise _refused(frequency, why)
    return rhythm


def next_time(rhythm: Rhythm, after: float, since: float) -> float | None:
    """The first time after this moment; None where there is none for 50 years. Intervals are counted from `since`."""
    return next(_times(rhythm, after, since), None)


def next_times(rhythm: Rhythm, after: float, since: float, count: int) -> list[float]:
    """So many times after this moment."""
    return list(islice(_times(rhythm, after, since), count))


def passed(rhythm: Rhythm, after: float, until: float, since: float) -> int:
    """How many times there were after one moment and up to another, as far as they are counted."""
    if rhythm.every is not None:
        return max(0, floor((until - since) / rhythm.every) - floor((after - since) / rhythm.every))
    return sum(1 for _ in islice(takewhile(lambda at: at <= until, _times(rhythm, after, since)), MOST_COUNTED))


def latest(rhythm: Rhythm, first: float, now: float, since: float) -> float:
    """The last time up to now, where the first that was not kept yet has come."""
    if rhythm.every is not None:
        return max(first, since + floor((now - since) / rhythm.every) * rhythm.every)
    # From a second later: it gives what lies before the moment that it starts from, and of that only whole seconds.
    start = datetime.fromtimestamp(now + 1, _zone(rhythm.zone))
    if start.fold:
        # Of an hour that comes twice it sees what lies before the same minute of the first: from behind both it sees all.
        start = datetime.fromtimestamp(now + LONGEST_FOLD, _zone(rhythm.zone))
    backwards = CronSim(rhythm.cron or "", start, reverse=True)
    return max(first, next((at for each in backwards if (at := each.timestamp()) <= now), first))


def in_words(rhythm: Rhythm) -> str:
    """When that is, as a sentence would say it."""
    if rhythm.cron is not None:
        told: str = CronSim(rhythm.cron, _EPOCH).explain()
        return told
    seconds = rhythm.every or 0.0
    name, unit = next((name, UNITS[name]) for name in ("week", "day", "hour", "minute") if seconds % UNITS[name] == 0)
    count = int(seconds // unit)
    return f"Every {name}" if count == 1 else f"Every {count} {name}s"


def local(at: float, zone: str) -> datetime:
    """A moment by the clock of that place."""
    return datetime.fromtimestamp(at, _zone(zone))


_EPOCH = datetime(2000, 1, 1, tzinfo=UTC)


def _times(rhythm: Rhythm, after: float, since: float) -> Iterator[float]:
    if rhythm.every is not None:
        count = floor((after - since) / rhythm.every)
        while True:
            count += 1
            if (at := since + count * rhythm.every) > after:
                yield at
    for moment in CronSim(rhythm.cron or "", datetime.fromtimestamp(after, _zone(rhythm.zone))):
        # Where the clock is put back, an hour comes twice: what was kept in the first is not to be kept again.
        if (at := moment.timestamp()) > after:
            yield at


def _cron(frequency: str, text: str) -> str:
    line = NAMED.get(text.removeprefix("@"), text)
    if at := _AT.fullmatch(text):
        days = DAYS.get(at[1]) or DAYS.get(at[1].removesuffix("s"))
        if days is None:
            raise _refused(frequency, f"{at[1]!r} is no day")
        line = f"{int(at[3])} {int(at[2])} * * {days}"
    fields = len(line.split())
    if fields != 5:
        unknown = "it has no meaning" if fields < 3 else f"a line for cron has 5 fields, not {fields}"
        every = "after `every` comes a number of minutes, hours, days or weeks"
        raise _refused(frequency, every if text.startswith("every ") else unknown)
    try:
        if next(iter(CronSim(line, _EPOCH)), None) is None:
            raise _refused(frequency, "there is no such day")
    except (CronSimError, AssertionError, TypeError, ValueError) as error:
        what = str(error).removeprefix("Bad ")
        raise _refused(frequency, f"its {what} is not right" if what else "it can't be understood") from None
    return line


def _unit(word: str) -> float | None:
    return UNITS.get(word) or UNITS.get(word.removesuffix("s"))


def _zone(name: str) -> tzinfo:
    if name == "UTC":
        return UTC
    try:
        return ZoneInfo(name[: LONGEST_ZONE + 1])
    except (KeyError, ValueError, OSError):
        from difflib import get_close_matches
        from zoneinfo import available_timezones

        likely = get_close_matches(
            name[:LONGEST_ZONE].lower(), names := {each.lower(): each for each in available_timezones()}, 1
        )
        remedy = f"Did you mean {names[likely[0]]}?" if likely else "Write one like Europe/Berlin, or UTC."
        raise InvalidInput(f"There is no time zone {name[:60]!r}.", field="timezone", remedy=remedy) from None


def _refused(frequency: str, why: str) -> InvalidInput:
    return InvalidInput(f"The frequency {frequency[:60]!r} makes no sense: {why}.", field="frequency", remedy=_REMEDY)
