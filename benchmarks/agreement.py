"""Agreement reports: time and memory, and bootstrap intervals against a plain loop over the libraries.

Annotator files in CIRCUS's format are imported; a report is read from the store and written as JSON, in a separate
process per size. A report of a tiny study loads the libraries first, so that the memory of the first report of
the size is that report's. Of the loop a few replicates are timed and compared with ours: the bootstrap alone,
without reading, point estimates and JSON. ``cirque report`` as people run it is compared with a process that only
imports NumPy, SciPy's statistics, SQLAlchemy and Typer.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from annotation.analysis.records import Options, Selection, StudyAnswers
from annotation.analysis.statistics.agreement import AgreementDraws, agreement_draws
from annotation.analysis.statistics.bootstrap import weights
from annotation.analysis.statistics.coefficients.fleiss import FLEISS
from annotation.analysis.statistics.coefficients.krippendorff import ALPHA
from annotation.analysis.statistics.matrix import Ratings
from benchmarks.memory import own_memory, peak_memory
from benchmarks.own_settings import environment_of

TARGET = 1_000   # ms for a report of the small study, once the libraries are loaded
_SEED = 20261121
_TINY = "libraries"
# A small process starts the measured one: what a process had before exec counts as its own memory.
_WAIT = """
import os, subprocess, sys
process = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL)
_, status, used = os.wait4(process.pid, 0)
print(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)
sys.exit(os.waitstatus_to_exitcode(status))
"""


@dataclass(frozen=True)
class Size:
    """``small`` and ``large``: people and items. ``looped`` replicates of the libraries are timed."""

    small: tuple[int, int] = (9, 50)
    large: tuple[int, int] = (12, 5_000)
    draws: int = 1_000
    looped: int = 3
    repeats: int = 9


FULL = Size()
QUICK = Size(large=(12, 300), draws=200, looped=1, repeats=2)


def run(folder: Path, size: Size = FULL) -> None:
    home = folder / "agreement-home"
    print(f"\nAgreement: validity studies in CIRCUS's form, from the store to a report as JSON, {size.draws:,} draws. "
          "A fresh process\nfor each size; memory is that of the first report, above what the process holds with all "
          "libraries loaded.")
    print(f"{'':<32} {'libraries':>11} {'first':>10} {'then':>10}  memory")
    _make(home, _TINY, 2, 10)
    for people, items in (size.small, size.large):
        name = f"{people} people, {items:,} items"
        _make(home, name, people, items)
        done = subprocess.run([sys.executable, "-m", "benchmarks.agreement", str(home), name, str(size.repeats),
                               str(size.draws)], check=True, capture_output=True, text=True, env=environment_of(home))
        told = json.loads(done.stdout)
        libraries, first, *later = told["ms"]
        then = statistics.median(later)
        bar = f"  (bar {TARGET:,} ms: {'met' if then < TARGET else 'missed'})" if (people, items) == size.small else ""
        print(f"{name:<32} {libraries:8.0f} ms {first:7.0f} ms {then:7.0f} ms  {told['mb']:.0f} MB{bar}", flush=True)
    _commands(home, [f"{people} people, {items:,} items" for people, items in (size.small, size.large)], size.draws)
    _against_the_loop(home, name, size)


def _commands(home: Path, names: Sequence[str], draws: int) -> None:
    bare = _spent(home, "-c", "import numpy, scipy.stats, sqlalchemy, typer")[0]
    print(f"cirque report, cold, {draws:,} draws, against the imports alone ({bare:.1f} s of CPU):")
    for name in names:
        seconds, megabytes = _spent(home, "-m", "cli.main", "report", name, "--draws", str(draws))
        print(f"{name:<32} {seconds:8.1f} s of CPU, {megabytes:.0f} MB; ratio {seconds / bare:.1f}", flush=True)


def _spent(home: Path, *arguments: str) -> tuple[float, float]:
    """CPU seconds, and the most memory in MB, of a Python process."""
    done = subprocess.run([sys.executable, "-c", _WAIT, sys.executable, *arguments], check=True, capture_output=True,
                          text=True, env=environment_of(home))
    seconds, megabytes = map(float, done.stdout.split())
    return seconds, megabytes


def _against_the_loop(home: Path, name: str, size: Size) -> None:
    tables = _tables(_load(home, name))
    people = tables[0].codes.shape[1]
    pairs = tuple(combinations(range(people), 2))
    _draws(tables, pairs, 1)   # warm-up
    before = own_memory()
    started = perf_counter()
    with peak_memory(before) as above:
        ours = _draws(tables, pairs, size.draws)
        ours_s = perf_counter() - started
    _loop(tables, pairs, 1)
    started = perf_counter()
    theirs = _loop(tables, pairs, size.looped)
    loop_s = (perf_counter() - started) / size.looped * size.draws
    apart = max(_furthest(mine, other) for mine, other in zip(ours, theirs, strict=True))
    print(f"{size.draws:,} draws of {name}: valid or not, flags and signatures, {len(pairs)} pairs, all statistics; "
          "without reading, points and JSON:")
    print(f"  cirque {ours_s:.2f} s, {above():.0f} MB; libraries draw by draw {loop_s:,.0f} s ({size.looped} draws "
          f"timed); ratio of the draws {ours_s / loop_s:.5f}, {loop_s / ours_s:,.0f} times as fast; the same draws "
          f"differ by {apart:.0e} at most", flush=True)


def _draws(tables: Sequence[Ratings], pairs: Sequence[tuple[int, int]], draws: int) -> list[AgreementDraws]:
    return [agreement_draws(table, pairs, draws, _SEED, kappas=len(table.categories) == 2) for table in tables]


def _loop(tables: Sequence[Ratings], pairs: Sequence[tuple[int, int]], draws: int) -> list[list[list[float]]]:
    """Fleiss, alpha, then kappas and shares of the same answers; per table one list per replicate."""
    import evalica
    import pandas as pd
    from sklearn.metrics import cohen_kappa_score
    from statsmodels.stats.inter_rater import aggregate_raters, fleiss_kappa

    found: list[list[list[float]]] = [[] for _ in tables]
    for weight in np.concatenate(list(weights(len(tables[0].codes), draws, _SEED))).astype(int):
        for table, told in zip(tables, found, strict=True):
            codes = np.repeat(table.codes, weight, axis=0)
            kappas = [cohen_kappa_score(codes[:, a], codes[:, b], labels=(0, 1)) for a, b in pairs
                      if len(table.categories) == 2]
            same = [float((codes[:, a] == codes[:, b]).mean()) for a, b in pairs]
            alpha = evalica.alpha(pd.DataFrame(codes.T.astype(float)), distance="nominal").alpha
            told.append([fleiss_kappa(aggregate_raters(codes, len(table.categories))[0]), alpha, *kappas, *same])
    return found


def _furthest(ours: AgreementDraws, theirs: list[list[float]]) -> float:
    kappas = [ours.kappas] if not np.isnan(ours.mean_kappa).all() else []
    pooled = [ours.pooled[one.key] for one in (FLEISS, ALPHA)]
    mine = np.column_stack([*pooled, *kappas, ours.agreements])[:len(theirs)]
    return float(np.nanmax(np.abs(mine - np.array(theirs))))


def _tables(answers: StudyAnswers) -> list[Ratings]:
    from annotation.kinds.validity.report.verdicts import verdicts

    found = verdicts(answers)
    return [found.ratings(key) for key in found.keys]


def _load(home: Path, name: str) -> StudyAnswers:
    from annotation.kinds.reports import load_answers
    from benchmarks.own_settings import settings_of
    from storage.stores import open_stores

    with closing(open_stores(settings_of(home))) as stores:
        return load_answers(stores.studies, stores.studies.study(name))


def _make(home: Path, name: str, people: int, items: int) -> None:
    """Write annotator files and import them. An item has a true answer, which each person sometimes misses."""
    from annotation.kinds.validity.circus import read_circus_users
    from annotation.kinds.validity.circus.form import FLAGS
    from annotation.kinds.validity.create import import_circus_study
    from benchmarks.own_settings import settings_of
    from storage.stores import open_stores

    rng = np.random.default_rng(_SEED)
    truth = rng.random((items, len(FLAGS))) < 0.15
    seen = truth ^ (rng.random((people, items, len(FLAGS))) < 0.06)
    folder = home / name
    folder.mkdir(parents=True)
    for person in range(people):
        username = f"annotator_{person + 1:02}"
        said: list[dict[str, Any]] = [{
            "assignment_id": f"cirr::{item}", "dataset": "cirr", "query_idx": item, "hidden_category": "unresolved",
            "assigned_user": username, "presentation_order": item + 1,
            "annotation": {"validated": not flags.any(), **dict(zip(FLAGS, flags.tolist(), strict=True)), "other": ""},
            "annotation_updated_at": "2026-01-02T00:00:00+00:00",
        } for item, flags in enumerate(seen[person])]
        (folder / f"{username}.json").write_text(json.dumps({"username": username, "assignments": said}))
    with closing(open_stores(settings_of(home))) as stores:
        import_circus_study(stores.studies, name, read_circus_users(sorted(folder.iterdir())), created_by="bench")


def _child(home: Path, name: str, repeats: int, draws: int) -> None:
    """Milliseconds of a tiny report that loads the libraries, and of each later one; memory of the first later one."""
    from annotation.kinds.validity.report.report import validity_json, validity_report

    def report(of: str) -> float:
        started = perf_counter()
        found = validity_report(_load(home, of), Selection(), Options(draws=draws))
        json.dumps(validity_json(found), allow_nan=False)
        return (perf_counter() - started) * 1000

    took = [report(_TINY)]
    with peak_memory(own_memory()) as above:
        took.append(report(name))
    memory = above()
    took += [report(name) for _ in range(repeats)]
    print(json.dumps({"ms": took, "mb": memory}))


if __name__ == "__main__":
    _child(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
