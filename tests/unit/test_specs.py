"""What nobody said of a run is as the settings have it, whoever asks for the run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tarantella.domain.field import Field
from tarantella.domain.spec import Spec
from tarantella.services.python_options import fields_wanted, spec_values
from tarantella.services.specs import spec_of, usual
from tarantella.settings import load

SET = {"durability": "full", "max_pages": 7, "per_host": 3, "user_agent": "me/1", "attempts": 5}


@pytest.mark.parametrize("door", ["http", "python", "command"])
def test_every_door_heeds_the_settings(door: str) -> None:
    settings = load(**SET)
    doors = {
        "http": lambda: spec_of(settings),
        "python": lambda: Spec(**spec_values(settings, {})),
        "command": lambda: Spec(**usual(settings)),
    }
    spec = doors[door]()
    assert spec.durable
    assert (spec.max_pages, spec.per_host, spec.user_agent, spec.attempts) == (7, 3, "me/1", 5)


def test_what_was_said_counts_more_and_nothing_is_not_said() -> None:
    said = usual(load(**SET), max_pages=9, per_host=None, durable=False)
    assert (said["max_pages"], said["per_host"], said["durable"]) == (9, 3, False)


@pytest.mark.parametrize("given", [["name"], {"name": "h1"}, {"fields": ["name"]}])
def test_fields_that_are_given_beside_a_file_leave_the_rest_of_it_as_it_is(tmp_path: Path, given: Any) -> None:
    file = tmp_path / "fields.yaml"
    file.write_text("item: .product\npagination: a.next\nfields: [{name: price, css: .price}]\n")
    wanted = fields_wanted(given, file)
    assert [each.name for each in wanted.fields] == ["price", "name"]
    assert isinstance(wanted.item, Field) and isinstance(wanted.pagination, Field)
