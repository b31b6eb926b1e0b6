"""`python -m tarantella.demo` serves the demo site until Ctrl-C."""

from __future__ import annotations

import argparse
import asyncio
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
    except KeyboardInterrupt:
        return 0
    except OSError as error:
        sys.stderr.write(f"Port {port} can't be used ({error.strerror}). Try another one, or --port 0.\n")
        return 1
    return 0


async def _serve(port: int) -> None:
    async with DemoSite(port=port) as site:
        sys.stdout.write(f"{site.url}\n")
        sys.stdout.flush()
        sys.stderr.write("Serving the demo site. Press Ctrl-C to stop.\n")
        await asyncio.Event().wait()


if __name__ == "__main__":
    sys.exit(main())
