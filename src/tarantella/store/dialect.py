"""Where the databases differ. Everything else in this folder is the same SQL for all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Dialect:
    """How one database spells the few things that have no common spelling."""

    name: str
    each: str  # a JSON array bound as :{} unrolled into rows `item(value)`
    array_of: str  # the values of a column as one JSON array
    row_of: str  # some values as one JSON array
    for_update: str  # locks the rows that a SELECT found
    mark: str  # where a driver puts a value
    for_update_of_free: str = ""  # locks the rows that a SELECT found and nobody else has locked

    def rows(self, parameter: str, columns: Sequence[tuple[str, str]]) -> str:
        """A bound JSON array of arrays as a sub-query with these (name, type) columns."""
        picked = ", ".join(f"CAST(item.value ->> {i} AS {kind}) AS {name}" for i, (name, kind) in enumerate(columns))
        return f"(SELECT {picked} FROM {self.each.format(parameter)})"

    def values(self, parameter: str) -> str:
        """A bound JSON array of strings or numbers as a sub-query with the column `value`."""
        return f"(SELECT item.value AS value FROM {self.each.format(parameter)})"


SQLITE = Dialect(
    name="sqlite",
    each="json_each(:{}) AS item",
    array_of="json_group_array({})",
    row_of="json_array({})",
    for_update="",
    mark="?",
)
