"""Which column of a table is what: guessed from its name, or said."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from annotation.sources.tables.files import Table
from cir_core.errors import StudyError
from cir_core.support.tables import listed
from cir_core.support.texts import quoted

Columns = Mapping[str, tuple[str, ...]]
"""Column names by field; several only of a field that takes several."""


@dataclass(frozen=True)
class Field:
    """What an item is made of. ``names``: what its column is usually called, in order of preference. ``pictures``: its
    cells name images; ``many``: its cells are lists, and it may have several columns, called as in ``names`` with
    something behind: "candidates", "candidate 1", "results slerp"."""

    name: str
    title: str
    names: tuple[str, ...]
    required: bool = True
    pictures: bool = False
    many: bool = False
    least: int = 1             # columns, of a required field that takes several

    @property
    def known(self) -> tuple[str, ...]:
        return (self.name, *self.names)


ID = Field("id", "Id", ("query_id", "qid", "pairid", "pair_id", "item_id", "item", "key", "nr", "number"), False)
TEXT = Field("text", "Modification text", (
    "modification", "modification_text", "relative_caption", "caption", "captions", "instruction", "edit", "query_text",
    "query", "request", "change", "prompt", "mod"))
REFERENCE = Field("reference", "Reference image", (
    "reference_image", "ref_image", "ref", "reference_id", "reference_img", "candidate", "source", "source_image",
    "query_image", "query_image_path", "query_img_path", "image", "input_image", "reference_path"), pictures=True)
TARGET = Field("target", "Target image", (
    "target_image", "target_id", "target_hard", "target_img", "tgt", "target_path", "target_image_path", "positive",
    "answer", "ground_truth", "gt"), pictures=True)
CATEGORY = Field("category", "Category", ("hidden_category", "class", "subset", "type", "group", "split"), False)
DATASET = Field("dataset", "Data set", ("data_set", "benchmark", "corpus"), False)


def _spelt(name: str) -> str:
    return re.sub(r"[\s_-]+", " ", name.strip().casefold())


def _is_one_of(name: str, stem: str) -> bool:
    """Whether ``name`` is ``stem``, its plural, or one of several such columns: "image 2", "images.left", "image3"."""
    rest = name.removeprefix(stem)
    more = rest.removeprefix("s")
    return name.startswith(stem) and (not more or rest.isdecimal() or (more[0] in " :." and more.strip(" :.") != ""))


def guessed(names: Sequence[str], fields: Sequence[Field]) -> dict[str, tuple[str, ...]]:
    """The columns of each field, as far as they can be told by their names. No column serves two fields."""
    spelt = {_spelt(name): name for name in reversed(names) if name}
    found: dict[str, tuple[str, ...]] = {}
    for field in sorted(fields, key=lambda field: not field.many):    # "candidates" is no reference
        if field.many:
            taken = tuple(name for name in names if name in spelt.values()
                          and any(_is_one_of(_spelt(name), _spelt(known)) for known in field.known))
        else:
            taken = next(((spelt[_spelt(known)],) for known in field.known if _spelt(known) in spelt), ())
        if taken:
            found[field.name] = taken
            spelt = {key: name for key, name in spelt.items() if name not in taken}
    return {field.name: found[field.name] for field in fields if field.name in found}


def said(text: str, table: Table, fields: Sequence[Field]) -> dict[str, tuple[str, ...]]:
    """``reference=ref,text=mod,candidates=c1+c2``: what is not said is guessed among the other columns. Raises
    ``StudyError`` for what cannot be understood."""
    given: dict[str, tuple[str, ...]] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, sign, columns = part.partition("=")
        if not sign:
            raise StudyError(f"{quoted(part)} does not name a column. Write FIELD=COLUMN with commas between them, "
                             "such as reference=ref,text=mod.")
        whole = columns.strip()
        given[name.strip()] = (whole,) if whole in table.names or "+" not in whole else tuple(
            one.strip() for one in whole.split("+"))
    return checked({**_guess_rest(table, fields, given), **given}, table, fields)


def _guess_rest(
    table: Table, fields: Sequence[Field], given: Mapping[str, Sequence[str]]
) -> dict[str, tuple[str, ...]]:
    used = {name for columns in given.values() for name in columns}
    return guessed([name for name in table.names if name not in used],
                   [field for field in fields if field.name not in given])


def checked(columns: Mapping[str, Sequence[str]], table: Table, fields: Sequence[Field]) -> dict[str, tuple[str, ...]]:
    """``columns`` of existing fields and columns, with all that are required; a field without a column is left out.
    Raises ``StudyError``."""
    by_name = {field.name: field for field in fields}
    kept = {name: tuple(one for one in of if one) for name, of in columns.items() if any(of)}
    for name, of in kept.items():
        if name not in by_name:
            raise StudyError(f"There is no field {quoted(name)}. There are: {', '.join(by_name)}.")
        if unknown := [one for one in of if one not in table.names]:
            raise StudyError(f"{table.file} has no column {quoted(unknown[0])}. It has: {listed(table.names)}.")
        if len(of) > 1 and not by_name[name].many:
            raise StudyError(f"{name} takes one column, but was given {len(of)}: {', '.join(of)}. Name one.")
    used = [one for of in kept.values() for one in of]
    if twice := next((one for one in used if used.count(one) > 1), None):
        raise StudyError(f"The column {quoted(twice)} is assigned twice. Choose another column for one of the two "
                         "fields.")
    for field in fields:
        if field.required and len(kept.get(field.name, ())) < field.least:
            what = f"at least {field.least} columns of" if field.least > 1 else "no column for"
            raise StudyError(
                f"{table.file} has {'not ' if field.least > 1 else ''}{what} {field.name} ({field.title.lower()}). It "
                f"has: {listed(table.names)}. Say which it is (--columns {field.name}=COLUMN).")
    return kept
