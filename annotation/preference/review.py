"""A preference study as its owner sees it: how people answered, what rules leave out, its files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from annotation.preference.events import event_table, people_table
from annotation.preference.exclusion import Removed, Rules, apply_rules, rules_of
from annotation.preference.exports import judgement_table, preference_pairs, set_table
from annotation.preference.hp_fashioniq import hp_form
from annotation.preference.quality import PersonQuality, SideBias, people_quality, side_bias
from annotation.records import Judgement, Study
from annotation.studies.store import StudyStore
from annotation.tables.files import to_csv, to_parquet
from cir_core.errors import StudyError

FORMS = ("hp-fashioniq", "csv", "parquet", "preferences")


@dataclass(frozen=True)
class Review:
    """``judgements`` are the current ones, ``people`` in order of seats; ``rules`` leave out ``removed``."""

    study: Study
    judgements: tuple[Judgement, ...]
    people: tuple[PersonQuality, ...]
    rules: Rules
    removed: Removed

    @cached_property
    def bias(self) -> SideBias:
        """Of the answers that are left, as the results of methods are."""
        return side_bias(self.removed.kept)


def review(store: StudyStore, study: Study, rules: Rules | None = None) -> Review:
    """``rules``: instead of those that the study keeps.

    Raises ``StudyError`` for a study of another kind, and for rules kept with it that cirque does not know.
    """
    if study.kind != "preference":
        raise StudyError(f"{study.name} is a {study.kind} study. This is for preference studies; its results are "
                         "there: cirque study results")
    judgements = tuple(store.judgements(study.study_id))
    people = people_quality(store.seats(study.study_id), store.assignments(study.study_id), judgements,
                            store.events(study.study_id, kind="check"))
    rules = rules_of(study.settings) if rules is None else rules
    return Review(study, judgements, tuple(people), rules, apply_rules(rules, judgements, people))


def preference_files(
    store: StudyStore, study: Study, form: str, *, everything: bool = False
) -> tuple[Mapping[str, bytes], tuple[str, ...]]:
    """Files of a preference study by name, and notes on what they lack.

    The study's rules mark rows of tables; from the other forms they take answers out, unless
    ``everything`` is asked for. Raises ``StudyError`` for a form that is none of :data:`FORMS`.
    """
    if form not in FORMS:
        raise StudyError(f"{study.name} is a {study.kind} study. It is exported as {', '.join(FORMS)}.")
    items, assignments = store.items(study.study_id), store.assignments(study.study_id)
    found = review(store, study)
    judgements, removed = found.judgements, found.removed
    if form in ("csv", "parquet"):
        excluded = {} if everything else removed.excluded
        events = store.events(study.study_id)
        tables = {"judgements": judgement_table(study, items, assignments, judgements, excluded),
                  "sets": set_table(study, items, assignments, judgements, excluded),
                  "people": people_table(study, store.seats(study.study_id), judgements, events),
                  "events": event_table(study, events)}
        written = to_csv if form == "csv" else to_parquet
        return {f"{table}.{form}": written(content) for table, content in tables.items()}, ()
    kept = judgements if everything else removed.kept
    notes = []
    if len(kept) < len(judgements):
        notes.append(f"The study's rules take {len(judgements) - len(kept):,} of {len(judgements):,} answers out; "
                     "the tables have them, marked.")
    if form == "hp-fashioniq":
        written_hp = hp_form(items, assignments, kept)
        return {"hpfiq.json": written_hp.content}, (*notes, *written_hp.notes)
    pairs = preference_pairs(items, kept)
    if pairs.ties:
        notes.append(f"Ties left out: {pairs.ties:,}.")
    if pairs.identical:
        notes.append(f"Answers left out because both sets hold the same images: {pairs.identical:,}.")
    return {"preferences.jsonl": pairs.content}, tuple(notes)
