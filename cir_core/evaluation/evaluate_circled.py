"""Run methods over CIRCLED's sessions: fixed references and texts, turn by turn.

The rank after a turn is the best one over the session's targets. As in the paper nothing
is excluded; ``exclude_history_images`` excludes the references used so far.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace

from cir_core.datasets.readers.circled import CircledSession
from cir_core.encoders.base import Encoder
from cir_core.errors import ENDS_A_RUN, CirqueError, SearchError
from cir_core.evaluation.method_runs import (
    DEPTH,
    Progress,
    SessionsRun,
    card_of,
    check_images,
    refuse_failures,
    searcher_over,
    telling_how_far,
)
from cir_core.evaluation.query_steps import rank_composed
from cir_core.evaluation.runs.records import Run
from cir_core.gallery.gallery import Gallery
from cir_core.language.base import LanguageModel
from cir_core.methods.declared import Method
from cir_core.methods.observer import QueryWatch
from cir_core.search.searcher import Previous, Searcher
from cir_core.support.texts import clean_text, quoted
from cir_core.types.composition import Usage
from cir_core.types.records import Domain, Hit, MethodSettings


def run_sessions(
    sessions: Sequence[CircledSession], gallery: Gallery, encoder: Encoder, language: LanguageModel,
    methods: Sequence[Method], *, pools: Mapping[str, Sequence[str]] | None = None,
    exclude_history_images: bool = False, depth: int = DEPTH,
    domain: Callable[[str], Domain] = lambda subset: "garment", progress: Progress | None = None,
) -> Iterator[SessionsRun]:
    """Run every session under every method; each method carries over its own state between turns.

    ``pools``: subset to the images its sessions are ranked against; the whole gallery for the
    others. ``domain`` is what prompts say the images of a subset show. A session that
    fails at any turn is recorded in the failures as a whole.

    Raises:
        GalleryError: the gallery lacks references, targets or images of a pool.
        LanguageModelUnavailable, EncoderUnavailable: a method cannot continue. The message gives its
        progress; earlier runs have been yielded.
    """
    if depth < 1:
        raise SearchError(f"depth is {depth}; keep at least 1 image of each turn.")
    check_images("these sessions", _images(sessions, pools or {}), gallery)
    searchers = {
        subset: searcher_over((pools or {}).get(subset), gallery, encoder, language, domain(subset))
        for subset in dict.fromkeys(session.subset for session in sessions)
    }
    content = json.dumps([[asdict(one) for one in sessions], {name: list(ids) for name, ids in (pools or {}).items()}],
                         sort_keys=True, ensure_ascii=True)
    scope = f"sessions {hashlib.sha256(content.encode()).hexdigest()[:16]}"
    for method in methods if sessions else ():
        settings = replace(method.settings, exclude="history" if exclude_history_images else "none")
        yield _run(sessions, method, settings, searchers, scope, depth, progress)


def _images(sessions: Sequence[CircledSession], pools: Mapping[str, Sequence[str]]) -> Iterator[str]:
    for pool in pools.values():
        yield from pool
    for session in sessions:
        yield from (turn.reference_id for turn in session.turns)
        yield from session.target_ids


@dataclass
class _Replayed:
    """A session's results so far."""

    ranks: list[int] = field(default_factory=list)
    hits: list[tuple[Hit, ...]] = field(default_factory=list)
    notes: set[tuple[int, str]] = field(default_factory=set)
    usage: Usage = Usage()


def _run(
    sessions: Sequence[CircledSession], method: Method, settings: MethodSettings, searchers: Mapping[str, Searcher],
    scope: str, depth: int, progress: Progress | None,
) -> SessionsRun:
    replayed: dict[str, _Replayed] = {}
    failures: dict[str, str] = {}
    for done, session in enumerate(sessions):
        with telling_how_far(method.title, done, len(sessions), "sessions"):
            try:
                replayed[session.session_id] = _replay(searchers[session.subset], session, settings, depth)
            except ENDS_A_RUN:
                raise
            except CirqueError as error:
                failures[session.session_id] = str(error)
        if progress:
            progress(method.title, done + 1, len(sessions))
    turns = {
        f"{name}/{number}": hits for name, one in replayed.items() for number, hits in enumerate(one.hits, start=1)
    }
    run = Run(
        method.name, {name: tuple(hit.image_id for hit in hits) for name, hits in turns.items()},
        {name: tuple(hit.score for hit in hits) for name, hits in turns.items()},
    )
    card = card_of(searchers.values(), settings, split=", ".join(searchers), caption_mode="single", scope=scope)
    return SessionsRun(
        method.name, method.title, card, run, failures, {name: tuple(one.ranks) for name, one in replayed.items()},
        dict(Counter(note for one in replayed.values() for _, note in one.notes).most_common()),
        sum((one.usage for one in replayed.values()), Usage()),
    )


def _replay(searcher: Searcher, session: CircledSession, settings: MethodSettings, depth: int) -> _Replayed:
    for target in session.target_ids:
        if target not in searcher.index:
            raise SearchError(f"The target {quoted(target)} is not among the {len(searcher.index)} images that are "
                              "ranked.")
    so_far = _Replayed()
    previous: Previous | None = None
    for number, turn in enumerate(session.turns, start=1):
        watch = QueryWatch()
        made = searcher.compose(
            searcher.gallery_reference(turn.reference_id),
            clean_text(turn.text, required=settings.base != "image-only"), settings, previous=previous, watch=watch,
        )
        refuse_failures(watch)
        targets = [target for target in session.target_ids if target not in made.excluded]
        if session.target_ids and not targets:
            raise SearchError(f"Turn {number}: every target has been a reference, and references are excluded.")
        ranked = rank_composed(searcher, [made], [targets], [made.excluded], max(depth, settings.feedback_depth))[0]
        if targets:
            so_far.ranks.append(min(ranked.ranks))
        so_far.hits.append(ranked.hits[:depth])
        so_far.notes.update((number, note) for note in made.notes)
        so_far.usage += made.composition.usage
        previous = Previous.after(previous, [turn.reference_id], made.query.vector, ranked.hits, made.composition)
    return so_far
