"""What the calls of studies are made over."""

from __future__ import annotations

from tests.fakes.databases import study_store as study_store
