"""Pages that tell a plain client from a browser."""

from __future__ import annotations

from tests.site.registry import Call, route
from tests.site.reply import Reply, page, page_with_links
from tests.site.shells import html

STORY = "<p>" + "A sentence about looms and linen. " * 10 + "</p>"


@route("/filled/")
async def filled(call: Call) -> Reply:
    """`/filled/3?n=5`: an empty page that its script fills with a heading, and with links to as many of its kind."""
    number = call.request.path.rpartition("/")[2]
    links = "".join(f'<a href="/filled/{each}">{each}</a> ' for each in range(1, call.request.integer("n", 0) + 1))
    content = f"<h1>Story {number}</h1>{STORY}{links}".replace('"', '\\"')
    return Reply(
        200,
        html(
            f'<div id="root"></div><script>document.getElementById("root").innerHTML = "{content}"</script>',
            title=f"Story {number}",
        ).encode(),
    )


@route("/browsers-only/")
async def browsers_only(call: Call) -> Reply:
    """Refuses whoever does not ask as browsers do."""
    if not call.request.header("upgrade-insecure-requests"):
        return page("Forbidden", status=403)
    return page(f"Welcome to {call.request.path}", STORY)


@route("/mixed")
async def mixed(call: Call) -> Reply:
    """`/mixed?plain=6&filled=2`: a plain page that links to so many of either kind."""
    plain, filled = call.request.integer("plain", 3), call.request.integer("filled", 1)
    hrefs = [f"/item/{n}" for n in range(plain)] + [f"/filled/{n}" for n in range(filled)]
    return page_with_links("Mixed", hrefs)


@route("/augmented/")
async def augmented(call: Call) -> Reply:
    """A page like others, but for its price, which a script sets."""
    body = f"{STORY}<b class=price>unknown</b><script>document.querySelector('.price').textContent = '49.90'</script>"
    return page(f"Augmented {call.request.path}", body)
