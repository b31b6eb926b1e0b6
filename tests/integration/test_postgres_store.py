"""PostgreSQL as it is: connections that are lost, transactions that are undone, databases that can't be used."""

from __future__ import annotations

import asyncio
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from typing import Any

import psycopg
import pytest

from tarantella.domain.errors import InvalidInput, SchemaTooNew, StoreBroken, StoreBusy, TarantellaError
from tarantella.domain.spec import Spec
from tarantella.store import admission, closing, lanes, schema, submission
from tarantella.store import database as store_database
from tarantella.store.database import Database
from tarantella.store.dialect import dialect_of, postgres
from tarantella.store.ids import new_id
from tarantella.store.submission import Submission
from tarantella.store.tx import Tx
from tests.contract.world import HOST, NOW, link
from tests.postgres import PASSWORD, TEMPLATE, Server, binaries_or_skip


@pytest.fixture
def database(postgres_url: str) -> Iterator[Database]:
    opened = Database(postgres_url, patience=20)
    yield opened
    opened.close()


def end_own_connection(tx: Tx) -> None:
    tx.execute("SELECT pg_terminate_backend(pg_backend_pid())")


def named(tx: Tx, name: str) -> None:
    tx.execute("INSERT INTO lanes (name) VALUES (:name)", name=name)


def names_in(tx: Tx) -> list[str]:
    return [row.name for row in tx.all("SELECT name FROM lanes ORDER BY name")]


def names(database: Database) -> list[str]:
    return database.read_now(names_in)


def until_nobody_is_connected_to(name: str, server: Server) -> None:
    with psycopg.connect(server.url("postgres"), autocommit=True) as looking:
        while looking.execute("SELECT 1 FROM pg_stat_activity WHERE datname = %s", [name]).fetchone():
            time.sleep(0.02)


# -- what is lost or undone


def test_work_whose_connection_is_lost_before_the_commit_is_done_again_and_counts_once(database: Database) -> None:
    calls: list[str] = []

    def work(tx: Tx) -> str:
        calls.append("call")
        named(tx, "once")
        if len(calls) < 3:
            end_own_connection(tx)
        return "done"

    assert database.write_now(work) == "done"
    assert (len(calls), names(database)) == (3, ["once"])


def test_a_read_whose_connection_is_lost_is_done_again(database: Database) -> None:
    calls: list[str] = []

    def work(tx: Tx) -> int:
        calls.append("call")
        if len(calls) == 1:
            end_own_connection(tx)
        return int(tx.value("SELECT 7"))

    assert database.read_now(work) == 7
    assert len(calls) == 2


def test_a_connection_that_the_server_ended_because_nobody_used_it_is_opened_again(postgres_server: Server) -> None:
    name = postgres_server.new_database()
    postgres_server.run(f"ALTER DATABASE {name} SET idle_session_timeout = '100ms'")
    opened = Database(postgres_server.url(name))
    for used in ("once", "again"):
        opened.write_now(partial(named, name=used))
        until_nobody_is_connected_to(name, postgres_server)
    assert names(opened) == ["again", "once"]
    opened.close()
    postgres_server.drop(name)


def test_two_who_wait_for_each_other_are_both_served_in_the_end(postgres_url: str) -> None:
    one, two = Database(postgres_url), Database(postgres_url)
    for name in ("a", "b"):
        one.write_now(partial(named, name=name))
    both_hold = threading.Barrier(2)
    first = {"a": True, "b": True}

    def cross(here: str, there: str) -> Callable[[Tx], None]:
        def work(tx: Tx) -> None:
            tx.execute("UPDATE lanes SET unclean_deaths = unclean_deaths + 1 WHERE name = :name", name=here)
            if first.pop(here, False):
                both_hold.wait(10)
            tx.execute("UPDATE lanes SET unclean_deaths = unclean_deaths + 1 WHERE name = :name", name=there)

        return work

    with ThreadPoolExecutor(2) as pool:
        for crossing in [pool.submit(one.write_now, cross("a", "b")), pool.submit(two.write_now, cross("b", "a"))]:
            crossing.result(30)
    assert one.read_now(lambda tx: [row.unclean_deaths for row in tx.all("SELECT * FROM lanes")]) == [2, 2]
    one.close()
    two.close()


def test_who_falls_asleep_in_a_transaction_loses_it_and_its_locks(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres, "LONGEST_IDLE_TRANSACTION", "300ms")
    sleeper, other = Database(postgres_url), Database(postgres_url)
    sleeper.write_now(lambda tx: named(tx, "wanted"))
    asleep, calls = threading.Event(), []

    def sleep(tx: Tx) -> None:
        calls.append("call")
        tx.execute("UPDATE lanes SET owner = 'sleeper' WHERE name = 'wanted' AND owner IS NULL")
        if len(calls) == 1:
            asleep.set()
            time.sleep(1.0)

    with ThreadPoolExecutor(1) as pool:
        sleeping = pool.submit(sleeper.write_now, sleep)
        assert asleep.wait(10)
        other.write_now(lambda tx: tx.execute("UPDATE lanes SET owner = 'other' WHERE name = 'wanted'"))
        sleeping.result(30)
    assert len(calls) == 2
    assert other.read_now(lambda tx: tx.value("SELECT owner FROM lanes")) == "other"
    sleeper.close()
    other.close()


def test_a_lock_that_somebody_holds_for_too_long_is_a_busy_store(postgres_url: str) -> None:
    impatient = Database(postgres_url, patience=0.2)
    with psycopg.connect(postgres_url) as somebody:
        somebody.execute("LOCK TABLE lanes IN EXCLUSIVE MODE")
        with pytest.raises(StoreBusy, match="locked for too long"):
            impatient.write_now(lambda tx: named(tx, "never"))
    impatient.write_now(lambda tx: named(tx, "now"))
    assert names(impatient) == ["now"]
    impatient.close()


def test_a_statement_that_takes_longer_than_its_role_may_is_done_again(postgres_server: Server) -> None:
    with impatient(postgres_server, "300ms") as url:
        opened, calls = Database(url), []

        def work(tx: Tx) -> None:
            calls.append("call")
            named(tx, "once")
            if len(calls) == 1:
                tx.execute("SELECT pg_sleep(5)")

        opened.write_now(work)
        assert (len(calls), names(opened)) == (2, ["once"])
        opened.close()


def test_statements_that_always_take_longer_are_told_with_the_name_of_the_setting(postgres_server: Server) -> None:
    with impatient(postgres_server, "50ms") as url:
        opened = Database(url, patience=0.2)
        with pytest.raises(StoreBusy, match="stopped a statement of ours: .*statement timeout") as caught:
            opened.write_now(lambda tx: tx.execute("SELECT pg_sleep(5)"))
        assert "SET statement_timeout" in str(caught.value.remedy)
        opened.close()


@contextmanager
def impatient(server: Server, timeout: str) -> Iterator[str]:
    """Where statements may take so long."""
    name = server.new_database()
    server.run(f"ALTER DATABASE {name} SET statement_timeout = '{timeout}'")
    yield server.url(name)
    server.drop(name)


def test_a_server_that_can_only_be_read_is_left_for_one_that_can_be_written(postgres_server: Server) -> None:
    with Server(binaries_or_skip()) as former:
        for server in (former, postgres_server):
            server.run(f"CREATE DATABASE failover TEMPLATE {TEMPLATE}")
        hosts = f"127.0.0.1:{former.port},127.0.0.1:{postgres_server.port}"
        url = f"postgresql://tester:{PASSWORD}@{hosts}/failover"
        opened = Database(url, patience=20)
        opened.write_now(partial(named, name="before"))
        make_read_only(former)
        opened.write_now(partial(named, name="after"))
        after = [
            psycopg.connect(server.url("failover")).execute("SELECT name FROM lanes").fetchall()
            for server in (former, postgres_server)
        ]
        assert after == [[("before",)], [("after",)]]
        opened.close()
        postgres_server.drop("failover")


def test_a_server_that_can_only_be_read_is_waited_for_and_told(postgres_server: Server) -> None:
    with Server(binaries_or_skip()) as server:
        name = server.new_database()
        opened = Database(server.url(name), patience=0.3)
        picky = Database(f"{server.url(name)}&target_session_attrs=read-write", patience=0.3)
        make_read_only(server)
        for database in (opened, picky):
            with pytest.raises(StoreBusy, match="can only be read now: .*read-only") as caught:
                database.write_now(partial(named, name="x"))
            assert "default_transaction_read_only" in str(caught.value.remedy)
        assert names(opened) == []
        assert [finding.told for finding in dialect_of(server.url(name)).examine() if not finding.sound] == [
            "it can only be read"
        ]
        make_read_only(server, "off")
        opened.write_now(partial(named, name="x"))
        assert names(picky) == ["x"]
        opened.close()
        picky.close()


def make_read_only(server: Server, on: str = "on") -> None:
    """For those who are connected, too: they hear of it within a moment."""
    server.run(f"ALTER SYSTEM SET default_transaction_read_only = {on}")
    server.run("SELECT pg_reload_conf()")
    with psycopg.connect(server.url("postgres"), autocommit=True) as looking:
        while looking.execute("SHOW default_transaction_read_only").fetchone() != (on,):
            time.sleep(0.02)


def test_every_commit_waits_for_the_disk_whatever_the_server_is_used_to(postgres_server: Server) -> None:
    """Workers outlive a crash of the server: what they were told is stored must be there when it comes back."""
    name = postgres_server.new_database()
    postgres_server.run(f"ALTER DATABASE {name} SET synchronous_commit = off")
    opened = Database(postgres_server.url(name))
    assert opened.read_now(lambda tx: tx.value("SHOW synchronous_commit")) == "on"
    assert opened.read_now(lambda tx: tx.value("SHOW idle_in_transaction_session_timeout")) == "10s"
    opened.close()
    postgres_server.drop(name)


def test_a_closed_database_does_not_wait_for_a_server_that_is_gone(postgres_server: Server) -> None:
    name = postgres_server.new_database()
    opened = Database(postgres_server.url(name))
    assert names(opened) == []
    postgres_server.drop(name)
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(names, opened)
        time.sleep(0.3)
        assert not waiting.done()
        began = time.monotonic()
        opened.close()
        with pytest.raises(StoreBusy):
            waiting.result(10)
    assert time.monotonic() - began < 5


def test_a_closed_database_does_not_wait_for_a_server_that_says_nothing(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_database, "CLOSES_WITHIN", 0.2)
    opened = Database(postgres_url)
    with psycopg.connect(postgres_url) as somebody, ThreadPoolExecutor(2) as pool:
        somebody.execute("LOCK TABLE lanes IN ACCESS EXCLUSIVE MODE")
        waiting: list[Future[Any]] = [pool.submit(opened.write_now, partial(named, name="never"))]
        waiting.append(pool.submit(names, opened))
        with pytest.raises(StoreBusy, match="has said nothing for 1 s"):
            asyncio.run(opened.read(names_in, within=1.0))
        began = time.monotonic()
        opened.close()
        assert time.monotonic() - began < 30, "the server itself would have ended the wait after a minute"
        for each in waiting:
            with pytest.raises(StoreBusy):
                each.result(5)


# -- a long queue

QUEUED, RUNNING = 3_000, 5
HOT: dict[str, Callable[[Tx], object]] = {
    "admit": lambda tx: admission.admit(tx, RUNNING, NOW),
    "yield_slots": lambda tx: admission.yield_slots(tx, RUNNING, NOW),
    "ready_count": lambda tx: lanes.ready_count(tx, only_run=None, now=NOW),
    "acquire": lambda tx: lanes.acquire(tx, "w", 2, only_run=None, now=NOW),
    "stands_of": lambda tx: lanes.stands_of(tx, [HOST]),
    "overdue": lambda tx: closing.overdue(tx, NOW),
}


@pytest.mark.parametrize("name", HOT)
def test_what_is_done_all_the_time_does_not_go_through_the_queue(database: Database, name: str) -> None:
    """The rows have just come: statistics know nothing of them."""
    batch = [Submission(new_id(), Spec(), link(str(n), depth=1), "scraping", NOW) for n in range(QUEUED)]
    database.write_now(partial(submission.store, batch=batch, max_running=RUNNING))
    database.write_now(partial(admission.admit, limit=RUNNING, now=NOW))

    def rows_read(tx: Tx) -> int:
        read = (
            "SELECT sum(seq_tup_read + idx_tup_fetch) FROM pg_stat_xact_user_tables WHERE relname IN ('runs', 'stands')"
        )
        before = tx.value(read)
        HOT[name](tx)
        return int(tx.value(read) - before)

    assert database.write_now(rows_read) <= 4 * RUNNING


# -- what can't be used


@pytest.mark.parametrize("scheme", ["postgresql+psycopg", "postgresql", "postgres"])
def test_a_url_is_understood_in_all_its_spellings(postgres_url: str, scheme: str) -> None:
    opened = Database(postgres_url.replace("postgresql", scheme))
    assert names(opened) == []
    opened.close()


@pytest.mark.parametrize(
    "url",
    [
        "mysql://u:s3cret@h/d",
        "host=h password=s3cret",
        "postgresql://u:s3%zzcret@h/d",
    ],
)
def test_a_url_that_is_none_of_postgresql_is_refused_without_repeating_it(url: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        dialect_of(url)
    assert caught.value.remedy is not None
    assert "s3cret" not in str(caught.value)


def test_a_missing_driver_is_named_with_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    monkeypatch.setitem(sys.modules, "psycopg.conninfo", None)
    with pytest.raises(InvalidInput, match=r"psycopg\[binary\]"):
        dialect_of("postgresql://u@h/d")


def refused(url: str) -> TarantellaError:
    with pytest.raises((StoreBusy, StoreBroken, SchemaTooNew)) as caught:
        schema.prepare(url)
    return caught.value


def test_a_wrong_password_and_a_missing_database_are_told_at_once_and_without_the_password(
    postgres_server: Server,
) -> None:
    began = time.monotonic()
    for url in (postgres_server.tcp_url("postgres", "wr0ng"), postgres_server.tcp_url("nowhere")):
        told = str(refused(url))
        assert "wr0ng" not in told
        assert PASSWORD not in told
        assert "--database-url" in told
    assert time.monotonic() - began < 5


def test_nobody_there_is_told_at_once(postgres_server: Server) -> None:
    assert "does not answer" in str(refused("postgresql://u:s3cret@127.0.0.1:1/d"))


def test_a_database_of_another_program_is_left_alone(postgres_server: Server) -> None:
    name = postgres_server.new_database("template0")
    with psycopg.connect(postgres_server.url(name)) as connection:
        connection.execute("CREATE TABLE pages (chapter text)")
    told = str(refused(postgres_server.url(name)))
    assert "tables of another program (pages)" in told
    assert "a database of its own" in told
    postgres_server.drop(name)


def test_a_database_that_cant_hold_all_characters_is_refused(postgres_server: Server) -> None:
    postgres_server.run("CREATE DATABASE narrow ENCODING 'SQL_ASCII' TEMPLATE template0")
    assert "its encoding is SQL_ASCII" in str(refused(postgres_server.url("narrow")))
    postgres_server.drop("narrow")


def test_who_may_only_read_is_told_so(postgres_server: Server, postgres_url: str) -> None:
    postgres_server.run("DO $$ BEGIN CREATE ROLE reader LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$")
    with psycopg.connect(postgres_url) as connection:
        connection.execute("GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader")
    reader = Database(postgres_url.replace("tester@", "reader@"))
    assert names(reader) == []
    with pytest.raises(StoreBroken, match="can't be written"):
        reader.write_now(lambda tx: named(tx, "x"))
    reader.close()
    with psycopg.connect(postgres_url) as connection:
        connection.execute("REVOKE ALL ON ALL TABLES IN SCHEMA public FROM reader")


def test_the_place_is_told_without_its_password() -> None:
    told = dialect_of("postgresql://me:s3cret@db.example:5433/crawls?sslpassword=s3cret&connect_timeout=3").told
    assert told == "postgresql://me@db.example:5433/crawls"
    assert dialect_of("postgresql://me@one:5433,two/crawls").told == "postgresql://me@one:5433,two/crawls"
    assert dialect_of("postgresql:///crawls?host=/run/pg").told == "postgresql:///crawls?host=/run/pg"
