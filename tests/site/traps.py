"""Sites without end: each page links to more of the same, and to a few pages that are worth having."""

from __future__ import annotations

from datetime import date, timedelta

from tests.site.registry import Call, route
from tests.site.reply import Reply, page_with_links
from tests.site.request import BadRequestError

GOOD = ("/item/1", "/item/2")


@route("/deeper/")
async def deeper(_call: Call) -> Reply:
    """A relative link to the folder that the page is in: /deeper/a/a/a/…"""
    return page_with_links("Deeper", ("a/", *GOOD))


@route("/days/")
async def days(call: Call) -> Reply:
    """`/days/2026/11/16`: there is always a day before and a day after."""
    try:
        day = date.fromisoformat(call.request.path.removeprefix("/days/").strip("/").replace("/", "-"))
        neighbours = (day - timedelta(days=1), day + timedelta(days=1))
    except (ValueError, OverflowError) as error:
        raise BadRequestError("a day must look like 2026/11/16") from error
    return page_with_links(f"{day}", (*(f"/days/{each:%Y/%m/%d}" for each in neighbours), *GOOD))


@route("/sessions/")
async def sessions(call: Call) -> Reply:
    """Every visit has a session of its own, in every way in which an address can carry one."""
    call.site.counts["sessions"] += 1
    session = f"{call.site.counts['sessions']:032x}"
    hrefs = (
        f"/sessions/a;jsessionid={session}",
        f"/sessions/(S({session}))/b",
        f"/sessions/sid-{session}/c",
        f"/sessions/d?PHPSESSID={session}",
        f"/sessions/e?sid={session}&x=1",
    )
    return page_with_links("Sessions", (*hrefs, *GOOD))


@route("/facets")
async def facets(call: Call) -> Reply:
    """`/facets?a=1&b=2`: every combination of five filters with ten values each links to its neighbours."""
    now = {name: int(call.request.text(name, "0")) for name in "abcde"}
    more = [{**now, name: (value + step) % 10} for name, value in now.items() for step in range(1, 10)]
    hrefs = ("/facets?" + "&".join(f"{name}={value}" for name, value in each.items()) for each in more)
    return page_with_links("Facets", (*hrefs, *GOOD))
