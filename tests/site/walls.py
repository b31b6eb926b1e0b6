"""Pages that stand in the way of the one that was asked for, and pages that only look like it."""

from __future__ import annotations

from collections.abc import Mapping

from tests.site.registry import Call, route
from tests.site.reply import Reply, page
from tests.site.request import BadRequestError

ARTICLE = "<p>" + " ".join(f"A captcha asks number {number} whether it is a robot." for number in range(40)) + "</p>"

# What those who guard sites send with status 200, reduced to what tells it apart.
WALLS: Mapping[str, tuple[str, str]] = {
    "cloudflare": (
        "Just a moment...",
        "<noscript>Enable JavaScript and cookies to continue</noscript>"
        '<script>window._cf_chl_opt = {cType: "managed"};</script>',
    ),
    "cloudflare-blocked": (
        "Attention Required! | Cloudflare",
        '<div id="cf-error-details"><h2>Sorry, you have been blocked</h2></div><a href="/help">Why?</a>',
    ),
    "datadome": ("shop.example", '<script src="https://ct.captcha-delivery.com/c.js"></script>'),
    "perimeterx": ("Access to this page has been denied", '<div id="px-captcha"></div><p>Press and hold.</p>'),
    "aws-waf": ("", "<script>window.gokuProps = {};</script><div id='challenge-container'></div>"),
    "sucuri": ("", "<script>sucuri_cloudproxy_js = '';</script>You are being redirected..."),
    "imperva": ("", '<iframe id="main-iframe" src="/_Incapsula_Resource?edet=12&amp;incident_id=1-2"></iframe>'),
    "recaptcha": (
        "One more step",
        '<form><input type="hidden" name="q"><div class="g-recaptcha"></div>'
        '<textarea name="g-recaptcha-response"></textarea><input type="submit"></form>',
    ),
    "typed-captcha": (
        "shop.example",
        '<form action="/errors/validateCaptcha"><img src="/captcha/x.jpg"><input id="captchacharacters"></form>',
    ),
    "in-words": ("Access Denied", "<p>You don't have permission to access this server.</p>"),
    "in-words-only": ("Verify you are human", "<p>One moment.</p>"),
}
# What a careless rule would take for one of them.
NO_WALLS: Mapping[str, tuple[str, str]] = {
    "an article about captchas": ("How captchas work", f'{ARTICLE}<div class="g-recaptcha"></div>'),
    "a short text about captchas": ("What is a captcha?", "<p>A captcha is a test. Just a moment of your time.</p>"),
    "its code as an example": (
        "Notes",
        '<pre>&lt;form id="challenge-form"&gt; _cf_chl_opt, px-captcha, gokuProps, _Incapsula_Resource</pre>',
    ),
    "a contact form with a captcha": (
        "Write to us",
        '<form><input name="mail"><textarea name="text"></textarea><div class="h-captcha"></div></form>',
    ),
    "a login with a captcha": (
        "Log in",
        '<form><input name="user"><input type="password" name="pass"><div class="cf-turnstile"></div></form>',
    ),
    "a guarded site's ordinary page": ("Shop", '<p>Looms</p><script src="/_Incapsula_Resource?SWJIYLWA=1"></script>'),
    "a page with links to follow": (
        "Just a moment...",
        "".join(f'<a href="/item/{number}">{number}</a>' for number in range(20)),
    ),
    "a long text of that name": ("Access denied", ARTICLE),
}


@route("/wall/")
async def wall(call: Call) -> Reply:
    """`/wall/cloudflare?code=200`: the page that stands in the way."""
    return _one_of(WALLS, call)


@route("/no-wall/")
async def no_wall(call: Call) -> Reply:
    """`/no-wall/3`: the third page that only looks like one."""
    number = call.request.path.removeprefix("/no-wall/")
    names = list(NO_WALLS)
    if not number.isdecimal() or int(number) >= len(names):
        raise BadRequestError(f"there are only {len(names)} of them")
    return page(*NO_WALLS[names[int(number)]])


@route("/wall/checking")
async def checking(call: Call) -> Reply:
    """`/wall/checking?ms=2500&id=7`: a check that lets browsers through by itself, after so long, once for each id."""
    passed = f"checked{call.request.integer('id', 0)}=1"
    if passed in call.request.header("cookie"):
        return page("Looms", "<p>The looms that were asked for.</p>")
    code = f"setTimeout(() => {{ document.cookie = '{passed}; path=/'; location.reload(); }}, {call.request.integer('ms', 2_500)});"
    return page("Just a moment...", f"<p>Checking your browser.</p><script>{code}</script>", status=503)


@route("/wall/checking-in-place")
async def checking_in_place(call: Call) -> Reply:
    """The same without another request: the page itself becomes the one that was asked for."""
    ms = call.request.integer("ms", 2_500)
    code = f"setTimeout(() => {{ document.title = 'Looms'; document.body.innerHTML = '<p>The looms that were asked for.</p>'; }}, {ms});"
    return page("Checking your browser", f"<p>One moment.</p><script>{code}</script>")


def _one_of(pages: Mapping[str, tuple[str, str]], call: Call) -> Reply:
    name = call.request.path.rpartition("/")[2]
    if name not in pages:
        raise BadRequestError(f"there is no {name!r}, only {', '.join(pages)}")
    title, body = pages[name]
    return page(title, body, status=call.request.integer("code", 200))
