"""Roles and their capabilities, which ``web`` checks at every request."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, get_args

from annotation.records import Role
from cir_core.errors import AccessError
from cir_core.support.texts import quoted

Capability = Literal["search", "annotate", "adjudicate", "manage", "results", "people"]

ROLES: tuple[Role, ...] = get_args(Role)
EVERYTHING: frozenset[Capability] = frozenset(get_args(Capability))

_MAY: Mapping[Role, frozenset[Capability]] = {
    "admin": EVERYTHING,
    "researcher": EVERYTHING - {"people"},
    "analyst": frozenset({"results"}),
    "annotator": frozenset({"annotate"}),
}

SAYS: Mapping[Role, str] = {
    "admin": "do everything, including managing accounts",
    "researcher": "search, create and run studies, judge, adjudicate, see results",
    "analyst": "see and export results",
    "annotator": "judge assigned items",
}


def may(role: Role) -> frozenset[Capability]:
    """The capabilities of a role."""
    return _MAY[role]


def as_role(text: object) -> Role:
    """A role by its name. Raises ``AccessError`` with a list of the roles."""
    for role in ROLES:
        if text == role:
            return role
    raise AccessError(f"There is no role {quoted(text)}. Choose one of: {', '.join(ROLES)}.")
