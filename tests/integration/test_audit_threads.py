"""The files of an audit do not depend on how many threads multiplied its matrices."""

import hashlib
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from cir_core.audit.report import make_report, write_files
from tests.fakes.audit_ranks import benchmark, run

QUERIES = 1_000   # so many that products of two threads differ in their last bits from those of one


def write(folder: Path) -> None:
    of, rng = benchmark(QUERIES), random.Random(1)
    runs = [run(of, name, [tuple(rng.randint(1, 900) for _ in range(3)) for _ in range(QUERIES)]) for name in "ab"]
    write_files(folder, of, make_report(of, runs))


@pytest.mark.extended
def test_another_number_of_threads_gives_the_same_bytes(tmp_path):
    found = []
    for threads in ("1", "2"):
        folder = tmp_path / threads
        subprocess.run([sys.executable, "-m", "tests.integration.test_audit_threads", str(folder)], check=True,
                       cwd=Path(__file__).parents[2], env={**os.environ, "OPENBLAS_NUM_THREADS": threads})
        found.append({path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()})
    assert "gap.html" in found[0] and found[0] == found[1]


if __name__ == "__main__":
    write(Path(sys.argv[1]))
