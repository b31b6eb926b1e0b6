"""What is kept of pages beside their records: a file each, in a folder for each run, gone when its run is."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from tarantella.domain.errors import NotFound
from tarantella.domain.struct import Frozen
from tarantella.fetchers.contract import Artifact
from tarantella.log import log

ENDINGS = {"screenshot": "png", "html": "html"}
_NAME = re.compile(r"(\d{1,19})-(screenshot|html)\.(?:png|html)")
_RUN = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


class Kept(NamedTuple):
    """A file that was kept. Its id is unique within its run."""

    id: str
    page_id: int
    kind: str
    bytes: int
    stored_at: float
    path: Path


class Artifacts(Frozen):
    """The folder of all runs' artifacts."""

    folder: Path

    async def keep(self, run_id: str, page_id: int, artifacts: Sequence[Artifact]) -> None:
        """Write them down, in place of what an earlier attempt left. A disk that refuses costs the artifacts, not the page."""
        try:
            await asyncio.to_thread(self._write, run_id, page_id, artifacts)
        except OSError as error:
            log.warning("Artifacts could not be kept", action="artifacts_lost", run=run_id, error=str(error))

    def _write(self, run_id: str, page_id: int, artifacts: Sequence[Artifact]) -> None:
        folder = self.folder / run_id
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        for artifact in artifacts:
            path = folder / f"{page_id}-{artifact.kind}.{ENDINGS[artifact.kind]}"
            unfinished = path.with_name(f".{path.name}.{os.getpid()}")
            # What a page shows to somebody who has logged in is for nobody else.
            with os.fdopen(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
                file.write(artifact.data)
            unfinished.replace(path)

    def listed(self, run_id: str) -> list[Kept]:
        """Those of a run, in the order of its pages."""
        return sorted(self._of(run_id), key=lambda kept: (kept.page_id, kept.kind))

    def get(self, run_id: str, artifact_id: str) -> Kept:
        for kept in self._of(run_id):
            if kept.id == artifact_id:
                return kept
        raise NotFound(f"The run has no artifact {artifact_id[:60]!r}.", remedy="Use an `id` of its list.")

    def _of(self, run_id: str) -> Iterator[Kept]:
        with suppress(OSError):
            for path in (self.folder / run_id).iterdir():
                if (parts := _NAME.fullmatch(path.name)) is None:
                    continue
                with suppress(OSError):
                    told = path.stat()
                    yield Kept(path.stem, int(parts[1]), parts[2], told.st_size, told.st_mtime, path)

    def runs(self) -> list[str]:
        """The runs that something was kept of."""
        with suppress(OSError):
            return [path.name for path in self.folder.iterdir() if _RUN.fullmatch(path.name)]
        return []

    def remove(self, run_ids: Collection[str]) -> None:
        for run_id in run_ids:
            if _RUN.fullmatch(run_id):
                shutil.rmtree(self.folder / run_id, ignore_errors=True)
