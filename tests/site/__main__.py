"""`python -m tests.site --port 0` serves the test site in a process of its own until it is killed."""

from __future__ import annotations

import argparse
import asyncio
import signal

from tests.site import Site


def main() -> None:
    """Serve the site; its address is the first line on stdout."""
    parser = argparse.ArgumentParser(prog="python -m tests.site", description="Serve the test site on loopback.")
    parser.add_argument("--host", default="127.0.0.1", help="the loopback address to print; its sisters work too")
    parser.add_argument("--port", type=int, default=0, help="the port to listen on; 0 lets the system choose")
    parser.add_argument("--robots", help="the text of robots.txt; without it there is none")
    options = parser.parse_args()
    asyncio.run(_serve(options.host, options.port, 404 if options.robots is None else options.robots))


async def _serve(host: str, port: int, robots: str | int) -> None:
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stopped.set)
    async with Site(host=host, port=port, robots=robots) as site:
        print(site.url, flush=True)
        await stopped.wait()


if __name__ == "__main__":
    main()
