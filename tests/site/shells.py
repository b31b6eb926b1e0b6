"""Pages that scripts would fill, and pages that only look like it: small, short, or full of scripts for something else."""

from __future__ import annotations

from collections.abc import Mapping

from tests.site.registry import Call, route
from tests.site.reply import Reply
from tests.site.request import BadRequestError

STYLES = ".unused { color: #123456 }\n" * 300
STATE = (
    '{"products":['
    + ",".join(f'{{"id":{n},"name":"Loom {n}","text":"beech wood and linen"}}' for n in range(400))
    + "]}"
)
NAVIGATION = "".join(f'<a href="/section/{n}">Section number {n}</a>' for n in range(25))
BUNDLE = '<script type="module" crossorigin src="/assets/index-4f1c.js"></script>'


def html(body: str, head: str = "", title: str = "Shop") -> str:
    return f"<!doctype html><html lang=en><head><title>{title}</title>{head}</head><body>{body}</body></html>"


SHELLS: Mapping[str, str] = {
    "react": html(
        '<noscript>You need to enable JavaScript to run this app.</noscript><div id="root"></div>'
        '<script src="/static/js/main.js"></script>'
    ),
    "vite": html('<div id="app"></div>', BUNDLE),
    "angular": html("<app-root></app-root>", BUNDLE),
    "ember": html('<div id="ember-basic-dropdown-wormhole"></div><script src="/assets/vendor.js"></script>'),
    "behind long styles": html('<div id="root"></div><script src="/app.js"></script>', f"<style>{STYLES}</style>"),
    "behind a long comment": html(f"<!--{'x' * 20_000}--><div id=root></div><script src=/app.js></script>"),
    "an unknown mount": html(
        '<div id="shop-frontend-4711" class="fullscreen"></div><script src="/dist/b.js"></script>'
    ),
    "a mount without a name": html("<main></main><script src=/b.js defer></script>"),
    "custom elements": html("<shop-frame><shop-list></shop-list></shop-frame>", BUNDLE),
    "nothing but a script": html('<script src="/bundle.js"></script>'),
    "its program inside": html(
        '<div id="x1"></div><script>fetch("/api/items").then(r => r.json())'
        '.then(d => { document.getElementById("x1").innerHTML = d.map(i => i.name).join() })</script>'
    ),
    "a word for loading": html('<div id="root">Loading…</div><script src="/app.js"></script>'),
    "a sentence for loading": html(
        '<div id="root"><p>Loading, please wait...</p></div><script src="/app.js"></script>'
    ),
    "loading in german": html('<div id="root"><p>Wird geladen …</p></div><script src="/app.js"></script>'),
    "a spinner": html(
        '<div id="app"><div class="spinner"><svg viewBox="0 0 1 1"><circle r="1"/></svg></div></div>'
        '<script src="/app.js"></script>'
    ),
    "a spinner beside the mount": html(
        '<div class="app-loader" role="progressbar"><img src="/logo.svg"><span>One moment</span></div>'
        '<div id="frontend"></div><script src="/app.js"></script>'
    ),
    "a skeleton": html(
        '<div id="root"><div class="header-skeleton"></div>'
        + '<div class="card skeleton"><div class="skeleton-line"></div><div class="skeleton-line short"></div></div>'
        * 12
        + '</div><script src="/app.js"></script>'
    ),
    "a busy region": html(
        '<section aria-busy="true" aria-live="polite"><i></i><i></i><i></i></section><script src="/app.js"></script>'
    ),
    "its data as JSON": html(
        f'<div id="__next"></div><script id="__NEXT_DATA__" type="application/json">{STATE}</script>'
        '<script src="/_next/static/main.js"></script>'
    ),
    "its data as a program": html(
        f'<div id="app"></div><script>window.__INITIAL_STATE__ = {STATE};</script><script src="/app.js"></script>'
    ),
    "a header and nothing below": html(
        f'<header><img src="/logo.svg"><nav>{NAVIGATION}</nav><input type="search" name="q"></header>'
        '<main id="content"></main><footer><p>© 2030 Shop, all rights reserved.</p></footer><script src="/app.js"></script>'
    ),
    "a frame of divs and nothing in it": html(
        '<div class="page"><div role="banner"><a href="/">Shop</a></div><div id="root"><div class="container"></div></div>'
        '<div role="contentinfo">© Shop</div></div><script src="/app.js"></script>'
    ),
    "a header in its root and nothing below": html(
        '<div id="root"><header><a href="/">Shop</a></header><div class="content"></div></div><script src="/app.js"></script>'
    ),
    "a notice of cookies before it": html(
        f'<div id="cookie-notice"><p>{"We and our partners use cookies for everything. " * 8}</p><button>Fine</button></div>'
        '<div id="app"></div><script src="/app.js"></script>'
    ),
    "a frame of divs with names": html(
        f'<div class="site-header">{NAVIGATION}</div><div id="app"></div><div class="footer">{"Small print. " * 20}</div>'
        '<script src="/app.js"></script>'
    ),
    "a notice in french": html(
        "<noscript>Veuillez activer JavaScript pour utiliser cette application : activez JavaScript.</noscript>"
        '<div class="frame"></div><script src="/app.js"></script>'
    ),
    "with analytics beside its own script": html(
        '<div id="root"></div><script src="https://www.googletagmanager.com/gtag/js?id=G-1"></script>'
        '<script>window.dataLayer = window.dataLayer || [];</script><script src="/app.js"></script>'
        '<noscript><iframe src="https://www.googletagmanager.com/ns.html" height="0" width="0"></iframe></noscript>'
    ),
    "with room for what comes later": html(
        '<div id="root"></div><div id="modal-root"></div><div id="toast-container"></div><script src="/app.js"></script>'
    ),
    "with templates": html(
        f"<template><article>{'word ' * 300}</article></template><div id=list></div><script src=/app.js></script>"
    ),
    "in upper case": "<HTML><HEAD><TITLE>Shop</TITLE></HEAD><BODY><DIV ID=ROOT></DIV><SCRIPT SRC=/A.JS></SCRIPT></BODY></HTML>",
}

ANALYTICS = (
    '<script async src="https://www.googletagmanager.com/gtag/js?id=G-1"></script>'
    "<script>window.dataLayer = []; function gtag(){dataLayer.push(arguments)} gtag('js', new Date());"
    " var s = document.createElement('script'); document.head.appendChild(s);</script>"
    '<script defer src="https://static.cloudflareinsights.com/beacon.min.js"></script>'
)
NO_SHELLS: Mapping[str, str] = {
    "a short page": html("<h1>Opening hours</h1><p>Monday to Friday, nine to five.</p><script src=/menu.js></script>"),
    "one line": html("<p>It works!</p>"),
    "one word and a script": html("<p>Hello there, you found it.</p><script src=/a.js></script>"),
    "an empty page without scripts": html(""),
    "an empty mount without scripts": html('<div id="root"></div>'),
    "an empty mount with analytics alone": html(f'<div id="root"></div>{ANALYTICS}'),
    "few words with analytics alone": html(f"<h1>Parked</h1><p>This name is for sale.</p>{ANALYTICS}"),
    "data alone": html(f'<h1>Feed</h1><script type="application/json">{STATE}</script>'),
    "a gallery": html(
        '<div id="gallery">' + "".join(f'<img src="/{n}.jpg" alt="">' for n in range(20)) + '</div><script src="/g.js"></script>'
    ),
    "a gallery that loads late": html(
        "".join(f'<a href="/{n}"><img class="lazyload" data-src="/{n}.jpg"></a>' for n in range(12)) + "<script src=/l.js></script>"
    ),
    "a login": html(
        '<div id="toast-root"></div><form><label>Name <input name="user"></label><input type="password" name="pass">'
        '<button>Log in</button></form><script src="/form.js"></script>'
    ),
    "a search": html('<form><input type="search" name="q"></form><div id="results"></div><script src="/s.js"></script>'),
    "a redirect by refresh": html(
        '<div id="app"></div><script src="/a.js"></script>', '<meta http-equiv="refresh" content="0; url=/there">'
    ),
    "a redirect by script": html('<script>window.location.replace("/there")</script>'),
    "a redirect by script and link": html(
        '<p><a href="/there">Go on</a></p><script>document.querySelector("a"); location.href = "/there";</script>'
    ),
    "maintenance": html(
        "<h1>We'll be back soon</h1><p>Our shop is being mended. Please come back in an hour.</p><script src=/t.js></script>",
        title="Maintenance",
    ),
    "frames": html('<iframe src="/inside.html" width="100%" height="600"></iframe><script src="/resize.js"></script>'),
    "an old frameset": "<html><head><script src=/n.js></script></head><frameset cols='20%,80%'><frame src=/a><frame src=/b></frameset></html>",
    "a video": html('<video src="/film.mp4" controls></video><script src="/player.js"></script>'),
    "a map beside an address": html(
        "<h1>Find us</h1><p>12 Harbour Street, third floor, ring twice, mind the dog and the low door.</p>"
        '<div id="map"></div><script src="/maps.js"></script>'
    ),
    "a short article with comments": html(
        '<h1>On looms</h1><p>They are made of wood.</p><div id="disqus_thread"></div><script src="/embed.js"></script>'
        "<noscript>Please enable JavaScript to view the comments powered by Disqus.</noscript>"
    ),
    "rendered by the server": html(
        '<div id="__next"><header>Shop</header><main><h1>Looms</h1><p>Three of them are left, all of them made of beech.</p>'
        '<a href="/1">one</a></main></div><script src="/_next/static/main.js"></script>'
    ),
    "rendered by the server and short": html('<div id="root"><p>No such order.</p></div><script src="/app.js"></script>'),
    "a page that says it is loading, at length": html(
        f'<div class="loading-wrapper"><p>{"Loading a ship takes two days and forty men. " * 5}</p></div><script src="/a.js"></script>'
    ),
    "a body that is called loading": html(
        f"<main><p>{'A sentence about looms and linen. ' * 10}</p></main><script src=/a.js></script>"
    ).replace("<body>", '<body class="loading">'),
    "written without blanks": html(f"<main><p>{'織機は布を織るための道具である。' * 20}</p></main><script src=/a.js></script>"),
    "a list of links": html("".join(f'<li><a href="/{n}">{n}</a></li>' for n in range(80)) + '<div id="more"></div><script src=/a.js></script>'),
    "a short list of links": html("".join(f'<li><a href="/{n}">item {n}</a></li>' for n in range(20)) + '<script src=/a.js></script>'),
    "a hero and nothing else": html(
        '<header class="hero"><h1>Looms for everybody</h1><p>Made by hand since 1912.</p></header><script src=/a.js></script>'
    ),
    "rows that are empty here and there": html(
        '<div class="container"><h1>Our looms</h1><p>We make them by hand, one a week, of the wood of old beeches.</p></div>'
        '<div class="container"></div><script src=/a.js></script>'
    ),
    "thanks": html("<h1>Thank you!</h1><p>Your message was sent.</p><div id='modal-root'></div><script src=/a.js></script>"),
    "without a body": "<html><head><title>x</title><script src=/a.js></script></head></html>".replace("</html>", "<p>A text for everybody.</html>"),
}  # fmt: skip


@route("/shell/")
async def shell(call: Call) -> Reply:
    """`/shell/3`: the third page that scripts would fill."""
    return _one_of(SHELLS, call, "/shell/")


@route("/no-shell/")
async def no_shell(call: Call) -> Reply:
    """`/no-shell/3`: the third page that only looks like one."""
    return _one_of(NO_SHELLS, call, "/no-shell/")


def _one_of(pages: Mapping[str, str], call: Call, prefix: str) -> Reply:
    number = call.request.path.removeprefix(prefix)
    texts = list(pages.values())
    if not number.isdecimal() or int(number) >= len(texts):
        raise BadRequestError(f"there are only {len(texts)} of them")
    return Reply(200, texts[int(number)].encode())
