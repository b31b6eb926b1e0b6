"""One nginx on loopback, started for a benchmark and stopped with it."""

from __future__ import annotations

import http.client
import os
import resource
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from benchmarks.rig.site import Served, Site, loopback, page_path

START_TRIES = 5
READY_SECONDS = 10.0
STOP_SECONDS = 10.0
TEMP_KINDS = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")

CONFIG = """\
{user}
worker_processes 1;
worker_rlimit_nofile {open_files};
daemon off;
pid "{folder}/nginx.pid";
error_log "{folder}/error.log";
events {{ worker_connections 1024; }}
http {{
    {log}
    sendfile on;
    tcp_nopush on;
    keepalive_requests 1000000000;
    keepalive_timeout 3600s;
    open_file_cache max={cached_files} inactive=3600s;
    open_file_cache_valid 3600s;
    types {{ text/html html; text/plain txt; }}
    default_type text/html;
    {temp_paths}
    {pace}
    server {{
        {listens}
        root "{root}";
        {paced}
    }}
}}
"""


class NginxError(RuntimeError):
    """nginx can't serve the site."""


@contextmanager
def serving(site: Site, work_dir: Path, *, keep_log: bool = False, per_second: int | None = None) -> Iterator[Served]:
    """The site, served for as long as the block lasts; with a log, one line a request: when it came, and what for.

    A site that serves only so many pages a second lets the others wait, as a busy one does.
    """
    binary = _find_binary()
    folder = work_dir / f"nginx-{site.root.name}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    log = folder / "access.log" if keep_log else None
    process, port = _start(binary, site, folder, log, per_second)
    try:
        yield Served(site, port, log)
    finally:
        _stop(process)


def warm_up(served: Served) -> None:
    """Fetch every page once, so that the first contestant doesn't pay for cold caches."""
    shape = served.site.shape
    for host in range(shape.hosts):
        connection = http.client.HTTPConnection(loopback(host), served.port, timeout=10)
        try:
            for path in ("/robots.txt", *(page_path(number) for number in range(host, shape.pages, shape.hosts))):
                _fetch(connection, path)
        finally:
            connection.close()


def _fetch(connection: http.client.HTTPConnection, path: str) -> None:
    connection.request("GET", path)
    answer = connection.getresponse()
    answer.read()
    if answer.status != 200:
        raise NginxError(
            f"nginx answered {answer.status} for {path}: see error.log in the work directory; "
            "403 means that it may not read the site's folder"
        )


def free_port(hosts: int = 1, wish: int = 0) -> int | None:
    """A port that is free on this many hosts: the one wished for, or None; without a wish, any."""
    with ExitStack() as stack:
        port = wish
        for host in range(hosts):
            probe = stack.enter_context(socket.socket())
            try:
                probe.bind((loopback(host), port))
            except OSError:
                return None
            port = probe.getsockname()[1]
        return port


def _find_binary() -> str:
    # Debian installs it where the PATH of an ordinary user doesn't look.
    binary = shutil.which("nginx", path=os.environ.get("PATH", "") + ":/usr/sbin:/usr/local/sbin")
    if binary is None:
        raise NginxError("nginx was not found: install it (Debian and Ubuntu: apt install nginx-light)")
    return binary


def version() -> str:
    """What nginx calls itself."""
    answer = subprocess.run([_find_binary(), "-v"], capture_output=True, text=True, timeout=10, check=True)
    return answer.stderr.strip().removeprefix("nginx version: nginx/")


def _start(
    binary: str, site: Site, folder: Path, log: Path | None, per_second: int | None
) -> tuple[subprocess.Popen[bytes], int]:
    # Between our choosing a free port and nginx binding it, somebody else may take it: choose again.
    for _ in range(START_TRIES):
        port = site.shape.port or free_port(site.shape.hosts)
        if port is None:
            continue
        config = folder / "nginx.conf"
        config.write_text(_config(site, folder, port, log, per_second))
        process = subprocess.Popen(
            [binary, "-p", str(folder), "-e", str(folder / "error.log"), "-c", str(config)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            if _becomes_ready(process, port):
                return process, port
        except BaseException:
            _stop(process)
            raise
        _stop(process)
    tail = (folder / "error.log").read_text()[-2000:] if (folder / "error.log").exists() else "(no error log)"
    raise NginxError(f"nginx did not start within {READY_SECONDS:.0f} s, tried {START_TRIES} times:\n{tail}")


def _config(site: Site, folder: Path, port: int, log: Path | None, per_second: int | None) -> str:
    open_files, cached_files = _file_limits(site.shape.pages)
    return CONFIG.format(
        user="user root;" if os.geteuid() == 0 else "",
        open_files=open_files,
        cached_files=cached_files,
        folder=folder,
        log=f"log_format arrival '$msec $uri'; access_log \"{log}\" arrival;" if log else "access_log off;",
        temp_paths=" ".join(f'{kind}_temp_path "{folder}/{kind}";' for kind in TEMP_KINDS),
        listens=" ".join(f"listen {loopback(host)}:{port} backlog=1024;" for host in range(site.shape.hosts)),
        root=site.root,
        pace=f"limit_req_zone $binary_remote_addr zone=all:1m rate={per_second}r/s;" if per_second else "",
        paced="limit_req zone=all burst=1000;" if per_second else "",
    )


def _file_limits(pages: int) -> tuple[int, int]:
    """How many files nginx may open and how many of them it keeps open: a cached file costs a descriptor."""
    wanted = pages + 4096
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    # Not even root can be sure of raising it: in a container the hard limit holds.
    open_files = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    return open_files, max(1, min(pages + 16, open_files - 2048))


def _becomes_ready(process: subprocess.Popen[bytes], port: int) -> bool:
    deadline = time.monotonic() + READY_SECONDS
    while process.poll() is None and time.monotonic() < deadline:
        try:
            socket.create_connection((loopback(0), port), timeout=1).close()
        except OSError:
            time.sleep(0.02)
        else:
            return process.poll() is None
    return False


def _stop(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is not None:
        return
    process.terminate()
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait(STOP_SECONDS)
