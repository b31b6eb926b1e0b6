"""Fields at the command line: a file, a preview, another look at kept pages."""

from __future__ import annotations

from pathlib import Path

from tests.acceptance.command import LOOPBACK, Shell

FIELDS = """
item: li.goods
pagination: a.next
fields:
  - {name: name, css: h2}
  - {name: price, css: .price, type: price, required: true}
"""


def test_a_fields_file_makes_typed_records_of_a_list(shell: Shell, site: str) -> None:
    Path(shell.folder / "goods.yaml").write_text(FIELDS)
    done = shell.run(
        "scrape", f"{site}/shop/list", "--fields-file", "goods.yaml", *LOOPBACK, "--format", "csv", "--output", "-"
    )
    assert done.code == 0, done.err
    lines = done.out.splitlines()
    assert lines[0].endswith("data,name,price") and len(lines) == 8
    assert lines[2].endswith("Loom 2,2299.5")
    assert "field     price (required): 86% of records; 1 with something else" in done.err


def test_a_preview_finds_a_selector_for_what_is_seen(shell: Shell, site: str) -> None:
    done = shell.run("preview", f"{site}/shop/goods/2", "--find", "2.50", *LOOPBACK)
    assert done.code == 0, done.err
    assert "price  2.5  (json-ld Product.offers.price)" in done.out
    assert "css .price" in done.out.partition("Selectors for '2.50':")[2]
    missing = shell.run("preview", f"{site}/404", *LOOPBACK)
    assert missing.code == 1 and "not_found" in missing.err


def test_kept_pages_are_looked_at_again(shell: Shell, site: str) -> None:
    assert shell.run("scrape", f"{site}/shop/goods/1", f"{site}/shop/goods/2", "--keep-bodies", *LOOPBACK).code == 0
    done = shell.run("re-extract", "latest", "--field", "sku", "--field", "price", "--json")
    assert done.code == 0, done.err
    assert done.json["records"] == 2 and done.json["coverage"]["sku"]["share"] == 1
    explained = shell.run("runs", "explain", "latest", f"{site}/shop/goods/1")
    assert "Field sku: L-1, from json-ld Product.sku." in explained.out
