"""`tarantella runs` and `tarantella export` at a server: the same commands, asked over HTTP."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any

from tarantella.cli import named, words
from tarantella.cli.answers import understood
from tarantella.cli.asking import Asking
from tarantella.cli.connection import Connection, connected, part
from tarantella.cli.named import meant
from tarantella.cli.shown import show_lines, show_table
from tarantella.domain.errors import InvalidInput
from tarantella.domain.struct import Frozen

RUNS = named.RUNS.place
USUAL_FORMAT = "jsonl"
COLUMNS = {
    "run": "id",
    "status": "status",
    "start": "target_url",
    "done": "counts.done",
    "failed": "counts.failed",
    "skip": "counts.skipped",
    "left": "counts.pending",
    "created": "created_at",
}
PAGE_COLUMNS = {"state": "status", "reason": "reason", "code": "http_status", "tries": "attempts", "address": "url"}


def server_of(
    server: str | None, data_dir: Path | None, database_url: str | None, *, also_running: bool = False
) -> str | None:
    """The server that a command should ask: one that was named, or where that matters, the one on the same data."""
    from tarantella.services.seat import running
    from tarantella.settings import load

    settings = load(data_dir=data_dir, database_url=database_url, server=server)
    if settings.server is not None or not also_running:
        return settings.server
    there = running(settings.data_dir)
    return there.url if there is not None else None


class RemoteRuns(Frozen):
    """The runs of a server."""

    asking: Asking

    def list(self, status: str | None, limit: int) -> int:
        return self.asking.many(RUNS, COLUMNS, limit, "There are no such runs.", status=status)

    def show(self, run: str) -> int:
        return self._one(run, lambda server, path: server.ask("GET", path))

    def explain(self, run: str, url: str) -> int:
        return self._one(run, lambda server, path: server.ask("GET", f"{path}/explain", url=url))

    def steer(self, run: str, how: str) -> int:
        """Pause, resume, cancel or retry-failed."""
        return self._one(run, lambda server, path: server.ask("POST", f"{path}/{how}"), briefly=True)

    def delete(self, run: str, confirmed: Callable[[str], bool]) -> int:
        """Delete a run, once it was shown which one is meant."""
        with self._connected() as server:
            path = _path(server, run)
            found = server.ask("GET", path)
            pages = words.count(found["counts"]["total"], "page")
            told = words.clean(f"run {words.short_id(found['id'])} at {server.server}: {pages}")
            if not confirmed(told):
                server.terminal.say("Nothing was deleted.")
                return 0
            server.ask("DELETE", path)
            if self.asking.as_json:
                server.terminal.show_json({"id": found["id"], "deleted": True})
            else:
                server.terminal.say(f"Deleted {told}.")
        return 0

    def pages(self, run: str, state: str | None, reason: str | None, limit: int) -> int:
        with self._connected() as server:
            found = server.listed(f"{_path(server, run)}/pages", limit, status=state, reason=reason)
            if self.asking.as_json:
                server.terminal.show_json(found)
            else:
                show_table(server.terminal, found, PAGE_COLUMNS, "The run has no such pages.")
        return 0

    def events(self, run: str, *, follow: bool) -> int:
        with self._connected() as server:
            path = f"{_path(server, run)}/events"
            if self.asking.as_json and not follow:
                server.terminal.show_json(server.listed(path, sys.maxsize))
                return 0
            for event in streamed(server, f"{path}/stream") if follow else server.listed(path, sys.maxsize):
                if self.asking.as_json:
                    server.terminal.show_line(event)
                else:
                    server.terminal.show(told_event(event))
        return 0

    def progress(self, run: str, *, follow: bool) -> int:
        with self._connected() as server:
            path = f"{_path(server, run)}/progress"
            if not follow:
                found = server.ask("GET", path)
                if self.asking.as_json:
                    server.terminal.show_json(found)
                else:
                    show_lines(server.terminal, found)
                return 0
            for told in streamed(server, f"{path}/stream"):
                if self.asking.as_json:
                    server.terminal.show_line(told)
                else:
                    server.terminal.show(_progress_line(told))
        return 0

    def export(self, run: str, format_: str | None, output: str | None) -> int:
        """Write the records to a file, which appears when all of them are there, or to stdout."""
        from tarantella.services.export_stream import MEDIA_TYPES

        name = _format(format_, output)
        kind = MEDIA_TYPES.get(name, "").partition(";")[0]  # of what we don't know, the server knows whether it does
        with self._connected() as server:
            run_id = found_run(server, run)
            chunks = server.download(f"{RUNS}/{run_id}/export", kind, format=name)
            if output == "-":
                for chunk in chunks:
                    sys.stdout.buffer.write(chunk)
                sys.stdout.buffer.flush()
                return 0
            path = Path(output) if output is not None else Path(f"{run_id}.{name}")
            size = written(path, chunks)
            if self.asking.as_json:
                server.terminal.show_json({"run_id": run_id, "format": name, "bytes": size, "output": str(path)})
            else:
                server.terminal.say(f"{words.size(size)} in {words.nearby(path)}")
        return 0

    def reextract(
        self, run: str, wanted: dict[str, Any], text: str | None, format_: str | None, output: str | None
    ) -> int:
        """Look for other fields in the pages of a run, and write the records if that is asked for."""
        _format(format_, output)  # what is wrong with it is told before there is a new run
        body = {**wanted, **({"text": text} if text is not None else {})}
        with self._connected() as server:
            new = server.ask("POST", f"{_path(server, run)}/re-extract", body)
            if format_ is None and output is None:
                if self.asking.as_json:
                    server.terminal.show_json(new)
                else:
                    server.terminal.say(f"Run {words.short_id(new['id'])}: {words.count(new['records'], 'record')}.")
                return 0
        return self.export(str(new["id"]), format_, output)

    def _one(self, run: str, ask: Callable[[Connection, str], Any], *, briefly: bool = False) -> int:
        with self._connected() as server:
            found = ask(server, _path(server, run))
            if self.asking.as_json:
                server.terminal.show_json(found)
            elif briefly:
                seen = found.get("run", found)
                told = f"Run {words.short_id(seen['id'])} is {seen['status']} at {server.server}."
                server.terminal.say(words.clean(told))
            else:
                show_lines(server.terminal, found)
        return 0

    def _connected(self) -> Any:
        asking = self.asking
        return connected(asking.data_dir, asking.database_url, asking.server, verbose=asking.verbose)


GOES_ON = "the server goes on with the run; when it is over, `tarantella export` writes its records"
FETCHES = "it is the server that fetches"


def refuse(because: str, **options: object) -> None:
    """Options that mean nothing where a server does the work: said, not dropped in silence."""
    for name, value in options.items():
        if value:
            option = name.replace("_", "-")
            raise InvalidInput(f"--{option} means nothing here: {because}.", field=option, remedy="Leave it out.")


def _format(given: str | None, output: str | None) -> str:
    """The format that was asked for, by its name or by that of the file."""
    from tarantella.exporters.export import check_ending, format_of

    if given is not None or output is None:
        return given or USUAL_FORMAT
    check_ending(output)
    return format_of(output) or USUAL_FORMAT


def _path(server: Connection, run: str) -> str:
    return f"{RUNS}/{part(found_run(server, run))}"


def found_run(server: Connection, text: str) -> str:
    """The id of the run that is meant."""
    return meant(server, named.RUNS, text)


def streamed(server: Connection, path: str) -> Iterator[dict[str, Any]]:
    """Events as they happen, until all is over."""
    kind, rest = "", b""
    for chunk in server.download(path, "text/event-stream"):
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            name, _, value = line.decode("utf-8", "replace").partition(": ")
            if name == "event":
                kind = value
            elif name == "data" and kind == "end":
                return
            elif name == "data":
                told = understood(value)
                yield from told if isinstance(told, list) else [told]
            elif not line:
                kind = ""


def told_event(event: dict[str, Any]) -> Any:
    from tarantella.cli.listing import event_line

    at = datetime.fromisoformat(event["created_at"]).timestamp()
    return event_line({**event, "created_at": at})


def _progress_line(told: dict[str, Any]) -> str:
    counts = told["counts"]
    return f"{words.clean(told['phase'])}: {counts['done']:,} done, {counts['failed']:,} failed, {counts['pending']:,} to go"


def written(path: Path, chunks: Iterator[bytes]) -> int:
    part_of = path.with_name(f"{path.name}.part")
    size = 0
    try:
        with part_of.open("wb") as file:
            for chunk in chunks:
                size += file.write(chunk)
        part_of.replace(path)
    except OSError as error:
        raise InvalidInput(
            f"{path} can't be written: {error.strerror}.", field="output", remedy="Choose another file with --output."
        ) from None
    finally:
        with suppress(OSError):
            part_of.unlink()
    return size
