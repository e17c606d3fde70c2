"""Filter for `make lock`: writes a lock file from the lines of `pip freeze`.

    pip freeze | python .ci/lock_markers.py > requirements.lock
    pip freeze | python .ci/lock_markers.py requirements.lock > requirements-test.lock

    python .ci/lock_markers.py --extra docs   # what that extra of pyproject.toml asks for, on one line

The second leaves out what the first file has, and includes that file instead. Packages that exist on Linux only get
a marker, so that the files serve macOS and other machines too.
"""

import re
import sys
import tomllib
from pathlib import Path

if sys.argv[1:2] == ["--extra"]:
    [wanted] = tomllib.loads(Path("pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"][sys.argv[2]]
    print(wanted)
    sys.exit()

LINUX_ONLY = re.compile(r"(nvidia-|cuda-|triton\b)", re.IGNORECASE)

print("# Exact versions, written by `make lock`. Ranges are in pyproject.toml.")
below: set[str] = set()
for name in sys.argv[1:]:
    print(f"-r {name}")
    below |= set(Path(name).read_text("utf-8").splitlines())
for line in sys.stdin:
    line = line.strip()
    if not line or line.startswith("#") or "==" not in line:
        continue
    marker = ' ; sys_platform == "linux" and platform_machine == "x86_64"' if LINUX_ONLY.match(line) else ""
    if line + marker not in below:
        print(line + marker)
