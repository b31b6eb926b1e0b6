"""`tarantella sites`: how hosts are, and what they may be asked."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import typer

from tarantella.cli.asking import Asking
from tarantella.cli.command import Command, Group
from tarantella.cli.options import AsJson, DatabaseUrl, DataDir, ServerUrl, Verbose

EXAMPLES = """
Examples:
  tarantella sites list
  tarantella sites show example.com      also which strategy it takes, and why
  tarantella sites set example.com --per-host 2 --delay 1.5
  tarantella sites set example.com --pause
  tarantella sites set example.com --strategy browser
  tarantella sites reset-breaker example.com

Nothing is asked of a host that is paused until --go-on. A strategy counts
instead of what the site has taught, until --strategy auto.
"""
COLUMNS = {
    "site": "host",
    "health": "health",
    "requests": "errors.requests",
    "failed": "errors.failures",
    "breaker": "breaker.state",
    "slots": "throttle.slots",
    "per host": "policy.per_host",
    "delay": "policy.delay",
    "strategy": "strategy",
    "runs": "waiting_runs",
}
NONE = "none"
PinName = Literal["auto", "http", "browser"]
POLICY = "Policy"

app = typer.Typer(
    rich_markup_mode=None,
    cls=Group,
    no_args_is_help=True,
    epilog=EXAMPLES,
    help="See sites, and say what they may be asked.",
)
HostArgument = Annotated[str, typer.Argument(metavar="HOST", help="A host, as in example.com.", show_default=False)]


@app.command("list", cls=Command)
def list_(
    breaker_open: Annotated[
        bool, typer.Option("--breaker-open", help="Only those that are left alone because they failed.")
    ] = False,
    paused: Annotated[bool, typer.Option("--paused", help="Only those that are paused.")] = False,
    limit: Annotated[int, typer.Option("--limit", metavar="N", min=1, max=1_000_000, help="So many at most.")] = 100,
    as_json: AsJson = False,
    verbose: Verbose = 0,
    server: ServerUrl = None,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> int:
    """List the sites that runs have been at, or that have a policy."""
    asking = Asking(as_json, verbose, server, data_dir, database_url)
    return asking.many(
        "/sites",
        COLUMNS,
        limit,
        "There are no such sites.",
        breaker_open=breaker_open or None,
        paused=paused or None,
    )


@app.command(cls=Command)
def show(
    host: HostArgument,
    as_json: AsJson = False,
    verbose: Verbose = 0,
    server: ServerUrl = None,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> int:
    """Show all about one site: policy, health, breaker, throttle, errors, and which strategy it was found to take."""
    return Asking(as_json, verbose, server, data_dir, database_url).one("GET", _path(host))


@app.command("set", cls=Command)
def set_(
    host: HostArgument,
    per_host: Annotated[
        str | None,
        typer.Option(metavar="N|none", help="Requests in flight at most.", rich_help_panel=POLICY),
    ] = None,
    delay: Annotated[
        str | None,
        typer.Option(metavar="SECONDS|none", help="Between two requests at least.", rich_help_panel=POLICY),
    ] = None,
    max_rate: Annotated[
        str | None,
        typer.Option(metavar="N|none", help="Requests a second at most.", rich_help_panel=POLICY),
    ] = None,
    parts: Annotated[
        str | None,
        typer.Option(
            metavar="N|none",
            help="Split it, so that several workers can be at it: what is found from now on is spread.",
            rich_help_panel=POLICY,
        ),
    ] = None,
    obey_robots: Annotated[
        bool | None,
        typer.Option(
            "--obey-robots/--robots-as-runs-say",
            help="Obey robots.txt even for runs that don't otherwise.",
            show_default=False,
            rich_help_panel=POLICY,
        ),
    ] = None,
    paused: Annotated[
        bool | None,
        typer.Option(
            "--pause/--go-on", help="Ask nothing of it, or go on.", show_default=False, rich_help_panel=POLICY
        ),
    ] = None,
    pin: Annotated[
        PinName | None,
        typer.Option(
            "--strategy",
            metavar="auto|http|browser",
            help="How its pages are fetched, by runs that leave it to us; auto goes by what the site has taught.",
            show_default=False,
            rich_help_panel=POLICY,
        ),
    ] = None,
    as_json: AsJson = False,
    verbose: Verbose = 0,
    server: ServerUrl = None,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> int:
    """Say what a site may be asked. What is not mentioned stays as it is; `none` leaves it to the runs.

    Of a site's policy and the options of a run, the strictest counts.
    """
    numbers = {"per_host": (per_host, int), "delay": (delay, float), "max_rate": (max_rate, float)}
    numbers["parts"] = (parts, int)
    change: dict[str, Any] = {
        name: _number(name, text, kind) for name, (text, kind) in numbers.items() if text is not None
    }
    change |= {
        name: said
        for name, said in (("obey_robots", obey_robots), ("paused", paused), ("strategy", pin))
        if said is not None
    }
    if not change:
        from tarantella.domain.errors import InvalidInput

        raise InvalidInput(
            "Nothing is said of what the site may be asked.",
            remedy="Give an option, as in --per-host 2; `tarantella sites set --help` lists them.",
        )
    return Asking(as_json, verbose, server, data_dir, database_url).one("PATCH", _path(host), change)


@app.command("reset-breaker", cls=Command)
def reset_breaker(
    host: HostArgument,
    as_json: AsJson = False,
    verbose: Verbose = 0,
    server: ServerUrl = None,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> int:
    """Let a site be asked again that is left alone because it failed."""
    return Asking(as_json, verbose, server, data_dir, database_url).one("POST", f"{_path(host)}/reset-breaker")


def _path(host: str) -> str:
    from tarantella.cli.connection import part

    return f"/sites/{part(host)}"


def _number(name: str, text: str, kind: type[int] | type[float]) -> float | None:
    from tarantella.domain.errors import InvalidInput

    if text.lower() == NONE:
        return None
    try:
        return kind(text)
    except ValueError:
        option = f"--{name.replace('_', '-')}"
        raise InvalidInput(
            f"{option} is {text[:40]!r}, which is not a number.", field=name, remedy=f"Write a number, or {NONE}."
        ) from None
