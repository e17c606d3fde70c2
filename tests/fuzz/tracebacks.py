"""What a traceback in the app's log says: the error, where it came up, and the innermost place of ours on the way."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
_BEGINS = "Traceback (most recent call last)"
_FRAME = re.compile(r'^ *File "([^"]+)", line (\d+).*\n(?!  File ) *(.*)$', re.MULTILINE)
# What only passes a request or an event on stands in every stack, and has no part in what comes up further in. Any
# other line of the same modules is ours.
PASSES_ON = re.compile(r"await (self\._app|super\(\)\.(process_api|preprocess_data))\(")
_GRADIOS = re.compile(r" at (gradio|pydantic|ffmpy|PIL|orjson|python_multipart|starlette)\b.* from \?$")


def last_traceback(said: str) -> str:
    """The last error in ``said``, a piece of the log: "error at place from place of ours"; empty for none."""
    if _BEGINS not in said:
        return ""
    last = said.rpartition(_BEGINS)[2]
    frames = _FRAME.findall(last)
    places = [f"{path.partition('site-packages/')[2] or path.rpartition('/')[2]}:{line}" for path, line, _ in frames]
    ours = [f"{path.rpartition('/')[2]}:{line}" for path, line, code in frames
            if str(ROOT) in path and "site-packages" not in path and not PASSES_ON.search(code)]
    error = [line for line in last.splitlines() if line and not line.startswith((" ", "\t"))]
    return " ".join((error[-1][:160] if error else "?", "at", places[-1] if places else "?",
                     "from", ours[-1] if ours else "?"))


def is_gradios(trace: str) -> bool:
    """Whether it came up in Gradio, and nothing of ours was on the way but what passes on."""
    return _GRADIOS.search(trace) is not None
