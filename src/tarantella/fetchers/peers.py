"""Who is at the other end of a connection on loopback: a port there is open to all users of a machine."""

from __future__ import annotations

import os
from ipaddress import IPv4Address
from pathlib import Path

_TABLE = Path("/proc/net/tcp")


def is_ours(peer: tuple[str, int], here: tuple[str, int]) -> bool:
    """Whether the connection was made by this user. Where the system has no table of that, everybody is believed."""
    wanted = [_written(peer), _written(here)]
    try:
        with _TABLE.open() as table:
            next(table)
            for line in table:
                columns = line.split()
                if columns[1:3] == wanted:
                    return int(columns[7]) == os.geteuid()
    except OSError:
        return True
    return False


def _written(end: tuple[str, int]) -> str:
    """An end of a connection as the table has it: the address in the machine's own order of bytes."""
    address = int.from_bytes(IPv4Address(end[0]).packed, "little")
    return f"{address:08X}:{end[1]:04X}"
