"""Rendering of the search screen: view and store in, one HTML string per changed panel out."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any

from cir_core.encoders.base import composes
from cir_core.errors import RULES_CAN, CirqueError
from cir_core.index.engines import EXACT
from cir_core.index.stored import figures_in_words
from cir_core.methods.guidance import read_requests, telling, ticks
from cir_core.methods.references import MOST_FURTHER
from cir_core.methods.steps import counts_marks
from cir_core.relevance.configured import problem_of
from cir_core.search.having import Had, Having
from cir_core.search.projection import Projections
from cir_core.sessions.service import LoadedTurn
from cir_core.types.methods import method_to_dict
from cir_core.types.records import Hit, SearchSession
from web.http.long_actions import Progress
from web.http.public_errors import public_message
from web.search.actions.sessions import PAGE, Asked
from web.search.actions.settings import EXCLUDES, cannot_compose
from web.search.inputs import fieldsets
from web.search.presenters import methods, reflection, results, steps
from web.search.presenters import target as present_target
from web.search.presenters.arranged import arranged, shown_turn
from web.search.presenters.columns import chooser, columns
from web.search.presenters.having import having, whole
from web.search.presenters.soft_filter import moves as ranking_moves
from web.search.thumbs import thumbs_shown
from web.search.view import UiState
from web.services import Services
from web.ui.static_files import fill

PANELS = ("state", "top", "strip", "rail", "results", "how", "drawers", "chooser", "sessions")


@dataclass(frozen=True)
class _Panel:
    """``key``: everything that ``html`` depends on, where that is known without rendering."""

    html: Callable[[], str]
    key: tuple[Any, ...] | None = None


class Screen:
    """Stateless renderer of views."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._settings = services.settings
        self._service = services.search
        self._maps = Projections()
        self._having = Having()

    def draw(self, view: UiState, *, sessions: Asked | None = None) -> tuple[UiState, dict[str, str]]:
        """The panels that differ from what the page shows (``view.drawn``), and the view with its beat incremented. The
        list of ``sessions`` is drawn only if asked for. Never raises ``CirqueError``: errors are shown in the results
        panel."""
        view = replace(view, beat=view.beat + 1)
        try:
            panels, drawn = _changed(self._panels(view), view)
        except CirqueError as error:
            view = replace(view, problem=view.problem or public_message(error))
            panels, drawn = _changed(self._bare(view), view)
        if sessions is not None:
            panels["sessions"] = self._sessions(view, sessions)
        return replace(view, drawn={**view.drawn, **drawn}), panels

    def draw_progress(self, view: UiState, progress: Progress) -> str:
        """The results panel while a long action runs."""
        try:
            gallery = self._service.gallery(view.gallery)
            version, captions = gallery.digest[:8], gallery.caption_of
        except CirqueError:
            return fill("search/waiting.html")
        return fill("search/progress.html", view=view, live=reflection.progress(
            progress, view.gallery, version, captions))

    def draw_state(self, view: UiState, session: SearchSession | None = None) -> str:
        """The state panel alone, e.g. with the session of a running search."""
        mine = view.preferred
        return fill("search/state.html", view=view, turns=len(session.turns) if session else 0,
                    thumbs=thumbs_shown(session, view.turn_id, view.judge),
                    preferred=json.dumps(method_to_dict(mine, whole=True)) if mine else "",
                    preferred_title=methods.method_title(mine, self._services.methods) if mine else "")

    def empty(self) -> dict[str, str]:
        """Placeholders until the page has connected."""
        view = UiState.first(self._settings)
        panels = dict.fromkeys(PANELS, "")
        return panels | {
            "state": self.draw_state(view),
            "top": fill("search/top.html", view=view, size=None),
            "rail": fill("search/rail_waiting.html"), "results": fill("search/waiting.html"),
            "sessions": fill("search/sessions.html", view=view, sessions=None, scores=None, asked=Asked(), count=0,
                             page=PAGE),
        }

    def _bare(self, view: UiState) -> dict[str, _Panel]:
        return {name: _Panel(str) for name in PANELS if name != "sessions"} | {
            "state": _Panel(lambda: self.draw_state(view)),
            "top": _Panel(lambda: fill("search/top.html", view=view, size=None)),
            "results": _Panel(lambda: fill("search/problem.html", view=view)),
            "drawers": _Panel(lambda: fill("search/drawers.html", view=view, settings=self._choices(view))),
        }

    def _panels(self, view: UiState) -> dict[str, _Panel]:
        searcher = None if view.early else self._service.searcher(view.gallery)
        gallery = searcher.gallery if searcher else self._service.gallery(view.gallery)
        version = gallery.digest[:8]

        def caption_of(image_id: str) -> str | None:
            return searcher.descriptions.of([image_id]).get(image_id) if searcher else None

        session = self._service.session(view.session_id) if view.session_id else None
        turn = session.turn(view.turn_id or "") if session else None
        side_by_side = view.compare is not None or view.comparison_id is not None
        target = self._target(session, view, version, caption_of)
        cuts = ((turn.composition.cuts if turn and turn.composition else ()) + view.cuts)
        references = [results.reference_picture(view.gallery, image_id, version, cuts, caption_of(image_id))
                      for image_id in ((view.reference_id, *view.further) if view.reference_id else ())]

        def shown_results() -> str:
            loaded = LoadedTurn(session, turn, self._service.searcher(session.gallery)) if (
                session and turn and not side_by_side) else None
            return self._results(session, loaded, view, version, caption_of, target)

        return {
            "state": _Panel(lambda: self.draw_state(view, session)),
            "top": _Panel(lambda: fill("search/top.html", view=view, size=len(gallery))),
            "strip": _Panel(lambda: self._strip(session, view, version)),
            "rail": _Panel(lambda: fill(
                "search/rail.html", view=view, references=references, target=target, turn=turn,
                most=MOST_FURTHER,
                upload_mb=self._settings.max_upload_mb,
                method=methods.method_line(view.method, self._services.methods),
                language_model=searcher.language.name if searcher else "", base=view.method.base,
                knows=results.knows(searcher.encoder.identity, searcher.foreign) if searcher else "",
                why=searcher.usual.reason if searcher and searcher.usual.is_for(view.method) else "")),
            "results": _Panel(shown_results, _key_of_results(view, session, version)),
            # A stored turn never changes, and with a target its audit waits for the end.
            "how": _Panel(lambda: fill("search/how.html", view=view, how=results.how_found(session, turn, version)
                                       if session and turn and not side_by_side else None,
                                       changed=bool(view.adjustment)),
                          (version, session and (session.session_id, session.target_live, session.target_revealed),
                           turn and turn.turn_id, side_by_side, bool(view.adjustment))),
            "drawers": _Panel(lambda: fill("search/drawers.html", view=view, settings=self._choices(view)),
                              self._key_of_drawers(view)),
            # Of a comparison no key is known: others vote, too.
            "chooser": _Panel(lambda: self._chooser(view),
                              self._key_of_drawers(view) if view.comparison_id is None else None),
        }

    def _strip(self, session: SearchSession | None, view: UiState, version: str) -> str:
        if session is None or view.branch_id is None:
            return ""
        # Started over, no turn of the branch is the current one.
        strip = results.strip(session, view.branch_id, view.turn_id or "", version, self._settings.max_turns)
        return fill("search/strip.html", strip=strip)

    def _results(self, session: SearchSession | None, loaded: LoadedTurn | None, view: UiState, version: str,
                 caption_of: results.Captions, target: dict[str, Any] | None) -> str:
        if view.comparison_id is not None:
            return self._columns(view, version, caption_of)
        if session is not None and view.compare is not None:
            sides = results.comparison(session, *view.compare, version, caption_of)
            return fill("search/compare.html", view=view, sides=sides)
        if session is None or loaded is None:
            if not view.early:
                self._service.searcher(view.gallery).descriptions.of(view.wall)   # at once
            wall = [results.picture(view.gallery, i, version, caption_of(i)) for i in view.wall]
            return fill("search/start.html", view=view, wall=wall, target=target)
        seen, searcher = shown_turn(self._service, loaded, view), loaded.searcher
        turn, gallery = seen.shown, session.gallery
        length = len(session.path_to(tip.turn_id)) if (tip := session.tip_of(view.branch_id or "")) else turn.number
        moves = None
        if seen.now:
            moves = ranking_moves(seen.then, seen.now, len(turn.hits), gallery, version, caption_of)

        def tiles(hits: Sequence[Hit]) -> list[dict[str, Any]]:
            ids = [hit.image_id for hit in hits]
            searcher.descriptions.of(ids)   # at once: one by one they take ten times as long
            known = all(image_id in searcher.gallery for image_id in ids)
            features = searcher.features_of(ids) if ids and known else None
            by_reader = {} if features is None else read_requests(turn.composition, features, searcher.encoder)
            read = list(ticks(turn.composition, (hit.parts for hit in hits), by_reader))
            unread = frozenset[str]()
            if any(read):
                unread = searcher.unlike([hit.image_id for hit in hits if hit.image_id in searcher.gallery])
            apart = telling([seen for hit, seen in zip(hits, read, strict=True) if hit.image_id not in unread])
            return [results.tile(hit, gallery, version, caption_of(hit.image_id),
                                 () if hit.image_id in unread else seen, apart)
                    for hit, seen in zip(hits, read, strict=True)]

        shown = arranged(self._service, self._maps, loaded, seen, view, tiles)
        had: Had | None = None
        if not whole(shown["tiles"]) and session.protocol.gallery_digest == searcher.gallery.digest:
            had = self._having.of(searcher, turn.composition, turn.excluded_ids, enough=len(turn.hits))
        return fill(
            "search/results.html", view=view, turn=turn, length=length, target=target, session=session,
            problem=seen.problem, wording=results.wording(seen.stored, turn, session.method.base),
            shown=shown, having=having(had, shown["tiles"], not shown["map"]),
            warnings=methods.warnings(turn.notes), moves=moves, rules_can=RULES_CAN,
            offers=steps.offers(turn), panels=steps.panels(seen.stored, turn, gallery, version),
            changes=steps.changes(view),
            feedback=counts_marks(session.method),
            history=methods.HISTORIES[session.method.history],
            gallery_changed=self._gallery_changed(loaded),
        )

    def _gallery_changed(self, loaded: LoadedTurn) -> str:
        """Why the session cannot be continued if the gallery was re-indexed; else ""."""
        session = loaded.session
        if session.protocol.gallery_digest == loaded.searcher.gallery.digest:
            return ""
        try:
            self._service.going_on(session.gallery, session.session_id, loaded.turn.turn_id)
        except CirqueError as error:
            return public_message(error)
        return ""

    def _columns(self, view: UiState, version: str, caption_of: results.Captions) -> str:
        comparison = self._services.compare.comparison(view.comparison_id or "")
        votes = self._services.votes.votes(comparison.comparison_id)
        shown = columns(comparison, votes, view.annotator, self._services.methods, version, caption_of)
        return fill("search/columns.html", view=view, columns=shown)

    def _target(self, session: SearchSession | None, view: UiState, version: str,
                caption_of: results.Captions) -> dict[str, Any] | None:
        if session is None or session.target_id is None:
            return None
        shown = session.target_revealed or session.target_live
        tip = session.tip_of(view.branch_id or "")
        trace = present_target.trace(self._service.trace(session, tip.turn_id)) if shown and tip else None
        tally = present_target.scores(self._service.scores(view.mine)) if session.target_revealed else None
        return {
            "picture": results.picture(session.gallery, session.target_id, version, caption_of(session.target_id)),
            "trace": trace,
            "live": session.target_live, "ended": session.target_revealed, "scores": tally,
            "found": view.found == session.session_id,
            "turns": len(session.path_to(tip.turn_id)) if tip else 0,
        }

    def _chooser(self, view: UiState) -> str:
        asked = view.comparison_id
        before = self._services.compare.comparison(asked) if asked else None
        # Only there: all votes are too much to read for every drawing.
        votes = self._services.votes.votes() if asked else ()
        cannot, _ = self._language(view)
        return fill("search/parts/columns_drawer.html", view=view, chooser=chooser(
            view, self._services.methods, votes, cannot=cannot, unscored=problem_of(self._settings),
            comparison=before))

    def _key_of_drawers(self, view: UiState) -> tuple[Any, ...]:
        galleries = tuple((one["name"], one["size"], one["partial"], one["index"]) for one in self._galleries())
        return view.gallery, view.method, view.k, view.session_id is None, view.turn_id is None, view.early, galleries

    def _sessions(self, view: UiState, asked: Asked) -> str:
        found, count = self._service.listed(view.person, view.mine, asked.words, asked.count)
        rows = [results.summary(item, "", view.session_id) for item in found]
        scores = present_target.scores(self._service.scores(view.mine)) if view.mine else None
        return fill("search/sessions.html", view=view, sessions=rows, scores=scores, asked=asked, count=count,
                    page=PAGE)

    def _choices(self, view: UiState) -> dict[str, Any]:
        """Options of the settings drawer."""
        cannot, language_model = self._language(view)
        unscored = problem_of(self._settings)
        return {
            "galleries": self._galleries(), "cannot": cannot, "unscored": unscored, "language_model": language_model,
            "groups": methods.choices(view.method, self._services.methods, cannot, unscored),
            "excludes": [(value, results.EXCLUDE_NAMES[value]) for value in EXCLUDES],
            "parts": fieldsets(view.method),
        }

    def _language(self, view: UiState) -> tuple[str, str]:
        """Why methods that compose a picture with a text cannot run, "" if they can, and the language model's name."""
        if view.early:
            return "", ""
        try:
            searcher = self._service.searcher(view.gallery)
        except CirqueError:
            return "", ""   # the gallery cannot be opened, which the results panel says
        return "" if composes(searcher.encoder) else cannot_compose(searcher.encoder.name), searcher.language.name

    def _galleries(self) -> list[dict[str, Any]]:
        found = []
        for info in self._service.galleries():
            state, stored = self._service.index(info.name)
            found.append({"name": info.name, "size": info.size, "partial": info.status != "complete",
                          "index": "" if state == EXACT else state,
                          "figures": figures_in_words(stored) if stored else []})
        return found


def _changed(panels: dict[str, _Panel], view: UiState) -> tuple[dict[str, str], dict[str, Any]]:
    """HTML of the panels that were drawn from something else before, and what they are drawn from now."""
    changed: dict[str, str] = {}
    drawn: dict[str, Any] = {}
    for name, panel in panels.items():
        if panel.key is not None and view.drawn.get(name) == panel.key:
            continue
        html = panel.html()
        mark = blake2b(html.encode(), digest_size=16).digest() if panel.key is None else panel.key
        if view.drawn.get(name) != mark:
            changed[name], drawn[name] = html, mark
    return changed, drawn


def _key_of_results(view: UiState, session: SearchSession | None, version: str) -> tuple[Any, ...] | None:
    if view.comparison_id is not None:  # others vote too
        return None
    stored = (len(session.turns), session.branches, session.target_live, session.target_revealed) if session else ()
    return (version, view.gallery, view.session_id, view.turn_id, view.branch_id, view.k, view.adjustment, view.undo,
            view.moves, view.layout, view.fold, view.fold_at, view.compare, view.wall, view.notice, view.problem,
            view.refused is not None, view.interrupted is not None, view.taken, view.deleted,
            view.mine if session and session.target_id else (),
            stored)
