"""How much memory a piece of code takes at most, told by a process of its own."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

from tests.fakes.patience import PATIENCE

_ROOT = Path(__file__).parents[2]
_HEAD = """
import json, re
from pathlib import Path

def kilobytes(name):
    return int(re.search(rf"{name}:\\s+(\\d+)", Path("/proc/self/status").read_text())[1])

def measure(work):
    '''What ``work`` gives, and by how many MB the process grew at most meanwhile.'''
    Path("/proc/self/clear_refs").write_text("5")   # the peak begins anew
    before = kilobytes("VmRSS")
    result = work()
    return result, (kilobytes("VmHWM") - before) / 1024
"""


def grown(code: str, *arguments: str, timeout: float = PATIENCE) -> Any:
    """Run ``code``, which has ``measure`` and prints one line of JSON at its end, in a process of its own."""
    source = _HEAD + textwrap.dedent(code)
    environment = {**{name: value for name, value in os.environ.items() if not name.startswith("CIRQUE_")},
                   "PYTHONPATH": str(_ROOT)}
    done = subprocess.run([sys.executable, "-c", source, *arguments], capture_output=True, text=True, timeout=timeout,
                          env=environment, cwd=_ROOT)
    assert done.returncode == 0, re.sub(r"(?s)^(.{2000}).*?(.{2000})$", r"\1 … \2", done.stderr)
    return json.loads(done.stdout.strip().splitlines()[-1])
