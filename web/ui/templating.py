"""Jinja templates with autoescaping: dataset texts and file names are untrusted."""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

_FOLDER = Path(__file__).parents[1] / "templates"


@lru_cache(maxsize=1)
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(_FOLDER), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )
    # Not Jinja's own: that one marks its output as safe for scripts, this goes into attributes.
    environment.filters["json"] = lambda value: json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return environment


def fill(template: str, **context: Any) -> str:
    """Render the template to HTML."""
    return _environment().get_template(template).render(**context)
