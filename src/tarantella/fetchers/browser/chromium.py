"""One Chromium: started when the first page needs it, replaced when it dies or hangs, gone when we are."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from tarantella.domain.failure import Failure
from tarantella.fetchers.browser.finding import REMEDY
from tarantella.fetchers.browser.profiles import Profile, sweep
from tarantella.fetchers.contract import FetchError
from tarantella.log import log

if TYPE_CHECKING:
    from playwright.async_api import Browser, CDPSession, Playwright

START_SECONDS = 60.0  # from a cold disk it takes its time
STOP_SECONDS = 10.0
ANSWER_SECONDS = 5.0
T = TypeVar("T")

SWITCHES = (
    # A page must not reach anything but through its context's gateway: no QUIC, no UDP of WebRTC, no names looked up here.
    "--disable-quic",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
    "--dns-prefetch-disable",
    "--no-pings",
    "--disable-gpu",
    "--mute-audio",
    "--hide-scrollbars",
    "--disable-domain-reliability",
    "--disable-client-side-phishing-detection",
)


class Chromium:
    """A browser and the driver that speaks with it. A pipe is between each of them: when one dies, the others end."""

    def __init__(self, program: str, *, sandbox: bool) -> None:
        self._program = program
        self._sandbox = sandbox
        self._profile: Profile | None = None
        self._driver: Playwright | None = None
        self._nowhere: socket.socket | None = None
        self.browser: Browser | None = None
        self.user_agent = ""
        self._session: CDPSession | None = None

    @property
    def is_alive(self) -> bool:
        return self.browser is not None and self.browser.is_connected()

    async def start(self) -> None:
        """Start the driver and the browser; raises FetchError when that can't be done."""
        from playwright.async_api import Error, async_playwright

        await asyncio.to_thread(sweep)
        self._profile = Profile()
        try:
            async with asyncio.timeout(START_SECONDS):
                with _temporary_files_in(self._profile.folder):
                    self._driver = await async_playwright().start()
                self.browser = await self._launch(self._driver)
                self._session = await self.browser.new_browser_cdp_session()
                told = await self._session.send("Browser.getVersion")
        except (Error, OSError, TimeoutError) as error:
            await self.stop()
            raise _no_start(error) from None
        except BaseException:
            await self.stop()
            raise
        # A browser's own name, without the word that says nobody looks at its window.
        self.user_agent = str(told["userAgent"]).replace("HeadlessChrome", "Chrome")
        log.info("Browser started", action="browser_started", program=self._program, version=self.browser.version)

    async def _launch(self, driver: Playwright) -> Browser:
        # What belongs to no context goes nowhere: a port that is ours, and at which nobody listens.
        self._nowhere = socket.socket()
        self._nowhere.bind(("127.0.0.1", 0))
        return await driver.chromium.launch(
            executable_path=self._program,
            headless=True,
            args=list(SWITCHES),
            proxy={"server": f"http://127.0.0.1:{self._nowhere.getsockname()[1]}"},
            chromium_sandbox=self._sandbox,
            # Ctrl-C reaches all processes of a terminal; whether pages are finished first is for us to say.
            handle_sigint=False,
            handle_sigterm=False,
            handle_sighup=False,
            timeout=START_SECONDS * 1000,
        )

    async def answers(self) -> bool:
        """Whether it still does what it is told; a connection says nothing about that."""
        if self._session is None or not self.is_alive:
            return False
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                await self._session.send("Browser.getVersion")
        except Exception:
            return False
        return True

    async def memory(self) -> int:
        """The bytes that all its processes have for themselves, where the system tells."""
        if self._session is None:
            return 0
        told = await self._session.send("SystemInfo.getProcessInfo")
        return sum(_private_bytes(int(process["id"])) for process in told["processInfo"])

    async def stop(self) -> None:
        """End it, in a limited time: a browser that hangs is killed by its driver, and both end when the driver's pipe closes."""
        driver, self._driver = self._driver, None
        browser, self.browser = self.browser, None
        self._session = None
        if browser is not None:
            await _quietly(browser.close(), STOP_SECONDS)
        if driver is not None:
            await _quietly(driver.stop(), STOP_SECONDS)
        if self._nowhere is not None:
            self._nowhere.close()
        if self._profile is not None:
            await asyncio.to_thread(self._profile.remove)
            self._profile = None


async def _quietly(work: Coroutine[Any, Any, object], seconds: float) -> None:
    with suppress(Exception):
        await asyncio.wait_for(work, seconds)


@contextmanager
def _temporary_files_in(folder: Path) -> Iterator[None]:
    """The driver makes the browser's folders where its environment says, and takes ours."""
    before = os.environ.get("TMPDIR")
    os.environ["TMPDIR"] = str(folder)
    try:
        yield
    finally:
        if before is None:
            del os.environ["TMPDIR"]
        else:
            os.environ["TMPDIR"] = before


def _private_bytes(pid: int) -> int:
    try:
        text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    except OSError:
        return 0
    return sum(int(line.split()[1]) * 1024 for line in text.splitlines() if line.startswith("Private_"))


def _no_start(error: Exception) -> FetchError:
    said = str(error)
    if "No usable sandbox" in said or "SUID sandbox" in said:
        return FetchError(
            Failure.BROWSER,
            "no_sandbox",
            "The browser can't start its sandbox here; TARANTELLA_BROWSER_SANDBOX=false goes without.",
        )
    first = next((line.strip() for line in said.splitlines() if line.strip()), type(error).__name__)
    return FetchError(Failure.BROWSER, "no_start", f"The browser did not start: {first[:200]} To mend it: {REMEDY}.")
