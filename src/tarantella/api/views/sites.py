"""Hosts, as clients see them."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal, Self

from pydantic import ConfigDict, Field, model_validator

from tarantella.api.views.base import Flag, Number, Said, Told, Whole, moment
from tarantella.domain.strategy import HTTP
from tarantella.services import sites
from tarantella.services.app import App
from tarantella.services.sites import Site

PerHost = Annotated[
    Whole | None, Field(ge=1, le=1_000, description="Requests in flight at most; null leaves it to the runs.")
]
Delay = Annotated[
    Number | None,
    Field(ge=0, le=3_600, description="Seconds between two requests at least; null leaves it to the runs."),
]
MaxRate = Annotated[
    Number | None, Field(ge=0.001, le=1_000, description="Requests a second at most; null leaves it to the runs.")
]
Parts = Annotated[
    Whole | None,
    Field(
        ge=1,
        le=64,
        description="Parts that a busy host is split in, so that several workers can be at it, each with its share of the "
        "limits; null is one.",
    ),
]
ObeyRobots = Annotated[Flag, Field(description="Whether robots.txt is obeyed here even by runs that don't otherwise.")]
Strategy = Annotated[
    Literal["auto", "http", "browser"] | None,
    Field(
        description="How its pages are fetched by runs that leave it to us; with `http`, nothing goes on to the browser either. "
        "`auto` or null goes by what the site has taught."
    ),
]
Paused = Annotated[Flag, Field(description="Whether nothing is asked of it; its pages wait.")]


class PolicyView(Told):
    """What a host may be asked."""

    per_host: PerHost
    delay: Delay
    max_rate: MaxRate
    obey_robots: ObeyRobots
    paused: Paused
    strategy: str | None = Field(description="`http` or `browser` where it is pinned; null goes by what it has taught.")
    parts: Parts
    updated_at: datetime | None = Field(description="When somebody last changed it; null when nobody has.")


class PolicyChange(Said):
    """What should be different; what is left out stays as it is."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"per_host": 2, "delay": 1.5}, {"paused": True}, {"strategy": "browser"}]}
    )

    per_host: PerHost = None
    delay: Delay = None
    max_rate: MaxRate = None
    obey_robots: ObeyRobots = False
    paused: Paused = False
    strategy: Strategy = None
    parts: Parts = None

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if not self.model_fields_set:
            raise ValueError(
                "it should name at least one of per_host, delay, max_rate, obey_robots, paused, strategy, parts"
            )
        return self


class BreakerView(Told):
    """After five failures in a row a host is left alone for 300 s, then probed once."""

    state: str = Field(description="`closed`, `open` or `half_open`.", examples=["closed"])
    failures: int = Field(description="Failures in a row.")
    open_until: datetime | None = Field(description="When it is probed next, while it is open.")
    failed_probes: int = Field(description="Probes in a row that failed; after three, pages that wait are closed.")


class ThrottleView(Told):
    """How many requests at a time it was found to take, when it was last at work."""

    slots: float | None = Field(description="Requests in flight that it gets; it starts with one.")
    limit: int | None = Field(description="The most that it may get: the strictest of its policy and the runs.")
    delay_seconds: float | None = Field(description="Between two requests, with what its robots.txt asks for.")
    usual_ms: float | None = Field(description="How long an answer usually takes.")
    waits_until: datetime | None = Field(description="When it may be asked again, if it asked for a pause.")


class ErrorsView(Told):
    """How often it failed."""

    requests: int = Field(description="Requests since it is known.")
    failures: int = Field(description="Of them, those that failed.")
    by_code: dict[str, int] = Field(description="The failures, by code.", examples=[{"timeout": 3}])
    recent_rate: float | None = Field(
        description="The share of the last minutes' requests that failed; null when there were none."
    )
    last_ok_at: datetime | None
    last_failed_at: datetime | None


class ExperienceView(Told):
    """What was seen of one strategy at a host."""

    pages: int = Field(description="Pages that it gave.")
    refused: dict[str, int] = Field(
        description="How often it was refused, by code; `different` is a recheck that gave other records.",
        examples=[{"blocked": 3}],
    )
    recent_refused_share: float = Field(description="Of the last tries, the share that was refused.")
    last_seen_at: datetime
    last_url: str
    last_run_id: str


class LearnedView(Told):
    """The cheapest strategy that works for a host, and how that is known."""

    strategy: str | None = Field(description="`http` or `browser`; null while too little is known.", examples=["http"])
    why: str | None
    seen_at: datetime | None = Field(description="When that was last seen.")
    expires_at: datetime | None = Field(description="When it is forgotten, unless it is seen again.")
    evidence: dict[str, ExperienceView] = Field(description="What was seen, by strategy.")


class SiteView(Told):
    """A host."""

    host: str = Field(examples=["example.com"])
    health: str = Field(
        description="`unknown`, `ok`, `degraded` (a tenth fails), `failing` (half fails), `blocked` (by its breaker) or `paused`.",
        examples=["ok"],
    )
    policy: PolicyView
    breaker: BreakerView
    throttle: ThrottleView
    errors: ErrorsView
    strategy: str = Field(
        description="With what pages start that runs leave to us: as pinned, or as learned, else `http`.",
        examples=["http"],
    )
    learned: LearnedView
    waiting_runs: int = Field(description="Runs that have pages to be fetched here.")
    is_at_work: bool = Field(description="Whether a worker works on it now.")

    @classmethod
    def of(cls, app: App, site: Site) -> Self:
        now = app.now()
        learned = _learned(app, site)
        policy, breaker, rate = site.policy, site.breaker, sites.error_rate(site, now)
        return cls(
            host=site.host,
            health=sites.health(site, now).value,
            policy=PolicyView(
                per_host=policy.per_host,
                delay=policy.delay,
                max_rate=policy.max_rate,
                obey_robots=policy.obey_robots,
                paused=policy.paused,
                strategy=policy.strategy,
                parts=policy.parts,
                updated_at=moment(site.policy_at),
            ),
            breaker=BreakerView(
                state=breaker.state.value,
                failures=breaker.failures,
                open_until=_later(breaker.open_until, now),
                failed_probes=breaker.failed_probes,
            ),
            throttle=ThrottleView(
                slots=site.slots,
                limit=site.slots_limit,
                delay_seconds=site.delay,
                usual_ms=None if site.usual_ms is None else round(site.usual_ms, 1),
                waits_until=_later(site.not_before, now),
            ),
            errors=ErrorsView(
                requests=site.requests,
                failures=site.failures,
                by_code=dict(site.codes),
                recent_rate=None if rate is None else round(rate, 4),
                last_ok_at=moment(site.last_ok_at),
                last_failed_at=moment(site.last_failed_at),
            ),
            strategy=policy.strategy or learned.strategy or HTTP.name,
            learned=learned,
            waiting_runs=site.waiting_runs,
            is_at_work=site.owner is not None,
        )


def _learned(app: App, site: Site) -> LearnedView:
    found, until = site.learned, sites.learned_until(app, site)
    if until is not None and until <= app.now():
        found = until = None
    return LearnedView(
        strategy=found.strategy if found is not None else None,
        why=found.why if found is not None else None,
        seen_at=moment(found.at) if found is not None else None,
        expires_at=moment(until),
        evidence={
            name: ExperienceView(
                pages=seen.ok,
                refused=dict(seen.refused),
                recent_refused_share=round(seen.share, 4),
                last_seen_at=moment(seen.at),
                last_url=seen.url,
                last_run_id=seen.run_id,
            )
            for name, seen in site.evidence.items()
        },
    )


def _later(at: float, now: float) -> Any:
    return moment(at) if at > now else None
