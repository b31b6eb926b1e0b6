"""What can be said of a crawl at the command line, in the groups that its help shows."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from tarantella.cli.options import RUNNING, PriorityName, StrategyName

WHAT = "What to fetch"
PACE = "How fast, how long, how stubborn"
IDENTITY = "Who we are and what we may reach"
BROWSER = "In a browser"
KEEP = "What to keep of each page"
DEVELOPMENT = "While you develop"

ScopeName = Literal["host", "domain", "path", "any"]
TextMode = Literal["fast", "article", "none"]
DurabilityName = Literal["normal", "full"]

Urls = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[URL]...",
        help="Where to start; `example.com` means https, `localhost:8000` http.",
        show_default=False,
    ),
]
UrlsFile = Annotated[
    str | None,
    typer.Option(
        metavar="FILE|-",
        help="Addresses to start from, one a line; `-` is stdin. Blanks and # lines are ignored.",
        rich_help_panel=WHAT,
    ),
]
Depth = Annotated[
    str,
    typer.Option(
        metavar="N|all",
        help="1 is the page itself, 2 adds the pages it links to, and so on.",
        rich_help_panel=WHAT,
    ),
]
MaxPages = Annotated[int | None, typer.Option(metavar="N", help="Pages in the run at most.", rich_help_panel=WHAT)]
Scope = Annotated[
    ScopeName,
    typer.Option(
        metavar="host|domain|path|any",
        help="Which links belong to the run: same host, same registered domain, same folder, any.",
        rich_help_panel=WHAT,
    ),
]
Include = Annotated[
    list[str] | None,
    typer.Option(metavar="GLOB", help="Follow only links whose whole address matches.", rich_help_panel=WHAT),
]
Exclude = Annotated[
    list[str] | None,
    typer.Option(metavar="GLOB", help="Don't follow links whose whole address matches.", rich_help_panel=WHAT),
]
Sitemap = Annotated[
    list[str] | None,
    typer.Option(
        metavar="auto|URL",
        help="Also fetch what a sitemap lists. `auto` reads those that robots.txt names, else /sitemap.xml.",
        show_default="none",
        rich_help_panel=WHAT,
    ),
]
TrapLimit = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME=N|off",
        help="When links are taken for a trap without end.",
        show_default="length=2000, folders=20, repeats=3, dates=5000, combinations=1000, queries=100000",
        rich_help_panel=WHAT,
    ),
]
NoTraps = Annotated[
    bool, typer.Option("--no-traps", help="Follow links however endless they look.", rich_help_panel=WHAT)
]

Concurrency = Annotated[
    int | None,
    typer.Option(metavar="N", help="Requests in flight at the same time.", rich_help_panel=PACE),
]
PerHost = Annotated[
    int | None,
    typer.Option(metavar="N", help="Of them to one host at most; it starts with one.", rich_help_panel=PACE),
]
Delay = Annotated[
    float,
    typer.Option(
        metavar="SECONDS",
        help="Pause between two requests to one host.",
        show_default="0",
        rich_help_panel=PACE,
    ),
]
TimeoutMinutes = Annotated[
    float | None,
    typer.Option(metavar="MINUTES", help="End the run after so long.", show_default="never", rich_help_panel=PACE),
]
TimeoutSeconds = Annotated[
    float | None,
    typer.Option(
        metavar="SECONDS",
        help="The same in seconds; both are added.",
        show_default="never",
        rich_help_panel=PACE,
    ),
]
Attempts = Annotated[
    int | None,
    typer.Option(metavar="N", help="Requests for one page in all, the first included.", rich_help_panel=PACE),
]
Backoff = Annotated[
    float,
    typer.Option(
        metavar="SECONDS",
        help="Wait before the second attempt; three times as long before each next one, 300 s at most.",
        show_default="10",
        rich_help_panel=PACE,
    ),
]

IgnoreRobots = Annotated[
    bool,
    typer.Option("--ignore-robots", help="Fetch what robots.txt asks us to leave.", rich_help_panel=IDENTITY),
]
UserAgent = Annotated[
    str | None, typer.Option(metavar="TEXT", help="How we introduce ourselves.", rich_help_panel=IDENTITY)
]
Header = Annotated[
    list[str] | None,
    typer.Option(
        metavar="'NAME: VALUE'",
        help="Send this header to the hosts of the start addresses.",
        rich_help_panel=IDENTITY,
    ),
]
CookiesFile = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Cookies to send: a cookies.txt in Netscape format.",
        rich_help_panel=IDENTITY,
    ),
]
NoCookies = Annotated[
    bool,
    typer.Option(
        "--no-cookies",
        help="Forget the cookies that sites set, instead of sending them back for the rest of the run.",
        rich_help_panel=IDENTITY,
    ),
]
Proxy = Annotated[
    str | None,
    typer.Option(
        metavar="URL",
        help="Fetch through this proxy: http, https or socks5, as in http://user:password@host:3128.",
        rich_help_panel=IDENTITY,
    ),
]
CaFile = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Certificates to trust, as well as the system's.", rich_help_panel=IDENTITY),
]
AllowNetwork = Annotated[
    list[str] | None,
    typer.Option(
        metavar="CIDR",
        help="Allow a private network, as in 10.0.0.0/8 or 127.0.0.1.",
        rich_help_panel=IDENTITY,
    ),
]

Strategy = Annotated[
    StrategyName,
    typer.Option(
        metavar="auto|http|browser|api_replay",
        help="How to fetch. http asks over plain HTTP, and goes on in a browser where a page is refused; auto also where one "
        "is empty until its scripts run, or the site has taught so. browser runs the scripts of every page, which costs "
        "fifty times as much. api_replay is for jobs, whose runs leave recordings.",
        rich_help_panel=BROWSER,
    ),
]
WaitFor = Annotated[
    str | None,
    typer.Option(
        metavar="CSS",
        help="In a browser: read a page when something matches this.",
        show_default="when its network is quiet",
        rich_help_panel=BROWSER,
    ),
]
Scroll = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        help="In a browser: scroll to the end of a page, so often at most, while that brings more.",
        show_default="0",
        rich_help_panel=BROWSER,
    ),
]
LoadMore = Annotated[
    str | None,
    typer.Option(
        metavar="CSS",
        help="In a browser: click this while it is there, 20 times at most.",
        show_default="none",
        rich_help_panel=BROWSER,
    ),
]
Screenshot = Annotated[
    bool,
    typer.Option(
        "--screenshot",
        help="In a browser: keep a picture of each page; see `runs artifacts`.",
        rich_help_panel=BROWSER,
    ),
]
KeepHtml = Annotated[
    bool,
    typer.Option(
        "--keep-html",
        help="In a browser: keep the HTML of each page as its scripts left it; see `runs artifacts`.",
        rich_help_panel=BROWSER,
    ),
]
BrowserFile = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="All of this and actions, in YAML or JSON; what is filled in by `secret` is taken from the environment.",
        rich_help_panel=BROWSER,
    ),
]
Session = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="In a browser: the login that `tarantella sessions import` has stored.",
        rich_help_panel=BROWSER,
    ),
]

Text = Annotated[
    TextMode,
    typer.Option(
        metavar="fast|article|none",
        help="The main text of each page: quickly, or with more care as that of an article, with author and date; or none.",
        rich_help_panel=KEEP,
    ),
]
Field = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME[=CSS[@ATTR]]",
        help="A field of each record: the text of what the selector finds, or an attribute of it. "
        "A name alone, like price, is found by itself.",
        rich_help_panel=KEEP,
    ),
]
FieldsFile = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Fields in YAML or JSON, with types, XPath, JMESPath, lists and more.",
        rich_help_panel=KEEP,
    ),
]
KeepBodies = Annotated[
    bool,
    typer.Option("--keep-bodies", help="Keep each response in the database, compressed.", rich_help_panel=KEEP),
]

Cache = Annotated[
    bool,
    typer.Option(
        "--cache",
        help="Keep answers in DATA_DIR/cache, and take them from there in later runs without asking the site.",
        rich_help_panel=DEVELOPMENT,
    ),
]
CacheDir = Annotated[
    Path | None,
    typer.Option(metavar="DIR", help="Like --cache, in this folder.", rich_help_panel=DEVELOPMENT),
]
CacheTtl = Annotated[
    float | None,
    typer.Option(
        metavar="SECONDS",
        help="How long answers are fresh; after that the site is asked whether they have changed.",
        show_default="for ever",
        rich_help_panel=DEVELOPMENT,
    ),
]

Durability = Annotated[
    DurabilityName | None,
    typer.Option(
        metavar="normal|full",
        help="`full` waits for the disk at every commit: results survive a power cut, not only a crash. PostgreSQL always does.",
        rich_help_panel=RUNNING,
    ),
]
Priority = Annotated[
    PriorityName,
    typer.Option(
        metavar="critical|high|medium|low",
        help="Which run goes first when more are wanted than may run.",
        rich_help_panel=RUNNING,
    ),
]
