"""Versioned files of rubrics and surveys: ``NAME-VERSION.toml`` holds the protocol ``NAME/VERSION``.

Versions coexist. A study keeps the version it was created with; a new study uses the newest, or a file of its own,
whose text its settings keep.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from annotation.records import Study
from annotation.studies.image_snapshots import FindPicture
from cir_core.errors import StudyError
from cir_core.support.texts import can_be_stored, quoted
from cir_core.support.toml_files import line_of, load_toml

Text = Annotated[str, Field(min_length=1)]
_ASSETS = Path(__file__).resolve().parents[2] / "assets"
_LINE = re.compile(r", line (\d+)| is not valid TOML: .*?\bline (\d+)\b")
_PROTOCOL = re.compile(r"([a-z][a-z0-9-]*)/([1-9][0-9]{0,5})")


class Part(BaseModel):
    """A part of such a file: strict types, and no field that is not known."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class Protocol(Part):
    """Header of a protocol file. ``appendix``: more for the guidelines, such as worked examples, in Markdown whose
    pictures are named as files."""

    protocol: str
    appendix: str = ""

    @field_validator("protocol")
    @classmethod
    def _named(cls, protocol: str) -> str:
        if not re.fullmatch(r"[a-z][a-z0-9-]*/[1-9][0-9]*", protocol):
            raise ValueError("write a name of lower-case letters, digits and hyphens, and a version, such as my-lab/1")
        return protocol


_P = TypeVar("_P", bound=Protocol)


def load_protocol(folder: Path, protocol: str, what: str, parse: Callable[[str, str], _P]) -> _P:
    """The content of ``protocol``'s file in ``folder``; ``parse`` gets its text and name. Raises ``StudyError`` as
    :func:`protocol_file` does, for a broken file, and for one that states another protocol than its name does."""
    path = protocol_file(folder, protocol, what)
    where = f"{folder.name}/{path.name}"
    found = parse(path.read_text("utf-8"), where)
    if found.protocol != protocol:
        raise StudyError(f"{where}, protocol: it is {quoted(found.protocol)}, and the file's name says "
                         f"{quoted(protocol)}. Give a new version a file of its own.")
    return found


def parse_toml(
    model: type[_P], text: str, where: str,
    prepare: Callable[[dict[str, Any]], dict[str, Any]] = lambda content: content,
) -> _P:
    """``text`` as ``model``, once ``prepare`` has filled in what is made of other fields. ``where`` names the file in
    the ``StudyError`` for what is wrong in it."""
    try:
        content = load_toml(text)
    except ValueError as error:
        raise StudyError(f"{where} is not valid TOML: {error}. Correct the file.") from error
    try:
        # By way of JSON: strict types, and arrays are tuples.
        return model.model_validate_json(json.dumps(prepare(content), default=str))
    except ValidationError as error:
        place = error.errors()[0]["loc"]
        field = ".".join(map(str, place)) or "the file"
        raise StudyError(f"{placed(where, text, place)}, {field}: {fault_of(error)}.") from error


def fault_of(error: ValidationError) -> str:
    """What is wrong with the first field that ``error`` names, and what to do, without the last full stop."""
    first, *others = error.errors()
    place = first["loc"]
    if first["type"] == "missing":   # before unknown ones of the same table
        unknown = [str(one["loc"][-1]) for one in others
                   if one["type"] == "extra_forbidden" and one["loc"][:-1] == place[:-1]]
        near = get_close_matches(str(place[-1]), unknown, 1)
        return f"this field is missing, and {near[0]} is not a field. Rename {near[0]}" if near else (
            "this field is missing. Add it")
    if first["type"] == "extra_forbidden":
        return "there is no field of this name. Correct the name, or remove the field"
    return f"{first['msg'].removeprefix('Value error, ')}. Correct the field"


def placed(where: str, text: str, place: Sequence[str | int]) -> str:
    """``where`` with the line of a field, if it is known: "questions.toml, line 12"."""
    line = line_of(text, place)
    return f"{where}, line {line}" if line else where


def protocol_file(folder: Path, protocol: str, what: str) -> Path:
    """The file of ``protocol`` in ``folder``. ``what``: "rubric" or "survey", for the sentence. Raises ``StudyError``
    for an unknown protocol, with a list of the known ones."""
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


def _parts(protocol: str) -> tuple[str, int]:
    name, _, version = protocol.partition("/")
    return name, int(version)


Choose = Callable[["OwnFile | None", Callable[[], Iterable[Study]]], tuple[Protocol, Mapping[str, str]]]
""":func:`chosen` of a kind of study."""
OWN = "questions"
"""Key in ``Study.settings`` of the text of the file that a study asks instead of one of cirque's."""


@dataclass(frozen=True)
class OwnFile:
    """A file that a new study is to ask. ``name``: for errors; ``find``: the pictures that its appendix names."""

    name: str
    text: str
    find: FindPicture = field(default=lambda name: None, compare=False, repr=False)


def chosen(
    folder: Path, own: OwnFile | None, newest: Callable[[], _P], parse: Callable[[str, str], _P],
    others: Callable[[], Iterable[Study]],
) -> tuple[_P, dict[str, str]]:
    """What a new study asks, and its entries of ``Study.settings``: ``newest``, or the ``own`` file.

    A protocol's name stands in every answer, so it must not mean two things. Raises ``StudyError`` for a broken file,
    and for one that has the name of one of cirque's, or of the file of one of ``others()``, and another content.
    """
    if own is None:
        return newest(), {}
    if not can_be_stored(own.text):
        raise StudyError(f"{own.name} has characters that cannot be stored, such as NUL. Remove them.")
    found = parse(own.text, own.name)
    if found.protocol in known_protocols(folder):
        if load_protocol(folder, found.protocol, "file", parse) == found:
            return found, {}
        raise StudyError(f"{own.name}, protocol: {found.protocol} is a file of cirque, and this one differs from it. "
                         "Give it a name of its own, such as my-lab/1.")
    name, version = _parts(found.protocol)
    for study in others():
        if study.protocol == found.protocol and own_text(study) != own.text:
            raise StudyError(f"{own.name}, protocol: {quoted(study.name)} uses a different {found.protocol}. Raise the "
                             f"version of this one: {name}/{version + 1}.")
    return found, {OWN: own.text}


def own_text(study: Study) -> str | None:
    """The text of the file that a study asks; None for one of cirque's."""
    found = study.settings.get(OWN)
    return found if isinstance(found, str) else None


def asked_by(study: Study, load: Callable[[str], _P], parse: Callable[[str, str], _P]) -> _P:
    """What ``study`` asks: its own file, or the one that ``load`` has for its protocol. ``parse`` remembers what it has
    read, for this is called for every answer."""
    text = own_text(study)
    return load(study.protocol) if text is None else parse(text, study.protocol)


def line_said(problem: str, where: str) -> int | None:
    """The line of the file ``where`` that the sentence ``problem`` of a ``StudyError`` about it names, if it does."""
    found = _LINE.match(problem, len(where)) if problem.startswith(where) else None
    return int(found[1] or found[2]) if found else None


def newest_text(folder: str, name: str) -> str:
    """The newest file of ``name`` in a folder of cirque's assets, to begin from."""
    path = _ASSETS / folder
    return protocol_file(path, newest_protocol(path, name), "file").read_text("utf-8")
