"""`tarantella re-extract`: other fields from the pages of a run, without fetching them again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from tarantella.cli.command import Command
from tarantella.cli.options import AsJson, DatabaseUrl, DataDir, Output, RecordFormat, RunArgument, ServerUrl, Verbose

EXAMPLES = """
Examples:
  tarantella scrape shop.example --depth all --keep-bodies
  tarantella re-extract latest --fields-file tea.yaml --output tea.csv
"""

app = typer.Typer(rich_markup_mode=None)


@app.command("re-extract", cls=Command, epilog=EXAMPLES)
def reextract(
    run: RunArgument,
    fields_file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The fields to look for, in YAML or JSON.")
    ] = None,
    field: Annotated[list[str] | None, typer.Option(metavar="NAME[=CSS[@ATTR]]", help="A field to look for.")] = None,
    text: Annotated[
        Literal["fast", "article", "none"] | None,
        typer.Option(metavar="fast|article|none", help="The text of each page.", show_default="as before"),
    ] = None,
    format_: RecordFormat = None,
    output: Output = None,
    as_json: AsJson = False,
    verbose: Verbose = 0,
    server: ServerUrl = None,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> int:
    """Look for other fields in the pages of a run that kept its bodies.

    Nothing is fetched. The records are those of a new run; the old one stays as it is.
    """
    from tarantella.cli import inputs, words
    from tarantella.cli.opening import opened, run_async
    from tarantella.cli.remote_runs import server_of
    from tarantella.cli.runs import find, remote
    from tarantella.cli.summary import coverage_lines
    from tarantella.cli.views import run_json
    from tarantella.domain.errors import InvalidInput
    from tarantella.domain.field import Field, FieldSet
    from tarantella.services.export import export, target_of
    from tarantella.services.reextract import reextract as work

    wanted = inputs.field_set_of_file(fields_file)
    wanted = FieldSet((*wanted.fields, *map(Field.parse, field or ())), wanted.item, wanted.pagination)
    if not wanted.fields and text is None:
        raise InvalidInput(
            "There is nothing to look for.", remedy="Give --fields-file, --field or --text.", field="fields"
        )
    if (server := server_of(server, data_dir, database_url)) is not None:
        return remote(server, as_json, verbose).reextract(run, wanted.to_json(), text, format_, output)
    with opened(data_dir, database_url, verbose=verbose) as tarantella:
        target = target_of(tarantella.app, format_, output, stdout_taken=as_json)
        new = run_async(work(tarantella.app, run_async(find(tarantella, run)), wanted, text=text))
        exported = export(tarantella.app, new, target)
        if as_json:
            told = str(exported.path) if exported.path is not None else None
            tarantella.terminal.show_json({**run_json(new), "output": told, "format": exported.format})
        else:
            pages = words.count(new.counts.done, "page")
            tarantella.terminal.say(f"Run {words.short_id(new.id)}: {words.count(new.records, 'record')} from {pages}.")
            for line in coverage_lines(new):
                tarantella.terminal.say(f"  {line}")
            if exported.path is not None:
                tarantella.terminal.say(f"  {words.nearby(exported.path)}")
    return 0
