"""Settings of measured apps, isolated from the shell's CIRQUE_ variables: those may refer to a production
database, or to a language model that costs money."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic_settings import BaseSettings, PydanticBaseSettingsSource

from cir_core.settings import Settings


class _Given(Settings):
    """Explicit values and defaults only."""

    @classmethod
    def settings_customise_sources(
        cls, settings_cls: type[BaseSettings], init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource, dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        return (init_settings,)


def settings_of(home: Path, **values: Any) -> Settings:
    """Settings for this process."""
    return _Given(home=home, **values)


def environment_of(home: Path, **variables: str) -> dict[str, str]:
    """Environment for a subprocess. It listens on localhost at a free port, unless ``variables`` override that."""
    return {**without_settings(os.environ), "CIRQUE_HOME": str(home), "CIRQUE_HOST": "127.0.0.1", "CIRQUE_PORT": "0",
            **variables}


def without_settings(environment: Mapping[str, str]) -> dict[str, str]:
    """``environment`` without cirque's variables, in any case."""
    return {name: value for name, value in environment.items() if not name.upper().startswith("CIRQUE_")}
