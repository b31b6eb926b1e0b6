"""nginx on loopback, with HTTP/2: proof that what we speak is understood by those who did not write it with us in mind."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from pathlib import Path
from typing import Self

import pytest

PAGES = 20
READY_SECONDS = 10.0
START_TRIES = 5

CONFIG = """
{user}
daemon off;
worker_processes 1;
pid "{folder}/pid";
error_log "{folder}/error.log";
events {{ worker_connections 256; }}
http {{
    access_log off;
    default_type text/html;
    client_body_temp_path "{folder}/body"; proxy_temp_path "{folder}/proxy"; fastcgi_temp_path "{folder}/fastcgi";
    uwsgi_temp_path "{folder}/uwsgi"; scgi_temp_path "{folder}/scgi";
    gzip on; gzip_min_length 1; gzip_types text/html;
    server {{
        listen 127.0.0.1:{port} ssl http2;
        ssl_certificate "{certificate}.pem";
        ssl_certificate_key "{certificate}.key";
        add_header Set-Cookie "seen=1; Path=/; Secure" always;
        location / {{ root "{folder}/root"; index index.html; }}
        location = /version {{ return 200 "$server_protocol $http_cookie"; }}
        location = /robots.txt {{ return 404; }}
    }}
}}
"""


class Nginx:
    """The server, from `with` to its end."""

    def __init__(self, folder: Path, certificate: Path) -> None:
        # Debian installs it where the PATH of an ordinary user doesn't look.
        binary = shutil.which("nginx", path=os.environ.get("PATH", "") + ":/usr/sbin:/usr/local/sbin")
        if binary is None:
            pytest.skip("nginx is not installed")
        self._binary = binary
        self._folder = folder
        self._certificate = certificate
        self.port = 0

    def __enter__(self) -> Self:
        root = self._folder / "root"
        root.mkdir()
        links = "".join(f'<a href="/{number}.html">{number}</a>' for number in range(PAGES))
        (root / "index.html").write_text(f"<title>Start</title>{links}")
        for number in range(PAGES):
            (root / f"{number}.html").write_text(f"<title>Page {number}</title>" + "<p>words</p>" * number * 200)
        for _ in range(START_TRIES):
            self._start()
            if self._becomes_ready():
                return self
            self.__exit__()
        raise AssertionError((self._folder / "error.log").read_text()[-2_000:])

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.wait(10)

    def url_for(self, path: str) -> str:
        return f"https://127.0.0.1:{self.port}{path}"

    def _start(self) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        # Its workers give up root, and then could not read a folder of root's.
        user = "user root;" if os.geteuid() == 0 else ""
        config = self._folder / "nginx.conf"
        config.write_text(CONFIG.format(user=user, folder=self._folder, port=self.port, certificate=self._certificate))
        self._process = subprocess.Popen(
            [self._binary, "-p", str(self._folder), "-e", str(self._folder / "error.log"), "-c", str(config)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def _becomes_ready(self) -> bool:
        give_up = time.monotonic() + READY_SECONDS
        while self._process.poll() is None and time.monotonic() < give_up:
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
            except OSError:
                time.sleep(0.02)
            else:
                return True
        return False
