"""PostgreSQL restarted every few seconds for a minute, under a fleet at work: `python -m tests.fault.fleet_minute [SECONDS]`."""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

from tests.fault.fleet_crawl import HOSTS, Crawl
from tests.fault.processes import SiteProcess
from tests.fleet import new_fleet
from tests.postgres import Server, binaries_or_skip
from tests.redis import RedisServer, binary_or_skip

APART = 3.0


def main(seconds: float) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with (
            SiteProcess(folder) as site,
            Server(binaries_or_skip()) as postgres,
            RedisServer(binary_or_skip(), folder) as redis,
            new_fleet(folder, postgres, redis) as fleet,
            fleet.serve() as server,
            fleet.work(2),
        ):
            fleet.until_workers(2)
            crawls, restarts, give_up = 0, 0, time.monotonic() + seconds
            while time.monotonic() < give_up:
                site.reset()
                crawl = Crawl(fleet, site)
                crawl.begin(server)
                while not crawl.is_over and time.monotonic() < give_up:
                    postgres.restart()
                    restarts += 1
                    time.sleep(APART)
                crawl.check()
                crawls += 1
            print(f"{crawls} crawls of {len(HOSTS)} hosts survived {restarts} restarts in {seconds:.0f} s.")


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 60.0)
