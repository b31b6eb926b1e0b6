"""Which settings are in force, and where each of them came from."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import AliasChoices
from pydantic.fields import FieldInfo
from pydantic_settings import DotEnvSettingsSource, EnvSettingsSource, TomlConfigSettingsSource

from tarantella.domain.errors import InvalidInput, TarantellaError
from tarantella.domain.url import redact
from tarantella.settings import TOML_FILE, Settings, load

DEFAULT, ENVIRONMENT, DOTENV, TOML = "default", "environment", ".env", TOML_FILE
HIDDEN = "***"
_SECRET_NAME = re.compile(r"token|password|passwd|secret|credential|api_?key")


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting as `config show` tells it."""

    name: str
    variable: str
    value: Any
    origin: str
    description: str


def settings_in_force() -> tuple[list[Setting], TarantellaError | None]:
    """Every setting; where one can't be used, what was set instead of it, and what is wrong."""
    found, unreadable = _set_somewhere()
    try:
        loaded: Settings | None = load()
        wrong: TarantellaError | None = None
    except TarantellaError as error:
        loaded, wrong = None, error
    rows = []
    for name, field in Settings.model_fields.items():
        origin, raw = found.get(name, (DEFAULT, field.get_default(call_default_factory=True)))
        value = getattr(loaded, name) if loaded is not None else raw
        rows.append(Setting(name, variable_of(name), _shown(name, value), origin, field.description or ""))
    return rows, unreadable or wrong


def variable_of(name: str) -> str:
    """The name of a setting in the environment."""
    return f"{Settings.model_config.get('env_prefix', '')}{name}".upper()


def variables_of(name: str, field: FieldInfo) -> list[str]:
    """All names under which it is read from the environment, the usual one first."""
    alias = field.validation_alias
    if not isinstance(alias, AliasChoices):
        return [variable_of(name)]
    return [str(choice).upper() for choice in alias.choices if str(choice) != name]


def _set_somewhere() -> tuple[dict[str, tuple[str, Any]], TarantellaError | None]:
    """What is set and where; the first source wins, as it does when settings are loaded."""
    found: dict[str, tuple[str, Any]] = {}
    trouble: TarantellaError | None = None
    for origin, source in (
        (ENVIRONMENT, EnvSettingsSource),
        (DOTENV, DotEnvSettingsSource),
        (TOML, TomlConfigSettingsSource),
    ):
        try:
            values = source(Settings)()
        except (ValueError, OSError) as error:
            trouble = trouble or InvalidInput(
                f"The settings in {origin} can't be read: {error}.", remedy="Mend them, or remove them."
            )
            continue
        for name, value in _by_field(values):
            found.setdefault(name, (origin, value))
    return found, trouble


def _by_field(values: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Sources name a field by its own name or by one of its aliases."""
    names = {name: name for name in Settings.model_fields}
    for name, field in Settings.model_fields.items():
        if isinstance(field.validation_alias, AliasChoices):
            names |= {str(choice): name for choice in field.validation_alias.choices}
    for key, value in values.items():
        if key.lower() in names:
            yield names[key.lower()], value


def _shown(name: str, value: Any) -> Any:
    if _SECRET_NAME.search(name) and value:
        return HIDDEN
    if isinstance(value, list | tuple):
        return [_shown("", item) for item in value]
    if isinstance(value, bool | int | float) or value is None:
        return value
    return redact(str(value))
