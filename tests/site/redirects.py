"""Redirects, finite and not."""

from __future__ import annotations

import html

from tests.site.registry import Call, route
from tests.site.reply import Reply, page


@route("/redirect")
async def redirect(call: Call) -> Reply:
    """`/redirect?to=URL&code=301`: sends callers there, whatever it says."""
    return _to(call.request.text("to", "/ok"), call.request.integer("code", 302))


@route("/redirect-chain")
async def redirect_chain(call: Call) -> Reply:
    """`/redirect-chain?n=20`: n redirects, then a page."""
    left = call.request.integer("n", 20)
    return _to(f"/redirect-chain?n={left - 1}", 302) if left > 0 else page("End of the chain")


@route("/redirect-loop")
async def redirect_loop(call: Call) -> Reply:
    """Two addresses that point at each other."""
    return _to("/redirect-loop" if call.request.query else "/redirect-loop?side=b", 302)


@route("/meta-refresh")
async def meta_refresh(call: Call) -> Reply:
    """`/meta-refresh?to=URL&wait=0`: a redirect that only the HTML tells of."""
    to, wait = call.request.text("to", "/ok"), call.request.text("wait", "0")
    return page("Moved", head=f'<meta http-equiv="refresh" content="{html.escape(wait)}; url={html.escape(to)}">')


def _to(target: str, code: int) -> Reply:
    return page("Moved", status=code, location=target)
