"""Pages that answer with a status, for ever or a number of times."""

from __future__ import annotations

from tests.site.registry import Call, route
from tests.site.reply import Reply, page
from tests.site.request import BadRequestError


@route(*(f"/{code}" for code in range(400, 600)))
async def status(call: Call) -> Reply:
    """`/503?after=5&times=2&key=x`: this status, for ever or N times per key, with Retry-After if wanted."""
    return _fail(call, int(call.request.path[1:]), call.request.integer("times", -1))


@route("/flaky")
async def flaky(call: Call) -> Reply:
    """`/flaky?n=2&code=503&key=x`: fails n times per key, then answers 200."""
    code = call.request.integer("code", 503)
    if not 400 <= code <= 599:
        raise BadRequestError(f"code must be between 400 and 599, not {code}")
    return _fail(call, code, call.request.integer("n", 2))


def _fail(call: Call, code: int, times: int) -> Reply:
    """Fail so many times per key; a negative number means always."""
    request = call.request
    key = f"{request.path} {request.text('key', request.query)}"
    call.site.counts[key] += 1
    if 0 <= times < call.site.counts[key]:
        return page("Recovered")
    headers = {"retry_after": request.params["after"]} if "after" in request.params else {}
    if code == 401:
        headers["www_authenticate"] = 'Basic realm="test site"'
    return page(f"Status {code}", status=code, **headers)
