"""The bulk work of ``cirque captions build``, for another place than this process: ask for captions, and rank them."""

from __future__ import annotations

import socket
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass
from functools import lru_cache, partial

import numpy as np

from cir_core.bulk.shards import packed, unpacked
from cir_core.captions.caption_requests import Answers, CaptionPlan, CaptionRequests, plan_of
from cir_core.captions.captions import Candidate, CaptionChoice, best_captions
from cir_core.encoders.base import Encoder
from cir_core.errors import GalleryError, LanguageModelError, LanguageModelUnavailable, UnsupportedTask
from cir_core.gallery.gallery import Gallery
from cir_core.index.flat import FlatIndex
from cir_core.language.base import LanguageModel
from cir_core.language.tasks import Domain

_ENDS: Mapping[str, type[LanguageModelError]] = {
    one.__name__: one for one in (LanguageModelUnavailable, UnsupportedTask)}


@lru_cache(maxsize=1)
def _index_of(gallery: Callable[[], Gallery]) -> FlatIndex:
    opened = gallery()
    return FlatIndex(np.asarray(opened.features), opened.ids)


@dataclass(frozen=True)
class ToAsk:
    """Images by row, each with its answers so far."""

    rows: tuple[int, ...]
    before: tuple[tuple[str, Answers], ...]     # by content hash

    def __str__(self) -> str:
        return f"the captions of {len(self.rows)} images from row {self.rows[0]}"


@dataclass(frozen=True)
class Asked:
    """``answers``: those that are new, by content hash; ``over``: images that need none any more; ``end``: the error
    that ends the run."""

    answers: tuple[tuple[str, Answers], ...]
    requests: int
    over: int
    end: LanguageModelError | None = None


class _Kept:
    """The answers of one part, in memory. As :class:`~cir_core.captions.caption_requests.CaptionAnswers`."""

    def __init__(self, before: Iterable[tuple[str, Answers]]) -> None:
        self._before = dict(before)
        self.new: dict[str, Answers] = {}

    def of(self, sha256: str) -> Answers:
        return self._before[sha256]

    def put(self, sha256: str, answers: Answers) -> None:
        self.new[sha256] = answers


@dataclass(frozen=True)
class AskCaptions:
    """Implements :class:`~cir_core.bulk.places.Work`. ``language`` gives the model of ``plan``, of which ``workers``
    requests are under way at a time."""

    gallery: Callable[[], Gallery]
    encoder: Callable[[], Encoder]
    language: Callable[[], LanguageModel]
    plan: CaptionPlan
    domain: Domain
    workers: int

    def prepare(self) -> None:
        self.gallery()
        found = plan_of(self.language(), self.encoder(), self.plan.samples, self.domain)
        if found != self.plan:
            there, here = found.differences(self.plan)
            raise GalleryError(f"{socket.gethostname()} would caption with {there}, and this machine with {here}. Give "
                               "all machines of the cluster the same CIRQUE_ settings and weights.")

    def __call__(self, parts: Iterable[ToAsk]) -> Generator[Asked]:
        for part in parts:
            answers, over = _Kept(part.before), Counter[str]()
            requests = CaptionRequests(self.gallery(), self.language(), answers, self.domain)
            end = None
            try:
                requests.work(part.rows, self.workers, partial(over.update, ("over",)))
            except (LanguageModelUnavailable, UnsupportedTask) as error:
                end = error     # what was answered until then has its price
            yield Asked(tuple(answers.new.items()), requests.asked, over.total(), end)

    def pack(self, results: Sequence[Asked]) -> bytes:
        return packed([{"answers": [(sha256, asdict(answers)) for sha256, answers in one.answers],
                        "requests": one.requests, "over": one.over,
                        "end": one.end and (type(one.end).__name__, str(one.end))} for one in results], {})

    def unpack(self, content: bytes) -> list[Asked]:
        lines, _ = unpacked(content)
        return [Asked(tuple((sha256, Answers(tuple(one["texts"]), one["problem"])) for sha256, one in line["answers"]),
                      line["requests"], line["over"], line["end"] and _ENDS[line["end"][0]](line["end"][1]))
                for line in lines]


@dataclass(frozen=True)
class Block:
    """Gallery rows, each with the candidates for its caption."""

    images: tuple[tuple[int, tuple[Candidate, ...]], ...]

    def __str__(self) -> str:
        return f"the ranks of {len(self.images)} images from row {self.images[0][0]}"


@dataclass(frozen=True)
class Ranked:
    """The chosen caption of each row, with a fingerprint of what it was chosen from."""

    rows: tuple[int, ...]
    choices: tuple[CaptionChoice, ...]
    fingerprints: tuple[str, ...]


@dataclass(frozen=True)
class RankCaptions:
    """Implements :class:`~cir_core.bulk.places.Work`."""

    gallery: Callable[[], Gallery]
    encoder: Callable[[], Encoder]
    fingerprint: Callable[[Sequence[Candidate]], str]

    def prepare(self) -> None:
        self.gallery().check_encoder(self.encoder())

    def __call__(self, parts: Iterable[Block]) -> Generator[Ranked]:
        index, encoder = _index_of(self.gallery), self.encoder()
        features = np.asarray(self.gallery().features)
        for block in parts:
            choices = best_captions(index, features, encoder, block.images)
            yield Ranked(tuple(row for row, _ in block.images), tuple(choices),
                         tuple(self.fingerprint(candidates) for _, candidates in block.images))

    def pack(self, results: Sequence[Ranked]) -> bytes:
        return packed([(one.rows, [astuple(choice) for choice in one.choices], one.fingerprints)
                       for one in results], {})

    def unpack(self, content: bytes) -> list[Ranked]:
        lines, _ = unpacked(content)
        return [Ranked(tuple(rows), tuple(CaptionChoice(*choice) for choice in choices), tuple(fingerprints))
                for rows, choices, fingerprints in lines]
