"""A run's jar keeps what sites set, for whom it is meant, and never too much of it."""

from __future__ import annotations

from tarantella.domain.cookie import Cookie
from tarantella.domain.struct import replace
from tarantella.fetchers.jar import MAX_PER_DOMAIN, Jar

NOW = 1_000.0


def cookie(name: str, domain: str = "www.example.com", value: str = "1", **about: object) -> Cookie:
    return replace(Cookie(name, value, domain, set_at=NOW), **about)


def names(jar: Jar, host: str = "www.example.com") -> list[str]:
    return [each.name for each in jar.of_host(host)]


def test_an_empty_jar_is_nothing_to_look_into() -> None:
    assert not Jar()
    assert Jar().of_host("www.example.com") == ()


def test_a_host_gets_its_own_cookies_and_those_of_the_domains_above_it() -> None:
    jar = Jar()
    jar.take([cookie("own"), cookie("all", "example.com", host_only=False), cookie("top", "example.com")], NOW)
    assert names(jar) == ["own", "all"]
    assert names(jar, "example.com") == ["all", "top"]
    assert names(jar, "shop.example.com") == ["all"]
    assert names(jar, "example.org") == []


def test_what_is_set_again_replaces_and_what_is_over_is_deleted() -> None:
    jar = Jar()
    jar.take([cookie("a"), cookie("b")], NOW)
    assert names(jar) == ["a", "b"]
    jar.take([cookie("a", value="2")], NOW)
    assert [(each.name, each.value) for each in jar.of_host("www.example.com")] == [("b", "1"), ("a", "2")]
    jar.take([cookie("a", expires_at=0.0)], NOW)
    assert (names(jar), len(jar)) == (["b"], 1)


def test_only_what_is_different_is_told_to_others() -> None:
    jar = Jar()
    first = cookie("a")
    assert jar.take([first], NOW) == (first,)
    assert jar.take([replace(first, set_at=NOW + 1)], NOW) == ()
    later = replace(first, value="2", set_at=NOW + 2)
    assert jar.take([later], NOW) == (later,)
    [gone] = jar.take([replace(first, value="x", expires_at=0.0)], NOW + 3)
    assert (gone.key, gone.value, gone.expires_at, gone.set_at) == (first.key, "", 0.0, NOW + 3)
    assert jar.take([replace(first, expires_at=0.0)], NOW + 4) == ()


def test_of_too_many_for_a_domain_the_expired_go_first_and_then_the_oldest() -> None:
    jar = Jar()
    jar.take([cookie(f"c{number}") for number in range(MAX_PER_DOMAIN - 1)], NOW)
    jar.take([cookie("short", expires_at=NOW + 5)], NOW)
    [_, gone] = jar.take([cookie("new")], NOW + 5)
    assert (gone.name, gone.expires_at) == ("short", 0.0)
    [_, gone] = jar.take([cookie("newer")], NOW + 6)
    assert gone.name == "c0"
    assert len(names(jar)) == len(jar) == MAX_PER_DOMAIN


def test_of_too_many_for_a_run_the_domains_that_were_not_used_for_longest_go_first() -> None:
    jar = Jar(limit=3)
    for host in ("a.test", "b.test", "c.test"):
        jar.take([cookie("x", host)], NOW)
    jar.of_host("a.test")
    jar.take([cookie("x", "d.test")], NOW)
    assert [bool(names(jar, host)) for host in ("a.test", "b.test", "c.test", "d.test")] == [True, False, True, True]
    assert len(jar) == 3


def test_what_others_stored_is_taken_over_unless_ours_is_newer() -> None:
    jar = Jar()
    jar.take([cookie("mine", value="new", set_at=NOW), cookie("theirs", value="old", set_at=NOW)], NOW)
    jar.load([cookie("mine", value="old", set_at=NOW - 1), cookie("theirs", value="new", set_at=NOW + 1)], NOW)
    assert {each.name: each.value for each in jar.of_host("www.example.com")} == {"mine": "new", "theirs": "new"}
    jar.load([cookie("mine", expires_at=0.0, set_at=NOW + 2), cookie("never", expires_at=0.0)], NOW)
    assert names(jar) == ["theirs"]
