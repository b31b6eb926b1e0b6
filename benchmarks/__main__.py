"""Run the comparison: python -m benchmarks."""

from __future__ import annotations

import argparse
import shutil
import signal
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from benchmarks import nginx, site
from benchmarks.contestants import CONTESTANTS, Contestant
from benchmarks.machine import Machine
from benchmarks.measure import REPOSITORY, Measurement, measure
from benchmarks.report import Report, Setting


@dataclass(frozen=True, slots=True)
class Served:
    """A site and where it is served."""

    site: site.Site
    base_url: str


def main() -> None:
    options = _options()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _leave)
    work_dir: Path = options.work_dir.resolve()
    output: Path = options.output.resolve() if options.output else work_dir / "report.md"
    output.parent.mkdir(parents=True, exist_ok=True)
    setting = Setting(
        pages=options.pages,
        scrapy_pages=min(options.scrapy_pages, options.pages),
        rounds=options.rounds,
        concurrency=options.concurrency,
        text=options.text,
    )
    chosen, absent = _choose(options.only)
    try:
        machine = Machine.here()
        measurements = _compare(chosen, setting, work_dir)
    except nginx.NginxError as error:
        sys.exit(f"error: {error}")
    report = Report(machine, setting, measurements, absent)
    output.write_text(report.as_markdown())
    output.with_suffix(".json").write_text(report.as_json())
    print(report.as_markdown())
    _say(f"written to {output} and {output.with_suffix('.json')}")
    if any(one.complaint for one in measurements):
        sys.exit(1)


def _options() -> argparse.Namespace:
    names = [contestant.name for contestant in CONTESTANTS]
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Crawl one site with each of them.")
    parser.add_argument("--pages", type=_positive, default=30_000, help="pages of the site (default %(default)s)")
    parser.add_argument(
        "--scrapy-pages",
        type=_positive,
        default=3_000,
        help="pages of the smaller site for Scrapy (default %(default)s)",
    )
    parser.add_argument("--rounds", type=_positive, default=3, help="default %(default)s")
    parser.add_argument("--only", nargs="+", choices=names, metavar="NAME", help=f"of {', '.join(names)}")
    parser.add_argument("--text", choices=("none", "fast"), default="none", help="extract each page's text?")
    parser.add_argument("--concurrency", type=_positive, default=64, help="default %(default)s")
    parser.add_argument("--output", type=Path, metavar="FILE.md", help="default: report.md in the work directory")
    parser.add_argument("--work-dir", type=Path, default=REPOSITORY / "data" / "bench", help="default: data/bench")
    return parser.parse_args()


def _positive(text: str) -> int:
    if (number := int(text)) < 1:
        raise argparse.ArgumentTypeError(f"{number} is too small: give 1 or more")
    return number


def _leave(number: int, _frame: FrameType | None) -> None:
    # An exception instead of a sudden death, so that nginx and the contestant are stopped on the way out.
    sys.exit(128 + number)


def _choose(only: Sequence[str] | None) -> tuple[list[Contestant], dict[str, str]]:
    """Who runs, and who can't and why; to ask for one by name that can't run is an error."""
    wanted = [one for one in CONTESTANTS if only is None or one.name in only]
    absent = {one.name: reason for one in wanted if (reason := one.missing())}
    for name, reason in absent.items():
        if only:
            sys.exit(f"error: {name} can't run: {reason}")
        _say(f"LEFT OUT: {name}: {reason}")
    return [one for one in wanted if one.name not in absent], absent


def _compare(chosen: Sequence[Contestant], setting: Setting, work_dir: Path) -> list[Measurement]:
    measurements: list[Measurement] = []
    with ExitStack() as stack:
        served: dict[int, Served] = {}
        for pages in sorted({_pages_for(contestant, setting) for contestant in chosen}):
            served[pages] = _serve(pages, work_dir, stack)
        for round_number in range(1, setting.rounds + 1):
            for contestant in chosen:
                one = _run(contestant, round_number, served[_pages_for(contestant, setting)], setting, work_dir)
                _say(_line(one))
                measurements.append(one)
    return measurements


def _pages_for(contestant: Contestant, setting: Setting) -> int:
    return setting.scrapy_pages if contestant.small_site else setting.pages


def _serve(pages: int, work_dir: Path, stack: ExitStack) -> Served:
    _say(f"preparing a site of {pages:,} pages")
    generated = site.prepare(site.Shape(pages), work_dir)
    base_url = stack.enter_context(nginx.serving(generated, work_dir))
    nginx.warm_up(generated, base_url)
    return Served(generated, base_url)


def _run(contestant: Contestant, round_number: int, served: Served, setting: Setting, work_dir: Path) -> Measurement:
    folder = work_dir / "run"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    out = folder / "pages.jsonl"
    start_url = served.base_url + served.site.first_path
    try:
        return measure(
            contestant.name,
            contestant.command(start_url, out, setting.concurrency, setting.text),
            round_number=round_number,
            site=served.site,
            base_url=served.base_url,
            out=out,
            timeout_seconds=contestant.timeout_seconds(served.site.shape.pages),
        )
    finally:
        # With text, a run leaves a gigabyte.
        shutil.rmtree(folder, ignore_errors=True)


def _line(one: Measurement) -> str:
    if one.complaint:
        return f"round {one.round}: {one.contestant}: NOT COMPLETE: {one.complaint}"
    return (
        f"round {one.round}: {one.contestant}: {one.pages_per_second:,.0f} pages/s, "
        f"{one.wall_seconds:.1f} s, {one.cpu_seconds:.1f} s CPU, {one.peak_bytes / 1e6:.0f} MB"
    )


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
