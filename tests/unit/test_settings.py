"""Settings are found where they were set, and what can't be used is refused by name and line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tarantella.domain.errors import InvalidInput
from tarantella.services.config import settings_in_force
from tarantella.settings import ABOUT, Settings, load, variables_of

TOML, DOTENV = Path("tarantella.toml"), Path(".env")


@pytest.fixture(autouse=True)
def _nothing_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TARANTELLA_BROWSER")


def refused(**given: Any) -> str:
    with pytest.raises(InvalidInput) as caught:
        load(**given)
    return str(caught.value)


def test_without_anything_set_the_defaults_are_in_force() -> None:
    assert load() == Settings()


def test_every_default_is_a_value_that_could_be_set() -> None:
    for name, about in ABOUT.items():
        assert about.default is None or about.kind(about.default) == about.default, name


def test_the_first_who_sets_it_wins(monkeypatch: pytest.MonkeyPatch) -> None:
    TOML.write_text("concurrency = 1\nper_host = 1\nengines = 1\nattempts = 1\n")
    DOTENV.write_text("TARANTELLA_CONCURRENCY=2\nTARANTELLA_PER_HOST=2\nTARANTELLA_ATTEMPTS=2\n")
    monkeypatch.setenv("TARANTELLA_CONCURRENCY", "3")
    monkeypatch.setenv("APP_DEFAULT_MAX_ATTEMPTS", "3")
    found = load(data_dir=Path("elsewhere"))
    assert (found.concurrency, found.per_host, found.engines, found.attempts) == (3, 2, 1, 3)
    assert found.database == Path("elsewhere/tarantella.db")


def test_of_two_names_for_one_setting_ours_wins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("APP_HTTP_TIMEOUT_SECONDS", "7")
    assert load().http_timeout_seconds == 7
    monkeypatch.setenv("TARANTELLA_HTTP_TIMEOUT_SECONDS", "8")
    assert load().http_timeout_seconds == 8


@pytest.mark.parametrize(
    ("name", "typed", "value"),
    [
        ("concurrency", " 20 ", 20),
        ("drain_seconds", "0", 0.0),
        ("http_timeout_seconds", "1.5", 1.5),
        ("data_dir", "/some/where", Path("/some/where")),
        ("user_agent", "me/1", "me/1"),
        ("allow_networks", '["10.0.0.0/8", "::1"]', ("10.0.0.0/8", "::1")),
        ("allow_networks", "10.0.0.0/8, ::1", ("10.0.0.0/8", "::1")),
        ("durability", "full", "full"),
        ("user_agent", "", None),
        ("concurrency", "", 10),
    ],
)
def test_words_from_the_environment_become_values(
    monkeypatch: pytest.MonkeyPatch, name: str, typed: str, value: Any
) -> None:
    monkeypatch.setenv(variables_of(name)[0].lower(), typed)
    assert getattr(load(), name) == value


@pytest.mark.parametrize("link", ["tcp://10.0.0.1:8000", "udp://10.0.0.1:53"])
def test_the_address_of_a_service_in_kubernetes_is_not_our_port(monkeypatch: pytest.MonkeyPatch, link: str) -> None:
    monkeypatch.setenv("TARANTELLA_PORT", link)
    assert load().port == 8000


@pytest.mark.parametrize(
    ("name", "typed", "should_be"),
    [
        ("concurrency", "many", "a whole number from 1 to 1,000"),
        ("concurrency", "0", "a whole number from 1 to 1,000"),
        ("concurrency", "1001", "a whole number from 1 to 1,000"),
        ("concurrency", "1.5", "a whole number from 1 to 1,000"),
        ("drain_seconds", "-1", "seconds from 0 to 600"),
        ("drain_seconds", "nan", "seconds from 0 to 600"),
        ("connect_timeout_seconds", "0", "seconds from more than 0 to 600"),
        ("http_timeout_seconds", "inf", "seconds from more than 0 to 3,600"),
        ("allow_networks", "everything", "a list of networks"),
        ("allow_networks", '["10.0.0.0/8", "x"]', "a list of networks"),
        ("durability", "some", "normal or full"),
    ],
)
def test_what_makes_no_sense_is_refused_with_what_would(
    monkeypatch: pytest.MonkeyPatch, name: str, typed: str, should_be: str
) -> None:
    monkeypatch.setenv(variables_of(name)[0], typed)
    told = refused()
    assert f"The setting '{name}' (environment) is not right: it should be " in told
    assert should_be in told
    assert f"not '{typed}'" in told


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("# mine\n\nconcurrency = 0\n", "'concurrency' (tarantella.toml, line 3)"),
        ("engines = 2\nconcurrency = true\n", "'concurrency' (tarantella.toml, line 2)"),
        ("user_agent = 3\n", "'user_agent' (tarantella.toml, line 1)"),
        ("data_dir = 3\n", "'data_dir' (tarantella.toml, line 1)"),
        ("allow_networks = [1.5]\n", "'allow_networks' (tarantella.toml, line 1)"),
        ("allow_networks = 10\n", "'allow_networks' (tarantella.toml, line 1)"),
        ("engines = 2\nno_such = 1\n", "no setting 'no_such' (tarantella.toml, line 2)"),
        ("engine = 2\n", "no setting 'engine' (tarantella.toml, line 1). Did you mean engines?"),
        ("engines = 2\n\n[ other ]\nx = 1\n", "no setting 'other' (tarantella.toml, line 3)"),
        ("engines = 2\nthis is = = not toml", "tarantella.toml is not TOML: "),
        ("engines = 2\nthis is = = not toml", "line 2"),
        ("engines = 2\nconcurrency = [\n", "line 2"),
        ("x = " + "[" * 5_000, "tarantella.toml is not TOML"),
    ],
)
def test_what_is_wrong_in_tarantella_toml_is_named_with_its_line(written: str, told: str) -> None:
    TOML.write_text(written)
    assert told in refused()


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("OTHER=1\nexport TARANTELLA_ENGINES=x\n", "'engines' (.env, line 2)"),
        ("# hm\nTARANTELLA_ENGINE=2\n", "'TARANTELLA_ENGINE' (.env, line 2). Did you mean TARANTELLA_ENGINES?"),
        ("TARANTELLA_FOO=2\n", "'TARANTELLA_FOO' (.env, line 1). `tarantella config show`"),
        ('A=1\n\nTARANTELLA_USER_AGENT="never closed\nB=2\n', "Line 3 of .env can't be understood"),
    ],
)
def test_what_is_wrong_in_dotenv_is_named_with_its_line(written: str, told: str) -> None:
    DOTENV.write_text(written)
    assert told in refused()


def test_a_dotenv_file_may_be_there_for_other_programs_too() -> None:
    DOTENV.write_text("\ufeffTARANTELLA_ENGINES='2' # two\nDATABASE_URL=x\nAPP_DEBUG=1\nTARANTELLA_USER_AGENT=\n")
    assert load() == Settings(engines=2)


@pytest.mark.parametrize("file", [TOML, DOTENV])
def test_a_file_that_can_not_be_read_is_named(file: Path) -> None:
    file.write_bytes(b"# fine\n\xff\xfe\x00")
    assert f"{file} is not UTF-8 text: see line 2" in refused()
    file.unlink()
    file.symlink_to("nowhere")
    assert f"{file} can't be read" in refused()
    file.unlink()
    file.mkdir()
    assert f"{file} can't be read" in refused()


def test_a_secret_in_a_value_is_not_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TARANTELLA_DURABILITY", "https://me:hunter2@example.com/?token=hunter2")
    assert "hunter2" not in refused()


def test_what_can_not_be_used_is_shown_all_the_same_with_what_is_wrong() -> None:
    TOML.write_text("concurrency = 0\n")
    DOTENV.write_text("TARANTELLA_ENGINES=2\n")
    shown, wrong = settings_in_force()
    values = {setting.name: (setting.value, setting.origin) for setting in shown}
    assert (values["concurrency"], values["engines"]) == ((0, "tarantella.toml"), ("2", ".env"))
    assert "'concurrency'" in str(wrong)
    TOML.write_text("not toml")
    shown, wrong = settings_in_force()
    assert {setting.origin for setting in shown} == {"default", ".env"}
    assert "tarantella.toml is not TOML" in str(wrong)


@pytest.mark.parametrize(
    "login", ["bob:hunter2/secret", "bob:hunter2?secret", "bob:hunter2#secret", "bob:hunter2@secret"]
)
@pytest.mark.parametrize(
    ("name", "scheme"), [("database_url", "postgresql"), ("broker_url", "redis"), ("redis_url", "redis")]
)
def test_a_login_that_others_would_misread_is_refused_and_shown_nowhere(
    monkeypatch: pytest.MonkeyPatch, login: str, name: str, scheme: str
) -> None:
    monkeypatch.setenv(f"TARANTELLA_{name.upper()}", f"{scheme}://{login}@127.0.0.1:1/x")
    with pytest.raises(InvalidInput, match="%2F") as refused:
        load()
    rows, _ = settings_in_force()
    told = str(refused.value) + str(rows)
    assert "hunter2" not in told and "secret@" not in told and "#secret" not in told
