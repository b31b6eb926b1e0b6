"""Pages that somebody else has, with the texts that stand on them.

A folder with pages, `NAME.html` or `NAME.html.gz`, and beside each `NAME.txt` with its text; or with all texts in
`ground-truth.json` as `{NAME: {"articleBody": TEXT}}`, which is how public collections have them.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path

import turbohtml

from benchmarks.quality.articles import Known

TRUTH = "ground-truth.json"


def known_pages(folder: Path) -> list[Known]:
    """All pages in a folder, and in those below it, of which the text is known."""
    told = _told(folder)
    found = []
    for path in _pages(folder):
        name = path.name.removesuffix(".gz").removesuffix(".html")
        beside = path.with_name(f"{name}.txt")
        text = beside.read_text(encoding="utf-8") if beside.exists() else told.get(name)
        if text is not None:
            found.append(Known(name, _html(path), text))
    return found


def _told(folder: Path) -> dict[str, str]:
    file = folder / TRUTH
    if not file.exists():
        return {}
    return {name: truth["articleBody"] for name, truth in json.loads(file.read_text(encoding="utf-8")).items()}


def _pages(folder: Path) -> Iterator[Path]:
    return (path for path in sorted(folder.rglob("*")) if path.name.endswith((".html", ".html.gz")))


def _html(path: Path) -> str:
    body = path.read_bytes()
    if path.suffix == ".gz":
        body = gzip.decompress(body)
    try:
        return body.decode()
    except UnicodeDecodeError:
        return body.decode(turbohtml.parse(body, positions=False).encoding or "latin-1", "replace")
