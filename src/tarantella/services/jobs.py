"""What a user asks of jobs, and the runs that are made of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from tarantella.domain.backoff import Backoff
from tarantella.domain.browsing import Browsing
from tarantella.domain.errors import InvalidInput
from tarantella.domain.field import Field, place_of
from tarantella.domain.job import Wish, checked_fields
from tarantella.domain.outcome import Link
from tarantella.domain.run import Priority
from tarantella.domain.schedule import ON_DEMAND, meant
from tarantella.domain.scope import ScopeKind
from tarantella.domain.spec import Secrets, Spec
from tarantella.domain.struct import Frozen, replace
from tarantella.domain.url import Url, fingerprint
from tarantella.extractors.page import Wants
from tarantella.fetchers.contract import FetchError
from tarantella.fetchers.proxy import parse_proxy
from tarantella.services.app import App
from tarantella.services.probe import Prober
from tarantella.services.specs import spec_of, start_address
from tarantella.services.strategy import resolved
from tarantella.store import jobs
from tarantella.store.ids import new_id
from tarantella.store.jobs import Job
from tarantella.store.runs import JOB, Run
from tarantella.store.submission import Submission

__all__ = [
    "Job",
    "JobDraft",
    "changed",
    "delete",
    "drafted",
    "finish_deletes",
    "get",
    "listed",
    "new_run",
    "shown_fields",
    "spec_of_job",
]


class JobDraft(Frozen):
    """A job as somebody described it."""

    target_url: str
    fields: Sequence[Field]
    requires_auth: bool = False
    frequency: str = ON_DEMAND
    strategy: Wish = Wish.AUTO
    name: str | None = None
    options: Mapping[str, Any] | None = None
    secrets: Mapping[str, Any] | None = None
    keep_seconds: float | None = None


async def drafted(app: App, prober: Prober, draft: JobDraft) -> Job:
    """The job of a draft that makes sense; not stored yet."""
    now = app.now()
    job = Job(
        id=new_id(),
        target_url=draft.target_url,
        fields=tuple(draft.fields),
        requires_auth=draft.requires_auth,
        frequency=draft.frequency,
        strategy=draft.strategy,
        options=draft.options or {},
        created_at=now,
        updated_at=now,
        name=draft.name,
        secrets=draft.secrets,
        keep_seconds=draft.keep_seconds,
    )
    return await _checked(app, prober, job)


async def changed(app: App, prober: Prober, job_id: str, changes: Mapping[str, Any]) -> Job:
    """Change some of a job. Its runs keep what they were made of."""
    before = await get(app, job_id)
    if not changes:
        return before
    options = {**before.options, **changes.get("options", {})}
    options = {name: value for name, value in options.items() if value is not None}
    after = replace(
        before, **{**changes, "options": options}, version=before.version + 1, updated_at=app.now(), warnings=()
    )
    after = await _checked(app, prober, after)
    await app.database.write(partial(jobs.replace, job=after, was=before.version), durable=True, name="job")
    return after


async def _checked(app: App, prober: Prober, job: Job) -> Job:
    """The job in normal form, with what there is to warn of; raises InvalidInput for one that could never work."""
    job = _with_zone(app, replace(job, frequency=" ".join(job.frequency.split())))
    meant(job.frequency, job.zone)  # a frequency that says nothing is refused now
    url = start_address(job.target_url, "target_url")
    job = replace(job, target_url=job.target_url.strip(), fields=checked_fields(job.fields))
    _check_proxy(job)
    spec = _spec(app, job, url)
    spec.check_patterns()
    spec.check_secrets()
    Wants.of(spec)  # a selector that can't be understood is refused now, not on every page
    warning = await prober.warning(url, app.settings.allow_networks)
    return replace(job, warnings=(warning,) if warning else ())


async def get(app: App, job_id: str) -> Job:
    return await app.database.read(partial(jobs.get, job_id=job_id))


async def listed(app: App, *, limit: int, before: tuple[float, str] | None = None) -> list[Job]:
    return await app.database.read(partial(jobs.listed, limit=limit, before=before))


async def delete(app: App, job_id: str) -> None:
    """Remove a job and all its runs. They are gone at once; their room on the disk is given back bit by bit."""
    await app.database.write(partial(jobs.begin_delete, job_id=job_id), durable=True, name="job")
    await _finish_delete(app, job_id)


async def finish_deletes(app: App) -> None:
    """Go on where somebody died while a job was being deleted."""
    for job_id in await app.database.read(jobs.half_deleted):
        await _finish_delete(app, job_id)


async def _finish_delete(app: App, job_id: str) -> None:
    while not await app.database.write(partial(jobs.delete_some, job_id=job_id), name="job"):
        pass


# -- runs


async def new_run(app: App, prober: Prober, job: Job, priority: Priority | None = None) -> Submission:
    """A run of a job as it is now; its strategy is decided here, if need be by a look at the site."""
    url, spec = spec_of_job(app, job)
    if priority is not None:
        spec = replace(spec, priority=priority)
    spec, found, said = await resolved(app, prober, job, spec, url)
    return Submission(
        run_id=new_id(),
        spec=spec,
        start=Link(url.href, fingerprint(url.href), url.lane, 1),
        source=JOB,
        now=app.now(),
        job_id=job.id,
        snapshot=snapshot_of(job),
        requested_strategy=job.strategy,
        resolved_strategy=found.strategy,
        why=found.why,
        said=said,
    )


def spec_of_job(app: App, job: Job) -> tuple[Url, Spec]:
    """Where a job's runs start, and what they are asked to do."""
    url = start_address(job.target_url, "target_url")
    return url, _spec(app, job, url)


def snapshot_of(job: Job) -> dict[str, Any]:
    """A job as its runs remember it. Secrets stand in the spec's own column, and nowhere else."""
    return {
        "id": job.id,
        "version": job.version,
        "name": job.name,
        "target_url": job.target_url,
        "fields": [field.name if field == Field(field.name) else field.to_json() for field in job.fields],
        "requires_auth": job.requires_auth,
        "frequency": job.frequency,
        "strategy": job.strategy,
        **job.options,
    }


def _spec(app: App, job: Job, url: Url) -> Spec:
    options = job.options
    backoff = options.get("backoff")
    return spec_of(
        app.settings,
        fields=job.fields,
        item=place_of(options["item"], "item") if "item" in options else None,
        pagination=place_of(options["pagination"], "pagination", attr="href") if "pagination" in options else None,
        keep_bodies=options.get("keep_bodies"),
        depth=options.get("max_depth"),
        max_pages=options.get("max_pages"),
        concurrency=options.get("concurrency"),
        per_host=options.get("per_host"),
        delay=options.get("delay_seconds"),
        deadline_seconds=options.get("timeout_seconds"),
        attempts=options.get("max_attempts"),
        backoff=Backoff(**backoff) if backoff else None,
        scope=ScopeKind(options["scope"]) if "scope" in options else None,
        include=tuple(options.get("include", ())),
        exclude=tuple(options.get("exclude", ())),
        sitemaps=tuple(options.get("sitemaps", ())),
        obey_robots=options.get("obey_robots"),
        user_agent=options.get("user_agent"),
        text=options.get("text"),
        partial_ok=options.get("partial_results_ok"),
        browser=Browsing.from_json(options["browser"]) if "browser" in options else None,
        session=options.get("session"),
        priority=Priority[options["priority"].upper()] if "priority" in options else None,
        secrets=_secrets(job, url),
    )


def _with_zone(app: App, job: Job) -> Job:
    """A job that runs by itself keeps its time zone, whatever becomes of the setting."""
    if job.frequency.lower() == ON_DEMAND or "timezone" in job.options:
        return job
    return replace(job, options={**job.options, "timezone": app.settings.timezone})


def _check_proxy(job: Job) -> None:
    if proxy := (job.secrets or {}).get("proxy"):
        try:
            parse_proxy(proxy)
        except FetchError as error:
            remedy = "Write it like http://host:3128; https and socks5 work too."
            raise InvalidInput(error.message, field="proxy", remedy=remedy) from None


def _secrets(job: Job, url: Url) -> Secrets | None:
    if not job.secrets:
        return None
    return Secrets(
        headers=job.secrets.get("headers") or {},
        proxy=job.secrets.get("proxy"),
        # Who asks over the API may be anywhere, and what they call a proxy could be any server in our network.
        near_proxy=False,
        values=job.secrets.get("fill") or {},
        servers=(url.server,),
    )


# -- records


def named_fields(run: Run) -> list[str]:
    """The fields that the run's job asked for by their names alone."""
    wanted = (run.snapshot or {}).get("fields", [])
    return [field for field in wanted if isinstance(field, str)]


def shown_fields(record: Mapping[str, Any], named: Sequence[str]) -> Mapping[str, Any]:
    """A record with all the fields of its job: what has no selector comes from the basic record, or is null."""
    if not named:
        return record
    return {**record, "fields": {**{name: record.get(name) for name in named}, **(record.get("fields") or {})}}
