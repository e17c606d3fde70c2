"""Filter for `make lock`: packages that exist on Linux only get a marker, so that one
lock file serves macOS and other machines too. Reads and writes `pip freeze` lines."""

import re
import sys

LINUX_ONLY = re.compile(r"(nvidia-|cuda-|triton\b)", re.IGNORECASE)

print("# Exact versions of everything, written by `make lock`. Ranges are in pyproject.toml.")
for line in sys.stdin:
    line = line.strip()
    if not line or line.startswith("#") or "==" not in line:
        continue
    marker = ' ; sys_platform == "linux" and platform_machine == "x86_64"' if LINUX_ONLY.match(line) else ""
    print(line + marker)
