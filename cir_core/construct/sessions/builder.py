"""Construct one multi-turn session from a single-turn query: CIRCLED, section 4.

Turn 1 searches with the query itself (CIReVL). While no target is among the best K, a simulated person who knows the
target picks one of the K images and says what is still different; eq. 9 moves the query. A session ends at its first
hit, so the constructing method hits at the last turn and at no earlier one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from cir_core.construct.sessions.settings import ConstructionSettings
from cir_core.datasets.records import BenchmarkQuery
from cir_core.errors import LanguageModelError, LanguageModelUnavailable, SearchError, Stopped
from cir_core.evaluation.method_runs import refuse_failures
from cir_core.evaluation.metrics.consistency import TAU
from cir_core.evaluation.query_steps import rank_composed
from cir_core.language.base import LanguageModel, Observer
from cir_core.language.tasks import DifferenceAnswer, DifferenceTask, Picture
from cir_core.methods.observer import PartWatch, QueryWatch, StageTimer, TurnObserver
from cir_core.search.prepare import Composed
from cir_core.search.searcher import Previous, Searcher
from cir_core.support.texts import clean_text, quoted
from cir_core.types.records import Hit
from cir_core.types.vectors import TextEncoder, Vector

DIGITS = 6
"""Decimals of stored scores and similarities."""
_QUOTES = "\"'“”‘’«»`"
_LABELS = ("relative caption:", "caption:", "result:", "instruction:", "output:", "answer:", "modification:")
_OPENINGS = ("the image shows ", "the second image shows ", "the target image shows ", "this image shows ")


@dataclass(frozen=True)
class Repeat:
    """The earlier turn (from 1) whose text is most similar, and the cosine, rounded to :data:`DIGITS`."""

    turn: int
    similarity: float


@dataclass(frozen=True)
class ConstructedTurn:
    """``caption`` is that of the reference; ``ranks`` of the targets over the subset's gallery, without those that
    are not in it; ``digest`` the SHA-256 of the reference's file. ``closest`` is None for turn 1."""

    reference_id: str
    text: str
    caption: str
    merged: str
    hits: tuple[Hit, ...]
    ranks: Mapping[str, int]
    digest: str
    closest: Repeat | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class ConstructedSession:
    query: BenchmarkQuery
    success: bool
    turns: tuple[ConstructedTurn, ...]


class SessionBuilder:
    """Constructs sessions over one subset's gallery. Thread-safe.

    Args:
        searcher: over the subset's images; it asks a :class:`~cir_core.evaluation.method_runs.StrictLanguageModel`.
        selecting: encodes the captions that the choice of an image compares (eq. 5).
        diversity: encodes modification texts to tell repetitions.
        language: fills the role ``difference``.
    """

    def __init__(
        self, searcher: Searcher, settings: ConstructionSettings, *, selecting: TextEncoder, diversity: TextEncoder,
        language: LanguageModel,
    ) -> None:
        self._searcher, self._settings = searcher, settings
        self._selecting, self._diversity, self._language = selecting, diversity, language

    def build(self, query: BenchmarkQuery, watch: QueryWatch) -> ConstructedSession:
        """The session that ``query`` becomes, successful or not; it has one to ``total_turns`` turns.

        Raises:
            SearchError: no target or not the reference is in the gallery; no image is left to pick.
            LanguageModelError: an answer that cannot be used (``LanguageModelUnavailable``, ``Stopped``: the run ends).
        """
        ranked_ids = [target for target in query.target_ids if target in self._searcher.index]
        self._check(query, ranked_ids)
        picked, text, caption = query.reference_id, clean_text(query.modification_text, required=False), ""
        closest: Repeat | None = None
        notes: tuple[str, ...] = ()
        previous: Previous | None = None
        turns: list[ConstructedTurn] = []
        while True:
            made = self._compose(picked, text, previous, watch)
            hits, ranks = self._ranked(made, ranked_ids)
            turns.append(ConstructedTurn(picked, text, caption or made.caption, made.merged, hits, ranks,
                                         self._digest(picked), closest, (*notes, *made.notes)))
            success = min(ranks.values()) <= self._settings.k
            if success or len(turns) == self._settings.total_turns:
                return ConstructedSession(query, success, tuple(turns))
            best = min(ranked_ids, key=lambda target: ranks[target])  # the first of equals, though ranks never are
            picked, caption, notes = self._pick(turns, best, watch)
            previous = Previous.after(previous, [turns[-1].reference_id], made.query.vector, hits, made.composition)
            wanted = best if self._settings.difference_target == "best" else ranked_ids[0]
            text, more = self._say(picked, wanted, [turn.text for turn in turns], watch)
            closest, notes = self._closest([turn.text for turn in turns], text), (*notes, *more)

    def difference(self, reference_id: str, target_id: str) -> str:
        """What the language model says of the difference between two images. Raises ``LanguageModelError``."""
        return self._say(reference_id, target_id, (), QueryWatch())[0]

    def _check(self, query: BenchmarkQuery, ranked_ids: Sequence[str]) -> None:
        if not query.target_ids:
            raise SearchError("The query has no target, so the remaining difference is unknown.")
        if not ranked_ids:
            raise SearchError(f"No target is among the {len(self._searcher.index):,} images that are ranked; the first "
                              f"is {quoted(query.target_ids[0])}.")
        if query.reference_id not in self._searcher.gallery:
            raise SearchError(f"The reference {quoted(query.reference_id)} is not in the gallery.")

    def _compose(self, reference_id: str, text: str, previous: Previous | None, watch: QueryWatch) -> Composed:
        reference = self._searcher.gallery_reference(reference_id)
        made = self._searcher.compose(reference, text, self._settings.method, previous=previous, watch=watch)
        refuse_failures(watch)
        return made

    def _ranked(self, made: Composed, targets: Sequence[str]) -> tuple[tuple[Hit, ...], dict[str, int]]:
        """The best K, and the ranks of ``targets``, from one product of the gallery."""
        if len(targets) > 1:
            [found] = rank_composed(self._searcher, [made], [targets], [()], self._settings.k)
            return found.hits, dict(zip(targets, found.ranks, strict=True))
        hits, rank = self._searcher.index.search_and_rank(made.query.vector, self._settings.k, (), targets[0])
        return tuple(hits), {targets[0]: rank}

    def _pick(
        self, turns: Sequence[ConstructedTurn], target: str, watch: QueryWatch
    ) -> tuple[str, str, tuple[str, ...]]:
        """Eq. 6: of the images shown and not used, the one closest to the target, its caption, and notes. Images are
        told apart by their bytes; of equally close ones the better-ranked is picked."""
        used = {turn.digest for turn in turns}
        shown = [hit.image_id for hit in turns[-1].hits if self._digest(hit.image_id) not in used]
        captions, problems = {}, []
        for image_id in (target, *shown):
            # Not the query's own watch: an image without a caption is passed over, as in the release.
            try:
                captions[image_id] = self._caption(image_id, PartWatch(watch))
            except (LanguageModelUnavailable, Stopped):
                raise
            except LanguageModelError as error:
                if image_id == target:
                    raise
                problems.append(f"{image_id} was passed over, because it has no caption: {error}")
        known = [image_id for image_id in shown if captions.get(image_id)]
        if not known or not captions[target]:
            raise SearchError("No image is left to pick: all of the images shown were used before or have no caption."
                              if captions[target] else f"The target {quoted(target)} has no caption.")
        wanted, offered = self._compared(target, known, captions)
        best = int(np.argmax([float(np.dot(one, wanted)) for one in offered]))  # the first of equals
        return known[best], captions[known[best]], tuple(problems)

    def _compared(
        self, target: str, shown: Sequence[str], captions: Mapping[str, str]
    ) -> tuple[Vector, Sequence[Vector]]:
        if self._settings.select_by == "image":
            features = self._searcher.features_of([target, *shown])
        else:
            features = self._selecting.encode_texts([captions[image_id] for image_id in (target, *shown)])
        exact = features.astype(np.float64)
        return exact[0], list(exact[1:])

    def _say(
        self, picked: str, target: str, texts: Sequence[str], watch: QueryWatch
    ) -> tuple[str, tuple[str, ...]]:
        """The next modification text, and notes."""
        said = texts if self._settings.history == "all" else texts[1:]
        task = DifferenceTask(
            self._picture(picked, watch), self._picture(target, watch), tuple(text for text in said if text),
            self._searcher.domain,
        )
        answer, notes = ask_difference(
            self._language, self._diversity, task, tau=self._settings.tau, attempts=self._settings.attempts,
            watch=watch,
        )
        text = tidy_instruction(clean_text(answer.instruction, required=False))
        if not text:
            raise LanguageModelError("The language model returned an empty instruction.")
        return text, (*answer.notes, *notes)

    def _picture(self, image_id: str, watch: QueryWatch) -> Picture:
        """Models that see get the image alone, as in the paper; others its caption."""
        picture = self._searcher.picture_of(image_id)
        if self._language.sees:
            return picture
        return replace(picture, caption=self._caption(image_id, watch))

    def _caption(self, image_id: str, watch: TurnObserver) -> str:
        reference = self._searcher.gallery_reference(image_id)
        answer = self._searcher.caption(reference, self._settings.method, StageTimer(watch))
        return answer.caption.strip() if answer else ""

    def _closest(self, earlier: Sequence[str], text: str) -> Repeat | None:
        """Of all earlier texts, turn 1's included: the filter compares with that one too."""
        said = [(turn, one) for turn, one in enumerate(earlier, start=1) if one]
        if not said:
            return None
        features = self._diversity.encode_texts([text, *(one for _, one in said)]).astype(np.float64)
        cosines = [float(np.dot(one, features[0])) for one in features[1:]]
        best = int(np.argmax(cosines))
        return Repeat(said[best][0], round(cosines[best], DIGITS))

    def _digest(self, image_id: str) -> str:
        gallery = self._searcher.gallery
        return gallery.image(gallery.row_of(image_id)).sha256


def ask_difference(
    language: LanguageModel, encoder_texts: TextEncoder, task: DifferenceTask, *, tau: float = TAU,
    attempts: int = 3, watch: Observer | None = None,
) -> tuple[DifferenceAnswer, tuple[str, ...]]:
    """A modification text from reference to target, and notes on how it was found.

    An instruction whose cosine with any text of ``task.history`` is ``tau`` or more is requested again with the next
    ``attempt``, up to ``attempts`` times in all; the last answer is returned anyway, with a note. ``task.history``
    holds every text of the session so far, T_1 included; if it is empty there is nothing to compare with.
    ``encoder_texts`` need not be the gallery's encoder (CIRCLED: CLIP ViT-B/32).

    Source: CIRCLED, f_diff (section 3), tau = 0.8, three attempts; the published code does not
    compare with T_1. Raises what ``LanguageModel.complete`` does.
    """
    said = [text for text in task.history if text.strip()]
    tries = 0
    while True:
        answer = language.complete(replace(task, attempt=task.attempt + tries), watch)
        tries += 1
        cosine, closest = _closest(encoder_texts, answer.instruction, said) if said else (-1.0, "")
        if cosine < tau:
            return answer, ()
        if tries >= attempts:
            return answer, (
                f"kept after {tries} attempts, though as close as {cosine:.3f} (limit {tau:g}) to what was said "
                f"before: {closest}",
            )


def tidy_instruction(text: str) -> str:
    """A model's instruction without what the release removes: quotes around it, a label such as "Caption:", an opening
    such as "the image shows"; the first letter becomes a capital. White space is folded."""
    text = " ".join(text.split()).strip(_QUOTES).strip()
    for beginnings in (_LABELS, _OPENINGS):
        for beginning in beginnings:
            if text.casefold().startswith(beginning) and len(text) > len(beginning):
                text = text[len(beginning):].strip().strip(_QUOTES).strip()
                break
    return text[:1].upper() + text[1:]


def _closest(encoder_texts: TextEncoder, instruction: str, said: Sequence[str]) -> tuple[float, str]:
    """The largest cosine with one of ``said``, and that text."""
    features = encoder_texts.encode_texts([instruction, *said]).astype("float64")
    cosines = features[1:] @ features[0]
    best = int(cosines.argmax())
    return float(cosines[best]), said[best]
