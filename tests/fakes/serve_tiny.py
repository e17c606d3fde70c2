"""``transformers serve`` on the CPU without accelerate: ``python serve_tiny.py PORT``.

The server's own command places models by a device map, which needs accelerate even where
there is one device. Everything else is the command's: handlers, streams, errors.
"""

from __future__ import annotations

import sys
from typing import Any

from transformers.cli.serve import Serve
from transformers.cli.serving.model_manager import ModelManager

_load = ModelManager._load_model


def _load_plainly(self: ModelManager, *arguments: Any, **named: Any) -> Any:
    self.device = None
    return _load(self, *arguments, **named)


if __name__ == "__main__":
    ModelManager._load_model = _load_plainly
    Serve(host="127.0.0.1", port=int(sys.argv[1]), device="cpu")
