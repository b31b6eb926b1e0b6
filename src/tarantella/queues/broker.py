"""Asks the broker how it is, for those who want to know."""

from __future__ import annotations


class Away(Exception):
    """It does not answer."""


def ask(url: str, patience: float) -> tuple[str, int]:
    """Its version, and how many messages wait; raises `Away` when it does not answer in time."""
    from redis.exceptions import RedisError

    from redis import Redis
    from tarantella.queues.celery import PRIORITIES, queue_key

    try:
        with Redis.from_url(url, socket_timeout=patience, socket_connect_timeout=patience) as client:
            version = str(client.info("server")["redis_version"])
            waiting = sum(client.llen(queue_key(priority)) for priority in range(len(PRIORITIES)))
    except (RedisError, OSError, ValueError) as error:
        raise Away(str(error) or type(error).__name__) from None
    return version, waiting


def pong(url: str, node: str, patience: float) -> bool:
    """Whether a worker of Celery's answers within so many seconds."""
    from celery import Celery
    from kombu.exceptions import KombuError
    from redis.exceptions import RedisError

    from tarantella.queues.celery import configuration

    app = Celery(set_as_current=False)
    app.conf.update(configuration(url, drain_seconds=patience))
    try:
        return bool(app.control.ping(destination=[node], timeout=patience, limit=1))
    except (KombuError, RedisError, OSError):
        return False
    finally:
        app.close()
