"""A Parquet file: a typed column for each value, and the whole record as JSON. Needs the extra `parquet`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from importlib.util import find_spec
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

from tarantella.domain.errors import InvalidInput
from tarantella.exporters.columns import BASIC, DATA, field_columns
from tarantella.exporters.contract import Output, Record
from tarantella.exporters.values import Cell, to_cell, to_json

if TYPE_CHECKING:
    import pyarrow  # noqa: ICN001 (nobody who reads this must know its short name)

ROWS_AT_ONCE = 250
# So many records tell the type of a field; what comes later and does not fit stands in the record beside it.
TELLING = 250
_SQL: Mapping[str, str] = {"TEXT": "string", "INTEGER": "int64", "REAL": "float64"}


def check_library() -> None:
    """Raises InvalidInput where the library is missing, without loading it."""
    found = None
    with suppress(ImportError):
        found = find_spec("pyarrow")
    if found is None:
        raise _no_library()


def _no_library() -> InvalidInput:
    return InvalidInput(
        "Parquet needs a library that is not installed.",
        remedy="Install it with `pip install pyarrow`, or export as csv or db.",
        field="format",
    )


class ParquetExporter:
    extension = "parquet"
    needs_file = True

    def write(self, records: Iterable[Record], fields: Sequence[str], out: Output) -> int:
        try:
            import pyarrow  # noqa: ICN001
            import pyarrow.parquet
        except ImportError:
            raise _no_library() from None
        records = iter(records)
        first = list(islice(records, TELLING))
        kinds = {name: _SQL[kind] for name, kind in BASIC.items()}
        columns = field_columns(fields)
        kinds |= {columns[name]: _kind([_found(record).get(name) for record in first]) for name in fields}
        kinds[DATA] = "string"
        schema = pyarrow.schema([(name, getattr(pyarrow, kind)()) for name, kind in kinds.items()])
        count = 0
        with pyarrow.parquet.ParquetWriter(out.name, schema, compression="zstd") as writer:
            rows = _rows(chain(first, records), fields, list(kinds.values()))
            while batch := list(islice(rows, ROWS_AT_ONCE)):
                count += len(batch)
                writer.write_table(_table(pyarrow, batch, schema))
        return count


def _table(library: Any, batch: Sequence[Sequence[Cell]], schema: pyarrow.Schema) -> pyarrow.Table:
    arrays = [
        library.array(column, type=field.type) for column, field in zip(zip(*batch, strict=True), schema, strict=True)
    ]
    return library.Table.from_arrays(arrays, schema=schema)


def _rows(records: Iterable[Record], fields: Sequence[str], kinds: Sequence[str]) -> Iterator[list[Cell]]:
    for record in records:
        found = _found(record)
        cells = [
            *(to_cell(record.get(name)) for name in BASIC),
            *(to_cell(found.get(name)) for name in fields),
            to_json(record).decode(),
        ]
        yield [_fitting(cell, kind) for cell, kind in zip(cells, kinds, strict=True)]


def _found(record: Record) -> Mapping[str, Any]:
    found = record.get("fields")
    return found if isinstance(found, Mapping) else {}


def _kind(values: Iterable[Any]) -> str:
    """The type that all of these have."""
    kinds = {type(value) for value in map(to_cell, values) if value is not None}
    if kinds == {bool}:
        return "bool_"
    if kinds == {int}:
        return "int64"
    return "float64" if kinds and kinds <= {int, float} else "string"


def _fitting(cell: Cell, kind: str) -> Cell:
    if cell is None:
        return None
    if kind == "string":
        return cell if isinstance(cell, str) else str(cell).lower() if isinstance(cell, bool) else str(cell)
    if kind == "bool_":
        return cell if isinstance(cell, bool) else None
    if kind == "int64":
        return (
            int(cell)
            if isinstance(cell, (bool, int))
            else int(cell)
            if isinstance(cell, float) and cell.is_integer()
            else None
        )
    return float(cell) if isinstance(cell, (int, float)) else None
