"""What a measured app is set to. Of the settings of the shell it gets none: their database may be one in which people
work, their language model one that costs money."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic_settings import BaseSettings, PydanticBaseSettingsSource

from cir_core.settings import Settings


class _Given(Settings):
    """What it is given, and defaults."""

    @classmethod
    def settings_customise_sources(
        cls, settings_cls: type[BaseSettings], init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource, dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        return (init_settings,)


def settings_of(home: Path, **values: Any) -> Settings:
    """For this process."""
    return _Given(home=home, **values)


def environment_of(home: Path, **variables: str) -> dict[str, str]:
    """For a process of its own. It listens on this machine alone and at a free port, unless ``variables`` say other."""
    return {**without_settings(os.environ), "CIRQUE_HOME": str(home), "CIRQUE_HOST": "127.0.0.1", "CIRQUE_PORT": "0",
            **variables}


def without_settings(environment: Mapping[str, str]) -> dict[str, str]:
    """All but cirque's own variables, which count in small letters, too."""
    return {name: value for name, value in environment.items() if not name.upper().startswith("CIRQUE_")}
