"""`tarantella recordings`, as people type it."""

from __future__ import annotations

import json

from tests.acceptance.command import Shell
from tests.site import feed


def test_a_har_is_imported_shown_and_deleted_without_a_server(shell: Shell) -> None:
    allowed = {"TARANTELLA_ALLOW_NETWORKS": "127.0.0.0/8"}
    job = shell.run(
        "jobs", "create", "http://127.0.0.1:9/feed/list", "--field", "name", "--field", "price", "--json", **allowed
    ).json
    file = shell.folder / "shop.har"
    file.write_text(json.dumps(feed.har("http://127.0.0.1:9", "closed")))
    made = shell.run("recordings", "import", str(file), "--job", job["id"], "--json").json
    assert made["fields"] == {"name": "attributes.productName", "price": "attributes.unitPrice"}
    [listed] = shell.run("recordings", "list", "--json", "--job", job["id"]).json
    assert listed == made
    shown = shell.run("recordings", "show", made["id"])
    assert "attributes.productName" in shown.out
    assert not [secret for secret in (feed.TOKEN, feed.COOKIE, feed.KEY) if secret in shown.out + shown.err]
    assert shell.run("recordings", "delete", made["id"]).code == 0
    assert shell.run("recordings", "show", made["id"]).code != 0
    refused = shell.run("recordings", "import", str(shell.folder / "nowhere.har"), "--job", job["id"])
    assert refused.code == 2 and "can't be read" in refused.err
