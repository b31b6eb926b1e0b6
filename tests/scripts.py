"""A folder with scrapers, a file that names them, and a queue: what somebody has who fills gaps."""

from __future__ import annotations

import json
import textwrap
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(slots=True)
class Scripts:
    """What is written into the folder as it is needed."""

    folder: Path
    scrapers: dict[str, dict[str, Any]] = field(default_factory=dict)
    tasks: list[Any] = field(default_factory=list)

    def script(self, name: str, text: str, *, where: str = "scripts/etl", **config: Any) -> None:
        """A scraper, with what the file of scrapers says of it."""
        path = self.folder / where / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text), encoding="utf-8")
        self.scrapers[name] = config
        (self.folder / "config").mkdir(exist_ok=True)
        (self.folder / "config" / "scraper_config.yaml").write_text(json.dumps({"scrapers": self.scrapers}))

    def gap(self, scraper: str, priority: str = "MEDIUM", **more: Any) -> str:
        """One more task in the queue; its id."""
        name = f"task_{len(self.tasks) + 1:06}"
        self.tasks.append({"id": name, "priority": priority, "source": "league", "scraper": scraper, **more})
        self.write()
        return name

    def write(self, generated_at: str = "2026-01-01T00:00:00Z") -> Path:
        path = self.folder / "inventory" / "gaps.json"
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps({"generated_at": generated_at, "tasks": self.tasks}))
        return path
