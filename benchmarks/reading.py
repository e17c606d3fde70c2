"""Reading a large M-BEIR file: peak memory of a fresh process, and records a second against
a bare ``json.loads`` of every line of the same files."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter

QUERIES, CANDIDATES = 400_000, 120_000
BAR_MIB = 1024
_PAIRS = 3


def run(folder: Path) -> None:
    query_file, pool = _write(folder / "reading")
    size = (query_file.stat().st_size + pool.stat().st_size) / 2**20
    print(f"\nReading: M-BEIR's form, {QUERIES:,} queries and {CANDIDATES:,} candidates with qrels, {size:.0f} MiB.")
    print("bare: json.loads of every line of both files, nothing kept; every figure is a fresh process")
    pairs = [(_measured("read", query_file, pool), _measured("bare", query_file, pool)) for _ in range(_PAIRS)]
    (seconds, peak), (bare, lowest) = (
        (statistics.median(pair[side][0] for pair in pairs), max(pair[side][1] for pair in pairs)) for side in (0, 1))
    records = QUERIES + CANDIDATES
    print(f"{'records a second':<24} {records / seconds:12,.0f}  bare {records / bare:12,.0f}  "
          f"time {statistics.median(a[0] / b[0] for a, b in pairs):.2f} of bare")
    verdict = "under" if peak < BAR_MIB else "OVER"
    print(f"{'peak memory':<24} {peak:8.0f} MiB  bare {lowest:8.0f} MiB  {verdict} the bar of {BAR_MIB} MiB",
          flush=True)


def _write(root: Path) -> tuple[Path, Path]:
    """Ids, paths and texts as long as those of the largest data set in this format."""
    query_file = root / "query" / "train" / "mbeir_lasco_task7_train.jsonl"
    pool = root / "cand_pool" / "lasco_task7_train.jsonl"
    qrels = root / "qrels" / "train.tsv"
    for path in (query_file, pool, qrels):
        path.parent.mkdir(parents=True, exist_ok=True)
    with pool.open("w") as out:
        for i in range(CANDIDATES):
            out.write(json.dumps({"cand_id": f"lasco_img_{i}", "img_path": _image(i)}) + "\n")
    with query_file.open("w") as out, qrels.open("w") as grades:
        grades.write("query_id\tcandidate_id\tscore\n")
        for i in range(QUERIES):
            query_id, target = f"lasco_q_train_{i:06}000", f"lasco_img_{i * 7919 % CANDIDATES}"
            out.write(json.dumps({
                "query_id": query_id, "query_text": f"The person is riding the bike number {i} along the road",
                "query_img_path": _image(i * 104_729 % CANDIDATES), "pos_cand_list": [target],
            }) + "\n")
            grades.write(f"{query_id}\t{target}\t1\n")
    return query_file, pool


def _image(i: int) -> str:
    return f"/home/someone/LaSCo/train2014/COCO_train2014_{i:012}.jpg"


def _measured(what: str, *paths: Path) -> tuple[float, float]:
    """Seconds and peak MiB as reported by the process itself."""
    from benchmarks.own_settings import environment_of  # not in the measured process

    done = subprocess.run([sys.executable, "-m", "benchmarks.reading", what, *map(str, paths)],
                          check=True, capture_output=True, text=True, env=environment_of(paths[0].parent))
    seconds, peak = done.stdout.split()
    return float(seconds), float(peak)


def _child(what: str, query_file: Path, pool: Path) -> None:
    from cir_core.datasets.readers.mbeir import read_benchmark

    started = perf_counter()
    if what == "read":
        benchmark = read_benchmark(query_file)
        assert len(benchmark.queries) == QUERIES and not benchmark.notes
    else:
        for path in (pool, query_file):
            for line in _lines(path):
                json.loads(line)
    print(perf_counter() - started, _peak())


def _peak() -> float:
    """This process's peak resident memory in MiB."""
    status = Path("/proc/self/status")
    if status.exists():  # getrusage would include the parent's memory at the fork
        return next(int(line.split()[1]) for line in status.read_text().splitlines() if line[:6] == "VmHWM:") / 2**10
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)


def _lines(path: Path) -> Iterator[str]:
    with path.open(encoding="utf-8") as source:
        yield from source


if __name__ == "__main__":
    _child(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]))
