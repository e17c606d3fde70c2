"""Build the captions of a whole gallery: generate, rank and publish. Safe to kill, resumable."""

from __future__ import annotations

import hashlib
import json
import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import astuple, dataclass, replace
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from typing import Any, Literal

from cir_core.bulk.places import Here, Job, Place
from cir_core.captions.caption_requests import CaptionAnswers, CaptionPlan, CaptionRequests, plan_of, read_plan
from cir_core.captions.caption_work import AskCaptions, Asked, Block, RankCaptions, Ranked, ToAsk
from cir_core.captions.captions import (
    MANIFEST,
    Candidate,
    CaptionChoice,
    RankSummary,
    distinct_captions,
    tidy_caption,
)
from cir_core.captions.stored import CaptionsHeader, captions_digest, captions_folder, captions_locked, write_captions
from cir_core.encoders.base import Encoder
from cir_core.errors import GalleryError, LanguageModelUnavailable
from cir_core.gallery.gallery import Gallery, GalleryOpener
from cir_core.gallery.paths import disk_errors_explained, read_header
from cir_core.language.base import LanguageModel
from cir_core.language.tasks import Domain
from cir_core.support.json_lines import Lines
from cir_core.support.texts import quoted

_TEXTS = 1024  # encoded and ranked at a time
_IMAGES = 16   # captioned by one process of another place before it hands their captions over
_SHARDS = "shards"  # the folder of results that wait to be joined
_Item = tuple[int, Sequence[Candidate]]


@dataclass(frozen=True)
class CaptionProgress:
    stage: Literal["captions", "ranks"]
    done: int       # images, including those of earlier runs
    total: int


@dataclass(frozen=True)
class CaptionReport:
    """Summary of a run. ``header`` describes the captions whether they were published or not."""

    header: CaptionsHeader
    published: bool                         # False if limited to the first images
    asked: int                              # language model calls in this run
    resumed: int                            # images that needed none
    problems: tuple[tuple[str, str], ...]   # (image id, why it has no caption or fewer candidates)
    seconds: float


def optimise_captions(
    gallery: Gallery, encoder: Encoder, language: LanguageModel, *, samples: int = 30,
    domain: Domain = "garment", workers: int = 1, restart: bool = False, limit: int | None = None,
    progress: Callable[[CaptionProgress], None] | None = None, place: Place | None = None,
    load: Callable[[], Encoder] | None = None, connect: Callable[[], LanguageModel] | None = None,
) -> CaptionReport:
    """Choose for every image of ``gallery`` the one of ``samples`` captions that retrieves it best.

    ``workers`` images are captioned concurrently. With a ``limit`` only the first images of the
    gallery are, ranked against all of it, and nothing is published. A stopped run resumes
    where it was; ``restart`` discards what earlier ones generated. After the gallery was
    indexed again, captions are generated for new images only, and all are ranked anew. Another ``place`` than this
    process, which shares the gallery's home folder, gets the encoder by ``load`` and the language model by ``connect``;
    ``workers`` are then those of each of its processes.

    Source: CoRR section 3.4 (M = 30).

    Raises:
        EncoderMismatch: the gallery was indexed with another encoder.
        GalleryError: the gallery is damaged, earlier captions have another plan or cannot be read (and no ``restart``),
        another process builds captions, no image got one, the gallery changed meanwhile, the disk.
        DatasetError: the answers were damaged while they were in use.
        LanguageModelUnavailable, UnsupportedTask: nothing is published, answers are saved.
    """
    started = time.perf_counter()
    gallery.check_encoder(encoder)
    if gallery.lost:    # they would be ranked among other images than those of the whole gallery
        raise GalleryError(f"Captions are made for a whole gallery. {gallery.damage}")
    folder = captions_folder(gallery)
    texts, ranks = folder / "texts.jsonl", folder / "ranks.jsonl"
    plan = plan_of(language, encoder, samples, domain)
    place, elsewhere = place or Here(), None
    if not place.is_here:
        if load is None or connect is None:
            raise ValueError("how are the encoder and the language model loaded elsewhere?")
        opener = GalleryOpener.of(gallery)
        elsewhere = AskCaptions(opener, load, connect, plan, domain, workers)
    with disk_errors_explained(folder, "captions", "generated captions"), captions_locked(gallery):
        if restart:
            texts.unlink(missing_ok=True)
            ranks.unlink(missing_ok=True)
            shutil.rmtree(folder / _SHARDS, ignore_errors=True)
        _check_plan(gallery, plan, read_plan(texts))
        with closing(CaptionAnswers(texts, plan)) as answers:
            run = _Run(gallery, answers, len(gallery) if limit is None else min(limit, len(gallery)), progress)
            requests = CaptionRequests(gallery, language, answers, domain)
            if elsewhere is None:
                run.generate(lambda rows, done: requests.work(rows, workers, done))
                ranking = RankCaptions(lambda: gallery, lambda: encoder, _fingerprint)
            else:
                run.find(elsewhere, place, keep=not restart)
                run.generate(lambda rows, done: run.ask(elsewhere, place, rows, done))
                ranking = RankCaptions(elsewhere.gallery, elsewhere.encoder, _fingerprint)
            _check_unchanged(gallery)
            run.rank(ranking, place, encoder, ranks, max(1, _TEXTS // samples))
        if not run.choices:
            raise GalleryError(_nothing(gallery, run.problems))
        header = _header(gallery, plan, encoder, run)
        if limit is None:
            _check_unchanged(gallery)
            header = write_captions(gallery, header, run.choices, run.problems)
    return CaptionReport(
        header, limit is None, requests.asked + run.asked_elsewhere, run.resumed, tuple(run.problems.items()),
        time.perf_counter() - started,
    )


class _Run:
    def __init__(
        self, gallery: Gallery, answers: CaptionAnswers, total: int,
        progress: Callable[[CaptionProgress], None] | None,
    ) -> None:
        self.gallery, self.answers, self.total = gallery, answers, total
        self._progress = progress
        self.choices: dict[str, CaptionChoice] = {}
        self.problems: dict[str, str] = {}
        self.resumed = self.asked_elsewhere = 0

    def generate(self, ask: Callable[[list[int], Callable[[], None]], None]) -> None:
        rows = self._unanswered()
        done, total = self.resumed, self.resumed + len(rows)
        self._show("captions", done, total)

        def one_more() -> None:
            nonlocal done
            done += 1
            self._show("captions", done, total)

        try:
            ask(rows, one_more)
        except LanguageModelUnavailable as error:
            raise LanguageModelUnavailable(f"{error} Nothing is lost: {done} of {total} images are done. Run the "
                                           "command again (without --restart) when the model is back; it continues "
                                           "there.") from error

    def ask(self, work: AskCaptions, place: Place, rows: Sequence[int], one_more: Callable[[], None]) -> None:
        """As :meth:`CaptionRequests.work`, at ``place``."""
        parts = (self._to_ask(rows[start:start + _IMAGES]) for start in range(0, len(rows), _IMAGES))
        with closing(place.run(work, parts, self._asking(work))) as results:
            for asked in results:
                self._keep(asked)
                self.asked_elsewhere += asked.requests
                for _ in range(asked.over):
                    one_more()
                if asked.end is not None:
                    raise asked.end

    def _to_ask(self, rows: Sequence[int]) -> ToAsk:
        hashes = [self.gallery.image(row).sha256 for row in rows]
        return ToAsk(tuple(rows), tuple((sha256, self.answers.of(sha256)) for sha256 in hashes))

    def find(self, work: AskCaptions, place: Place, *, keep: bool) -> None:
        """Keep the answers that an interrupted run has left at ``place`` for images that still need some, or none of
        them; they are gone from there."""
        with closing(place.found(work, self._asking(work))) as left:
            for asked in left:
                if keep:
                    self._keep(replace(asked, answers=tuple(
                        one for one in asked.answers if not self.answers.is_complete(one[0]))))

    def _asking(self, work: AskCaptions) -> Job:
        return Job(f"captions-{self.gallery.name}-{_fingerprint_of(astuple(work.plan))}",
                   captions_folder(self.gallery) / _SHARDS)

    def _keep(self, asked: Asked) -> None:
        for sha256, answers in asked.answers:
            self.answers.put(sha256, answers)

    def _unanswered(self) -> list[int]:
        """A row for each distinct content without an answer: copies of an image share theirs."""
        rows: dict[str, int] = {}
        for row in range(self.total):
            sha256 = self.gallery.image(row).sha256
            if self.answers.is_complete(sha256):
                self.resumed += 1
            else:
                rows.setdefault(sha256, row)
        return list(rows.values())

    def rank(self, work: RankCaptions, place: Place, encoder: Encoder, path: Path, size: int) -> None:
        """``size``: rows that are ranked together."""
        self.choices = _rank_candidates(self.gallery, encoder, self._candidates(), path, size, work, place,
                                        lambda done: self._show("ranks", done, self.total))
        self._show("ranks", self.total, self.total)

    def _candidates(self) -> Iterator[tuple[int, list[Candidate]]]:
        for row in range(self.total):
            image = self.gallery.image(row)
            answers = self.answers.of(image.sha256)
            if answers.missing:
                self.problems[image.image_id] = answers.problem
            candidates = [Candidate(text, sample) for sample, text in enumerate(answers.texts) if text]
            if image.caption:
                candidates.append(Candidate(tidy_caption(image.caption), MANIFEST))
            if candidates := distinct_captions(candidates):
                yield row, candidates

    def _show(self, stage: Literal["captions", "ranks"], done: int, total: int) -> None:
        if self._progress is not None:
            self._progress(CaptionProgress(stage, done, total))


def _header(gallery: Gallery, plan: CaptionPlan, encoder: Encoder, run: _Run) -> CaptionsHeader:
    choices = run.choices
    return CaptionsHeader(
        captioner=plan.model, samples=plan.samples, domain=plan.domain,
        encoder_revision=encoder.identity.revision, gallery_digest=gallery.digest,
        digest=captions_digest(gallery.ids, choices), created_at=datetime.now(UTC).isoformat(timespec="seconds"),
        images=run.total, captioned=len(choices), incomplete=sum(image_id in choices for image_id in run.problems),
        distinct=sum(choice.distinct for choice in choices.values()) / len(choices),
        before=RankSummary.of([choice.first_rank for choice in choices.values()]),
        after=RankSummary.of([choice.rank for choice in choices.values()]),
    )


def _check_plan(gallery: Gallery, plan: CaptionPlan, earlier: CaptionPlan | None) -> None:
    if earlier is not None and earlier != plan:
        now, before = plan.differences(earlier)
        raise GalleryError(f"The captions of gallery {quoted(gallery.name)} were generated with {before}; you ask for "
                           f"{now}. Use the same to continue, or add --restart to start again (published "
                           "captions stay until then).")


def _check_unchanged(gallery: Gallery) -> None:
    header = read_header(gallery.folder)
    if header is None or (header.digest, header.encoder.revision) != (gallery.digest, gallery.encoder.revision):
        raise GalleryError(f"Gallery {quoted(gallery.name)} was indexed again or removed while its captions were made. "
                           "Run the same command again: the language model's answers for the remaining images are "
                           "reused.")


def _nothing(gallery: Gallery, problems: dict[str, str]) -> str:
    image_id, problem = next(iter(problems.items()))
    return (f"No image of gallery {quoted(gallery.name)} got a caption, so nothing is published; the first, "
            f"{image_id}: {problem} Choose another model or domain.")


def _rank_candidates(
    gallery: Gallery, encoder: Encoder, images: Iterable[_Item], path: Path, size: int, work: RankCaptions,
    place: Place, done: Callable[[int], None],
) -> dict[str, CaptionChoice]:
    """The best caption of each of ``images`` (row, candidates), by image id.

    Choices of an earlier run from the same candidates, among the same images with the same encoder, are read from
    ``path``; other content there is dropped. ``done`` receives the number of finished rows.
    """
    heading = {"gallery_digest": gallery.digest, "encoder_revision": encoder.identity.revision}
    job = Job(f"ranks-{gallery.name}-{_fingerprint_of(tuple(heading.values()))}", captions_folder(gallery) / _SHARDS)
    choices: dict[str, CaptionChoice] = {}
    with closing(Lines(path, heading)) as lines:
        known: dict[str, tuple[str, Sequence[Any]]] = {}

        def keep(ranked: Ranked) -> None:
            for row, choice, fingerprint in zip(ranked.rows, ranked.choices, ranked.fingerprints, strict=True):
                known[gallery.ids[row]] = fingerprint, astuple(choice)
                lines.append({"id": gallery.ids[row], "candidates": fingerprint, "choice": astuple(choice)})

        for _, line in lines:
            known[line["id"]] = line["candidates"], line["choice"]
        with closing(place.found(work, job)) as left:
            for ranked in left:
                keep(ranked)

        def unknown() -> Iterator[Block]:
            # Whole blocks of rows, also after an interruption: which texts are encoded together can change last bits.
            for _, group in groupby(images, key=lambda item: item[0] // size):
                block = tuple((row, tuple(candidates)) for row, candidates in group)
                found = [known.get(gallery.ids[row], ("", ())) for row, _ in block]
                if any(earlier != _fingerprint(candidates)
                       for (earlier, _), (_, candidates) in zip(found, block, strict=True)):
                    yield Block(block)
                else:
                    choices.update((gallery.ids[row], CaptionChoice(*choice))
                                   for (row, _), (_, choice) in zip(block, found, strict=True))

        with closing(place.run(work, unknown(), job)) as results:
            for ranked in results:
                keep(ranked)
                choices.update((gallery.ids[row], choice)
                               for row, choice in zip(ranked.rows, ranked.choices, strict=True))
                done(len(choices))
    return choices


def _fingerprint(candidates: Sequence[Candidate]) -> str:
    return _fingerprint_of([astuple(candidate) for candidate in candidates])


def _fingerprint_of(content: Any) -> str:
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()[:16]
