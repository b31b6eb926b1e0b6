"""What tests steer and read back: robots.txt and the log."""

from __future__ import annotations

import inspect

from tests.site.registry import Call, route
from tests.site.reply import Reply, json_reply, page


@route("/robots.txt")
async def robots(call: Call) -> Reply:
    """Whatever `site.robots` says: a text, a status, a reply, or a function of the request."""
    answer = call.site.robots
    if callable(answer):
        outcome = answer(call.request)
        answer = await outcome if inspect.isawaitable(outcome) else outcome
    if isinstance(answer, str):
        return Reply(200, answer.encode(), "text/plain; charset=utf-8")
    return page("Robots", status=answer) if isinstance(answer, int) else answer


@route("/_log")
async def log(call: Call) -> Reply:
    """All hits and peaks as JSON; reading the log leaves no trace in it."""
    return json_reply(call.site.log.as_json())


@route("/_log/reset")
async def reset_log(call: Call) -> Reply:
    call.site.log.reset()
    return json_reply({"reset": True})
