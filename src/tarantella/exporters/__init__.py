"""One file per format. A new one is a file and a line below; the contract tests then run over it."""

from __future__ import annotations

from collections.abc import Mapping

from tarantella.exporters.as_csv import CsvExporter
from tarantella.exporters.as_db import DbExporter
from tarantella.exporters.as_json import JsonExporter
from tarantella.exporters.as_jsonl import JsonLinesExporter
from tarantella.exporters.as_markdown import MarkdownFolder
from tarantella.exporters.as_parquet import ParquetExporter
from tarantella.exporters.contract import Exporter, FolderExporter

EXPORTERS: Mapping[str, Exporter] = {
    "json": JsonExporter(),
    "jsonl": JsonLinesExporter(),
    "csv": CsvExporter(),
    "db": DbExporter(),
    "parquet": ParquetExporter(),
}
# Formats of more than one file.
FOLDERS: Mapping[str, FolderExporter] = {
    "markdown": MarkdownFolder(),
}
