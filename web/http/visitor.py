"""The authenticated visitor of a Starlette or Gradio request. Who may see the pictures of a study: an in-memory
cache of its members."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from annotation.accounts.account_names import LOCAL
from annotation.accounts.roles import EVERYTHING, Capability, may
from annotation.records import Person, Role
from annotation.studies.store import StudyStore
from cir_core.errors import AccessError
from cir_core.support.revocable_cache import RevocableCache

_DOING = {
    "search": "search", "annotate": "judge", "adjudicate": "adjudicate", "manage": "run studies",
    "results": "see results", "people": "manage accounts",
}


@dataclass(frozen=True)
class Visitor:
    name: str                    # what judgements carry
    role: Role
    may: frozenset[Capability]
    open: bool                   # nobody has an account: no sign-in
    demo: bool = False           # of a public demo: searches, and nothing of it is kept
    address: str = ""            # of a public demo's visitor, hashed: a name is as new as a browser's cookies
    study: str = ""              # of a participant without an account: id of the only study there is for them
    title: str = ""              # what they read as its name

    @property
    def counted(self) -> str:
        """Whom limits are counted for."""
        return self.address or self.name


_browser: ContextVar[str] = ContextVar("browser", default="")   # of a public demo's visitor


def works_for(browser: str) -> None:
    """What follows is done for this browser, as ``web.http.request_ids`` has it of requests."""
    _browser.set(browser)


def browser_at_work() -> str:
    """The browser that is worked for here; "" outside of a public demo."""
    return _browser.get()


def browser_of(request: Any) -> str:
    """The browser of a Starlette request, or of one of Gradio's."""
    inner = getattr(request, "request", None) or request
    return str(getattr(getattr(inner, "state", None), "browser", ""))


LOCAL_VISITOR = Visitor(LOCAL, "admin", EVERYTHING, open=True)


def visitor_from(person: Person) -> Visitor:
    return Visitor(person.name, person.role, may(person.role), open=False)


def visitor_of(request: Any) -> Visitor:
    """The visitor that AuthMiddleware attached to a ``starlette.requests.Request`` or ``gr.Request``.

    Raises ``AccessError`` if there is none.
    """
    inner = getattr(request, "request", None) or request
    visitor = getattr(getattr(inner, "state", None), "visitor", None)
    if not isinstance(visitor, Visitor):
        raise AccessError("You are not signed in. Open the start page and sign in.")
    return visitor


def require(request: Any, *capabilities: Capability) -> Visitor:
    """The visitor, if they have at least one of ``capabilities``. Raises ``AccessError`` otherwise."""
    visitor = visitor_of(request)
    check(visitor, *capabilities)
    return visitor


def check(visitor: Visitor, *capabilities: Capability) -> None:
    """Raises ``AccessError`` for a visitor with none of ``capabilities``."""
    if not visitor.may.intersection(capabilities):
        raise AccessError(refusal(visitor, frozenset(capabilities)))


def refusal(visitor: Visitor, capabilities: frozenset[Capability]) -> str:
    """Message for a visitor without permission."""
    doing = " or ".join(_DOING[one] for one in sorted(capabilities))
    return (f"{visitor.name} is signed in as {visitor.role}, and {visitor.role}s may not {doing}. Ask an admin for "
            "another role.")


SEES_ALL: frozenset[Capability] = frozenset({"manage", "adjudicate", "results"})
"""Any one of these is enough for the pictures of every study."""
HOLDS_SECONDS = 30.0
_KEPT = 20_000   # people in studies


class StudyMembers:
    """Annotators who have, or had, items in a study, as the store says. Safe for use by many threads.

    Only a yes is kept, so who takes a seat is a member at once, whichever process seated them. A yes holds for
    :data:`HOLDS_SECONDS`, or until :meth:`forget`: who loses a seat in another process is let in no longer than that.
    """

    def __init__(self, store: StudyStore, clock: Callable[[], float] = time.monotonic) -> None:
        self._store = store
        self._known: RevocableCache[tuple[str, str], bool] = RevocableCache(_KEPT, HOLDS_SECONDS, clock)

    def knows(self, visitor: Visitor, study_id: str) -> bool:
        """Whether the visitor may see the study's pictures, as far as that is known without asking the store."""
        return bool(visitor.may & SEES_ALL or self._known.get((study_id, visitor.name)))

    def look(self, visitor: Visitor, study_id: str) -> bool:
        """Ask the store. Raises ``StorageError``."""
        changes = self._known.changes   # before: a seat may be lost while the store is asked
        if not self._store.is_member(study_id, visitor.name):
            return False
        self._known.put((study_id, visitor.name), True, changes)
        return True

    def forget(self) -> None:
        """Somebody has lost a seat: ask the store again."""
        self._known.clear()
