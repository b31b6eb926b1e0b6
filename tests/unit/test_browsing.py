"""What a browser is told to do makes sense, survives storage, and is never code."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from tarantella.domain.browsing import Action, Browsing
from tarantella.domain.errors import InvalidInput
from tarantella.domain.struct import asdict

FULL = {
    "wait_for": ".price",
    "quiet_ms": 100,
    "scroll": 3,
    "load_more": "#more",
    "load_more_times": 5,
    "actions": [
        {"click": "#a", "optional": True},
        {"fill": "#b", "value": ""},
        {"fill": "#c", "secret": "P"},
        {"wait": ".d"},
        {"wait": 1.5},
        {"scroll": 2},
    ],
    "block": ["image"],
    "screenshot": True,
    "keep_html": True,
}


def test_what_was_written_down_comes_back_from_storage_as_it_was() -> None:
    browsing = Browsing.from_json(FULL)
    # Without what is as usual, or with it, as runs were stored that were made before: both are read.
    assert Browsing.from_json(orjson.loads(orjson.dumps(browsing.to_json()))) == browsing
    assert Browsing.from_json({**asdict(browsing), "actions": [asdict(each) for each in browsing.actions]}) == browsing
    assert browsing.secrets == ("P",)
    assert browsing.to_json()["actions"][1] == {"fill": "#b", "value": ""}


def test_nothing_said_is_as_usual() -> None:
    assert Browsing.from_json({}) == Browsing() == Browsing.from_json({"scroll": None, "actions": None})
    assert Browsing().block == ("image", "font", "media")


@pytest.mark.parametrize(
    "said",
    [
        [],
        "scroll",
        {"scrol": 1},
        {"scroll": -1},
        {"scroll": 1_001},
        {"scroll": True},
        {"scroll": "3"},
        {"quiet_ms": 10_001},
        {"wait_for": " "},
        {"wait_for": 3},
        {"load_more": "x" * 2_001},
        {"block": "image"},
        {"block": ["document"]},
        {"screenshot": 1},
        {"actions": {"click": "#a"}},
        {"actions": ["click"]},
        {"actions": [{}]},
        {"actions": [{"click": "#a", "wait": 1}]},
        {"actions": [{"click": "#a", "value": "x"}]},
        {"actions": [{"fill": "#a"}]},
        {"actions": [{"fill": "#a", "value": "x", "secret": "P"}]},
        {"actions": [{"fill": "#a", "value": 3}]},
        {"actions": [{"wait": 61}]},
        {"actions": [{"wait": True}]},
        {"actions": [{"scroll": 0}]},
        {"actions": [{"evaluate": "alert(1)"}]},
        {"actions": [{"click": "#a"}] * 51},
    ],
)
def test_what_makes_no_sense_is_refused_by_name(said: Any) -> None:
    with pytest.raises(InvalidInput) as caught:
        Browsing.from_json(said)
    assert (caught.value.field or "").startswith("browser")
    assert caught.value.remedy


def test_an_action_is_one_thing() -> None:
    assert Action(click="#a").to_json() == {"click": "#a"}
    with pytest.raises(InvalidInput):
        Action(click="#a", scroll=1)
