"""Asks the API one thing and shows the answer: what most commands do that have an endpoint of their own."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tarantella.domain.struct import Frozen

if TYPE_CHECKING:
    from tarantella.cli.connection import Connection
    from tarantella.cli.named import Kind


class Asking(Frozen):
    """Whom to ask, and how to show what they say."""

    as_json: bool
    verbose: int
    server: str | None
    data_dir: Path | None
    database_url: str | None

    def one(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        otherwise: str = "Done.",
        is_work: bool = False,
        of: tuple[Kind, str] | None = None,
        **parameters: Any,
    ) -> int:
        """Ask for one thing; where there is nothing to be told of it, say this instead. Work needs somebody who does it.

        A path may have `{}` in it, for the id of what is meant by a part of it.
        """
        # Loaded when something is asked, not by everybody who could ask.
        from tarantella.cli.connection import connected
        from tarantella.cli.shown import show_lines

        with connected(self.data_dir, self.database_url, self.server, verbose=self.verbose) as tarantella:
            found = tarantella.ask(method, _whole(tarantella, path, of), body, **parameters)
            if self.as_json:
                tarantella.terminal.show_json(found if found is not None else {"done": True})
            elif found is None:
                tarantella.terminal.say(otherwise)
            else:
                show_lines(tarantella.terminal, found)
            if is_work and not tarantella.ask_all("/workers"):
                tarantella.terminal.say("Nobody works here yet: `tarantella serve` does, from its start on.")
        return 0

    def many(
        self,
        path: str,
        columns: Mapping[str, str],
        limit: int,
        nothing: str,
        *,
        of: tuple[Kind, str] | None = None,
        **parameters: Any,
    ) -> int:
        """Ask for a list."""
        from tarantella.cli.connection import connected
        from tarantella.cli.shown import show_table

        with connected(self.data_dir, self.database_url, self.server, verbose=self.verbose) as tarantella:
            found = tarantella.listed(_whole(tarantella, path, of), limit, **parameters)
            if self.as_json:
                tarantella.terminal.show_json(found)
            else:
                show_table(tarantella.terminal, found, columns, nothing)
        return 0


def _whole(server: Connection, path: str, of: tuple[Kind, str] | None) -> str:
    if of is None:
        return path
    from tarantella.cli.connection import part
    from tarantella.cli.named import meant

    return path.format(part(meant(server, *of)))
