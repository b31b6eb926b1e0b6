"""What comes along for deployment names only commands, settings and metrics that there are."""

from __future__ import annotations

import asyncio
import configparser
import json
import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from tarantella.api.app import make_api
from tarantella.api.metrics import _broker, _gauges
from tarantella.cli.app import FILES
from tarantella.engine.counters import HELP
from tarantella.services.app import App
from tarantella.services.supervisor import Supervisor
from tarantella.services.system import Broker
from tarantella.settings import VARIABLES
from tarantella.store.system import census

ROOT = Path(__file__).resolve().parents[2]
UNITS = sorted((ROOT / "deploy" / "systemd").glob("*.service"))
SUFFIXES = ("_bucket", "_sum", "_count")


def in_use() -> dict[str, str]:
    """Every expression of the rules and of the dashboard, by the name of what it is for."""
    rules = yaml.safe_load((ROOT / "deploy/prometheus/rules.yml").read_text())
    board = json.loads((ROOT / "deploy/grafana/dashboard.json").read_text())
    found = {rule["alert"]: rule["expr"] for group in rules["groups"] for rule in group["rules"]}
    return found | {
        f"{panel['title']} {target['refId']}": target["expr"]
        for panel in board["panels"]
        for target in panel["targets"]
    }


def metrics(app: App) -> dict[str, set[str]]:
    """Every metric that a server with engines and a broker tells, and the values of its labels."""
    found: dict[str, set[str]] = {name: set() for name in HELP}

    async def told() -> list[str]:
        api = make_api(app, supervisor=Supervisor(app, 1))
        plane = api.state.plane
        plane.traffic.count("GET", "/", 200, 0.1)
        seen = await app.database.read(lambda tx: census(tx, 0.0))
        return [*_gauges(plane, seen), *_broker(Broker("redis://", 0)), *plane.traffic.exposition()]

    for line in asyncio.run(told()):
        if line.startswith("# HELP "):
            found.setdefault(line.split()[2], set())
        elif not line.startswith("#"):
            name = line.partition("{")[0].partition(" ")[0]
            found.setdefault(name, set()).update(re.findall(r'"([^"]*)"', line))
    return found


def test_every_metric_that_rules_and_dashboard_name_exists(app: App) -> None:
    known = metrics(app)
    for what, expression in in_use().items():
        named = re.findall(r"\btarantella_\w+", expression)
        assert named, what
        for name in named:
            assert name in known, f"{what} asks for {name}"
        for name, wanted in re.findall(r'(tarantella_\w+)\{\w+!?=~?"([^"]+)"\}', expression):
            assert set(wanted.split("|")) <= known[name], f"{what} asks for {wanted} of {name}"


def test_every_rule_says_what_to_do_in_words() -> None:
    for group in yaml.safe_load((ROOT / "deploy/prometheus/rules.yml").read_text())["groups"]:
        for rule in group["rules"]:
            assert rule["annotations"]["summary"].endswith((".", "any.")), rule["alert"]
            assert rule["labels"]["severity"] in ("warning", "critical")


def test_compose_starts_commands_that_exist_with_settings_that_exist() -> None:
    compose = yaml.safe_load((ROOT / "compose.yaml").read_text())
    ours = {name: each for name, each in compose["services"].items() if each["image"] == "tarantella"}
    assert {name: shlex.split(each["command"])[0] for name, each in ours.items()} == {
        "api": "serve",
        "worker": "worker",
    }
    for each in ours.values():
        assert set(each["environment"]) <= set(VARIABLES)
        assert set(each["depends_on"]) <= set(compose["services"])
    named = {volume.partition(":")[0] for each in compose["services"].values() for volume in each.get("volumes", ())}
    assert named == set(compose["volumes"])


def test_the_image_is_made_of_files_that_exist_and_starts_a_command_that_exists() -> None:
    lines = (ROOT / "Dockerfile").read_text().splitlines()
    copied = [shlex.split(line)[1:-1] for line in lines if line.startswith("COPY") and "--from" not in line]
    ignored = (ROOT / ".dockerignore").read_text().splitlines()
    for name in (name for names in copied for name in names):
        assert (ROOT / name).exists()
        assert f"!{name.removeprefix('./')}" in ignored
    [command] = [json.loads(line.removeprefix("CMD ")) for line in lines if line.startswith("CMD ")]
    assert command[0] in FILES
    for line in lines:
        for name in re.findall(r"\bTARANTELLA_\w+", line):
            assert name in VARIABLES


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_units_start_commands_that_exist_and_let_the_parent_decide(unit: Path, tmp_path: Path) -> None:
    parser: Any = configparser.RawConfigParser(strict=False)
    parser.optionxform = str
    parser.read(unit)
    program, command, *_ = shlex.split(parser["Service"]["ExecStart"])
    assert (Path(program).name, command in FILES, parser["Service"]["KillMode"]) == ("tarantella", True, "mixed")
    if (verify := shutil.which("systemd-analyze")) is not None:
        # It looks whether the program is there, too; here it is another one.
        copy = tmp_path / unit.name
        copy.write_text(
            unit.read_text().replace(program, "/bin/true").replace("User=tarantella\nGroup=tarantella\n", "")
        )
        done = subprocess.run([verify, "verify", "--man=no", str(copy)], capture_output=True, text=True, check=False)
        assert str(copy.name) not in done.stderr, done.stderr
