"""NAME=VALUE arguments of ``cirque construct``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from cir_core.errors import SettingsError
from cir_core.support.texts import quoted


def named_paths(given: Sequence[str]) -> dict[str, list[Path]]:
    """Paths by the name of their source: of "NAME=PATH" NAME, which several may share, else the file's or folder's own
    name. Raises ``SettingsError`` for two unnamed ones of one name."""
    found: dict[str, list[Path]] = {}
    unnamed = set()
    for one in given:
        name, equals, path = one.partition("=")
        if not equals or Path(one).exists():
            name, path = Path(one).resolve().stem, one
            if name in found:
                raise SettingsError(f"Two of the sources would be called {quoted(name)}. Name them: NAME={one}")
            unnamed.add(name)
        elif not name.strip() or not path:
            raise SettingsError(f"{quoted(one)} is neither a file nor NAME=FILE.")
        elif name in unnamed:
            raise SettingsError(f"Two of the sources would be called {quoted(name)}. Name both: NAME=FILE")
        found.setdefault(name.strip(), []).append(Path(path))
    return found


def named_values(given: Sequence[str], option: str) -> Mapping[str, str]:
    """Values of "NAME=VALUE" by name, of "VALUE" under "". Raises ``SettingsError`` for two of one name."""
    found: dict[str, str] = {}
    for one in given:
        name, equals, value = one.rpartition("=")
        if name in found:
            raise SettingsError(f"{option} is given twice for {name or 'all sources'}. Give it once.")
        if not value or (equals and not name):
            raise SettingsError(f"{option} {quoted(one)} is neither a gallery nor NAME=GALLERY.")
        found[name] = value
    return found
