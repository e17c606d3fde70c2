"""UI state of one browser tab: ids and choices, no records. Frozen, small, no gradio."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import urlencode

from cir_core.index.near_duplicates import FOLD_AT
from cir_core.methods.declared import usual_method
from cir_core.settings import Settings
from cir_core.types.composition import Adjustment, Cut
from cir_core.types.records import MethodSettings

DEFAULT_K = 60
MINE_KEPT = 200


@dataclass(frozen=True)
class Taken:
    """A text that was taken for an act, and what was done: ``said``. The rest is what was shown before, from which the
    same words can be searched instead."""

    text: str
    said: str
    turn_id: str | None = None
    branch_id: str | None = None
    reference_id: str | None = None
    further: tuple[str, ...] = ()


@dataclass(frozen=True)
class UiState:
    """State from which, with the store, the whole screen is rendered.

    ``turn_id`` is the turn whose results are shown and from which the next search continues; ``branch_id`` the branch
    in the strip (a turn may be on several).
    """

    gallery: str
    method: MethodSettings = field(default_factory=usual_method)
    early: bool = False                      # drawn while the encoder was being loaded: what depends on it is to come
    method_chosen: bool = False              # by the person, in the settings or by opening a session
    preferred: MethodSettings | None = None  # what new sessions of this browser begin with, in place of the usual one
    k: int = DEFAULT_K
    session_id: str | None = None
    turn_id: str | None = None
    branch_id: str | None = None
    reference_id: str | None = None
    further: tuple[str, ...] = ()            # references beside it, for the next search
    cuts: tuple[Cut, ...] = ()               # what this tab cut out, newest last
    target_live: bool = False
    found: str | None = None                 # the session whose target the person found in this tab
    compare: tuple[str, str] | None = None   # two branch ids, side by side
    adjustment: Adjustment = Adjustment()    # what the person changed of the shown turn, not kept yet
    undo: tuple[Adjustment, ...] = ()        # the changes before it, the latest last
    moves: bool = False                      # show how the filter moved the results
    layout: Literal["list", "map"] = "list"
    fold: bool = False                       # near-duplicates fold into one tile
    fold_at: float = FOLD_AT                 # from this cosine on
    comparison_id: str | None = None         # methods side by side
    asked_at: float = 0.0                    # when the comparison was shown first, seconds since the epoch
    annotator: str = ""                      # who votes: a random id this browser keeps
    judge: str = ""                          # whose thumbs are shown as their own (web.search.thumbs)
    wall: tuple[str, ...] = ()               # gallery images shown before the first search
    mine: tuple[str, ...] = ()               # sessions this browser began or opened, newest first
    person: str = ""                         # the account that is signed in, to which new sessions belong
    deleted: Mapping[str, str] | None = None # the branch or session that was just taken away, to be had back
    problem: str = ""
    refused: Mapping[str, Any] | None = None # the search that a language model refused, to be asked of the rules
    interrupted: Mapping[str, Any] | None = None   # the search during which the connection was lost
    running: str = ""                        # a long action that this tab waited for before it was loaded again
    notice: str = ""
    taken: Taken | None = None
    loaded: bool = False
    demo: bool = False                       # a public demo: for searching alone
    beat: int = 0                            # counts renderings, so that the page sees each one
    drawn: Mapping[str, Any] = field(default_factory=dict)   # what each panel in the page was drawn from

    @classmethod
    def first(cls, settings: Settings) -> UiState:
        return cls(settings.gallery, demo=settings.public_demo)

    @property
    def address(self) -> str:
        """The query of the URL at which this view is shown to others, without what nobody stored. A branch without a
        turn: started over."""
        shown = {"session": self.session_id, "turn": self.turn_id, "branch": self.branch_id,
                 "comparison": self.comparison_id}
        if self.comparison_id is None and self.compare is not None:
            shown["branches"] = ",".join(self.compare)
        elif self.turn_id and self.comparison_id is None:
            shown["layout"] = "map" if self.layout == "map" else None
            shown["fold"] = f"{self.fold_at:.2f}" if self.fold else None
        return urlencode({name: value for name, value in shown.items() if value})

    def remember(self, session_id: str) -> tuple[str, ...]:
        """Move ``session_id`` to the front of ``mine``."""
        return (session_id, *(known for known in self.mine if known != session_id))[:MINE_KEPT]
