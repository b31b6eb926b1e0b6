"""Takes small submits in, many in one commit, and each of them once however often it is sent."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from tarantella.domain.struct import Frozen
from tarantella.services.app import App
from tarantella.store import admission, idempotency, submission
from tarantella.store.idempotency import Kept
from tarantella.store.intake import Batch
from tarantella.store.submission import Submission
from tarantella.store.tx import Tx


class Once(Frozen):
    """What makes a request the same request as another."""

    key: str
    digest: str


class Answer(Frozen):
    """What is answered to a submit: a status, and JSON."""

    status: int
    body: str
    repeated: bool = False


async def known_answer(app: App, once: Once | None) -> Answer | None:
    """What was answered to the same request before, so that nothing needs to be found out for it again."""
    if once is None:
        return None
    kept = await app.database.read(partial(idempotency.find, key=once.key, digest=once.digest))
    return _repeated(kept) if kept is not None else None


async def submit(app: App, new: Submission, answer: Answer, once: Once | None) -> Answer:
    """Store a run durably and say so; or, if the same request was here before, what was said then."""

    def write(tx: Tx, batch: Batch) -> Answer:
        submission.check(tx, new)
        if (first := _claimed(tx, once, answer, new.now)) is not None:
            return first
        batch.append(new)
        return answer

    return await app.database.intake.write(write, finish=partial(_finish, app=app))


async def write_once(app: App, work: Callable[[Tx], object], answer: Answer, once: Once | None) -> Answer:
    """Do some other work durably, unless the same request did it before."""
    now = app.now()

    def write(tx: Tx, _: Batch) -> Answer:
        if (first := _claimed(tx, once, answer, now)) is not None:
            return first
        work(tx)
        return answer

    return await app.database.intake.write(write, finish=partial(_finish, app=app))


class AlreadyAnswered(Exception):
    """The same request was here before, and somebody was quicker: what was done for this one has to be undone."""

    def __init__(self, answer: Answer) -> None:
        super().__init__(answer)
        self.answer = answer


def keep(tx: Tx, once: Once | None, answer: Answer, now: float) -> None:
    """Keep what is answered to work that is known only when it is done, in the transaction of that work."""
    if (first := _claimed(tx, once, answer, now)) is not None:
        raise AlreadyAnswered(first)


def _finish(tx: Tx, batch: Batch, app: App) -> None:
    limit = app.settings.max_concurrent_tasks
    submission.store(tx, batch, max_running=limit)
    if batch:
        admission.admit(tx, limit, app.now())


def _claimed(tx: Tx, once: Once | None, answer: Answer, now: float) -> Answer | None:
    """What was answered to the same request before; if it is the first, its answer is kept."""
    if once is None:
        return None
    first = idempotency.claim(tx, Kept(once.key, once.digest, answer.status, answer.body), now)
    return _repeated(first) if first is not None else None


def _repeated(kept: Kept) -> Answer:
    return Answer(kept.status, kept.answer, repeated=True)
