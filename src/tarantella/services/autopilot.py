"""The loop that nobody has to watch: looks for gaps, fills them, looks again, waits, and begins anew."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

from tarantella.domain.autopilot import BEATS_EVERY, Flight, Phase
from tarantella.domain.errors import TarantellaError
from tarantella.domain.struct import Frozen, replace
from tarantella.log import log
from tarantella.services import queue, reconciliation, scrapers_file
from tarantella.services.app import App
from tarantella.services.filling import USUAL_AT_ONCE, Filled, Look, Summary, Watcher, fill
from tarantella.services.foreground import Interrupt
from tarantella.services.logbook import Logbook
from tarantella.services.queue import Plan, StoredGap, TakenIn
from tarantella.services.reconciliation import Looking

LOOK_SECONDS = 1.0  # how often the file of gaps is looked at while it waits


class Course(Frozen):
    """What an autopilot is told when it starts."""

    looking: Looking = Looking()
    scraper_config: Path = scrapers_file.USUAL
    interval_seconds: float = 3_600.0
    at_once: int = USUAL_AT_ONCE
    dry_run: bool = False
    once: bool = False
    port: int | None = None


class Autopilot:
    """One loop on one data directory."""

    def __init__(self, app: App, course: Course, logbook: Logbook, watcher: Watcher, interrupt: Interrupt) -> None:
        now = app.now()
        self._app = app
        self._course = course
        self._logbook = logbook
        self._watcher = watcher
        self._interrupt = interrupt
        self._seen: tuple[int, int] | None = None  # the file of gaps, as it was when it was read last
        self._is_unwritten = False
        self.flight = Flight(
            os.getpid(), app.hostname, now, now, Phase.WAITING, now, now, course.interval_seconds, port=course.port
        )

    async def run(self) -> Summary | None:
        """Until it is told to stop, or once; what came of the last cycle, if it could be done."""
        beating = asyncio.create_task(self._beat())
        try:
            while True:
                self._logbook.cut_log()
                summary = await self._cycle()
                if self._course.once or self._interrupt.is_set:
                    return summary
                await self._wait()
                if self._interrupt.is_set:
                    return summary
        finally:
            beating.cancel()
            self._tell(phase=Phase.STOPPED, next_at=None)

    # -- one cycle

    async def _cycle(self) -> Summary | None:
        try:
            summary, told = await self._fly()
        except TarantellaError as error:
            # Somebody may mend the file, or the disk; the next cycle sees.
            log.error("A cycle could not be done", action="cycle_failed", error=str(error))
            trouble = str(error)
        except Exception as error:  # a defect of ours must not end what nobody watches
            log.exception("A cycle went wrong", action="cycle_failed", error=str(error))
            trouble = f"{type(error).__name__}: {error}"
        else:
            return self._done(summary, told)
        self._tell(failed_cycles=self.flight.failed_cycles + 1, trouble=trouble, cycles=self.flight.cycles + 1)
        return None

    def _done(self, summary: Summary | None, told: dict[str, object]) -> Summary | None:
        self._tell(failed_cycles=0, trouble=told.pop("trouble"), cycles=self.flight.cycles + 1, last=told)
        log.info(
            "A cycle is done", action="cycle_done", **{name: told[name] for name in ("completed", "failed", "missing")}
        )
        return summary

    async def _fly(self) -> tuple[Summary | None, dict[str, object]]:
        file = self._course.looking.output
        # Before it is read: whoever writes it while scripts are running is heard afterwards.
        self._seen = _state(file)
        before = await self._look()
        plan = queue.make_plan(file, self._course.scraper_config)
        if self._course.dry_run:
            told = plan.to_json()
            return None, {
                "at": self._app.now(),
                "completed": 0,
                "failed": 0,
                "missing": told["total"],
                "trouble": before,
            }
        self._phase(Phase.FILLING)
        summary = await fill(
            self._app, plan, at_once=self._course.at_once, watcher=_Telling(self, plan), interrupt=self._interrupt
        )
        trouble = await self._look() if not self._interrupt.is_set else None
        left = await self._left()
        return summary, {
            "at": self._app.now(),
            **{name: summary.to_json(plan)[name] for name in ("completed", "failed", "left", "duration_seconds")},
            "missing": left,
            "trouble": trouble or before,
        }

    async def _look(self) -> str | None:
        """Look for gaps, where somebody has said what should be there; what went wrong with it."""
        if not self._course.looking.is_possible or self._course.dry_run:
            return None
        self._phase(Phase.SCANNING)
        found = await reconciliation.reconcile(self._app, self._course.looking)
        if found.taken is not None:
            self._seen = _state(self._course.looking.output)
        return found.problems[0] if found.problems else None

    async def _left(self) -> int:
        """How much is missing as far as anybody knows: all that no scan has found filled."""
        found = (await queue.counts(self._app)).get(queue.queue_of(self._course.looking.output))
        if found is None:
            return 0
        return sum(number for status, number in found.by_status.items() if status is not queue.GapStatus.RESOLVED)

    # -- between cycles

    async def _wait(self) -> None:
        """Until its time has come, the file of gaps has changed, or it is told to stop."""
        self._phase(Phase.WAITING, next_at=self._app.now() + self._course.interval_seconds)
        ends_at = asyncio.get_running_loop().time() + self._course.interval_seconds
        while (left := ends_at - asyncio.get_running_loop().time()) > 0:
            try:
                async with asyncio.timeout(min(left, LOOK_SECONDS)):
                    await self._interrupt.wait()
                return
            except TimeoutError:
                if _state(self._course.looking.output) != self._seen:
                    log.info("The file of gaps has changed", action="triggered")
                    return

    # -- what it tells

    async def _beat(self) -> None:
        while True:
            self._tell()
            await asyncio.sleep(BEATS_EVERY)

    def _phase(self, phase: Phase, **more: float | None) -> None:
        now = self._app.now()
        self._tell(phase=phase, since=now, progress_at=now, **{"next_at": None, **more})

    def _tell(self, **changes: object) -> None:
        self.flight = replace(self.flight, beat_at=self._app.now(), **changes)
        try:
            self._logbook.write(self.flight)
            self._is_unwritten = False
        except OSError as error:
            if not self._is_unwritten:  # it is tried again with every beat
                log.warning("The autopilot's state can't be written", action="unwritten", error=str(error))
            self._is_unwritten = True

    def progressed(self, **changes: object) -> None:
        """Something has begun or ended."""
        self._tell(progress_at=self._app.now(), **changes)

    def looked(self, **changes: object) -> None:
        self.flight = replace(self.flight, **changes)


class _Telling(Watcher):
    """Tells the logbook what happens, and whoever else wants to know."""

    def __init__(self, pilot: Autopilot, plan: Plan) -> None:
        self._pilot = pilot
        self._plan = plan
        self._patience: dict[str, float] = {}
        self._other = pilot._watcher

    def taken_in(self, plan: Plan, taken: TakenIn) -> None:
        self._other.taken_in(plan, taken)

    def began(self, gap: StoredGap, command: list[str]) -> None:
        scraper = self._plan.scrapers.by_name[gap.scraper]
        self._patience[gap.id] = scraper.seconds_for(gap.gap)
        self._pilot.progressed(patience=max(self._patience.values()))
        self._other.began(gap, command)

    def filled(self, filled: Filled) -> None:
        self._patience.pop(filled.gap.id, None)
        self._pilot.progressed(patience=max(self._patience.values(), default=0.0))
        self._other.filled(filled)

    def looked(self, look: Look) -> None:
        self._pilot.looked(running=look.running, left=look.left, eta_seconds=look.eta_seconds)
        if not look.running and (look.next_in or look.elsewhere):
            # All that is left waits for its next try, or for somebody else who is at its scraper: that takes as long as it takes.
            self._pilot.progressed(patience=look.next_in or 0.0)
        self._other.looked(look)


def _state(file: Path) -> tuple[int, int] | None:
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size
