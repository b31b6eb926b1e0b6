"""`tarantella preview`: one page, what each field gives there, and selectors for what you see."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tarantella.cli.command import Command
from tarantella.cli.options import AsJson, DatabaseUrl, DataDir, ServerUrl, Verbose
from tarantella.cli.plain import one_line

if TYPE_CHECKING:
    from tarantella.domain.field import FieldSet

EXAMPLES = """
Examples:
  tarantella preview shop.example/tea                  what is found by itself
  tarantella preview shop.example/tea --fields-file tea.yaml
  tarantella preview shop.example/tea --find "19.99"   a selector for that
"""
MOST_SHOWN = 100

app = typer.Typer(rich_markup_mode=None)


@app.command(cls=Command, epilog=EXAMPLES)
def preview(
    url: Annotated[str, typer.Argument(metavar="URL", help="A page of the site.", show_default=False)],
    fields_file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The fields to try, in YAML or JSON.")
    ] = None,
    field: Annotated[list[str] | None, typer.Option(metavar="NAME[=CSS[@ATTR]]", help="A field to try.")] = None,
    find: Annotated[
        str | None, typer.Option(metavar="TEXT", help="A text or number on the page that you want a selector for.")
    ] = None,
    ignore_robots: Annotated[
        bool, typer.Option("--ignore-robots", help="Fetch what robots.txt asks us to leave.")
    ] = False,
    header: Annotated[list[str] | None, typer.Option(metavar="'NAME: VALUE'", help="Send this header.")] = None,
    proxy: Annotated[str | None, typer.Option(metavar="URL", help="Fetch through this proxy.")] = None,
    allow_network: Annotated[
        list[str] | None, typer.Option(metavar="CIDR", help="Allow a private network, as in 127.0.0.1.")
    ] = None,
    as_json: AsJson = False,
    verbose: Verbose = 0,
    server: ServerUrl = None,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> int:
    """Fetch one page, and show what each field gives there.

    Without fields it looks for what most people want, and suggests selectors with how much to trust them. Nothing is stored.
    """
    from tarantella.cli import inputs
    from tarantella.cli.opening import opened, run_async
    from tarantella.cli.remote_runs import FETCHES, refuse, server_of
    from tarantella.domain.field import Field, FieldSet
    from tarantella.domain.spec import Spec
    from tarantella.services.preview import preview as look

    wanted = inputs.field_set_of_file(fields_file)
    wanted = FieldSet((*wanted.fields, *map(Field.parse, field or ())), wanted.item, wanted.pagination)
    if (server := server_of(server, data_dir, database_url)) is not None:
        refuse(FETCHES, ignore_robots=ignore_robots, header=header, proxy=proxy, allow_network=allow_network)
        return _preview_at(server, url, wanted, find, as_json=as_json, verbose=verbose)
    with opened(data_dir, database_url, verbose=verbose) as tarantella:
        settings = tarantella.app.settings
        spec = Spec(
            obey_robots=not ignore_robots,
            user_agent=settings.user_agent,
            allow_networks=(*settings.allow_networks, *(allow_network or ())),
            connect_timeout=settings.connect_timeout_seconds,
            total_timeout=settings.http_timeout_seconds,
            text="none",
            secrets=inputs.secrets_of(header or (), None, proxy),
        )
        seen = run_async(look(tarantella.app, url, wanted, spec=spec, example=find))
        if as_json:
            tarantella.terminal.show_json(seen.to_json())
        else:
            for line in preview_lines(seen.to_json(), find):
                tarantella.terminal.show(line)
    return 0


def _preview_at(server: str, url: str, wanted: FieldSet, find: str | None, *, as_json: bool, verbose: int) -> int:
    from tarantella.cli.connection import connected

    body = {"url": url, **wanted.to_json(), **({"find": find} if find is not None else {})}
    with connected(None, None, server, verbose=verbose) as connection:
        seen = connection.ask("POST", "/jobs/preview", body)
        if as_json:
            connection.terminal.show_json(seen)
        else:
            for line in preview_lines(seen, find):
                connection.terminal.show(line)
    return 0


def preview_lines(seen: dict[str, Any], example: str | None) -> Iterator[str]:
    """The page in words: its fields, and what would find them."""
    from tarantella.cli import words

    yield f"{words.clean(seen['url'])}: {seen['status']}, {words.clean(seen['content_type'])}"
    if seen["items"] == 0:
        yield "  Nothing on the page matches the item."
    elif seen["items"] is not None:
        yield f"  {words.count(seen['items'], 'item')}, of which these are the first:"
    for each in seen["fields"]:
        yield f"  {_field(each)}"
        for way in seen["suggestions"].get(each["name"], ()):
            yield f"      {_way(way)}"
    if not seen["fields"] and seen["items"] != 0:
        yield "  No field was found."
    for address in seen["pagination"][:5]:
        yield f"  next page: {words.clean(address)}"
    if example is not None:
        yield (
            f"Selectors for {words.clean(example)!r}:"
            if seen["found"]
            else f"{words.clean(example)!r} is not on the page."
        )
        yield from (f"  {_way(way)}" for way in seen["found"])


def _field(each: dict[str, Any]) -> str:
    from tarantella.cli import words

    item = f"{each['item']}. " if "item" in each else ""
    if "problem" in each:
        raw = f": {words.shortened(words.clean(each['raw']), MOST_SHOWN)!r}" if each["raw"] else ""
        return f"{item}{each['name']}  ! {words.clean(each['problem'])}{raw}"
    if each["value"] is None:
        return f"{item}{each['name']}  not found"
    source = f"  ({one_line(each['source'])})" if each["source"] else ""
    return f"{item}{each['name']}  {words.shortened(words.value(each['value']), MOST_SHOWN)}{source}"


def _way(way: dict[str, Any]) -> str:
    from tarantella.cli import words

    kind = "css" if way.get("css") else "jmespath"
    attr = f" @{way['attr']}" if way.get("attr") else ""
    many = f", {words.count(way['matches'])} matches" if way["matches"] > 1 else ""
    value = words.shortened(words.clean(way["value"]), 60)
    return f"{way['confidence']:>4.0%}  {kind} {one_line(way[kind])}{attr}{many}: {value}"
