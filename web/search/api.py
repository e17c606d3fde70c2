"""The call ``/search``: one turn for programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import gradio as gr

from annotation.accounts.account_names import LOCAL
from cir_core.errors import SearchError
from cir_core.index.near_duplicates import check_fold, folded_page
from cir_core.language.acts import Act
from cir_core.methods.declared import find_method, usual_method
from cir_core.methods.references import check_further
from cir_core.search.searcher import clean_text
from cir_core.sessions.acts import meant, outcome
from cir_core.sessions.service import LoadedTurn
from cir_core.support.texts import quoted
from cir_core.types.composition import Adjustment, Marks, Usage
from cir_core.types.methods import MethodSettings
from cir_core.types.records import Hit, SearchSession, Turn
from web.http.call_answers import ADDED_LATER, FoundImage, ModelUsage, SearchAnswer
from web.http.calls import Call, name_call, threads
from web.http.long_actions import LiveWatch
from web.http.visitor import Visitor
from web.search.actions.adjust import listed_ids, marks_of
from web.search.events import WAITING, at_once
from web.search.presenters.results import media_url
from web.services import Services

START = "start"   # in the place of a turn's id: before the first one


def search_call(services: Services) -> Call:
    """``/search``."""

    def search(
        visitor: Visitor, reference: str = "", image: str | None = None, text: str = "", session_id: str = "",
        k: float = 10, method: str = "", more: list[str] | None = None, less: list[str] | None = None,
        fold: float = 0, also: list[str] | None = None, turn: str = "", words: bool = False,
    ) -> SearchAnswer:
        """Search a gallery of images with a reference image and a modification text.

        Several calls with the same session id refine one search turn by turn.

        Args:
            reference: Id of a gallery image to start from. Empty if an image is given, or to keep the reference
                of the last turn.
            image: Another image to start from: an http, https or data: URL, or the path of an upload to this
                server.
            text: Change to the reference, e.g. "in red, with long sleeves".
            session_id: Session to continue; empty begins a new one.
            k: Number of results, 1 to 1000.
            method: Name of a method, e.g. "cirevl", "soft". Empty: "guided", or, without captions, one that uses the
                image itself. A session keeps its method.
            more: Ids of earlier results closer to the wish, besides the reference; at most 50.
            less: Ids of earlier results farther from the wish; at most 50.
            fold: Cosine from which near-duplicates fold under the best one, 0.5 to 1. Each hit then has a list
                "similar", and ranks have gaps. 0: no folding.
            also: Ids of up to 3 further reference images. Their mean vector and what their captions share count.
            turn: Id of the turn to continue from; "start": before the first one; empty: the last one.
            words: Search for the text even if it is a command such as "undo" or "something else". A command returns an
                earlier turn, whose id the next call takes as "turn", or repeats the request without the
                images shown so far.

        Returns:
            Ids of session and turn; the digest of the protocol; the hits, best first, each with image_id, score, rank
            and picture (a relative address); the query's text (merged_text); notes on deviations from the request; and
            usage of language models.
        """
        marks = marks_of({"more": more or [], "less": less or []})
        with services.runs.of(LiveWatch()):
            return run_search(services, reference, image, text, session_id, k, method, marks, visitor.name, fold,
                              listed_ids(also, "also"), turn, words is True)

    def early(visitor: Visitor, given: Mapping[str, Any]) -> None:
        check_search(services, visitor.name, given)

    return Call(search, "search", threads(at_once(services.settings)), image="image", early=early)


def wire_search(call: Call) -> None:
    """Register ``/search`` as a named call. Inside a ``gr.Blocks``."""
    name_call(call, [
        # An initial value makes a parameter optional for the clients.
        gr.Textbox("", label="Reference id", visible=False),
        gr.File(label="Reference image", visible=False, type="filepath"),
        gr.Textbox("", label="Modification text", visible=False),
        gr.Textbox("", label="Session id", visible=False),
        gr.Number(10, label="How many results", visible=False),
        gr.Textbox("", label="Method", visible=False),
        gr.JSON([], label="More like these ids", visible=False),
        gr.JSON([], label="Less like these ids", visible=False),
        gr.Number(0, label="Fold from this similarity", visible=False, elem_classes=[ADDED_LATER]),
        gr.JSON([], label="Further reference ids", visible=False, elem_classes=[ADDED_LATER]),
        gr.Textbox("", label="Turn to continue from", visible=False, elem_classes=[ADDED_LATER]),
        gr.Checkbox(False, label="Search for these words", visible=False, elem_classes=[ADDED_LATER]),
    ], concurrency_id="search call", concurrency_limit=WAITING)


def check_search(services: Services, person: str, given: Mapping[str, Any]) -> None:
    """Validate the arguments of ``/search`` before it waits and its image is fetched. Raises ``CirqueError``."""
    marks_of({"more": given["more"] or [], "less": given["less"] or []})
    wanted, method = (given["session_id"] or "").strip(), (given["method"] or "").strip()
    if not wanted or method or given["image"] or not clean_text(given["text"], required=False):
        # Otherwise the session decides nothing here, and the turn loads it anyway.
        settings = _method(services, method, services.search.session(wanted) if wanted else None)
        clean_text(given["text"], required=settings.base != "image-only")
    _whole(given["k"])
    _folds_at(given["fold"])
    check_further("", listed_ids(given["also"], "also"))
    if given["image"]:
        services.quota.check_pictures(person)


def run_search(
    services: Services, reference: str, image: str | None, text: str, session_id: str, k: float,
    method: str = "", marks: Marks = Marks(), person: str = LOCAL, fold: float = 0, also: Sequence[str] = (),
    turn: str = "", words: bool = False,
) -> SearchAnswer:
    """One turn for a program. Raises ``CirqueError``."""
    service, gallery = services.search, services.settings.gallery
    reference_id: str | None = (reference or "").strip() or None
    session = service.session(session_id.strip()) if (session_id or "").strip() else None
    settings = _method(services, (method or "").strip(), session)
    clean_text(text, required=settings.base != "image-only")  # before anything is stored
    count, at = _whole(k), _folds_at(fold)
    parent = _parent(session, (turn or "").strip())
    if not words and (act := meant(text, session, parent.turn_id if parent else None)) is not None:
        return _acted(services, act, session, parent, count, at)
    check_further("" if image else reference_id or "", also)
    for further in also:
        service.check_image(session.gallery if session else gallery, further)
    if image:
        services.quota.add_picture(person)
        reference_id = service.add_upload(Path(image), Path(image).name)
    elif reference_id:
        service.check_image(session.gallery if session else gallery, reference_id)
    elif session is None or session.latest is None:
        raise SearchError("Give a reference: the id of a gallery image, or an image.")
    check_further(reference_id or "", also)
    if marks and (session is None or session.latest is None):
        raise SearchError("“more” and “less” name results of an earlier turn. Give the session they belong to.")
    if parent is None and session is not None and session.turns and reference_id is None:
        reference_id, also = session.turns[0].reference_id, session.turns[0].further
    if session is None:
        session = service.start(gallery, method=settings if (method or "").strip() else None,
                                owner="" if person == LOCAL else person)
    loaded = service.run_turn(
        session, text, reference_id=reference_id, further=also,
        parent_id=parent.turn_id if parent else None, marks=marks, k=count, as_typed=words,
    )
    reason = loaded.searcher.usual.reason if parent is None and not (method or "").strip() else ""
    return _answer(services, loaded, count, at, [reason] if reason else [])


def _answer(services: Services, loaded: LoadedTurn, count: int, at: float, why: Sequence[str]) -> SearchAnswer:
    turn, searcher, gallery = loaded.turn, loaded.searcher, loaded.session.gallery
    version = searcher.gallery.digest[:8]

    def found(hit: Hit) -> FoundImage:
        return {"image_id": hit.image_id, "score": hit.score, "rank": hit.rank,
                "picture": media_url("thumb", gallery, hit.image_id, version)}

    hits = [found(hit) for hit in turn.hits[:count]]
    if at and turn.hits:
        page = folded_page(lambda depth: services.search.adjust(loaded, Adjustment(), depth).hits,
                           searcher.features_of, count, at)
        hits = [found(one.hit) for one in page]
        for shown, one in zip(hits, page, strict=True):
            shown["similar"] = [found(hit) for hit in one.similar]
    return {
        "session_id": turn.session_id, "turn_id": turn.turn_id, "protocol_digest": turn.protocol_digest,
        "hits": hits, "merged_text": turn.merged_text, "notes": [*why, *turn.notes],
        "usage": _usage(turn.composition.usage if turn.composition else Usage()),
    }


def _acted(
    services: Services, act: Act, session: SearchSession | None, turn: Turn | None, count: int, at: float,
) -> SearchAnswer:
    """What ``act`` comes to where ``turn`` was answered last. Raises ``SearchError`` where it has no object."""
    done = outcome(act, session, turn.turn_id if turn else None)
    said = f"taken as {done.said}"
    if session is None or done.turn is None:
        raise SearchError(f"{said[0].upper()}{said[1:]}. Give “words” to search for the text as it is.")
    if done.kind == "again":
        return _answer(services, services.search.search_again(session.session_id, done.turn.turn_id, k=count), count,
                       at, [said])
    if done.kind == "start":
        return {"session_id": session.session_id, "turn_id": START, "protocol_digest": session.protocol.digest,
                "hits": [], "merged_text": None, "notes": [f"{said} ({done.turn.reference_id})"],
                "usage": _usage(Usage())}
    return _answer(services, services.search.loaded(session.session_id, done.turn.turn_id), count, at, [said])


def _parent(session: SearchSession | None, turn_id: str) -> Turn | None:
    """The turn to continue from: the one of that id, or the session's last. Raises ``SearchError``."""
    if session is None or turn_id == START:
        return None
    if not turn_id:
        return session.latest
    if (turn := session.turn(turn_id)) is None:
        raise SearchError("That turn is not part of this session.")
    return turn


def _usage(used: Usage) -> ModelUsage:
    return {"calls": used.calls, "cached": used.cached, "prompt_tokens": used.prompt_tokens,
            "completion_tokens": used.completion_tokens, "cost": used.cost}


def _method(services: Services, name: str, session: SearchSession | None) -> MethodSettings:
    if not name:
        return session.method if session else usual_method()
    wanted = find_method(name, services.methods).settings
    if session is not None and replace(wanted, exclude=session.method.exclude) != session.method:
        raise SearchError(f"A session keeps its method, and this one was not started with {quoted(name)}. Leave out "
                          "the method, or start a new session.")
    return wanted


def _folds_at(fold: object) -> float:
    """The cosine from which hits fold; 0 where nothing folds."""
    if fold is None or fold == 0:
        return 0.0
    if isinstance(fold, bool) or not isinstance(fold, (int, float)):
        raise SearchError("fold must be a number: 0, or a cosine from 0.5 to 1.")
    check_fold(fold)
    return float(fold)


def _whole(k: object) -> int:
    try:
        number = int(k)  # type: ignore[call-overload]
    except (TypeError, ValueError, OverflowError):
        raise SearchError("k must be a whole number, 1 to 1000.") from None
    if isinstance(k, bool) or (isinstance(k, float) and k != number):
        raise SearchError(f"k is {k}; it must be a whole number, 1 to 1000.")
    if not 1 <= number <= 1000:
        raise SearchError(f"k is {number}; it must be from 1 to 1000.")
    return int(number)
