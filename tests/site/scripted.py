"""Pages that need a browser, and pages that try what they can do with one."""

from __future__ import annotations

import asyncio
import base64
import hashlib

from tests.site.registry import Call, route
from tests.site.reply import Reply, json_reply, page

LOGIN = "bee"
PASSWORD = "honey & wax"
_SOCKETS = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"


def _scripted(title: str, code: str, body: str = "") -> Reply:
    return page(title, f"{body}<script>{code}</script>")


@route("/scripted/shown")
async def shown(_call: Call) -> Reply:
    """What a browser says of itself, written by a script; the title too."""
    code = """
    document.title = document.querySelector("h1").textContent = "Shown by a script";
    const said = {width: innerWidth, height: innerHeight, agent: navigator.userAgent, language: navigator.language};
    for (const [name, value] of Object.entries(said)) {
      const line = document.createElement("p"); line.id = name; line.textContent = value; document.body.append(line);
    }"""
    return _scripted("Not yet", code)


@route("/scripted/works-first")
async def works_first(call: Call) -> Reply:
    """`/scripted/works-first?ms=1200`: a script works for so long before it asks for the page's content."""
    ms = call.request.integer("ms", 1_200)
    code = f"""setTimeout(() => {{
      for (const until = Date.now() + {ms}; Date.now() < until;);
      fetch("/scripted/data?s=0.2").then(answer => answer.json()).then(data => {{
        document.body.insertAdjacentHTML("beforeend", "<p class=asked>" + JSON.stringify(data) + "</p>");
      }});
    }}, 50);"""
    return _scripted("Works first", code)


@route("/scripted/late")
async def late(call: Call) -> Reply:
    """`/scripted/late?ms=1500`: its content comes after a while, without a request that would announce it."""
    ms = call.request.integer("ms", 1_500)
    code = f"""setTimeout(() => {{ document.body.insertAdjacentHTML("beforeend", "<p class=late>At last</p>"); }}, {ms});"""
    return _scripted("Late", code)


@route("/scripted/blank")
async def blank(call: Call) -> Reply:
    """`/scripted/blank?ms=1500`: nothing at all until then."""
    ms = call.request.integer("ms", 1_500)
    code = f"""setTimeout(() => {{ document.body.insertAdjacentHTML("beforeend", "<p class=late>At last</p>"); }}, {ms});"""
    return Reply(200, f"<!doctype html><title>Blank</title><div id=app></div><script>{code}</script>".encode())


@route("/scripted/fetched")
async def fetched(call: Call) -> Reply:
    """Shows what it asked for: `?s=1` after so long."""
    seconds = call.request.number("s", 0.7)
    code = f"""fetch("/scripted/data?s={seconds}").then(answer => answer.json()).then(data => {{
      document.body.insertAdjacentHTML("beforeend", `<p class=fetched>${{data.word}}</p>`);
    }});"""
    return _scripted("Fetched", code)


@route("/scripted/data")
async def data(call: Call) -> Reply:
    await asyncio.sleep(call.request.number("s", 0))
    return json_reply({"word": "tarantula", "from": call.request.integer("from", 0)})


@route("/scripted/endless-list")
async def endless_list(_call: Call) -> Reply:
    """Ten more items whenever somebody has scrolled to the end, or with `?by=click` for a click on `#more`."""
    code = """
    let next = 0, busy = false;
    async function more() {
      if (busy) return; busy = true;
      await fetch("/scripted/data?from=" + next);
      for (let i = 0; i < 10; i++) {
        document.querySelector("ul").insertAdjacentHTML("beforeend", `<li style="height: 200px">${next++}</li>`);
      }
      busy = false;
      if (next >= 50) document.querySelector("#more").remove();
    }
    const clicks = location.search == "?by=click";
    addEventListener("scroll", () => { if (!clicks) if (innerHeight + scrollY >= document.documentElement.scrollHeight - 5) more(); });
    more();"""
    return _scripted("A list", code, '<ul></ul><button id="more" onclick="more()">More</button>')


@route("/scripted/login")
async def login(call: Call) -> Reply:
    """A form; the right name and password give a cookie."""
    if call.request.method == "POST":
        from urllib.parse import parse_qs

        said = parse_qs(call.request.body.decode())
        if said.get("name") == [LOGIN] and said.get("password") == [PASSWORD]:
            return Reply(
                303, headers=(("Location", "/scripted/members"), ("Set-Cookie", "member=yes; Path=/; HttpOnly"))
            )
        return page("Wrong", status=403)
    form = (
        '<form method="post" action="/scripted/login"><input name="name" id="name">'
        '<input name="password" id="password" type="password"><button id="go">Log in</button></form>'
    )
    return page("Log in", form)


@route("/scripted/members")
async def members(call: Call) -> Reply:
    """For those who have logged in."""
    if "member=yes" not in call.request.header("cookie"):
        return page("Members only", status=401)
    return page("Welcome", '<p class="secret">The honey is in the cellar.</p>')


@route("/scripted/stored")
async def stored(_call: Call) -> Reply:
    """Shows what is in its storage, and counts its visits there."""
    code = """
    const visits = Number(localStorage.getItem("visits") || 0) + 1; localStorage.setItem("visits", visits);
    document.cookie = "visits=" + visits + "; path=/";
    document.body.insertAdjacentHTML("beforeend", `<p class=visits>${visits}</p><p class=token>${localStorage.token}</p>`);"""
    return _scripted("Stored", code)


@route("/scripted/busy")
async def busy(call: Call) -> Reply:
    """A script without an end: at once, or `?ms=100` after the page is there."""
    ms = call.request.integer("ms", 0)
    code = f"setTimeout(() => {{ for (;;); }}, {ms});" if ms else "for (;;);"
    return _scripted("Busy", code)


@route("/scripted/huge")
async def huge(call: Call) -> Reply:
    """`/scripted/huge?mb=60`: grows to so many megabytes once it runs."""
    count = call.request.integer("mb", 60)
    code = f"""document.body.append("x".repeat({count} * 1_000_000));"""
    return _scripted("Huge", code)


@route("/scripted/endless-body")
async def endless_body(call: Call) -> None:
    """Bytes without an end."""
    await call.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n\r\n<!doctype html><p>")
    while True:
        await call.send(b"x" * 65_536)


@route("/scripted/popups")
async def popups(_call: Call) -> Reply:
    """Opens windows, with and without a click."""
    code = """
    for (let i = 0; i < 20; i++) open("/scripted/popup?n=" + i);
    const link = document.createElement("a"); link.target = "_blank"; link.href = "/scripted/popup?n=99";
    document.body.append(link); link.click();
    document.body.insertAdjacentHTML("beforeend", "<p class=still>Still here</p>");"""
    return _scripted("Popups", code)


@route("/scripted/popup")
async def popup(_call: Call) -> Reply:
    return page("A window nobody wanted")


@route("/scripted/dialogs")
async def dialogs(_call: Call) -> Reply:
    """Asks whoever is there, and does not want to be left."""
    code = """
    alert("Hello"); confirm("Really?"); prompt("Your name?");
    addEventListener("beforeunload", event => { event.preventDefault(); event.returnValue = "stay"; });
    document.body.insertAdjacentHTML("beforeend", "<p class=answered>Answered</p>");"""
    return _scripted("Dialogs", code)


@route("/scripted/download")
async def download(_call: Call) -> Reply:
    return Reply(200, b"x" * 1_000, "application/zip", (("Content-Disposition", 'attachment; filename="x.zip"'),))


@route("/scripted/throws-in")
async def throws_in(call: Call) -> Reply:
    """`/scripted/throws-in?by=link`: a page that begins a download of its own accord."""
    code = """
    const link = document.createElement("a"); link.href = "/scripted/download"; link.download = "x.zip"; document.body.append(link);
    if (location.search == "?by=link") link.click(); else location.href = link.href;"""
    return _scripted("Your download begins", code)


@route("/scripted/away")
async def away(call: Call) -> Reply:
    """`/scripted/away?to=URL`: goes there by script."""
    target = call.request.text("to", "/ok")
    return _scripted("Away", f"location.href = {target!r};")


@route("/scripted/reaches")
async def reaches(call: Call) -> Reply:
    """`/scripted/reaches?to=http://10.0.0.1:80`: tries every way that a page has to get there, and says which were tried."""
    target = call.request.text("to", "")
    host = target.partition("//")[2]
    name, _, port = host.partition(":")
    code = f"""
    const target = {target!r}, host = {host!r}, name = {name!r}, port = {port!r};
    const tried = [];
    const attempt = (what, work) => {{ try {{ work(); tried.push(what); }} catch (error) {{ tried.push(what + ": " + error.name); }} }};
    attempt("fetch", () => fetch(target + "/fetch", {{mode: "no-cors"}}).catch(() => 0));
    attempt("xhr", () => {{ const x = new XMLHttpRequest(); x.open("GET", target + "/xhr"); x.send(); }});
    attempt("beacon", () => navigator.sendBeacon(target + "/beacon", "x"));
    attempt("script", () => {{ const s = document.createElement("script"); s.src = target + "/script"; document.head.append(s); }});
    attempt("style", () => {{ const l = document.createElement("link"); l.rel = "stylesheet"; l.href = target + "/style"; document.head.append(l); }});
    attempt("preconnect", () => {{ const l = document.createElement("link"); l.rel = "preconnect"; l.href = target; document.head.append(l); }});
    attempt("prefetch", () => {{ const l = document.createElement("link"); l.rel = "prefetch"; l.href = target + "/prefetch"; document.head.append(l); }});
    attempt("frame", () => {{ const f = document.createElement("iframe"); f.src = target + "/frame"; document.body.append(f); }});
    attempt("redirected frame", () => {{ const f = document.createElement("iframe"); f.src = "/redirect?to=" + encodeURIComponent(target + "/redirected"); document.body.append(f); }});
    attempt("websocket", () => new WebSocket("ws://" + host + "/socket"));
    attempt("events", () => new EventSource(target + "/events"));
    attempt("worker", () => new Worker(URL.createObjectURL(new Blob(["fetch('" + target + "/worker', {{mode: 'no-cors'}})"]))));
    attempt("form", () => {{ const f = document.createElement("form"); const i = document.createElement("iframe"); i.name = "form"; f.target = "form"; f.action = target + "/form"; document.body.append(i, f); f.submit(); }});
    attempt("popup", () => open(target + "/popup"));
    attempt("rtc", () => {{
      const peer = new RTCPeerConnection({{iceServers: [{{urls: "stun:" + name + ":" + port}}, {{urls: "turn:" + name + ":" + port, username: "u", credential: "p"}}]}});
      peer.createDataChannel("x"); peer.createOffer().then(offer => peer.setLocalDescription(offer));
    }});
    attempt("webtransport", () => {{ const t = new WebTransport("https://" + host + "/"); t.ready.catch(() => 0); t.closed.catch(() => 0); }});
    attempt("service worker", () => navigator.serviceWorker.register("/scripted/worker.js?to=" + encodeURIComponent(target)).catch(() => 0));
    document.body.insertAdjacentHTML("beforeend", `<p class=tried>${{tried.join(", ")}}</p>`);"""
    return _scripted("Reaches out", code)


@route("/scripted/worker.js")
async def worker(call: Call) -> Reply:
    """A service worker that asks elsewhere as soon as it lives, and would answer every request itself."""
    target = call.request.text("to", "")
    code = f"""
    self.addEventListener("install", () => {{ self.skipWaiting(); fetch({target + "/service-worker"!r}, {{mode: "no-cors"}}).catch(() => 0); }});
    self.addEventListener("activate", event => event.waitUntil(clients.claim()));
    self.addEventListener("fetch", event => event.respondWith(new Response("<h1>The worker's own page</h1>", {{headers: {{"content-type": "text/html"}}}})));"""
    return Reply(200, code.encode(), "text/javascript", (("Service-Worker-Allowed", "/"),))


@route("/scripted/socket")
async def socket(call: Call) -> Reply | None:
    """A WebSocket that says one word; without the upgrade, a page that shows it."""
    key = call.request.header("sec-websocket-key")
    if not key:
        code = """
        const socket = new WebSocket("ws://" + location.host + "/scripted/socket");
        socket.onmessage = event => document.body.insertAdjacentHTML("beforeend", `<p class=heard>${event.data}</p>`);"""
        return _scripted("Socket", code)
    accept = base64.b64encode(hashlib.sha1(key.encode() + _SOCKETS, usedforsecurity=False).digest()).decode()
    head = f"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: {accept}"
    await call.send(head.encode() + b"\r\n\r\n" + b"\x81\x05hello")
    await asyncio.sleep(2)
    return None


@route("/scripted/crash")
async def crash(_call: Call) -> Reply:
    """A page during whose life a test can have it crash, when it asks for this."""
    return _scripted("Crash", "fetch('/scripted/crash-now');")


@route("/scripted/asks-for-all")
async def asks_for_all(_call: Call) -> Reply:
    """A page with a picture, a font, a film and a style sheet."""
    head = (
        '<link rel="stylesheet" href="/scripted/asset.css">'
        "<style>@font-face { font-family: F; src: url(/scripted/asset.woff2) } body { font-family: F }</style>"
    )
    return page(
        "All", '<img src="/scripted/asset.png"><video src="/scripted/asset.mp4" autoplay muted></video>', head=head
    )


@route("/scripted/asset.css", "/scripted/asset.woff2", "/scripted/asset.png", "/scripted/asset.mp4")
async def asset(call: Call) -> Reply:
    kinds = {"css": "text/css", "woff2": "font/woff2", "png": "image/png", "mp4": "video/mp4"}
    return Reply(200, b"/* */", kinds[call.request.path.rpartition(".")[2]])
