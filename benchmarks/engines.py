"""How many pages a second with several processes: a crawl over several hosts that link to one another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from benchmarks import comparison
from benchmarks.contestants.registry import BARE_LOOP, LOOPS, TARANTELLA, named
from benchmarks.contract import Benchmark, Findings, Setting, Wish
from benchmarks.rig import nginx, site
from benchmarks.rig.measure import Measurement
from benchmarks.rounds import Entry, run_rounds, serving

WANTED = 0.6
HOW = """\
{hosts} hosts (127.0.0.1, 127.0.0.2 and so on, the same nginx) whose pages link to one another. Everybody starts from one
page of each host. `tarantella scrape --engines {engines}` crawls all of them as one run, into one database and one file;
each of the {engines} bare loops crawls its share of the hosts, leaves links to the others alone, and writes a file of its
own. Pages/s are those of all processes together; concurrency is {concurrency} for all of them together."""


def run(setting: Setting) -> Findings:
    if (reason := _missing(setting)) is not None:
        return Findings([], [], absent={"engines": reason})
    tarantella = named(TARANTELLA)
    several = replace(tarantella, describes=f"`tarantella scrape --engines {setting.engines}`")
    single = replace(tarantella, name=f"{TARANTELLA}-1", describes="the same with one process")
    loop = replace(named(BARE_LOOP), describes="one bare loop on all hosts")
    with serving(_shape(setting), setting.work_dir) as served:
        entries = [
            Entry(LOOPS, served, processes=setting.engines),
            Entry(several, served, processes=setting.engines),
            Entry(loop, served),
            Entry(single, served),
        ]
        measurements = run_rounds(entries, setting, setting.rounds)
    tables = [
        comparison.costs([entry.contestant for entry in entries], measurements, together=True),
        comparison.standing(TARANTELLA, measurements),
    ]
    return Findings(
        tables=[table for table in tables if table],
        raw=comparison.raw(measurements),
        wishes=_wishes(measurements),
        notes=[HOW.format(hosts=setting.hosts, engines=setting.engines, concurrency=setting.concurrency)],
        complaints=comparison.complaints(measurements),
    )


def _wishes(measurements: Sequence[Measurement]) -> list[Wish]:
    ratio = comparison.median_ratio(TARANTELLA, LOOPS.name, measurements)
    if ratio is None:
        return []
    return [Wish("Tarantella's pages/s ÷ those of as many bare loops", ratio, WANTED, at_most=False)]


def _missing(setting: Setting) -> str | None:
    for contestant in (LOOPS, named(TARANTELLA)):
        if reason := contestant.missing():
            return f"{contestant.name} can't run: {reason}"
    if nginx.free_port(setting.hosts) is None:
        return (
            f"this system has no {site.loopback(setting.hosts - 1)}: give its loopback that address, or fewer --hosts"
        )
    return None


def _shape(setting: Setting) -> site.Shape:
    """A site whose links name a port that is free now: that of the last time, if it is."""
    before = site.port_before(setting.pages, setting.hosts, setting.work_dir)
    port = (nginx.free_port(setting.hosts, before) if before else None) or nginx.free_port(setting.hosts)
    if port is None:
        raise nginx.NginxError(f"no port is free on {setting.hosts} hosts at once: try again")
    return site.Shape(setting.pages, setting.hosts, port)


BENCHMARK = Benchmark("engines", "What do several processes bring, beside as many bare loops?", run)
