"""`tarantella doctor`: what is installed, what is missing, what is stuck, and how to mend it."""

from __future__ import annotations

import typer

from tarantella.cli.command import Command
from tarantella.cli.options import AsJson, BrokerUrl, DatabaseUrl, DataDir, Verbose

EXAMPLES = """
Examples:
  tarantella doctor
  tarantella doctor --json | jq '.[] | select(.health != "ok")'
"""

app = typer.Typer(rich_markup_mode=None)


@app.command(cls=Command, epilog=EXAMPLES)
def doctor(
    as_json: AsJson = False,
    verbose: Verbose = 0,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
    broker_url: BrokerUrl = None,
) -> int:
    """Find what is missing, broken or stuck, and how to mend it.

    The exit code is 1 when something must be mended.
    """
    from rich.text import Text

    from tarantella.bootstrap import open_app
    from tarantella.cli import exits, logs
    from tarantella.cli.opening import broker_suffix_of, run_async, suffix_of
    from tarantella.cli.terminal import open_terminal
    from tarantella.domain.struct import asdict
    from tarantella.services.doctor import Health, examine
    from tarantella.settings import load

    terminal = open_terminal()
    logs.configure(verbose=verbose, warnings=False, say=terminal.log)
    settings = load(data_dir=data_dir, database_url=database_url, broker_url=broker_url)
    suffix = suffix_of(data_dir, database_url)
    checks = run_async(examine(settings, open_app, suffix, suffix + broker_suffix_of(broker_url)))
    styles = {Health.OK: "green", Health.WARN: "yellow", Health.FAIL: "bold red"}
    if as_json:
        terminal.show_json([asdict(check) for check in checks])
    else:
        for check in checks:
            terminal.show(
                Text.assemble((f"{check.health.upper():<5}", styles[check.health]), f"{check.name:<18}", check.finding)
            )
            if check.remedy:
                terminal.show(Text(f"{'':23}{check.remedy}", style="cyan"))
        failed, warned = (sum(check.health is health for check in checks) for health in (Health.FAIL, Health.WARN))
        terminal.say(f"\n{failed} to mend, {warned} to look at." if failed or warned else "\nAll is well.")
    return exits.FAILED if any(check.health is Health.FAIL for check in checks) else exits.COMPLETE
