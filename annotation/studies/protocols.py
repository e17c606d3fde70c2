"""Versioned files of rubrics and surveys: ``NAME-VERSION.toml`` holds the protocol ``NAME/VERSION``.

Versions lie side by side. A study keeps the version it was made with; a new study takes the newest.
"""

from __future__ import annotations

import re
from pathlib import Path

from cir_core.errors import StudyError
from cir_core.support.texts import quoted

_PROTOCOL = re.compile(r"([a-z][a-z0-9-]*)/([1-9][0-9]{0,5})")


def protocol_file(folder: Path, protocol: str, what: str) -> Path:
    """The file of ``protocol`` in ``folder``. ``what``: "rubric" or "survey", for the sentence.

    Raises ``StudyError`` for a protocol that is not there, with those that are.
    """
    found = _PROTOCOL.fullmatch(protocol)
    path = folder / f"{found[1]}-{found[2]}.toml" if found else None
    if path is None or not path.is_file():
        there = ", ".join(repr(one) for one in known_protocols(folder)) or "none at all"
        raise StudyError(f"There is no {what} {quoted(protocol)} here, only {there}. Use a cirque that has it: the "
                         "one the study was made with, or a later one.")
    return path


def newest_protocol(folder: Path, name: str) -> str:
    """The highest version of ``name`` in ``folder``: "circus/2". Raises ``StudyError`` where there is none."""
    versions = [_parts(one)[1] for one in known_protocols(folder) if _parts(one)[0] == name]
    if not versions:
        raise StudyError(f"There is no file {name}-1.toml in {folder.name}. Install cirque again.")
    return f"{name}/{max(versions)}"


def known_protocols(folder: Path) -> list[str]:
    """All protocols of ``folder``, by name and version."""
    names = (path.stem.rpartition("-") for path in folder.glob("*-*.toml"))
    found = (f"{name}/{version}" for name, _, version in names)
    return sorted((one for one in found if _PROTOCOL.fullmatch(one)), key=_parts)


def check_protocol(stated: str, protocol: str, where: str) -> None:
    """Raises ``StudyError`` where a file states another protocol than its name does."""
    if stated != protocol:
        raise StudyError(f"{where}, protocol: it is {quoted(stated)}, and the file's name says {quoted(protocol)}. "
                         "Give a new version a file of its own.")


def _parts(protocol: str) -> tuple[str, int]:
    name, _, version = protocol.partition("/")
    return name, int(version)
