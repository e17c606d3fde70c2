"""Methods side by side: run, look, vote."""

from __future__ import annotations

from collections.abc import Callable

from web.action_parts import Begin, Data
from web.services import Services
from web.view import View

COLUMN_ACTIONS: dict[str, Callable[[Services, View, Data], View]] = {}
COLUMN_LONG: dict[str, Begin] = {}
