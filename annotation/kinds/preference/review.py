"""Review of a preference study for its owner: quality, exclusions, and export files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from annotation.kinds.preference.events import event_table, people_table
from annotation.kinds.preference.exclusion import Removed, Rules, apply_rules, rules_of
from annotation.kinds.preference.exports import judgement_table, preference_pairs, set_table
from annotation.kinds.preference.hp_fashioniq import hp_form
from annotation.kinds.preference.quality import PersonQuality, SideBias, people_quality, side_bias
from annotation.records import Judgement, Study
from annotation.studies.store import StudyStore
from annotation.tables.files import table_files
from cir_core.errors import StudyError

FORMS = ("hp-fashioniq", "csv", "parquet", "preferences")


@dataclass(frozen=True)
class Review:
    """``judgements``: current ones; ``people`` by seat; ``removed``: excluded by ``rules``."""

    study: Study
    judgements: tuple[Judgement, ...]
    people: tuple[PersonQuality, ...]
    rules: Rules
    removed: Removed

    @cached_property
    def bias(self) -> SideBias:
        """Side bias of the remaining answers, from which the results of methods are computed."""
        return side_bias(self.removed.kept)


def review(store: StudyStore, study: Study, rules: Rules | None = None) -> Review:
    """Review a study. ``rules``: instead of those in its settings. Raises ``StudyError`` for a study of another kind,
    and for unknown rules in its settings."""
    if study.kind != "preference":
        raise StudyError(f"{study.name} is {study.called}. This is for preference studies; for its results use "
                         "cirque study results")
    judgements = tuple(store.judgements(study.study_id))
    people = people_quality(store.seats(study.study_id), store.assignments(study.study_id), judgements,
                            store.events(study.study_id, kind="check"))
    rules = rules_of(study.settings) if rules is None else rules
    return Review(study, judgements, tuple(people), rules, apply_rules(rules, judgements, people))


def preference_files(
    store: StudyStore, study: Study, form: str, *, everything: bool = False
) -> tuple[Mapping[str, bytes], tuple[str, ...]]:
    """Export files of a preference study in one of :data:`FORMS`, by name, and notes on omissions.

    Answers excluded by the study's rules are marked in tables, and left out of the other forms unless
    ``everything`` is set.
    """
    items, assignments = store.items(study.study_id), store.assignments(study.study_id)
    found = review(store, study)
    judgements, removed = found.judgements, found.removed
    if form in ("csv", "parquet"):
        excluded = {} if everything else removed.excluded
        events = store.events(study.study_id)
        tables = {"judgements": lambda: judgement_table(study, items, assignments, judgements, excluded),
                  "sets": lambda: set_table(study, items, assignments, judgements, excluded),
                  "people": lambda: people_table(study, store.seats(study.study_id), judgements, events),
                  "events": lambda: event_table(study, events)}
        return table_files(form, tables, tables), ()
    kept = judgements if everything else removed.kept
    notes = []
    if len(kept) < len(judgements):
        notes.append(f"The study's rules exclude {len(judgements) - len(kept):,} of {len(judgements):,} answers; "
                     "they are marked in the tables.")
    if form == "hp-fashioniq":
        written_hp = hp_form(items, assignments, kept)
        return {"hpfiq.json": written_hp.content}, (*notes, *written_hp.notes)
    pairs = preference_pairs(items, kept)
    if pairs.ties:
        notes.append(f"Ties left out: {pairs.ties:,}.")
    if pairs.identical:
        notes.append(f"Answers left out because both sets have the same images: {pairs.identical:,}.")
    return {"preferences.jsonl": pairs.content}, tuple(notes)
