"""What a run was asked to do survives storage and refuses nonsense."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from tarantella.domain.backoff import Backoff
from tarantella.domain.browsing import Action, Browsing
from tarantella.domain.errors import InvalidInput
from tarantella.domain.run import Priority
from tarantella.domain.scope import ScopeKind
from tarantella.domain.spec import Field, Secrets, Spec
from tarantella.domain.struct import replace
from tarantella.domain.trap import TrapLimits

FULL = Spec(
    depth=None,
    max_pages=7,
    concurrency=3,
    per_host=2,
    delay=0.5,
    deadline_seconds=60.0,
    attempts=5,
    backoff=Backoff(1.0, 2.0, 30.0, 0.0),
    scope=ScopeKind.DOMAIN,
    include=("*/a/*",),
    exclude=("*/b/*", "*.zip"),
    sitemaps=("auto", "https://example.com/sitemap.xml"),
    traps=TrapLimits(1, 2, 3, None, 5, 6),
    obey_robots=False,
    user_agent="Me/1.0",
    ca_file="ca.pem",
    allow_networks=("10.0.0.0/8", "::1/128"),
    connect_timeout=1.0,
    total_timeout=2.0,
    max_body=1_000,
    max_decoded=2_000,
    text="none",
    fields=(
        Field("price", ".price", type="price", required=True, default=0, locale="de-CH"),
        Field("link", "a[href]", "href", all=False),
        Field("sku", xpath="//b", regex=r"\d+"),
        Field("specs", "tr", all=True, fields=(Field("key", "th"), Field("value", jmespath="a.b"))),
    ),
    item=Field("item", "li", all=True),
    pagination=Field("pagination", "a.next", "href", all=True),
    keep_bodies=True,
    keep_cookies=False,
    cache_dir="cache",
    cache_ttl=60.0,
    cache_bytes=2_000_000,
    partial_ok=False,
    durable=True,
    strategy="browser",
    auto=True,
    browser=Browsing(".price", 100, 2, ".more", 3, (Action(click="#a"), Action(wait=1.5)), ("image",), True, True),
    session="shop",
    priority=Priority.LOW,
    secrets=Secrets(
        {"authorization": "Bearer s3cret"},
        ({"name": "a", "value": "s3cret"},),
        "http://u:s3cret@p:1",
        ("h.example",),
        {"PASSWORD": "s3cret"},
    ),
)


def stored(spec: Spec) -> Spec:
    """The spec as it comes back from the database."""
    data = orjson.loads(orjson.dumps(spec.to_json()))
    secrets = orjson.loads(orjson.dumps(spec.secrets_json()))
    return Spec.from_json(data, secrets)


def test_a_spec_comes_back_from_storage_as_it_was() -> None:
    assert stored(FULL) == FULL
    assert stored(Spec()) == Spec()


def test_every_value_of_the_full_example_differs_from_the_default() -> None:
    # Otherwise the round trip above would not notice a value that is lost on the way.
    same = [name for name in Spec.__struct_fields__ if getattr(FULL, name) == getattr(Spec(), name)]
    assert same == []


def test_the_snapshot_holds_no_secret() -> None:
    assert b"s3cret" not in orjson.dumps(FULL.to_json())


def test_a_snapshot_without_its_secrets_is_still_a_spec() -> None:
    assert Spec.from_json(orjson.loads(orjson.dumps(FULL.to_json()))) == replace(FULL, secrets=Secrets())


def test_a_snapshot_with_what_nobody_knows_any_more_is_still_a_spec() -> None:
    assert Spec.from_json({**Spec().to_json(), "urls": ["https://example.com/"]}) == Spec()


def test_a_snapshot_of_before_there_were_sitemaps_and_traps_is_still_a_spec() -> None:
    earlier = {name: value for name, value in Spec().to_json().items() if name not in ("sitemaps", "traps")}
    assert Spec.from_json(earlier) == Spec()


def test_what_a_later_version_added_to_a_snapshot_is_passed_over() -> None:
    assert Spec.from_json({**Spec().to_json(), "invented": 1}) == Spec()


BOUNDS: list[tuple[str, float, float]] = [
    ("depth", 1, 1_000_000),
    ("max_pages", 1, 100_000_000),
    ("concurrency", 1, 1_000),
    ("per_host", 1, 1_000),
    ("delay", 0, 3_600),
    ("deadline_seconds", 0.001, 366 * 86_400),
    ("attempts", 1, 100),
    ("connect_timeout", 0.01, 600),
    ("total_timeout", 0.01, 3_600),
    ("max_body", 1, 2**40),
    ("max_decoded", 1, 2**40),
]


@pytest.mark.parametrize(("name", "low", "high"), BOUNDS)
def test_a_number_may_reach_its_bounds_and_not_pass_them(name: str, low: float, high: float) -> None:
    for value in (low, high):
        assert getattr(Spec(**_one(name, value)), name) == value
    for value in (low - 0.001 if isinstance(low, float) else low - 1, high + 1, float("nan"), float("inf")):
        with pytest.raises(InvalidInput, match=name) as caught:
            Spec(**_one(name, value))
        assert caught.value.field == name


def _one(name: str, value: float) -> dict[str, Any]:
    return {name: value}


@pytest.mark.parametrize(
    ("name", "value", "field"),
    [
        ("text", "slow", "text"),
        ("strategy", "telepathy", "strategy"),
        ("allow_networks", ("10.0.0.0/33",), "allow_networks"),
        ("allow_networks", ("everything",), "allow_networks"),
        ("fields", (Field("a", "b"), Field("a", "c")), "fields"),
        ("sitemaps", ("auto", "mailto:me@example.com"), "sitemap"),
        *(("user_agent", f"Me/1.0{each}", "user_agent") for each in ("\r\nX: y", "\n", "\x01", "\0", "\x7f", "\ud800")),
    ],
)
def test_nonsense_is_refused_by_name_and_with_a_remedy(name: str, value: Any, field: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        Spec(**{name: value})
    assert caught.value.field == field
    assert caught.value.remedy


def test_a_network_with_host_bits_is_what_people_write() -> None:
    assert Spec(allow_networks=("192.168.1.7/24",)).allow_networks == ("192.168.1.7/24",)


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("price", Field("price")),
        ("price=.price", Field("price", ".price")),
        (" price = .price ", Field("price", ".price")),
        ("link=a@href", Field("link", "a", "href")),
        ("link = a.more @ href ", Field("link", "a.more", "href")),
        ("data=div@data-price", Field("data", "div", "data-price")),
        ("ns=svg a@xlink:href", Field("ns", "svg a", "xlink:href")),
        ('x=a[rel="next"]', Field("x", 'a[rel="next"]')),
        ('x=a[rel="next"]@href', Field("x", 'a[rel="next"]', "href")),
        ('mail=a[href^="mailto:me@example.com"]', Field("mail", 'a[href^="mailto:me@example.com"]')),
        ('mail=a[href*="@"]@href', Field("mail", 'a[href*="@"]', "href")),
        ('mail=a[href*="@"] > b', Field("mail", 'a[href*="@"] > b')),
        ("mail=a[href*='me@x'] b@title", Field("mail", "a[href*='me@x'] b", "title")),
        ('said=p:contains("me@you")', Field("said", 'p:contains("me@you")')),
        ("eq=a[x=y=z]", Field("eq", "a[x=y=z]")),
    ],
)
def test_a_field_is_split_at_the_first_equals_sign_and_the_last_at_sign(text: str, field: Field) -> None:
    assert Field.parse(text) == field


@pytest.mark.parametrize("text", ["", "price@", "=.price", "price=", " = ", "price=@href", "price=a@", "price= @ "])
def test_what_is_not_a_field_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(InvalidInput, match="not a field") as caught:
        Field.parse(text)
    assert "name=css" in str(caught.value)


def test_a_run_that_was_stored_with_a_user_agent_that_can_t_be_sent_is_still_read() -> None:
    stored = Spec(user_agent="ours/1.0").to_json() | {"user_agent": "ours\r\n/1.0"}
    assert Spec.from_json(stored).user_agent == "ours/1.0"


@pytest.mark.parametrize("name", ["Content-Length", "transfer-encoding", "Connection", "Proxy-Connection"])
def test_headers_that_belong_to_the_connection_are_refused(name: str) -> None:
    spec = Spec(secrets=Secrets(headers={"Accept": "text/html", name: "5"}))
    with pytest.raises(InvalidInput, match=f"The header '{name}' is not for you to set"):
        spec.check_secrets()
    replace(spec, secrets=Secrets(headers={"Accept": "text/html"})).check_secrets()


def test_the_host_is_that_of_the_address() -> None:
    with pytest.raises(InvalidInput, match="The header 'host' is not for you to set") as refused:
        Spec(secrets=Secrets(headers={"host": "example.com"})).check_secrets()
    assert "/etc/hosts" in str(refused.value)


@pytest.mark.parametrize("name", ["include", "exclude"])
@pytest.mark.parametrize("pattern", ["", " "])
def test_an_empty_pattern_is_refused_in_new_runs_and_known_in_old_ones(name: str, pattern: str) -> None:
    spec = replace(Spec(), **{name: ("*/a/*", pattern)})
    with pytest.raises(InvalidInput, match=f"A pattern to {name} is empty"):
        spec.check_patterns()
    assert Spec.from_json(orjson.loads(orjson.dumps(spec.to_json()))) == spec
    FULL.check_patterns()
