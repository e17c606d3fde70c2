"""Records of accounts, sign-ins and invitations. Records of the audit log: who did what. They never contain what
people wrote. Names that look the same although they are written with other characters.

Own code: confusable-homoglyphs takes digits for letters, and compares no two names.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from typing import Any, Literal, get_args

Role = Literal["admin", "researcher", "analyst", "annotator"]
HANDLE = 8   # digits of an invitation's digest


@dataclass(frozen=True)
class Person:
    """An account. ``name`` never changes: judgements refer to it."""

    name: str                                 # as shown and used to sign in; unique, ignoring case
    role: Role
    password_hash: str = field(repr=False)    # Argon2 with its parameters; "" until an invitation is accepted
    active: bool
    created_at: datetime


@dataclass(frozen=True)
class Changed:
    """A person after a change. ``withdrawn``: number of their open invitations that were withdrawn."""

    person: Person
    withdrawn: int = 0


@dataclass(frozen=True)
class SignIn:
    """One signed-in browser or script. Only a digest of the cookie's secret is stored."""

    digest: str
    name: str
    created_at: datetime
    expires_at: datetime


@dataclass(frozen=True)
class FailedLogins:
    """Number of failed sign-ins, and the time from which they decay, usually that of the last one. See
    ``annotation.accounts.throttle``."""

    count: int
    last_at: datetime


CountFailure = Callable[[FailedLogins | None], FailedLogins]
"""Count one more failed sign-in: from the previous state to the new one."""


@dataclass(frozen=True)
class Invitation:
    """A link to create an account. ``uses_left`` counts down to 0."""

    digest: str                  # of the secret in the link
    role: Role
    uses_left: int
    created_by: str
    created_at: datetime
    expires_at: datetime

    @property
    def handle(self) -> str:
        """Short public name of the invitation, because the link is shown only once."""
        return self.digest[:HANDLE]


AuditAction = Literal[
    "sign-in", "sign-in.failed", "sign-in.throttled", "sign-out", "account.made", "account.role", "account.password",
    "account.deactivated", "account.activated", "invitation.made", "invitation.used", "invitation.withdrawn",
    "study.made", "study.imported", "study.opened", "study.closed", "study.released", "study.renamed", "study.removed",
    "study.settings", "study.gold", "study.exported", "study.recruiting", "study.paid", "scores.added",
    "scores.removed", "item.decided", "report.downloaded",
    "session.exported", "benchmark.started", "benchmark.stopped", "benchmark.downloaded", "job.started",
    "job.stopped", "job.resumed", "job.forgotten", "log.exported",
    "database.backed-up", "database.restored",
]
AUDIT_ACTIONS: tuple[AuditAction, ...] = get_args(AuditAction)
_FIRST_WORDS = Counter(kind.partition(".")[0] for kind in AUDIT_ACTIONS)
AUDIT_GROUPS: Mapping[str, tuple[AuditAction, ...]] = {
    f"{first}.all": tuple(kind for kind in AUDIT_ACTIONS if kind.partition(".")[0] == first)
    for first, kinds in _FIRST_WORDS.items() if kinds > 1}
"""Groups of actions, for filters. No group has the name of an action: ``sign-in`` is not ``sign-in.all``."""


@dataclass(frozen=True)
class AuditEvent:
    """One event. ``by`` is empty if the person is unknown, as with a wrong password."""

    kind: AuditAction
    by: str
    about: str = ""                  # name of the person or the study, handle of the invitation
    study_id: str | None = None      # because names change
    details: Mapping[str, Any] = field(default_factory=dict)   # plain JSON


def came_from(address: str) -> dict[str, str]:
    """Details of a sign-in; empty without a known address."""
    return {"address": address} if address else {}


@dataclass(frozen=True)
class LoggedEvent:
    """A stored event. ``number`` increases with every event."""

    number: int
    at: datetime
    act: AuditEvent


@dataclass(frozen=True)
class AuditFilter:
    """Filter of events. ``person``: who acted, or who was affected. ``kind``: an action or a group. ``until`` is
    exclusive."""

    person: str = ""
    kind: str = ""
    since: datetime | None = None
    until: datetime | None = None


# Letters and the Latin letters they resemble. Our own selection: scripts whose letters can imitate Latin words.
_PAIRS = (
    # Cyrillic
    ("АВЕЅІЈКМНОРСТХУҮԚԜԌӀѴ", "ABESIJKMHOPCTXYYQWGIV"), ("аеѕіјкорсухүһԁԛԝԍӏѵьЬҺԀ", "aesijkopcyxyhdqwglvbbhd"),
    # Greek
    ("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧϹͿ", "ABEZHIKMNOPTYXCJ"), ("αγηικνορυχωϲϳ", "aynikvopuxwcj"),
    # Armenian
    ("օոսհցզյՕՍՏ", "onuhgqjOUS"),
    # Cherokee
    ("ᎠᎡᎢᎥᎩᎪᎫᎬᎳᎷᎻᎽᏀᏂᏃᏏᏒᏔᏕᏙᏚᏞᏟᏢᏦᏧᏳᏴ", "DRTiYAJEWMHYGhZbRWSVSLCPKdGB"),
    # Lisu
    ("ꓐꓑꓒꓓꓔꓖꓗꓙꓚꓜꓝꓟꓠꓡꓢꓣꓦꓧꓪꓫꓬꓮꓰꓲꓳꓴ", "BPdDTGKJCZFMNLSRVHWXYAEIOU"),
    # Latin letters of other alphabets, and small capitals
    ("ɑɡıȷ", "agij"), ("ᴀʙᴄᴅᴇɢʜɪᴊᴋʟᴍɴᴏᴘʀᴛᴜᴠᴡʏᴢ", "abcdeghijklmnoprtuvwyz"),
)
_LIKE = {ord(seen): like for seen_all, like_all in _PAIRS for seen, like in zip(seen_all, like_all, strict=True)}

# Unicode's default-ignorable code points other than control and format characters, and blank symbols.
_BLANK = frozenset(map(chr, (
    0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, *range(0x180B, 0x1810), 0x2800, 0x3164, *range(0xFE00, 0xFE10), 0xFFA0,
    0x16FE4, 0x1D159, *range(0xE0100, 0xE01F0))))


def is_blank(character: str) -> bool:
    """Whether a character is invisible, although Unicode classes it as a letter, symbol or mark."""
    return character in _BLANK


def looks_like(one: str, other: str) -> bool:
    """Whether two names are confusable, ignoring case. Digits are not confused with letters."""
    return not _looks(one).isdisjoint(_looks(other))


def lookalike(name: str, names: Iterable[str]) -> str:
    """The first of ``names`` that is confusable with ``name``, else an empty string."""
    return next((one for one in names if looks_like(name, one)), "")


@lru_cache(maxsize=4096)
def _looks(name: str) -> frozenset[str]:
    """Skeletons of a name. A capital I is the capital of i, and looks like a small L: both readings count."""
    seen = "".join(character for character in unicodedata.normalize("NFKD", name.translate(_LIKE))
                   if not is_blank(character) and unicodedata.category(character) != "Cf").translate(_LIKE)
    return frozenset(unicodedata.normalize("NFKD", one.casefold()) for one in (seen, seen.replace("I", "l")))
