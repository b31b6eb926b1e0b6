"""Reading a body without trusting its size."""

from __future__ import annotations

import asyncio
from io import BytesIO
from typing import NoReturn

from wreq import Response

from tarantella.domain.failure import Failure
from tarantella.fetchers.contract import FetchError, Options
from tarantella.fetchers.encoding import decode

# Decoding more than this takes long enough for others to notice.
DECODED_AT_ONCE = 128 * 1024
# Of an error page only the beginning is of interest.
ERROR_PAGE_BYTES = 256 * 1024
# Over HTTP/2 a piece without content costs a server no window: of those it can send more than anybody can read.
MOST_EMPTY_PIECES = 1_000


async def read_body(answer: Response, encoding: str | None, options: Options, *, cut: int | None) -> bytes:
    """The body, whole or `too_large` before or after it is decoded; or, where a cut is given, the beginning of it."""
    if cut is not None:
        body = await _read(answer, cut)
        return body if encoding is None else decode(body, encoding, cut, whole=False)
    length = answer.content_length
    if length is not None:
        if length > options.max_body:
            _too_large("body", options.max_body)
        body = bytes(await answer.bytes())
    else:
        limit = options.max_body if encoding is not None else min(options.max_body, options.max_decoded)
        body = await _read(answer, limit + 1)
        if len(body) > options.max_body:
            _too_large("body", options.max_body)
    if encoding is None:
        if len(body) > options.max_decoded:
            _too_large("decoded", options.max_decoded)
        return body
    if len(body) < DECODED_AT_ONCE:
        return decode(body, encoding, options.max_decoded, whole=True)
    return await asyncio.to_thread(decode, body, encoding, options.max_decoded, whole=True)


async def read_error_page(answer: Response, encoding: str | None, options: Options) -> bytes:
    """The beginning of an error page; nothing where it can't be had, for that must not hide which error it was."""
    try:
        return await read_body(answer, encoding, options, cut=ERROR_PAGE_BYTES)
    except Exception:
        return b""


async def release(answer: Response) -> None:
    """Drop a body that nobody wants; its connection is used again if that is cheap."""
    async with answer:
        pass


async def _read(answer: Response, limit: int) -> bytes:
    buffer, missing, empty = BytesIO(), limit, 0
    async with answer.stream() as stream:
        async for chunk in stream:
            # What is no memoryview are trailers, which nobody reads.
            if isinstance(chunk, memoryview):
                buffer.write(chunk[:missing])
                missing -= len(chunk)
                empty += not chunk
                if missing <= 0:
                    break
                if empty > MOST_EMPTY_PIECES:
                    raise FetchError(
                        Failure.NETWORK, "protocol", "The site sends pieces of a page with nothing in them."
                    )
    return buffer.getvalue()


def _too_large(detail: str, limit: int) -> NoReturn:
    raise FetchError(Failure.TOO_LARGE, detail, f"The page is larger than {limit:,} bytes.")
