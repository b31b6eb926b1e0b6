"""Jobs, as clients describe and see them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, Literal, Self

from pydantic import ConfigDict, Discriminator, Field, StringConstraints, Tag

from tarantella.api.views.base import EXAMPLE_ID, LONGEST_ADDRESS, Flag, Number, Said, Told, Whole, moment
from tarantella.api.views.browser import BrowserView
from tarantella.api.views.priority import PriorityName
from tarantella.domain.field import MAX_SELECTOR, field_of
from tarantella.domain.field import Field as SpecField
from tarantella.domain.job import LONGEST_NAME, MOST_FIELDS, Wish
from tarantella.domain.schedule import LONGEST_FREQUENCY, LONGEST_ZONE, ON_DEMAND, IfMissed, IfRunning
from tarantella.domain.url import redact
from tarantella.domain.workflow import WorkflowStatus
from tarantella.services.jobs import JobDraft, snapshot_of
from tarantella.services.workflows import Workflow
from tarantella.store.jobs import Job

_SECRET = ("headers", "proxy", "fill")
_OWN = ("target_url", "requires_auth", "frequency", "strategy", "name")
_LONGEST_KEPT = 100 * 366 * 86_400.0
Pattern = Annotated[str, StringConstraints(min_length=1, max_length=2_000)]
Address = Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_ADDRESS)]
Name = Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_NAME)]


Frequency = Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_FREQUENCY)]
Selector = Annotated[str, StringConstraints(min_length=1, max_length=MAX_SELECTOR)]


class PlaceView(Said):
    """Where something stands on a page."""

    css: Selector | None = Field(None, description="A CSS selector.", examples=[".price"])
    xpath: Selector | None = Field(None, description="An XPath expression instead.")
    jmespath: Selector | None = Field(None, description="Reads what was chosen, or the page, as JSON.")
    attr: str | None = Field(
        None,
        pattern=r"^[A-Za-z_][A-Za-z0-9_:.-]*$",
        max_length=100,
        description="An attribute of what `css` finds instead of its text.",
        examples=["href"],
    )


class FieldView(PlaceView):
    """A value wanted from each page, and where it stands. Without any selector it is found by its name."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"name": "price", "css": ".price", "type": "price", "required": True}]}
    )

    name: Name = Field(examples=["price"])
    regex: Selector | None = Field(None, description="Takes a part of the text: the first group, if there is one.")
    all: Flag | None = Field(
        None,
        description="True: always a list; false: the first. Not said: the first of a `type`, else one value or a list of several.",
    )
    type: Literal["string", "integer", "number", "boolean", "date", "url", "price", "currency"] | None = Field(
        None, description="Read as the language of the page writes it. What does not fit is told in `problems`."
    )
    required: Flag = Field(False, description="Whether records without it are counted and told.")
    default: Any = Field(None, description="What stands in a record where nothing was found.")
    locale: str | None = Field(None, max_length=35, description="How numbers and dates are written, like de or en-GB.")
    fields: list[FieldView] | None = Field(
        None, min_length=1, max_length=MOST_FIELDS, description="Makes each element an object of these."
    )


def _is_name(value: Any) -> str:
    return "name" if isinstance(value, str) else "selector"


Wanted = Annotated[
    Annotated[Name, Tag("name")] | Annotated[FieldView, Tag("selector")],
    Discriminator(_is_name),
]
Place = Annotated[
    Annotated[Selector, Tag("name")] | Annotated[PlaceView, Tag("selector")],
    Discriminator(_is_name),
]


class BackoffView(Said):
    """How long to wait before a retry: `min(cap, base · factor^(n−1))` seconds, and up to `jitter` of it more."""

    base: Number = Field(10.0, ge=0, le=86_400)
    factor: Number = Field(3.0, ge=1, le=100)
    cap: Number = Field(300.0, ge=0, le=86_400)
    jitter: Number = Field(0.1, ge=0, le=1)


class JobOptions(Said):
    """How a job's runs crawl. What is not said is as usual."""

    max_depth: Whole | None = Field(
        None, ge=1, le=1_000, description="1, as usual, is the target alone; 2 also what it links to."
    )
    max_pages: Whole | None = Field(None, ge=1, le=1_000_000, description="Pages of one run at most.")
    concurrency: Whole | None = Field(None, ge=1, le=1_000, description="Requests in flight for one run.")
    per_host: Whole | None = Field(None, ge=1, le=1_000, description="Requests in flight to one host.")
    delay_seconds: Number | None = Field(
        None, ge=0, le=3_600, description="The pause between two requests to one host."
    )
    timeout_seconds: Number | None = Field(
        None, ge=0.1, le=366 * 86_400, description="When a run stops and keeps what it has; 1800 as usual."
    )
    max_attempts: Whole | None = Field(None, ge=1, le=100, description="Requests for one page in all.")
    backoff: BackoffView | None = Field(None, description="How long to wait before a retry.")
    scope: Literal["host", "domain", "path", "any"] | None = Field(None, description="Which links are followed.")
    include: list[Pattern] | None = Field(None, max_length=100, description="Patterns that addresses must match.")
    exclude: list[Pattern] | None = Field(None, max_length=100, description="Patterns that addresses must not match.")
    sitemaps: list[Address] | None = Field(
        None, max_length=100, description="Sitemaps to read, or `auto` for those that the site names."
    )
    obey_robots: Flag | None = Field(None, description="Whether robots.txt is obeyed; it is, as usual.")
    user_agent: str | None = Field(
        None, min_length=1, max_length=500, pattern=r"^[ -~]+$", description="How to introduce ourselves."
    )
    text: Literal["fast", "article", "none"] | None = Field(
        None, description="How the text of a page is found, if at all: quickly, or with care as that of an article."
    )
    item: Place | None = Field(None, description="On list pages: what each record is made of.", examples=[".product"])
    pagination: Place | None = Field(None, description="On list pages: the link to the next one.", examples=["a.next"])
    keep_bodies: Flag | None = Field(
        None, description="Whether pages are kept, to look for other fields in them later."
    )
    partial_results_ok: Flag | None = Field(
        None, description="Whether a run with failed pages is `partial`, or has failed."
    )
    priority: PriorityName | None = Field(None, description="Who goes first when runs have to wait.")

    timezone: Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_ZONE)] | None = Field(
        None, description="By the clock of which place `frequency` is meant; the server's setting, as usual UTC."
    )
    if_running: IfRunning | None = Field(
        None,
        description="When its time comes and its last run is not over: `skip` the time, as usual, or `queue` a run.",
    )
    if_missed: IfMissed | None = Field(
        None, description="When times passed while nobody worked: `run` once for all of them, as usual, or `skip` them."
    )
    browser: BrowserView | None = Field(None, description="What a browser does on each page, where one is used.")
    session: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")] | None = Field(
        None, description="The name of a stored session: the login that a browser uses."
    )

    def options(self) -> dict[str, Any]:
        """What was said of how to crawl."""
        said = self.model_dump(mode="json", exclude_unset=True, exclude_none=True, include=set(JobOptions.model_fields))
        return {name: value for name, value in said.items() if value is not None}


class _Secret(Said):
    headers: (
        dict[
            Annotated[str, StringConstraints(pattern=r"^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$")],
            Annotated[str, StringConstraints(max_length=8_000, pattern=r"^[^\x00-\x08\x0a-\x1f\x7f]*$")],
        ]
        | None
    ) = Field(None, max_length=50, description="Sent to the target's server alone, kept apart, and never shown again.")
    proxy: str | None = Field(
        None, min_length=1, max_length=1_000, description="A proxy to go through; never shown again."
    )

    fill: (
        dict[
            Annotated[str, StringConstraints(min_length=1, max_length=100)],
            Annotated[str, StringConstraints(max_length=10_000)],
        ]
        | None
    ) = Field(None, max_length=50, description="What a browser's actions fill in by name; never shown again.")

    def secrets(self) -> dict[str, Any]:
        return {name: value for name in _SECRET if (value := getattr(self, name))}


class JobCreate(JobOptions, _Secret):
    """What to collect."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"target_url": "https://example.com", "fields": ["title"], "strategy": "auto"},
                {
                    "target_url": "https://example.com/shop",
                    "fields": ["title", {"name": "price", "css": ".price"}],
                    "max_depth": 2,
                    "priority": "high",
                },
            ]
        }
    )

    target_url: Address = Field(description="An http or https address.", examples=["https://example.com"])
    fields: list[Wanted] = Field(
        min_length=1,
        max_length=MOST_FIELDS,
        description="The names of what is wanted, each once; or a name with the selector that finds it.",
        examples=[["title"]],
    )
    requires_auth: Flag = Field(False, description="Whether the target needs a login, which takes a browser.")
    frequency: Frequency = Field(
        ON_DEMAND,
        description="When it runs by itself: a line as for cron, `hourly`, `daily at 06:30`, `every 15 minutes`; or `on_demand`.",
        examples=["daily at 06:30"],
    )
    strategy: Wish = Field(Wish.AUTO, description="How to fetch; `auto` finds out when a run is made.")
    name: Name | None = Field(None, description="For people.")
    keep_runs_hours: Number | None = Field(
        None,
        gt=0,
        le=_LONGEST_KEPT / 3_600,
        description="How long runs are kept once they are over; for ever as usual.",
    )

    def draft(self) -> JobDraft:
        return JobDraft(
            target_url=self.target_url,
            fields=wanted_fields(self.fields),
            requires_auth=self.requires_auth,
            frequency=self.frequency,
            strategy=self.strategy,
            name=self.name,
            options=self.options(),
            secrets=self.secrets() or None,
            keep_seconds=self.keep_runs_hours * 3_600 if self.keep_runs_hours is not None else None,
        )


class JobPatch(JobOptions, _Secret):
    """What to change. An option that is null is as usual again."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"fields": ["title", "description"], "max_depth": 2}]})

    target_url: Address | None = None
    fields: list[Wanted] | None = Field(None, min_length=1, max_length=MOST_FIELDS)
    requires_auth: Flag | None = None
    frequency: Frequency | None = None
    strategy: Wish | None = None
    name: Name | None = None
    keep_runs_hours: Number | None = Field(None, gt=0, le=_LONGEST_KEPT / 3_600)

    def changes(self) -> dict[str, Any]:
        """What was said, by the names that jobs have for it."""
        said = self.model_fields_set
        changes: dict[str, Any] = {
            name: value
            for name in _OWN
            if name in said and ((value := getattr(self, name)) is not None or name == "name")
        }
        if self.fields is not None:
            changes["fields"] = wanted_fields(self.fields)
        if "keep_runs_hours" in said:
            changes["keep_seconds"] = self.keep_runs_hours * 3_600 if self.keep_runs_hours is not None else None
        if said & set(_SECRET):
            changes["secrets"] = self.secrets() or None
        if options := self.model_dump(mode="json", exclude_unset=True, include=set(JobOptions.model_fields)):
            changes["options"] = options
        return changes


def wanted_fields(wanted: list[str | FieldView]) -> tuple[SpecField, ...]:
    """The fields that are meant; raises InvalidInput for those that contradict themselves."""
    return tuple(
        field_of(field if isinstance(field, str) else field.model_dump(exclude_unset=True, exclude_none=True), "fields")
        for field in wanted
    )


class JobView(Told):
    """A job. Its options stand beside its fields, where they are not as usual."""

    model_config = ConfigDict(extra="allow")

    id: str = Field(examples=[EXAMPLE_ID])
    target_url: str = Field(examples=["https://example.com/"])
    fields: list[str | dict[str, Any]] = Field(examples=[["title"]])
    requires_auth: bool
    frequency: str = Field(examples=["on_demand"])
    strategy: Wish
    status: str = Field(examples=["validated"])
    version: int = Field(description="Grows with every change; a run says which version it was made of.")
    name: str | None
    warnings: list[str] = Field(description="What may be wrong with it, and did not have to be refused.")
    headers: dict[str, str] | None = Field(
        description="The names of the headers that are sent; what is in them is not shown."
    )
    proxy: str | None
    fill: dict[str, str] | None = Field(description="The names of what actions fill in; what it is, is not shown.")
    keep_runs_hours: float | None
    created_at: datetime
    updated_at: datetime

    @classmethod
    def of(cls, job: Job) -> Self:
        secrets = job.secrets or {}
        return cls(
            **shown_job(snapshot_of(job)),
            status=job.status,
            warnings=list(job.warnings),
            headers=dict.fromkeys(secrets["headers"], "***") if secrets.get("headers") else None,
            fill=dict.fromkeys(secrets["fill"], "***") if secrets.get("fill") else None,
            proxy="***" if secrets.get("proxy") else None,
            keep_runs_hours=job.keep_seconds / 3_600 if job.keep_seconds is not None else None,
            created_at=moment(job.created_at),
            updated_at=moment(job.updated_at),
        )


class JobDetail(JobView):
    """A job, and how its newest workflow stands, where it has one: read when asked, so never out of step with it."""

    workflow_id: str | None = None
    workflow_status: WorkflowStatus | None = None
    workflow_progress: int | None = Field(None, description="Its steps that are completed, in percent.")

    @classmethod
    def of_job(cls, job: Job, workflow: Workflow | None) -> Self:
        shown = JobView.of(job).model_dump()
        if workflow is None:
            return cls(**shown)
        stands: dict[str, Any] = {"workflow_status": workflow.status, "workflow_progress": workflow.progress}
        return cls(**shown, workflow_id=workflow.id, **stands)


def shown_job(snapshot: Mapping[str, Any]) -> dict[str, Any]:
    """A job as it may be seen: its addresses can have secrets in them."""
    shown = dict(snapshot)
    if shown.get("target_url"):
        shown["target_url"] = redact(shown["target_url"])
    if shown.get("sitemaps"):
        shown["sitemaps"] = [redact(address) for address in shown["sitemaps"]]
    return shown
