"""Certificates that nobody else trusts, and a web server that others wrote."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.nginx import Nginx

KEY = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
NAMES = "subjectAltName=DNS:shop.test,IP:127.0.0.1"


@pytest.fixture(scope="session")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An authority `ca` and, signed by it, `good`, `expired` and `other`; and `selfsigned`."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed")
    folder = tmp_path_factory.mktemp("certificates")

    def openssl(*arguments: str) -> None:
        subprocess.run(["openssl", *arguments], cwd=folder, check=True, capture_output=True)

    openssl(
        "req",
        "-x509",
        *KEY,
        "-keyout",
        "ca.key",
        "-out",
        "ca.pem",
        "-subj",
        "/CN=Test authority",
        "-days",
        "9",
    )
    openssl(
        "req", "-x509", *KEY, "-keyout", "selfsigned.key", "-out", "selfsigned.pem", "-subj", "/CN=shop.test",
        "-addext", NAMES, "-days", "9",
    )  # fmt: skip
    for name, days, names in (
        ("good", "9", NAMES),
        ("expired", "-1", NAMES),
        ("other", "9", "subjectAltName=DNS:other.test"),
    ):
        openssl(
            "req",
            *KEY,
            "-keyout",
            f"{name}.key",
            "-out",
            f"{name}.csr",
            "-subj",
            "/CN=shop.test",
            "-addext",
            names,
        )
        openssl(
            "x509", "-req", "-in", f"{name}.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial",
            "-copy_extensions", "copy", "-days", days, "-out", f"{name}.pem",
        )  # fmt: skip
    return folder


@pytest.fixture(scope="session")
def nginx(certificates: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nginx]:
    """A site over HTTP/2 and TLS: `/` links to twenty pages, one of which comes in pieces."""
    with Nginx(tmp_path_factory.mktemp("nginx"), certificates / "good") as server:
        yield server
