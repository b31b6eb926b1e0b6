"""Reading a body without trusting its size."""

from __future__ import annotations

import asyncio
from io import BytesIO
from typing import NoReturn

from wreq import Response

from tarantella.domain.failure import Failure
from tarantella.fetchers.contract import FetchError, Options
from tarantella.fetchers.encoding import decode


async def read_whole(answer: Response, options: Options, encoding: str | None) -> bytes:
    """The body, or `too_large`."""
    length = answer.content_length
    if length is not None:
        if length > options.max_body:
            _too_large("body", options.max_body)
        # Answers that came together are read together: each wake-up of the client's thread costs more than a body.
        await asyncio.sleep(0)
        body = bytes(await answer.bytes())
    else:
        # Nothing was announced, or the client decompresses as it reads and has dropped what was:
        # only what comes out can be counted.
        body = await _read(answer, options.max_decoded + 1)
    if len(body) > options.max_decoded:
        _too_large("decoded", options.max_decoded)
    return body if encoding is None else decode(body, encoding, options.max_decoded, whole=True)


async def read_start(answer: Response, limit: int, encoding: str | None) -> bytes:
    """The body, cut off after so many bytes."""
    body = await _read(answer, limit)
    return body if encoding is None else decode(body, encoding, limit, whole=False)


async def release(answer: Response) -> None:
    """Drop a body that nobody wants; its connection is used again if that is cheap."""
    async with answer:
        pass


async def _read(answer: Response, limit: int) -> bytes:
    buffer, missing = BytesIO(), limit
    async with answer.stream() as stream:
        async for chunk in stream:
            # What is no memoryview are trailers, which nobody reads.
            if isinstance(chunk, memoryview):
                buffer.write(chunk[:missing])
                missing -= len(chunk)
                if missing <= 0:
                    break
    return buffer.getvalue()


def _too_large(detail: str, limit: int) -> NoReturn:
    raise FetchError(Failure.TOO_LARGE, detail, f"The page is larger than {limit:,} bytes.")
