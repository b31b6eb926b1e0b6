"""The objects of a bucket, as a server on this machine has them that speaks as S3 does."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import boto3
import pytest

from tarantella.domain.errors import InvalidInput
from tarantella.services.inventory import inventory_at
from tarantella.services.inventory.disk import Disk
from tests.extras import seeing_only


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    try:
        host, port = server.get_host_and_port()
        yield f"http://{host}:{port}"
    finally:
        server.stop()


@pytest.fixture(autouse=True)
def _account(server: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Credentials and an address that nobody else has anything to do with."""
    for name, value in {
        "AWS_ENDPOINT_URL_S3": server,
        "AWS_ACCESS_KEY_ID": "someone",
        "AWS_SECRET_ACCESS_KEY": "something",
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_CONFIG_FILE": str(tmp_path / "none"),
        "AWS_SHARED_CREDENTIALS_FILE": str(tmp_path / "none"),
    }.items():
        monkeypatch.setenv(name, value)
    for name in ("AWS_PROFILE", "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_ENDPOINT_URL"):
        monkeypatch.delenv(name, raising=False)


NAMES = ("a", "raw/b", "raw/x/c", "raw/x/y/d", "rawer/e")


@pytest.fixture
def bucket(server: str, request: pytest.FixtureRequest) -> str:
    name = f"bucket-{abs(hash(request.node.name))}"
    client = boto3.client("s3", region_name="us-east-1")
    client.create_bucket(Bucket=name)
    for key in NAMES:
        client.put_object(Bucket=name, Key=f"stock/{key}", Body=b"12345")
    client.put_object(Bucket=name, Key="stock/raw/x/", Body=b"")
    client.put_object(Bucket=name, Key="elsewhere/raw/z", Body=b"")
    return name


def test_a_bucket_lists_what_a_folder_would(bucket: str, tmp_path: Path) -> None:
    for key in NAMES:
        path = tmp_path / "stock" / key
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"12345")
    disk, s3 = Disk(tmp_path / "stock"), inventory_at(f"s3://{bucket}/stock/")
    patterns = [("", 1), ("", None), ("raw", 1), ("raw", None), ("raw/x", 1), ("nowhere", None)]
    for folder, depth in patterns:
        on_disk = sorted((found.path, found.bytes) for found in disk.list(folder, depth))
        assert sorted((found.path, found.bytes) for found in s3.list(folder, depth)) == on_disk
    assert (s3.name, s3.problems) == (f"s3://{bucket}/stock", [])
    found = {each.path: each.modified for each in s3.list("raw", 1)}
    assert abs(found["raw/b"] - (tmp_path / "stock/raw/b").stat().st_mtime) < 60


@pytest.mark.slow
def test_more_than_one_answer_can_hold_is_listed(bucket: str) -> None:
    client = boto3.client("s3", region_name="us-east-1")
    for number in range(1_005):
        client.put_object(Bucket=bucket, Key=f"many/{number}", Body=b"")
    assert len(list(inventory_at(f"s3://{bucket}").list("many", 1))) == 1_005


def test_what_can_not_be_read_is_a_problem_and_not_empty(server: str) -> None:
    s3 = inventory_at("s3://nobodys-bucket/stock")
    assert list(s3.list("raw", None)) == []
    [problem] = s3.problems
    assert problem.startswith("s3://nobodys-bucket/stock/raw/: ") and "NoSuchBucket" in problem


def test_a_server_that_is_not_there_is_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", "http://127.0.0.1:1")
    monkeypatch.setattr("tarantella.services.inventory.s3._RETRIES", {"mode": "standard", "max_attempts": 1})
    s3 = inventory_at("s3://some-bucket")
    assert list(s3.list("raw", None)) == list(s3.list("other", None)) == []
    assert len(s3.problems) == 1  # nobody waits for it again and again
    assert "127.0.0.1:1" in s3.problems[0] and "something" not in s3.problems[0]


@pytest.mark.parametrize(
    "place", ["s3://", "s3:///x", "s3://a", "s3://user:secret@bucket/x", "S3://bucket", "s3://b\nc/x"]
)
def test_what_is_no_bucket_is_refused(place: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        inventory_at(place)
    assert "secret" not in str(caught.value)


def test_without_the_library_it_says_how_to_get_it(tmp_path: Path) -> None:
    environment = {**seeing_only("", tmp_path / "alone")}
    code = "from tarantella.services.inventory import inventory_at; inventory_at('s3://some-bucket')"
    environment["PYTHONPATH"] += f":{Path(__file__).parents[2] / 'src'}"
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert "boto3, which is not installed" in done.stderr and "pip install boto3" in done.stderr
