"""Methods side by side: run, look, vote."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from time import time

from annotation.votes import make_vote
from cir_core.errors import SearchError
from cir_core.language.acts import read_act
from cir_core.methods.declared import Method, find_method
from cir_core.support.texts import clean_text, quoted
from cir_core.types.composition import Adjustment, Marks
from web.http.long_actions import LiveWatch
from web.search.actions.adjust import keep, marks_of
from web.search.actions.parts import WALL, Begin, fresh, propose, session_of, starting
from web.search.inputs import Data, text_of
from web.search.view import UiState
from web.services import Services

NEITHER = "none"


def begin_columns(services: Services, view: UiState, data: Data) -> tuple[LiveWatch, Callable[[], UiState]]:
    """Check what was asked; the columns are made by the job."""
    view = starting(services.search, view, data)
    if view.reference_id is None:
        raise SearchError("Choose a reference image first: upload one or pick one from the gallery.")
    methods = [find_method(name, services.methods) for name in _names(data)]
    text, blind = text_of(data, "text"), data.get("blind") in (True, "on") and not view.demo
    if read_act(text) is not None:
        raise SearchError(f"{quoted(text.strip())} is a command, not a search. Search with it first, or "
                          "describe what should be different.")
    fresh_start = view.turn_id is None or data.get("fresh") in (True, "on")
    reference_id, further, parent_id = view.reference_id, view.further, None if fresh_start else view.turn_id
    marks = Marks() if fresh_start else marks_of(data, reference_id, *view.further)
    shown = session_of(services.search, view).turn(view.turn_id) if view.turn_id and not text.strip() else None
    if shown is not None:   # the request of the turn that is looked at, from where it was asked
        text, reference_id, further = shown.modification_text, shown.reference_id, shown.further
        parent_id = None if fresh_start else shown.parent_id
        marks = shown.composition.marks if shown.composition else Marks()
    clean_text(text, required=any(method.settings.base != "image-only" for method in methods))
    who = text_of(data, "who")[:64]
    watch = LiveWatch(text, total=len(methods), secret=blind)

    def job() -> UiState:
        now = view
        if view.adjustment and not fresh_start and shown is None:
            # The methods go on from what the person sees, so it becomes a turn first.
            now = replace(keep(services.search, view, {}), notice="Your changes were kept as a new turn.")
        made = services.compare.run(
            now.gallery, reference_id, text, methods, further=further, session_id=now.session_id,
            parent_id=parent_id if now is view else now.turn_id, marks=marks,
            exclude=now.method.exclude, blind=blind, watch=watch, column_done=watch.part_done,
        )
        return replace(now, comparison_id=made.comparison_id, compare=None, asked_at=time(),
                       annotator=who or now.annotator)

    return watch, job


def open_columns(services: Services, view: UiState, comparison_id: str) -> UiState:
    """A stored comparison, as it was made. Names that were hidden are so for whoever has not voted on it. The time that
    a vote took is counted from here."""
    comparison = services.compare.comparison(comparison_id)
    if comparison.gallery != view.gallery:
        view = propose(services.search, replace(fresh(view), gallery=comparison.gallery))
    if view.turn_id is None:
        view = replace(view, reference_id=comparison.reference_id, further=())
    return replace(view, comparison_id=comparison_id, compare=None, asked_at=time())


def vote(services: Services, view: UiState, data: Data) -> UiState:
    """Store the choice of one column, or of none; voting again revises it."""
    if view.demo:
        raise SearchError("This demo takes no votes.")
    if view.comparison_id is None:
        raise SearchError("There is no comparison to vote on. Compare methods first.")
    if not view.annotator:
        raise SearchError("The page is out of date. Reload it and compare again.")
    comparison = services.compare.comparison(view.comparison_id)
    columns = comparison.columns
    choice = text_of(data, "choice")
    if choice != NEITHER and not (choice.isdecimal() and int(choice) < len(columns)):
        raise SearchError("That column is not part of this comparison. Reload the page.")
    # A method that could not run was not judged, so it neither wins nor loses.
    shown = [column.method for column in columns if not column.problem]
    chosen = None if choice == NEITHER else columns[int(choice)].method
    earlier = services.votes.votes(comparison.comparison_id)
    # Once the names have been seen, a changed mind is no longer a blind one.
    seen = any(one.annotator == view.annotator for one in earlier)
    services.votes.put_vote(make_vote(
        comparison.comparison_id, view.annotator, shown, chosen, blind=comparison.blind and not seen,
        seconds=time() - view.asked_at,
    ))
    return view


def close_columns(services: Services, view: UiState, data: Data) -> UiState:
    return replace(view, comparison_id=None)


def use_method(services: Services, view: UiState, data: Data) -> UiState:
    """Search on with a method; a session keeps its own, so the next search begins a new one."""
    method: Method = find_method(text_of(data, "method"), services.methods)
    settings = replace(method.settings, exclude=view.method.exclude)
    if settings == view.method:
        return replace(view, comparison_id=None)
    notice = f"Your next search uses “{method.title}”."
    changed = replace(view, method=settings, method_chosen=True, adjustment=Adjustment(), undo=())
    if view.session_id is not None:
        changed = fresh(changed)
        notice += " It starts a new session; the previous one is under “Sessions”."
    wall = view.wall or tuple(services.search.random_images(view.gallery, WALL))
    return replace(changed, comparison_id=None, wall=wall, notice=notice)


def _names(data: Data) -> list[str]:
    names = data.get("methods")
    if isinstance(names, str):
        names = [names]
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise SearchError("Choose at least two methods to compare.")
    return names


COLUMN_ACTIONS: dict[str, Callable[[Services, UiState, Data], UiState]] = {
    "vote": vote, "close_columns": close_columns, "use_method": use_method,
}
COLUMN_LONG: dict[str, Begin] = {"compare_methods": begin_columns}
