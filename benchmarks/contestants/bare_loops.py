"""Several bare loops at a time, each with its share of the hosts: the ceiling of several processes.

They share nothing. Whatever lies outside a loop's hosts is another loop's business, so nobody has to ask.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path


def output_of(out: Path, index: int) -> Path:
    """The file that the n-th loop writes."""
    return out.with_stem(f"{out.stem}-{index}")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.contestants.bare_loops", description=__doc__)
    parser.add_argument("--url", action="append", required=True, help="one start address per host")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--concurrency", type=int, default=64, help="of all loops together")
    parser.add_argument("--text", choices=("none", "fast"), default="none")
    parser.add_argument("--out", type=Path, required=True, help="JSON lines; every loop adds its number to the name")
    options = parser.parse_args()
    loops = [
        subprocess.Popen(
            [
                *(sys.executable, "-m", "benchmarks.contestants.bare_loop"),
                *(part for url in options.url[index :: options.processes] for part in ("--url", url)),
                *("--concurrency", str(max(1, options.concurrency // options.processes))),
                *("--text", options.text, "--out", str(output_of(options.out, index))),
            ]
        )
        for index in range(options.processes)
    ]
    codes = [loop.wait() for loop in loops]
    if any(codes):
        sys.exit(1)


if __name__ == "__main__":
    main()
