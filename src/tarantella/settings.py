"""Every setting: from TARANTELLA_* in the environment, a .env file, or tarantella.toml, in this order."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from pydantic import AliasChoices, Field, ValidationError
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from tarantella.domain.errors import InvalidInput

TOML_FILE = "tarantella.toml"


class Settings(BaseSettings):
    """What can be set once for all commands. Options on the command line come first."""

    model_config = SettingsConfigDict(
        env_prefix="TARANTELLA_",
        env_file=".env",
        env_file_encoding="utf-8",
        extra="forbid",
        populate_by_name=True,
        toml_file=TOML_FILE,
    )

    data_dir: Path = Field(Path("data"), description="Where the database, locks and exports live.")
    max_concurrent_tasks: int = Field(
        5, ge=1, le=1_000, description="Runs that may run at the same time; more are queued."
    )
    engines: int = Field(1, ge=1, le=64, description="Processes that drain a run together.")
    engine_slots: int = Field(
        256, ge=1, le=4_096, description="Requests in flight in one process, whatever its runs allow."
    )
    drain_seconds: float = Field(5.0, ge=0, le=600, description="How long a stop waits for pages that are in flight.")
    concurrency: int = Field(10, ge=1, le=1_000, description="Requests in flight for one run.")
    per_host: int = Field(8, ge=1, le=1_000, description="Requests in flight to one host at most; it starts with one.")
    max_pages: int = Field(10_000, ge=1, le=100_000_000, description="Pages in one run at most.")
    attempts: int = Field(
        3,
        ge=1,
        le=100,
        validation_alias=AliasChoices("tarantella_attempts", "app_default_max_attempts", "attempts"),
        description="Requests for one page in all, the first included. Also read from APP_DEFAULT_MAX_ATTEMPTS.",
    )
    http_timeout_seconds: float = Field(
        20.0,
        gt=0,
        le=3_600,
        validation_alias=AliasChoices(
            "tarantella_http_timeout_seconds", "app_http_timeout_seconds", "http_timeout_seconds"
        ),
        description="Time for one page over HTTP, everything included. Also read from APP_HTTP_TIMEOUT_SECONDS.",
    )
    connect_timeout_seconds: float = Field(10.0, gt=0, le=600, description="Time to reach a host.")
    user_agent: str | None = Field(
        None, description="How we introduce ourselves; an honest one that names Tarantella if unset."
    )
    allow_networks: list[str] = Field(
        default_factory=list, description='Private networks that may be fetched from, as CIDR: `["10.0.0.0/8"]`.'
    )
    cache_bytes: int = Field(
        1_000_000_000, ge=1_000_000, le=2**50, description="How large the cache of `--cache` may become."
    )
    durability: Literal["normal", "full"] = Field(
        "normal",
        description="`full` waits for the disk at every commit: results survive a power cut, not only a crash.",
    )

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        return init_settings, env_settings, dotenv_settings, TomlConfigSettingsSource(settings_cls)

    @property
    def database_path(self) -> Path:
        return self.data_dir / "tarantella.db"

    @property
    def workers_dir(self) -> Path:
        return self.data_dir / "workers"

    @property
    def cache_dir(self) -> Path:
        return self.data_dir / "cache"

    @property
    def exports_dir(self) -> Path:
        return self.data_dir / "exports"


def load(**given: Any) -> Settings:
    """The settings in force, with what was given on the command line on top."""
    try:
        return Settings(**{name: value for name, value in given.items() if value is not None})
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(str(part) for part in first["loc"])
        raise InvalidInput(
            f"The setting {name!r} is not right: {first['msg']}.",
            field=name,
            remedy="`tarantella config show` lists all of them.",
        ) from None
    except ValueError as error:
        raise InvalidInput(f"The settings can't be read: {error}.", remedy=f"Check {TOML_FILE} and .env.") from None
