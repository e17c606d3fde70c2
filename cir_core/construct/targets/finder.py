"""Find the images that answer one query: SoFT, section 3.2, stage 1.

Two sentences give two searches, the image of the original target a third; a language model that sees gives the first
candidates of each group a confidence. The reference is a candidate like others, except where the data set's own
ranking leaves it out (CIRR).
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from cir_core.construct.inputs import Pictures
from cir_core.construct.targets.given import GivenCandidates, captions_of, to_ask
from cir_core.construct.targets.provenance import Candidate, FoundIn, QueryCandidates
from cir_core.construct.targets.settings import ATTEMPTS, GROUPS, Group, TargetSettings
from cir_core.datasets.records import BenchmarkQuery
from cir_core.errors import LanguageModelError, SearchError
from cir_core.gallery.gallery import Gallery
from cir_core.index.flat import FlatIndex
from cir_core.language.base import LanguageModel, Observer
from cir_core.language.tasks import ConfidenceTask, Picture, TwoSentencesTask
from cir_core.support.texts import clean_text, counted, quoted
from cir_core.types.records import Domain
from cir_core.types.vectors import TextEncoder, Vector

DIGITS = 6
"""Decimals of similarities."""

Places = list[tuple[str, float]]
"""Images with their similarities, the most similar first."""


def confidences(
    language: LanguageModel, reference: Picture, text: str, pictures: Mapping[str, Picture], domain: Domain,
    watch: Observer | None = None,
) -> dict[str, float]:
    """Image to confidence, in the order of ``pictures``. The model reads neutral names; images that its answer leaves
    out are asked about once more, by themselves. Raises ``LanguageModelError`` if some are still without one."""
    found: dict[str, float] = {}
    for _ in range(ATTEMPTS):
        left = [image_id for image_id in pictures if image_id not in found]
        if not left:
            break
        names = tuple(f"candidate {number}" for number in range(1, len(left) + 1))
        task = ConfidenceTask(reference, text, names, tuple(pictures[image_id] for image_id in left), domain)
        scores = language.complete(task, watch).scores
        found |= {image_id: float(scores[name]) for name, image_id in zip(names, left, strict=True) if name in scores}
    if missing := len(pictures) - len(found):
        raise LanguageModelError(f"The language model gave no confidence to {counted(missing, 'candidate')} of "
                                 f"{len(pictures)}, although it was asked {ATTEMPTS} times.")
    return {image_id: found[image_id] for image_id in pictures}


class TargetFinder:
    """Over the images of one subset. Thread-safe.

    Args:
        index: the subset's images, in the order that decides ties.
        encoder: encodes each text by itself, so that results do not depend on what else is encoded.
        given: candidates to use instead of searching.
    """

    def __init__(
        self, gallery: Gallery, index: FlatIndex, encoder: TextEncoder, language: LanguageModel, pictures: Pictures,
        settings: TargetSettings, domain: Domain, given: GivenCandidates | None = None,
    ) -> None:
        self._gallery, self._index, self._encoder = gallery, index, encoder
        self._language, self._pictures = language, pictures
        self._settings, self._domain, self._given = settings, domain, given

    def find(self, query: BenchmarkQuery, watch: Observer | None = None) -> QueryCandidates:
        """Candidates with confidences.

        Raises:
            SearchError: the target is not in the gallery. UnknownImage: the reference is not.
            LanguageModelError: an answer that cannot be used (``LanguageModelUnavailable``, ``Stopped``: the run ends).
            DatasetError: candidates were given, but not of this query.
        """
        text = clean_text(query.modification_text)
        reference = self._pictures.of(query.reference_id, watch)
        sentences: tuple[str, ...] = ()
        queries: dict[str, str] = {}
        notes: tuple[str, ...] = ()
        if self._given is not None:
            records = self._given.of(query)
            queries |= {group: record.query or "" for group, record in records.items() if group != "tg_img"}
            groups: dict[Group, Places] = {
                group: list(zip(record.image_ids, record.scores, strict=True)) for group, record in records.items()}
        else:
            task = TwoSentencesTask(reference, text, self._domain)
            answer = self._language.complete(task, watch)
            first, kept = (clean_text(one, required=False) for one in (answer.modification, answer.kept))
            if not first:
                raise LanguageModelError("The language model's first sentence has no words.")
            sentences, notes = (first, kept), answer.notes
            queries |= {"caption_query": first, "joined_query": f"{first} {kept}" if kept else ""}
            groups = self._retrieved(query, queries)
        found: dict[str, list[FoundIn]] = {}
        for group in GROUPS:
            for image_id, place in self._scored(group, groups.get(group, []), query, reference, text, watch):
                found.setdefault(image_id, []).append(place)
        return QueryCandidates(
            query.query_id, query.reference_id, query.target_ids[0], captions_of(query), text, sentences, queries,
            tuple(Candidate(image_id, tuple(places)) for image_id, places in found.items()), notes)

    def _retrieved(self, query: BenchmarkQuery, queries: Mapping[str, str]) -> dict[Group, Places]:
        target = query.target_ids[0]
        if target not in self._index:
            raise SearchError(f"The target {quoted(target)} is not among the {len(self._index):,} images that are "
                              "ranked.")
        vector = np.asarray(self._gallery.features[self._gallery.row_of(target)], dtype=np.float32)
        groups: dict[Group, Places] = {"tg_img": self._search(vector, query)}
        for group in GROUPS[:2]:
            text = queries[group]
            groups[group] = self._search(self._encoder.encode_texts([text])[0], query) if text else []
        return groups

    def _search(self, vector: Vector, query: BenchmarkQuery) -> Places:
        hits = self._index.search(vector, self._settings.keep, query.excluded_ids)
        return [(hit.image_id, round(float(hit.score), DIGITS)) for hit in hits]

    def _scored(
        self, group: Group, places: Places, query: BenchmarkQuery, reference: Picture, text: str,
        watch: Observer | None,
    ) -> list[tuple[str, FoundIn]]:
        """The group's candidates; the first ones that can be looked at get a confidence, if none was given."""
        given = self._given.known(query, group) if self._given is not None else {}
        counting, asked = to_ask([image_id for image_id, _ in places], self._index, query, given, self._settings.scored)
        pictures = {image_id: self._pictures.of(image_id, watch) for image_id in asked}
        known = {image_id: given[image_id] for image_id in counting if image_id in given}
        known |= confidences(self._language, reference, text, pictures, self._domain, watch)
        return [(image_id, FoundIn(group, rank, similarity, known.get(image_id)))
                for rank, (image_id, similarity) in enumerate(places, start=1)]
