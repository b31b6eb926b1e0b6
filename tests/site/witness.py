"""A proxy that fetches nothing: it only writes down whom a client would have dialled."""

from __future__ import annotations

import socketserver
import threading
from types import TracebackType
from typing import Self

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
REFUSAL = b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


class Witness:
    """`with Witness() as witness`: `witness.url` is the proxy, `witness.take()` the targets since the last time."""

    def __init__(self) -> None:
        self._targets: list[str] = []
        self._server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def take(self) -> list[str]:
        """What was asked for: `http://host/path` in the clear, `host:port` of a tunnel."""
        taken, self._targets = self._targets, []
        return taken

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()

    def _handler(self) -> type[socketserver.StreamRequestHandler]:
        witness = self

        class Handler(socketserver.StreamRequestHandler):
            def handle(self) -> None:
                while line := self.rfile.readline():
                    method, target, _ = line.decode("latin-1").split(" ", 2)
                    while self.rfile.readline() not in (b"\r\n", b""):
                        pass
                    witness._targets.append(target)
                    self.wfile.write(REFUSAL if method == "CONNECT" else ANSWER)
                    if method == "CONNECT":
                        return

        return Handler
