"""``make fuzz``: bad inputs for every address, named call and reader of files, and damaged pictures.

    python -m tests.fuzz --inputs 10000 --minutes 8

Exits with 0 when everything was tried and nothing crashed, hung, told of internals or took too much memory.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

from tests.fakes import databases
from tests.fakes.shell import forget_settings
from tests.fuzz.run import as_markdown, fuzz


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--inputs", type=int, default=10_000)
    parser.add_argument("--minutes", type=float, default=8.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, help="write the table here as Markdown, too")
    given = parser.parse_args()
    forget_settings()
    with (tempfile.TemporaryDirectory(prefix="cirque-fuzz-") as folder, ExitStack() as over,
          databases.owned_by(over.callback)):
        fuzzed = fuzz(Path(folder), given.inputs, given.minutes, given.seed)
    databases.close()
    table = as_markdown(fuzzed)
    print(table, flush=True)
    if given.out is not None:
        given.out.parent.mkdir(parents=True, exist_ok=True)
        given.out.write_text(table, "utf-8")
    for problem in fuzzed.problems:
        print(problem, file=sys.stderr)
    return 1 if fuzzed.problems else 0


if __name__ == "__main__":
    sys.exit(main())
