"""What several rooms of unit tests share."""

from __future__ import annotations

from tests.fakes.colours import gallery as gallery
