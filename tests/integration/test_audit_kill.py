"""kill -9 in the middle of an audit: what was stored is kept, and the files are the same in the end."""

from __future__ import annotations

import sys

import pytest

from cir_core.audit.report import make_report, write_files
from cir_core.audit.runner import run_audit
from cir_core.gallery.gallery import open_gallery
from cir_core.methods.declared import builtin_methods
from storage.sessions.audits import SqlAuditStore
from tests.fakes.audits import SlowTextEncoder, colour_benchmark, method_retriever
from tests.fakes.colours import NAME, colour_gallery
from tests.fakes.databases import database_of, open_migrated
from tests.fakes.language import ScriptedLanguageModel
from tests.integration.victims import kill_when

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="kill -9")
QUERIES, CHUNK, NAMES = 60, 5, ("slerp", "text-only")
PROGRAM = """
import sys
from pathlib import Path
from cir_core.gallery.gallery import open_gallery
from tests.integration.test_audit_kill import NAME, audited
home, url, log = Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3])
audited(open_gallery(NAME, home=home), url, log, 0.01, int(sys.argv[4]))
"""


def audited(gallery, url, log=None, seconds=0.0, most=None):
    engine = open_migrated(url)
    benchmark = colour_benchmark(gallery, QUERIES)
    encoder, methods = SlowTextEncoder(seconds, log, most), builtin_methods()
    retrievers = [method_retriever(gallery, benchmark, methods[name], encoder, ScriptedLanguageModel())
                  for name in NAMES]
    outcome = run_audit(benchmark, retrievers, SqlAuditStore(engine), chunk=CHUNK)
    engine.dispose()
    return benchmark, outcome


def stored(url):
    engine = open_migrated(url)
    runs = SqlAuditStore(engine).runs()
    engine.dispose()
    return sum(run.done for run in runs)


def test_killed_in_the_middle_it_ends_as_if_never_killed(tmp_path):
    colour_gallery(tmp_path)
    home, log, url = tmp_path / "home", tmp_path / "batches", database_of(tmp_path / "killed")
    stored(url)  # the schema is there before two processes look
    kept = []
    for wanted in (10, 70):  # in the middle of the first retriever, then of the second
        # Three batches of texts in a chunk, and the next one never ends: the second retriever's end is not reached.
        most = 3 * (-(-(wanted - stored(url)) // CHUNK) + 2)
        kill_when(lambda wanted=wanted: stored(url) >= wanted, "-c", PROGRAM, home, url, log, most)
        kept.append(stored(url))
        assert wanted <= kept[-1] < 2 * QUERIES and kept[-1] % CHUNK == 0

    gallery = open_gallery(NAME, home=home)
    benchmark, resumed = audited(gallery, url, log)
    assert sum(resumed.reused.values()) == kept[-1]
    # Batches of 4 and of 10 are those of the reader of requests, which looks what the gallery shows.
    batches = log.read_text("ascii").split().count(str(CHUNK))
    needed = 3 * len(NAMES) * (QUERIES // CHUNK)
    assert needed <= batches <= needed + 2 * 3  # only the chunk in flight at each kill was ranked twice

    _, whole = audited(gallery, database_of(tmp_path / "unbroken"))
    assert resumed.runs == whole.runs
    for name, outcome in (("resumed", resumed), ("whole", whole)):
        write_files(tmp_path / name, benchmark, make_report(benchmark, outcome.runs))
    files = sorted(path.name for path in (tmp_path / "whole").iterdir())
    assert len(files) >= 7 and files == sorted(path.name for path in (tmp_path / "resumed").iterdir())
    for name in files:
        assert (tmp_path / "whole" / name).read_bytes() == (tmp_path / "resumed" / name).read_bytes(), name
