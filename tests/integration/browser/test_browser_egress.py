"""The egress guard holds for everything that a page in a browser asks for."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest

from tarantella.domain.failure import Failure
from tests.integration.browser.conftest import Lab
from tests.site import Proxy

ELSEWHERE = "127.0.0.2"  # where the site answers too, and which nobody has allowed


@pytest.fixture
def datagrams(lab: Lab) -> Iterator[socket.socket]:
    """Whatever comes by UDP to the address that is not allowed."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as listener:
        listener.bind((ELSEWHERE, lab.site.port))
        listener.setblocking(False)
        yield listener


def reached(lab: Lab) -> list[str]:
    return [hit.path for hit in lab.site.hits if hit.hostname == ELSEWHERE]


def test_no_way_that_a_page_has_leads_to_an_address_that_is_not_allowed(lab: Lab, datagrams: socket.socket) -> None:
    target = f"http://{ELSEWHERE}:{lab.site.port}"
    html = lab.html(f"/scripted/reaches?to={target}", browser={"quiet_ms": 3000})
    tried = html.partition('class="tried">')[2].partition("<")[0].split(", ")
    assert len(tried) == 17, tried
    assert [each for each in tried if ":" in each] == []
    assert reached(lab) == []
    with pytest.raises(BlockingIOError):
        datagrams.recv(10)


def test_the_same_ways_lead_there_once_it_is_allowed(lab: Lab) -> None:
    """Otherwise the test above could not tell a guard from a page that does nothing."""
    target = f"http://{ELSEWHERE}:{lab.site.port}"
    networks = ("127.0.0.1/32", "127.0.0.2/32")
    lab.html(f"/scripted/reaches?to={target}", browser={"quiet_ms": 2000}, allow_networks=networks)
    wanted = {"/fetch", "/xhr", "/script", "/style", "/frame", "/redirected", "/socket", "/events", "/worker", "/form"}
    assert wanted <= set(reached(lab))


def test_a_document_at_a_private_address_is_denied_by_name_and_by_number(lab: Lab) -> None:
    for address in (f"http://{ELSEWHERE}:{lab.site.port}/ok", "http://10.0.0.1/", "https://169.254.169.254/latest/"):
        found = lab.failure(address)
        assert (found.failure, found.detail) == (Failure.DENIED, "address")
        assert "--allow-network" in found.message
    lab.names["inside.test"] = ["10.0.0.7"]
    assert lab.failure("http://inside.test/").message.startswith("inside.test is at 10.0.0.7")


def test_a_redirect_or_a_script_that_leads_to_another_host_moves_the_page_and_asks_nothing_there(lab: Lab) -> None:
    target = f"http://{ELSEWHERE}:{lab.site.port}/ok"
    for path in (f"/redirect?to={target}", f"/scripted/away?to={target}"):
        found = lab.fetch(path)
        assert found.redirect_to is not None and found.redirect_to.href == target
    assert reached(lab) == []


def test_a_redirect_that_may_not_be_followed_is_handed_back(lab: Lab) -> None:
    request = lab.request("/redirect?to=/ok")._replace(follows=lambda url: False)
    found = lab.do(lab.browser.fetch(request))
    assert found.redirect_to is not None and found.redirect_to.href == lab.url("/ok")
    assert lab.asked() == ["/redirect"]


def test_a_name_that_leads_elsewhere_the_second_time_is_denied_then(lab: Lab) -> None:
    lab.names["rebind.test"] = ["127.0.0.1", ELSEWHERE]
    page = f"http://rebind.test:{lab.site.port}/ok"
    assert lab.fetch(page, owner="").status == 200
    assert lab.failure(page, owner="").failure is Failure.DENIED
    assert reached(lab) == []


def test_a_service_worker_is_not_let_in(lab: Lab) -> None:
    lab.html(f"/scripted/reaches?to=http://{ELSEWHERE}:{lab.site.port}", owner="worker")
    assert "The worker's own page" not in lab.html("/ok", owner="worker")


def test_a_socket_to_where_it_is_allowed_works(lab: Lab) -> None:
    assert "hello" in lab.html("/scripted/socket", browser={"wait_for": ".heard"})


def test_our_own_control_port_is_never_reached(lab: Lab) -> None:
    gateway_port = 0

    async def look() -> int:
        running = lab.browser._running
        assert running is not None
        return next(iter(running.contexts._contexts.values())).gateway.port

    lab.fetch("/ok", owner="gateways")
    gateway_port = lab.do(look())
    # Asked as a site, the gateway of another context answers nothing but a refusal.
    assert lab.fetch(f"http://127.0.0.1:{gateway_port}/", owner="another").status == 400


def test_a_site_is_not_asked_for_its_icon(lab: Lab) -> None:
    lab.fetch("/ok", browser={"quiet_ms": 1500}, owner="icons")
    assert lab.asked() == ["/ok"]


def test_everything_goes_through_the_proxy_that_a_user_names(lab: Lab) -> None:
    async def through() -> tuple[int, list[str]]:
        async with Proxy() as proxy:
            request = lab.request("/scripted/fetched?s=0", proxy=proxy.url_with_credentials)
            found = await lab.browser.fetch(request)
            return found.status, [seen.target for seen in proxy.seen]

    status, requests = lab.do(through())
    assert status == 200
    assert len(requests) >= 2
