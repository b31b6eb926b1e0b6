"""Run the benchmarks: python -m benchmarks."""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from types import FrameType

from benchmarks.contestants.registry import CONTESTANTS
from benchmarks.contract import Benchmark, Findings, Setting, say
from benchmarks.machine import Machine
from benchmarks.registry import BENCHMARKS
from benchmarks.report import Report, whole
from benchmarks.rig.command import CommandFailed
from benchmarks.rig.measure import REPOSITORY
from benchmarks.rig.nginx import NginxError

# The benchmark in which the contestants that `--only` names take part.
OF_CONTESTANTS = "crawl"


def main(words: Sequence[str] | None = None) -> None:
    options = _options(words)
    if options.what == "list":
        _list()
        return
    setting = _setting(options)
    setting.work_dir.mkdir(parents=True, exist_ok=True)
    try:
        with _leaving_in_order():
            reports = _run(_chosen(options.only), setting)
    except NginxError as error:
        sys.exit(f"error: {error}")
    output: Path = options.output.resolve() if options.output else setting.work_dir / "report.md"
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(whole(reports))
    say(f"written to {output}")
    if any(report.findings.complaints for report in reports):
        sys.exit(1)


def _options(words: Sequence[str] | None) -> argparse.Namespace:
    names = [*(one.name for one in BENCHMARKS), *(one.name for one in CONTESTANTS)]
    defaults = {field.name: field.default for field in fields(Setting)}
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description="How fast Tarantella is. `list` tells what there is to run."
    )
    parser.add_argument("what", nargs="?", choices=("run", "list"), default="run", help=argparse.SUPPRESS)
    parser.add_argument(
        "--only", nargs="+", choices=names, metavar="NAME", help="benchmarks, or contestants of `crawl`"
    )
    for name, text in (
        ("pages", "pages of the site"),
        ("scrapy-pages", "pages of the smaller site for Scrapy"),
        ("crawlee-pages", "pages of the smaller site for Crawlee"),
        ("many", "pages, runs and events where it is about very many: memory, resume, lists"),
        ("rounds", "how often everybody crawls"),
        (
            "repetitions",
            "how often what is short is repeated: first-request, resume; lists 20 times as often; api for as many seconds",
        ),
        ("concurrency", "requests in flight"),
        ("engines", "processes in `engines`"),
        ("hosts", "hosts in `engines`"),
    ):
        default = defaults[name.replace("-", "_")]
        parser.add_argument(
            f"--{name}", type=_positive, default=default, metavar="N", help=f"{text} (default {default})"
        )
    parser.add_argument("--text", choices=("none", "fast"), default=defaults["text"], help="extract each page's text?")
    parser.add_argument("--output", type=Path, metavar="FILE.md", help="default: report.md in the work directory")
    parser.add_argument("--work-dir", type=Path, default=REPOSITORY / "data" / "bench", help="default: data/bench")
    return parser.parse_args(words)


def _positive(text: str) -> int:
    if (number := int(text)) < 1:
        raise argparse.ArgumentTypeError(f"{number} is too small: give 1 or more")
    return number


def _list() -> None:
    for benchmark in BENCHMARKS:
        print(f"{benchmark.name:15} {benchmark.asks}")
        if benchmark.name == OF_CONTESTANTS:
            for contestant in CONTESTANTS:
                reason = contestant.missing()
                print(f"  {contestant.name:13} {contestant.describes}{f' ({reason})' if reason else ''}")


@contextmanager
def _leaving_in_order() -> Iterator[None]:
    """An exception instead of a sudden death, so that nginx and the contestant are stopped on the way out."""

    def leave(number: int, _frame: FrameType | None) -> None:
        sys.exit(128 + number)

    before = {number: signal.signal(number, leave) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _setting(options: argparse.Namespace) -> Setting:
    given = {field.name: getattr(options, field.name) for field in fields(Setting) if hasattr(options, field.name)}
    contestants = tuple(one.name for one in CONTESTANTS if one.name in (options.only or ()))
    return Setting(**{**given, "work_dir": options.work_dir.resolve(), "contestants": contestants})


def _chosen(only: Sequence[str] | None) -> list[Benchmark]:
    if not only:
        return list(BENCHMARKS)
    # Who names contestants and no benchmark wants to see them crawl.
    names = {name if any(name == one.name for one in BENCHMARKS) else OF_CONTESTANTS for name in only}
    return [one for one in BENCHMARKS if one.name in names]


def _run(chosen: Sequence[Benchmark], setting: Setting) -> list[Report]:
    """Run them one after the other; what each found is written and shown as soon as it is known."""
    machine = Machine.here()
    reports = []
    for benchmark in chosen:
        say(f"== {benchmark.name}: {benchmark.asks}")
        try:
            findings = benchmark.run(setting)
        except CommandFailed as error:
            # The others can still be run, and what they find is worth knowing.
            findings = Findings([], [], complaints=[str(error)])
        report = Report(benchmark, setting, machine, findings)
        (setting.work_dir / f"{benchmark.name}.json").write_text(report.as_json())
        print(report.as_markdown(with_notes=False), flush=True)
        reports.append(report)
    return reports


if __name__ == "__main__":
    main()
