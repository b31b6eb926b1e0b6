"""The objects of an S3 bucket, or of a store that speaks as S3 does. Needs the extra `s3`."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from typing import Any

from tarantella.domain.errors import InvalidInput
from tarantella.domain.url import redact
from tarantella.services.inventory.contract import MOST_PROBLEMS, Found

SCHEME = "s3://"
_PLACE = re.compile(r"s3://([A-Za-z0-9][A-Za-z0-9._-]{1,253}[A-Za-z0-9])(?:/([^\0\r\n]*))?")
_PATIENCE = {"connect_timeout": 10, "read_timeout": 60}
_RETRIES = {"mode": "standard", "max_attempts": 4}


class S3:
    """An inventory in a bucket. Who may read it, where, and in which region, is told to boto3 in its own ways."""

    def __init__(self, place: str) -> None:
        """Raises InvalidInput where it is no such place, or can't be read for want of a library."""
        match = _PLACE.fullmatch(place)
        if match is None:
            told = f"{redact(place)} is no place in S3."
            raise InvalidInput(
                told, remedy="Give a bucket, or a part of one, as in s3://bucket/prefix.", field="inventory"
            )
        self._bucket = match[1]
        self._prefix = f"{match[2].strip('/')}/" if match[2] and match[2].strip("/") else ""
        self.name = f"{SCHEME}{self._bucket}/{self._prefix}".rstrip("/")
        self.problems: list[str] = []
        self._is_away = False
        self._client, self._errors = _client()

    def list(self, folder: str, depth: int | None) -> Iterator[Found]:
        if self._is_away:
            return
        prefix = f"{self._prefix}{folder}/" if folder else self._prefix
        asked: dict[str, Any] = {"Bucket": self._bucket, "Prefix": prefix}
        if depth == 1:
            asked["Delimiter"] = "/"  # leaves out what is deeper, however much it is
        try:
            for page in self._client.get_paginator("list_objects_v2").paginate(**asked):
                for each in page.get("Contents", ()):
                    if not each["Key"].endswith("/"):  # which some make for folders
                        path = each["Key"][len(self._prefix) :]
                        yield Found(path, each["Size"], each["LastModified"].timestamp())
        except self._errors as error:
            # Some parts of a bucket may be closed. All else would be the same for every part, and take as long again.
            response = getattr(error, "response", None) or {}
            self._is_away = response.get("Error", {}).get("Code") != "AccessDenied"
            if len(self.problems) < MOST_PROBLEMS:
                self.problems.append(f"{SCHEME}{self._bucket}/{prefix}: {error}")


def _client() -> tuple[Any, tuple[type[Exception], ...]]:
    try:
        import boto3
        from botocore.config import Config
        from botocore.exceptions import BotoCoreError, ClientError
    except ImportError:
        raise InvalidInput(
            "S3 is read with boto3, which is not installed.",
            remedy=f"Install it with `{sys.executable} -m pip install boto3`.",
            field="inventory",
        ) from None
    try:
        # A region says where a store is; for reading lists any will do where none is told.
        session = boto3.session.Session()
        config = Config(retries=_RETRIES, **_PATIENCE)
        client = session.client("s3", region_name=session.region_name or "us-east-1", config=config)
    except (BotoCoreError, ValueError) as error:
        raise InvalidInput(f"S3 can't be asked: {error}", remedy="See what AWS_* says.", field="inventory") from None
    return client, (BotoCoreError, ClientError)
