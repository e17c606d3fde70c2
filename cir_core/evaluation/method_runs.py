"""Results of a method over a benchmark or CIRCLED's sessions, and shared helpers. Language model wrapper that makes
failures visible to evaluations.

A search tolerates a failed filter or round, with a note. A measurement that
did would report the base method under the name of another.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from cir_core.captions.stored import read_captions
from cir_core.encoders.base import Encoder
from cir_core.errors import ENDS_A_RUN, RULES_CAN, CirqueError, GalleryError, LanguageModelRefused
from cir_core.evaluation.runs.records import Run
from cir_core.gallery.gallery import Gallery
from cir_core.language.base import LanguageModel, Observer
from cir_core.language.tasks import A, Task
from cir_core.language.tasks.base import CUT_OFF
from cir_core.language.wrappers.base import Wrapper
from cir_core.methods.observer import QueryWatch
from cir_core.search.searcher import Searcher
from cir_core.support.texts import quoted
from cir_core.types.composition import Usage
from cir_core.types.records import Domain, MethodSettings, ProtocolCard

_ALL_BY_RULES = "For all queries: --model built-in."


class StrictLanguageModel(Wrapper):
    """Reports every error of ``inner`` to a :class:`QueryWatch`, including those a method tolerates. A refusal says how
    to evaluate with the built-in rules: here they do not answer for single queries, which would mix two models. Half an
    answer, which a search would use with a note, is a refusal."""

    def complete(self, task: Task[A], watch: Observer | None = None) -> A:
        try:
            answer = self.inner.complete(task, watch)
            if CUT_OFF in answer.notes:
                raise LanguageModelRefused(f"{self.name}'s answer for the role '{task.role}' was cut off. ")
            return answer
        except CirqueError as error:
            if isinstance(error, LanguageModelRefused):
                error = LanguageModelRefused(f"{str(error).removesuffix(RULES_CAN)}{_ALL_BY_RULES} {RULES_CAN}")
            if isinstance(watch, QueryWatch) and watch.error is None:
                watch.error = error
            raise error


Progress = Callable[[str, int, int], None]
"""Called with the current step, and the numbers of queries done and in all."""

DEPTH = 50


@dataclass(frozen=True)
class MethodRun:
    """``run`` has the best images of each query, and CIRR's image sets in ``subset_rankings``.
    ``target_ranks`` are over the whole pool without the benchmark's exclusions, in the order of
    the query's ``target_ids``. Queries in ``failures`` (id to reason) are in neither."""

    method: str
    title: str
    card: ProtocolCard
    run: Run = field(repr=False)
    failures: Mapping[str, str]
    target_ranks: Mapping[str, tuple[int, ...]] = field(repr=False)
    notes: Mapping[str, int]   # note → number of queries with it
    usage: Usage               # of all answered queries


@dataclass(frozen=True)
class SessionsRun:
    """``ranks``: session to the best rank over its targets after each turn; () if the file
    names none. ``run`` has the best images under "<session>/<turn>". Sessions in ``failures``
    (id to reason) are in neither, even if only a later turn failed."""

    method: str
    title: str
    card: ProtocolCard
    run: Run = field(repr=False)
    failures: Mapping[str, str]
    ranks: Mapping[str, tuple[int, ...]] = field(repr=False)
    notes: Mapping[str, int]   # note → number of turns with it
    usage: Usage               # of the same turns


def check_images(name: str, image_ids: Iterable[str], gallery: Gallery) -> None:
    """Raises ``GalleryError`` unless the gallery contains all of them."""
    ids = tuple(dict.fromkeys(image_ids))
    missing = [image_id for image_id in ids if image_id not in gallery]
    if missing:
        first = ", ".join(map(repr, missing[:3]))
        raise GalleryError(f"Gallery {quoted(gallery.name)} lacks {len(missing)} of the {len(ids)} images of {name}, "
                           f"the first: {first}. Make a gallery of the benchmark's own images: cirque datasets index")


def searcher_over(
    ids: Sequence[str] | None, gallery: Gallery, encoder: Encoder, language: LanguageModel, domain: Domain, *,
    reflects: bool = True,
) -> Searcher:
    """A searcher that ranks ``ids`` (None: the whole gallery) and reports every language model failure to a query's
    watch: a search tolerates some, a measurement must not. Only methods that reflect need the gallery's captions."""
    return Searcher(gallery, encoder, StrictLanguageModel(language), within=ids, domain=domain,
                    captions=read_captions(gallery) if reflects else None)


def refuse_failures(watch: Observer) -> None:
    """Re-raise a language model failure that the search tolerated."""
    if isinstance(watch, QueryWatch) and watch.error is not None:
        raise watch.error


def card_of(
    searchers: Collection[Searcher], settings: MethodSettings, *, split: str, caption_mode: str, scope: str
) -> ProtocolCard:
    """Protocol card of a run. ``searchers`` are over pools of one gallery, ``scope`` identifies
    the benchmark's content."""
    return next(iter(searchers)).card(settings, split=split, caption_mode=caption_mode, scope=scope,
                                      domain="+".join(dict.fromkeys(one.domain for one in searchers)))


@contextmanager
def telling_how_far(title: str, done: int, total: int, things: str) -> Iterator[None]:
    """Add the progress to an error that ends the run."""
    try:
        yield
    except ENDS_A_RUN as error:
        raise type(error)(f"{title} ended after {done} of {total} {things}: {error}") from error
