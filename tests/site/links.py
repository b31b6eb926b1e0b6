"""Links that no browser would follow, or not where they seem to lead."""

from __future__ import annotations

from tests.site.registry import Call, route
from tests.site.reply import Reply, page

PASSWORD = "hunter2secret"

# By what becomes of them on a page; "" is nothing at all.
ODD_HREFS: dict[str, tuple[str, ...]] = {
    "": ("", "   ", "\t\r\n", "#", "#top", "\x01 #", " # "),
    "scheme": (
        "file:///etc/passwd",
        "FILE:///etc/passwd",
        "File://localhost/etc/passwd",
        "data:text/html,<b>hi</b>",
        "DATA:text/html;base64,aGk=",
        "javascript:alert(1)",
        "JaVaScRiPt:alert(1)",
        "  javascript:alert(1)",
        "java\nscript:alert(1)",
        "java\tscr\r\nipt:alert(1)",
        "\x01\x1fjavascript:alert(1)",
        "gopher://example.com/",
        "GOPHER://example.com/",
        "ftp://example.com/",
        "Ftp://user:s3cret@example.com/",
        "mailto:me@example.com",
        "tel:+391234567",
        "blob:https://example.com/1",
        "about:blank",
        "view-source:https://example.com/",
        "ws://example.com/",
        "vbscript:x",
        "intent://scan/#Intent;end",
    ),
    "malformed": (
        "http://",
        "https://[::1",
        "http://exa mple.com/",
        "http://exam<ple.com/",
        "http://example.com:99999/",
        "http://example.com:port/",
        "http://%00.example.com/",
        "http://1.2.3.4.5/",
        "http://256.256.256.256/",
        "//",
        "http://a%2Fb/",
        "http://\u202e.example/",
    ),
    "too_long": ("/" + "x" * 2_000_000, "/" + "é" * 8_000, "x" * 8_190),
}


@route("/odd-links/")
async def odd_links(call: Call) -> Reply:
    """`/odd-links/scheme`: all hrefs that get this reason, as raw as they are; without a reason, those that get none."""
    reason = call.request.path.removeprefix("/odd-links/")
    items = "".join(f'<li><a href="{_quoted(href)}">odd</a></li>' for href in ODD_HREFS[reason])
    return Reply(200, f"<!doctype html><title>Odd links</title><ul>{items}</ul>".encode())


@route("/password/links")
async def password_links(call: Call) -> Reply:
    """Links with a password in them, to here and to elsewhere."""
    here = f"me:{PASSWORD}@{call.request.host}"
    elsewhere = (f"https://me:{PASSWORD}@example.com/", f"ftp://me:{PASSWORD}@example.com/", f"http://me:{PASSWORD}@[")
    followed = (f"http://{here}/password/page", f"//{here}/password/go", f"http:\\\\{here}/password/fails")
    # What a page shows is in its record; here only where its links lead is of interest.
    return page("Links", "".join(f'<a href="{href}">a link</a>' for href in (*followed, *elsewhere)))


@route("/password/page")
async def password_page(_call: Call) -> Reply:
    return page("Page")


@route("/password/go")
async def password_go(call: Call) -> Reply:
    """A redirect to another host with a password in it."""
    return page("Moved", status=302, location=f"http://me:{PASSWORD}@127.0.0.2:{call.site.port}/password/page")


@route("/password/fails")
async def password_fails(_call: Call) -> Reply:
    """A redirect that leads nowhere, with a password in it."""
    return page("Moved", status=302, location=f"ftp://me:{PASSWORD}@127.0.0.2/")


def _quoted(href: str) -> str:
    return href.replace("&", "&amp;").replace('"', "&quot;")
