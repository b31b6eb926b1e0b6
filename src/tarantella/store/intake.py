"""Group commit: submits that wait while one commit is under way go into the next one together.

Waiting for the disk takes longer than all the rest of a submit, and takes as long for one as for fifty.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterator
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeVar

from tarantella.domain.errors import TarantellaError
from tarantella.domain.struct import Frozen
from tarantella.store.connection import DriverError
from tarantella.store.submission import Submission
from tarantella.store.tx import Tx

if TYPE_CHECKING:
    from tarantella.store.database import Database

T = TypeVar("T")

MOST_AT_ONCE = 100
LONGEST_HOLD = 0.01  # seconds in which a group takes more in: others wait for the database, too

Batch = list[Submission]
Work = Callable[[Tx, Batch], T]
Finish = Callable[[Tx, Batch], object]


class _Waiting(Frozen):
    work: Work[Any]
    finish: Finish
    done: asyncio.Future[Any]


class Intake:
    """Runs small pieces of work, each as if in a durable transaction of its own."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._waiting: deque[_Waiting] = deque()
        self._committing: asyncio.Task[None] | None = None

    async def write(self, work: Work[T], *, finish: Finish) -> T:
        """Do the work and wait for its commit. What it puts into the batch is written by `finish`, once for all.

        Work that refuses to be done says so with an error of ours before it has written anything.
        """
        done: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._waiting.append(_Waiting(work, finish, done))
        if self._committing is None or self._committing.done():
            self._committing = asyncio.create_task(self._commit_all())
        return await self._database.in_time(done)

    async def _commit_all(self) -> None:
        while self._waiting:
            group: list[_Waiting] = []
            answers: list[Any]
            try:
                # Without a limit: given up while it is under way, it would take in others of whom nobody hears again.
                answers = await self._database.write(
                    partial(self._together, group=group), durable=True, name="submit", limited=False
                )
            except Exception as error:
                if not group:  # it did not even begin
                    group.extend(self._more())
                answers = [error] * len(group)
            for one, answer in zip(group, answers, strict=True):
                if one.done.done():
                    continue  # whoever asked is gone
                if isinstance(answer, Exception):
                    one.done.set_exception(answer)
                else:
                    one.done.set_result(answer)

    def _more(self) -> Iterator[_Waiting]:
        """Those that wait; who has given up was told so, and comes back."""
        while self._waiting:
            if not (one := self._waiting.popleft()).done.done():
                yield one

    def _together(self, tx: Tx, group: list[_Waiting]) -> list[Any]:
        """What came of each: a result, or the error for which it alone was refused.

        Who belongs to the group is decided here, when the database is ours: whoever came while we waited for it need
        not wait for it again. It is empty unless this is done for a second time.
        """
        tx.execute("SAVEPOINT together")
        try:
            return _all(tx, group, self._more())
        except Exception as error:
            if isinstance(error, DriverError) and tx.dialect.pause(error) is not None:
                raise  # the whole transaction is to be done again
            # One of them spoils it for all, and nobody knows which.
            tx.execute("ROLLBACK TO SAVEPOINT together")
        return [_alone(tx, one) for one in group]


def _all(tx: Tx, group: list[_Waiting], more: Iterator[_Waiting]) -> list[Any]:
    enough = monotonic() + LONGEST_HOLD
    batch: Batch = []
    answers = [_answer(tx, one, batch) for one in group]
    while len(group) < MOST_AT_ONCE and (not group or monotonic() < enough) and (one := next(more, None)) is not None:
        group.append(one)
        answers.append(_answer(tx, one, batch))
    if group:
        group[0].finish(tx, batch)
    return answers


def _answer(tx: Tx, one: _Waiting, batch: Batch) -> Any:
    try:
        return one.work(tx, batch)
    except TarantellaError as error:
        return error


def _alone(tx: Tx, one: _Waiting) -> Any:
    tx.execute("SAVEPOINT alone")
    try:
        batch: Batch = []
        answer = one.work(tx, batch)
        one.finish(tx, batch)
    except Exception as error:
        if isinstance(error, DriverError) and tx.dialect.pause(error) is not None:
            raise
        tx.execute("ROLLBACK TO SAVEPOINT alone")
        return error
    return answer
