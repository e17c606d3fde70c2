"""Numbers of reports as plain JSON: one shape for every estimate."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from annotation.analysis.about import finite
from annotation.analysis.records import Estimate

SCHEMA_VERSION = 2
"""Of the JSON of reports. 2 has every estimate as :func:`estimate_json`; the keys of version 1 stay for one version."""


def estimate_json(of: Estimate, *more: Literal["p", "count"], first: str = "") -> dict[str, Any]:
    """``{"value", "ci95", "n", "reason"}``, and ``more`` of what the estimate has: null if undefined, ``ci95`` is
    ``[low, high]`` or null, ``reason`` "" if not needed. ``first``: the key of the value in version 1."""
    low, high, value = finite(of.low), finite(of.high), finite(of.value)
    return {
        **({first: value} if first else {}), "value": value, "n": of.n,
        "ci95": None if low is None or high is None else [low, high], "reason": of.reason,
        **{key: finite(getattr(of, key)) for key in more}}


def estimates_json(of: Mapping[str, Estimate]) -> dict[str, Any]:
    return {key: estimate_json(one) for key, one in of.items()}
