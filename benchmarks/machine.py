"""The machine that a report speaks of."""

from __future__ import annotations

import os
import platform
import sqlite3
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from benchmarks.rig import nginx

LIBRARIES = ("tarantella", "wreq", "turbohtml", "uvloop", "orjson", "Scrapy", "Twisted", "crawlee", "impit", "lxml")


@dataclass(frozen=True, slots=True)
class Machine:
    """What a reader needs to know before comparing figures with their own."""

    cores: int
    cpu: str
    memory_gb: float
    system: str
    python: str
    versions: dict[str, str]
    load_average: float

    @classmethod
    def here(cls) -> Machine:
        return cls(
            cores=len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1,
            cpu=_cpu_model(),
            memory_gb=round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9, 1),
            system=f"{platform.system()} {platform.release()}",
            python=platform.python_version(),
            versions=_versions(),
            load_average=round(os.getloadavg()[0], 1),
        )


def _cpu_model() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.is_file():
        for line in cpuinfo.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _versions() -> dict[str, str]:
    versions = {"nginx": nginx.version(), "SQLite": sqlite3.sqlite_version}
    for library in LIBRARIES:
        try:
            versions[library] = metadata.version(library)
        except metadata.PackageNotFoundError:
            versions[library] = "not installed"
    return versions
