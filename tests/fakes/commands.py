"""cirque's commands in this process."""

from __future__ import annotations

from functools import cache

import typer.testing


def keep_commands() -> None:
    """Typer makes click's commands from ours anew for each ``CliRunner.invoke``, which takes a tenth of a second of CPU
    and more than most commands do: from here on, once."""
    if not hasattr(typer.testing._get_command, "cache_info"):
        typer.testing._get_command = cache(typer.testing._get_command)
