"""`python -m tarantella.demo` serves the demo site until Ctrl-C."""

from __future__ import annotations

import argparse
import asyncio
import signal
import sys

from tarantella.demo.site import DemoSite


def main() -> int:
    """Serve the demo site and print its address."""
    parser = argparse.ArgumentParser(prog="python -m tarantella.demo", description="Serve the demo site on loopback.")
    parser.add_argument("--port", type=int, default=0, help="the port to listen on; 0 lets the system choose")
    port: int = parser.parse_args().port
    if not 0 <= port <= 65535:
        parser.error(f"--port must be between 0 and 65535, not {port}")
    try:
        asyncio.run(_serve(port))
    except OSError as error:
        sys.stderr.write(f"Port {port} can't be used ({error.strerror}). Try another one, or --port 0.\n")
        return 1
    return 0


async def _serve(port: int) -> None:
    stopped = asyncio.Event()
    # Not left to Python: a signal that comes just before the loop goes to sleep would be heard when something else wakes it.
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    async with DemoSite(port=port) as site:
        sys.stdout.write(f"{site.url}\n")
        sys.stdout.flush()
        sys.stderr.write("Serving the demo site. Press Ctrl-C to stop.\n")
        await stopped.wait()


if __name__ == "__main__":
    sys.exit(main())
