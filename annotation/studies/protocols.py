"""Versioned files of rubrics and surveys: ``NAME-VERSION.toml`` holds the protocol ``NAME/VERSION``.

Versions coexist. A study keeps the version it was created with; a new study uses the newest.
"""

from __future__ import annotations

import re
from pathlib import Path

from cir_core.errors import StudyError
from cir_core.support.texts import quoted

_PROTOCOL = re.compile(r"([a-z][a-z0-9-]*)/([1-9][0-9]{0,5})")


def protocol_file(folder: Path, protocol: str, what: str) -> Path:
    """The file of ``protocol`` in ``folder``. ``what``: "rubric" or "survey", for the sentence.

    Raises ``StudyError`` for an unknown protocol, with a list of the known ones.
    """
    found = _PROTOCOL.fullmatch(protocol)
    path = folder / f"{found[1]}-{found[2]}.toml" if found else None
    if path is None or not path.is_file():
        there = ", ".join(repr(one) for one in known_protocols(folder)) or "none at all"
        raise StudyError(f"There is no {what} {quoted(protocol)} here, only {there}. Use a version of cirque that has "
                         "it: the one the study was created with, or a later one.")
    return path


def newest_protocol(folder: Path, name: str) -> str:
    """The highest version of ``name`` in ``folder``: "circus/2". Raises ``StudyError`` if there is none."""
    versions = [_parts(one)[1] for one in known_protocols(folder) if _parts(one)[0] == name]
    if not versions:
        raise StudyError(f"There is no file {name}-1.toml in {folder.name}. Reinstall cirque.")
    return f"{name}/{max(versions)}"


def known_protocols(folder: Path) -> list[str]:
    """All protocols of ``folder``, by name and version."""
    names = (path.stem.rpartition("-") for path in folder.glob("*-*.toml"))
    found = (f"{name}/{version}" for name, _, version in names)
    return sorted((one for one in found if _PROTOCOL.fullmatch(one)), key=_parts)


def check_protocol(stated: str, protocol: str, where: str) -> None:
    """Raises ``StudyError`` if the protocol in a file differs from that in its name."""
    if stated != protocol:
        raise StudyError(f"{where}, protocol: it is {quoted(stated)}, but the file's name says {quoted(protocol)}. "
                         "Give a new version a file of its own.")


def _parts(protocol: str) -> tuple[str, int]:
    name, _, version = protocol.partition("/")
    return name, int(version)
