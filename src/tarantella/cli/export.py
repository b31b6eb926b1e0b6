"""`tarantella export`: write the records of a run to a file or to stdout."""

from __future__ import annotations

import typer

from tarantella.cli.command import Command
from tarantella.cli.options import AsJson, DatabaseUrl, DataDir, Output, RecordFormat, RunArgument, ServerUrl, Verbose

EXAMPLES = """
Examples:
  tarantella export latest --format csv --output records.csv
  tarantella export 4f1c02a9d3be --output - | jq .title
"""

app = typer.Typer(rich_markup_mode=None)


@app.command(cls=Command, epilog=EXAMPLES)
def export(
    run: RunArgument,
    format_: RecordFormat = None,
    output: Output = None,
    as_json: AsJson = False,
    verbose: Verbose = 0,
    server: ServerUrl = None,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> int:
    """Write the records of a run, in any format.

    A file that is there already is replaced, all at once.
    """
    from tarantella.cli import words
    from tarantella.cli.opening import opened, run_async
    from tarantella.cli.remote_runs import server_of
    from tarantella.cli.runs import find, remote
    from tarantella.services import runs
    from tarantella.services.export import export as write
    from tarantella.services.export import target_of

    if (server := server_of(server, data_dir, database_url)) is not None:
        return remote(server, as_json, verbose).export(run, format_, output)
    with opened(data_dir, database_url, verbose=verbose) as tarantella:
        run_id = run_async(find(tarantella, run))
        target = target_of(tarantella.app, format_, output, stdout_taken=as_json, run_id=run_id)
        found = run_async(runs.get(tarantella.app, run_id))
        exported = write(tarantella.app, found, target)
        if as_json:
            facts = {
                "run_id": run_id,
                "format": exported.format,
                "records": exported.records,
                "output": str(exported.path),
            }
            tarantella.terminal.show_json({**facts, "complete": found.is_over})
        elif exported.path is not None:
            so_far = "" if found.is_over else " so far: the run has not ended"
            tarantella.terminal.say(
                f"{words.count(exported.records, 'record')}{so_far} in {words.nearby(exported.path)}"
            )
    return 0
