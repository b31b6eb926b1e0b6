"""A recorded question: what of it matters, what of it nobody may see, and that it is asked as it was."""

from __future__ import annotations

import json

from tarantella.domain.recording_request import filled, filled_url, hidden, hidden_url, slots, template_of, with_slot

SECRETS = ("bearer-91", "visitor-17", "key-33", "csrf-44", "pass-55", "eyJhbGciOiJIUzI1.eyJzdWIiOiIx.c2ln")


def test_what_every_client_says_by_itself_is_left_out() -> None:
    headers = {
        "Host": "a",
        "User-Agent": "B",
        "Sec-Fetch-Mode": "cors",
        ":method": "GET",
        "X-Shop": "1",
        "Accept": "x/y",
    }
    template = template_of("get", "https://shop.example/a#there", headers, None)
    assert template is not None
    assert (template.url, template.headers) == ("https://shop.example/a", {"x-shop": "1", "accept": "x/y"})


def test_what_can_not_be_asked_again_is_no_question() -> None:
    assert template_of("DELETE", "https://shop.example/a", {}, None) is None
    assert template_of("POST", "https://shop.example/a", {}, b"\xff\xfe\x00") is None
    assert template_of("POST", "https://shop.example/a", {}, b"x" * 1_000_000) is None


def test_secrets_are_hidden_wherever_they_stand_and_come_back_whole() -> None:
    body = {"auth": {"password": "pass-55"}, "variables": {"jwt": SECRETS[5], "first": 20}, "q": "looms"}
    template = template_of(
        "POST",
        "https://shop.example/a?q=looms+%26%20co&api_key=key-33&page=1",
        {
            "authorization": "Bearer bearer-91",
            "cookie": "v=visitor-17",
            "x-csrf-token": "csrf-44",
            "content-type": "application/json",
        },
        json.dumps(body, separators=(",", ":")).encode(),
    )
    assert template is not None
    shown, secrets = hidden(template)
    told = repr(shown)
    assert not [secret for secret in SECRETS if secret in told]
    assert "looms+%26%20co" in shown.url and "page=1" in shown.url and '"first":20' in str(shown.body)
    assert filled(shown, secrets) == template


def test_forms_and_unknown_bodies_are_hidden_too() -> None:
    form = template_of(
        "POST", "https://shop.example/a", {"content-type": "application/x-www-form-urlencoded"}, b"q=x&token=key-33"
    )
    text = template_of("POST", "https://shop.example/a", {"content-type": "text/plain"}, b"secret-ish key-33")
    for template in (form, text):
        assert template is not None
        shown, secrets = hidden(template)
        assert "key-33" not in repr(shown)
        assert filled(shown, secrets) == template


def test_a_cursor_that_is_called_a_token_stays() -> None:
    template = template_of("GET", "https://shop.example/a?page_token=abc", {}, None)
    assert template is not None
    assert hidden(template, keep=[("query", 0)])[0] == template


def test_an_address_that_the_server_gave_carries_no_secret_in_the_open() -> None:
    template = template_of("GET", "https://shop.example/a?api_key=key-33", {}, None)
    assert template is not None
    shown, secrets = hidden(template)
    address = hidden_url("https://shop.example/a?from=2&api_key=key-33", shown, secrets)
    assert address == "https://shop.example/a?from=2&api_key=***"
    assert filled_url(address, shown, secrets) == "https://shop.example/a?from=2&api_key=key-33"


def test_json_within_a_parameter_is_taken_apart() -> None:
    template = template_of("GET", 'https://shop.example/g?variables={"after":null,"n":2}&x=1', {}, None)
    assert template is not None
    assert slots(template)[("query", 0, "n")] == 2
    changed = with_slot(template, ("query", 0, "after"), "c 2")
    assert changed.url.endswith("&x=1")
    assert slots(changed)[("query", 0, "after")] == "c 2"
