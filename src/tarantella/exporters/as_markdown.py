"""A folder of Markdown files, one for each record, with what is known of it at its head."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from tarantella.domain.jsonable import valid_text
from tarantella.exporters.contract import Record
from tarantella.exporters.values import to_json

# In the order in which people look for them.
HEAD = ("title", "url", "author", "published", "description", "language", "fetched_at")
MARK = ".tarantella-export"  # tells that a folder was written by an export, and may be replaced by one
_LONGEST_NAME = 60


class MarkdownFolder:
    """Files are numbered in the order of the records, so that no two have the same name."""

    extension = "markdown"

    def write(self, records: Iterable[Record], folder: Path) -> int:
        """Fill an empty folder; how many records there were."""
        count = 0
        for count, record in enumerate(records, 1):
            (folder / f"{count:06d}-{_name(record)}.md").write_bytes(_document(record))
        (folder / MARK).write_text("Written by tarantella export.\n", encoding="utf-8")
        return count


def _name(record: Record) -> str:
    text = record.get("title") or record.get("url") or ""
    plain = unicodedata.normalize("NFKD", str(text)).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain)[:_LONGEST_NAME].strip("-") or "page"


def _document(record: Record) -> bytes:
    """Front matter in JSON, which is YAML; then the text."""
    fields = record.get("fields") if isinstance(record.get("fields"), Mapping) else {}
    known = {name: record[name] for name in HEAD if record.get(name) not in (None, "")}
    lines = [b"---"]
    lines += [f"{name}: ".encode() + _scalar(value) for name, value in known.items()]
    if fields:
        lines.append(b"fields: " + to_json(fields))
    lines += [b"---", b""]
    title = record.get("title")
    body = record.get("markdown") or _paragraphs(record.get("text"))
    text = valid_text(str(body)) if body else ""
    if title and not text.lstrip().startswith("# "):
        lines += [f"# {' '.join(valid_text(str(title)).split())}".encode(), b""]
    return b"\n".join([*lines, text.encode(), b""])


def _scalar(value: Any) -> bytes:
    return to_json(value)


def _paragraphs(text: Any) -> str:
    return "\n\n".join(line for line in text.split("\n") if line.strip()) if isinstance(text, str) else ""
