"""Which process is meant: a number alone may be somebody else's by now."""

from __future__ import annotations

import os
import signal
import subprocess
from contextlib import suppress
from pathlib import Path

from tarantella.domain.struct import Frozen


class Identity(Frozen):
    """A process. Numbers are given to others after it, but not together with the time at which it began."""

    pid: int
    born: str

    @classmethod
    def of(cls, pid: int) -> Identity | None:
        """The process of that number; None where there is none, or only what is left of one."""
        born = _born(pid)
        return cls(pid, born) if born is not None else None

    @property
    def is_alive(self) -> bool:
        return self.pid > 1 and _born(self.pid) == self.born

    def signal(self, number: signal.Signals) -> bool:
        """Send it a signal, and nobody else; whether that could be done."""
        with suppress(OSError):
            if not hasattr(os, "pidfd_open"):
                if self.is_alive:
                    os.kill(self.pid, number)
                    return True
                return False
            process = os.pidfd_open(self.pid)
            try:
                # Looked at now that the number can't be given to anybody else.
                if self.is_alive:
                    signal.pidfd_send_signal(process, number)
                    return True
            finally:
                os.close(process)
        return False


def _born(pid: int) -> str | None:
    """When a process began, in whatever words the system has for it; None where it is gone."""
    if not Path("/proc/self/stat").exists():
        told = subprocess.run(
            ["/bin/ps", "-o", "lstart=", "-p", str(pid)], capture_output=True, text=True, check=False
        ).stdout.strip()
        return told or None
    try:
        # The name of a process may have brackets and blanks in it. Behind it stand its state and, later, when it began.
        fields = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return None if fields[0] in "ZX" else f"{fields[19]} {boot}"
    except (OSError, IndexError):
        return None
