"""Runs, pages and events as tables for people."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from tarantella.cli import words
from tarantella.cli.reasons import refused_line, trap_lines
from tarantella.cli.styled import Styled
from tarantella.cli.terminal import grid
from tarantella.domain.field import Field
from tarantella.domain.reasons import in_words
from tarantella.domain.trap import TrapLimits

if TYPE_CHECKING:
    from tarantella.services.runs import Run

STATUS_STYLES: Mapping[str, str] = {
    "completed": "green",
    "done": "green",
    "partial": "yellow",
    "paused": "yellow",
    "skipped": "yellow",
    "failed": "red",
    "running": "cyan",
    "error": "red",
    "warn": "yellow",
}
# What a run was told, in the order in which people ask for it; the rest is in --json.
TOLD_OF_SPEC = (
    "depth",
    "max_pages",
    "scope",
    "include",
    "exclude",
    "sitemaps",
    "concurrency",
    "per_host",
    "delay",
    "deadline_seconds",
    "attempts",
    "obey_robots",
    "user_agent",
    "allow_networks",
    "text",
    "keep_bodies",
)
WIDEST_REASON = 30
WIDEST_START, NARROW_START = 34, 13
SAMPLES = 2


def runs_table(runs: Sequence[Run], *, wide: bool, ellipsis: str) -> Table:
    """One line a run; on a narrow terminal without what can be had from `runs show`."""
    columns = ["run", "status", "start", "done", "failed", "skip", "left"]
    columns += ["records", "started", "took", "disk"] if wide else ["took"]
    table = grid(*columns, right=(3, 4, 5, 6, 7, 9, 10) if wide else (3, 4, 5, 6, 7))
    for run in runs:
        counts = run.counts
        reason = f"({_short_reason(run)})" if run.reason and not run.is_over else ""
        status = (" " if wide else "\n").join(filter(None, (run.status.value, reason)))
        start = words.host_of(run.roots[0]) if run.roots else ""
        cells: list[Any] = [
            words.short_id(run.id),
            Text(status, style=STATUS_STYLES.get(run.status, "")),
            words.shortened(start, WIDEST_START if wide else NARROW_START, ellipsis),
            words.count(counts.done),
            words.count(counts.failed),
            words.count(counts.skipped),
            words.count(counts.pending),
        ]
        took = words.duration(lasted(run)) if run.started_at else ""
        if wide:
            cells += [
                words.count(run.records),
                words.when(run.started_at or run.created_at),
                took,
                words.size(run.disk_bytes),
            ]
        else:
            cells.append(took)
        table.add_row(*cells)
    return table


def lasted(run: Run) -> float:
    """Seconds from its start to its end, to its pause, or to now."""
    if run.started_at is None:
        return 0.0
    return max(0.0, (run.finished_at or run.paused_at or time.time()) - run.started_at)


def _short_reason(run: Run) -> str:
    """The first words of it: `interrupted`, `paused by the user`, `waits for …`."""
    return words.clean(run.reason or "").partition(":")[0][:WIDEST_REASON]


def run_lines(
    run: Run, troubles: Sequence[Mapping[str, Any]], exports: Sequence[str]
) -> Iterator[Table | Text | Styled]:
    """All about one run."""
    yield Text.assemble("Run ", (run.id, "bold"))
    yield _fact(
        "status",
        Text(run.status.value, style=STATUS_STYLES.get(run.status, "")).append(
            f" ({words.clean(run.reason)})" if run.reason else "", style=""
        ),
    )
    for number, url in enumerate(run.roots[:5]):
        yield _copied("start" if number == 0 else "", words.clean(url))
    if len(run.roots) > 5:
        yield _fact("", f"and {words.count(len(run.roots) - 5)} more")
    yield _fact("pages", words.sum_of(run.counts))
    yield _fact("records", words.count(run.records))
    yield _fact("requests", words.cost(run.cost))
    yield _fact("created", words.when(run.created_at))
    if run.started_at:
        yield _fact("started", f"{words.when(run.started_at)}, took {words.duration(lasted(run))}")
    if run.deadline_at and not run.is_over:
        yield _fact("deadline", words.when(run.deadline_at))
    yield _fact("disk", f"about {words.size(run.disk_bytes)}")
    for number, path in enumerate(exports):
        yield _copied("exported" if number == 0 else "", path)
    yield _fact("options", ", ".join(_told(run)))
    for number, each in enumerate(run.coverage):
        needed = ", required" if each.required else ""
        lacks = f"{words.count(each.missing)} without it, {words.count(each.unfit)} with something else"
        yield _fact("fields" if number == 0 else "", f"{each.name}: {each.share:.0%} of records ({lacks}{needed})")
    yield from trouble_lines(troubles)
    if (line := refused_line(run.refused)) is not None:
        yield Text()
        yield Text(line)
        for reason, entry in run.refused.items():
            for sample in entry["samples"][:SAMPLES]:
                yield Text(f"  {reason}: {words.clean(sample)}", style="dim")
    yield from (Text(line, style="yellow") for line in trap_lines(run.traps))


def _fact(name: str, value: str | Text) -> Table:
    """A name and its value; what does not fit behind it goes on below it."""
    fact = grid("", "", flexible=1)
    fact.add_row(Text(f"  {name:<8}", style="dim"), value)
    return fact


def _copied(name: str, value: str) -> Styled:
    """The same for what is to be copied, and would be of no use in two parts."""
    return Styled("  ", (f"{name:<10}", "dim"), value)


def _told(run: Run) -> Iterator[str]:
    spec = run.spec
    for name in TOLD_OF_SPEC:
        value = getattr(spec, name)
        if name == "depth":
            yield f"depth {value if value is not None else 'all'}"
        elif value not in (None, (), "", False) or name in ("delay",):
            shown = (
                " ".join(words.clean(str(each)) for each in value)
                if isinstance(value, tuple)
                else f"{value:g}"
                if isinstance(value, float)
                else value
            )
            yield f"{name} {shown}" if value is not True else name
    yield f"strategy {spec.wish}"
    if spec.traps != TrapLimits():
        yield f"trap limits {spec.traps}"
    yield from (_place(place) for place in (spec.item, spec.pagination) if place is not None)
    yield from (f"field {_place(field)}" for field in spec.fields)
    if spec.secrets.headers:
        yield f"headers {', '.join(spec.secrets.headers)} (values hidden)"
    if spec.secrets.cookies:
        yield f"{len(spec.secrets.cookies)} cookies (hidden)"
    if spec.secrets.proxy:
        yield f"proxy {words.clean(spec.secrets.proxy)}"


def _place(field: Field) -> str:
    r"""A field and where it is looked for: `price=.price`, `link=a@href`, `sku (xpath //b, regex \d+)`."""
    selectors = {kind: words.clean(text) for kind, text in field.selectors.items()}
    css = f"={selectors.pop('css')}{f'@{field.attr}' if field.attr else ''}" if field.css else ""
    more = f" ({', '.join(f'{kind} {text}' for kind, text in selectors.items())})" if selectors else ""
    parts = f" {{{', '.join(map(_place, field.fields))}}}" if field.fields else ""
    return f"{field.name}{css}{more}{parts}"


def trouble_lines(troubles: Sequence[Mapping[str, Any]]) -> Iterator[Text]:
    """What failed or was skipped, by reason."""
    if not troubles:
        return
    yield Text()
    for trouble in troubles:
        yield Text.assemble(
            (f"{trouble['state']:<8}", STATUS_STYLES.get(trouble["state"], "")),
            f"{words.count(trouble['count']):>7}  {in_words(trouble['reason'])} ",
            (f"({trouble['reason']})", "dim"),
        )
        detail = f"  {words.clean(trouble['detail'])}" if trouble["detail"] else ""
        yield Text(f"{'':17}{words.clean(trouble['example'] or '')}{detail}", style="dim")


def pages_table(pages: Sequence[Mapping[str, Any]]) -> Table:
    table = grid("state", "reason", "code", "tries", "address", right=(2, 3), flexible=4)
    for page in pages:
        table.add_row(
            Text(page["state"], style=STATUS_STYLES.get(page["state"], "")),
            page["reason"] or "",
            str(page["status"] or ""),
            str(page["charged"]),
            words.clean(page["url"]),
        )
    return table


def event_line(event: Mapping[str, Any]) -> Text:
    """One line of a run's history."""
    facts = ", ".join(words.clean(f"{name}={_plain(value)}") for name, value in event["meta"].items())
    return Text.assemble(
        (f"{event['sequence']:>5}  {words.when(event['created_at'])}  ", "dim"),
        (f"{words.clean(event['level']):<5}", STATUS_STYLES.get(event["level"], "")),
        f"  {words.clean(event['message'])}",
        (f"  {facts}" if facts else "", "dim"),
    )


def _plain(value: Any) -> str:
    """A value in one line; what has parts is in brackets, so that each can be told from what is beside it."""
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{name}={_plain(inner)}' for name, inner in value.items())}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(_plain, value))}]"
    return f"{value:g}" if isinstance(value, float) else str(value)
