"""A busy host in parts, each a lane of its own, so that several workers can be at it: together they keep its limits."""

from __future__ import annotations

from zlib import crc32

MARK = "#"  # no host has it in its name


def host_of(lane: str) -> str:
    """The host whose lane, or part of a lane, this is."""
    return lane.partition(MARK)[0]


def part_of(lane: str) -> int:
    """Which part it is; the first has the name of the host itself."""
    return int(lane.partition(MARK)[2] or 0)


def lane_for(host: str, fingerprint: str, parts: int, limit: int) -> str:
    """The part in which a page waits, of a run that allows so many requests at a time to the host."""
    part = crc32(fingerprint.encode()) % in_use(parts, limit)
    return f"{host}{MARK}{part}" if part else host


def in_use(parts: int, limit: int) -> int:
    """How many parts the pages of a run are spread over: each needs a request of its own."""
    return max(1, min(parts, limit))


def share(limit: int, parts: int, part: int) -> int:
    """How many of the host's requests a part may have; those of all parts are as many as the host may."""
    even, extra = divmod(limit, in_use(parts, limit))
    return max(1, even + (part < extra))
