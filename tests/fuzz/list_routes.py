"""Every address of the app, as JSON: ``CIRQUE_HOME=... python -m tests.fuzz.list_routes``.

In a process of its own, for building the app leaves things in the one that does it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Any

from cir_core.settings import Settings
from web.server import create_app


def walk(routes: Any, before: str = "") -> Iterator[dict[str, Any]]:
    for route in routes:
        included = getattr(route, "original_router", None)      # of FastAPI's include_router
        inner = included.routes if included is not None else getattr(getattr(route, "app", None), "routes", None)
        path = getattr(route, "path", "")
        if inner is not None:
            yield from walk(inner, before + path)
        else:
            module = getattr(getattr(route, "endpoint", None), "__module__", "")
            asked = getattr(getattr(route, "dependant", None), "query_params", ())
            yield {"path": before + path, "methods": sorted(getattr(route, "methods", None) or ["GET"]),
                   "own": module.partition(".")[0] == "web", "query": [one.name for one in asked]}


if __name__ == "__main__":
    app = create_app(Settings())
    print(json.dumps(list(walk(app.routes))), flush=True)
    os._exit(0)      # a model may still be loading
