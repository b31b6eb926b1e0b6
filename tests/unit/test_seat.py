"""The one server of a data directory: known to others for as long as it lives, however it ends."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tarantella.domain.errors import Conflict, StoreBroken
from tarantella.services.seat import FILE, Seat, ServerInfo, refused_endpoints, running

INFO = ServerInfo("http://127.0.0.1:8000", (("127.0.0.1", 8000), ("::1", 8000)), 7, 1.5, "0.1")


def test_a_server_is_known_until_it_leaves(tmp_path: Path) -> None:
    assert running(tmp_path / "never") is None
    seat = Seat(tmp_path / "data")
    seat.announce(INFO)
    assert running(tmp_path / "data") == INFO
    assert refused_endpoints(tmp_path / "data") == INFO.endpoints
    seat.leave()
    assert running(tmp_path / "data") is None
    assert not (tmp_path / "data" / FILE).exists()


def test_a_second_server_is_refused_and_told_where_the_first_is(tmp_path: Path) -> None:
    seat = Seat(tmp_path)
    seat.announce(INFO)
    with pytest.raises(Conflict, match=r"at http://127\.0\.0\.1:8000 \(process 7\)"):
        Seat(tmp_path)
    seat.leave()
    Seat(tmp_path).leave()


def test_what_a_dead_server_left_behind_says_nothing(tmp_path: Path) -> None:
    program = (
        "import os, sys; from pathlib import Path; from tarantella.services.seat import Seat, ServerInfo; "
        f"seat = Seat(Path({str(tmp_path)!r})); "
        "seat.announce(ServerInfo('http://127.0.0.1:1', (('127.0.0.1', 1),), 1, 1.0, '0')); os._exit(9)"
    )
    subprocess.run([sys.executable, "-c", program], check=False)
    assert (tmp_path / FILE).exists()
    assert running(tmp_path) is None
    assert refused_endpoints(tmp_path) == ()
    Seat(tmp_path).leave()


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"url": 1}', b'{"url":"x","endpoints":[1],"pid":"a"}'])
def test_a_file_that_cant_be_understood_is_no_server(tmp_path: Path, content: bytes) -> None:
    seat = Seat(tmp_path)
    (tmp_path / FILE).write_bytes(content)
    assert running(tmp_path) is None
    seat.leave()


def test_a_place_that_is_no_folder_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreBroken, match="can't be written"):
        Seat(tmp_path / "file")
