"""Constructions for tests that read as stories: a home whose sample can be constructed from, and what a server says."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from cir_core.construct.judging.sample import content_digest
from cir_core.construct.judging.scores import DIMENSIONS, JudgedSession
from cir_core.datasets.readers.circled import session_of_raw
from cir_core.datasets.readers.circled_raw import open_raw
from tests.fakes.chat_server import Reply
from tests.fakes.databases import environment_of
from tests.web.conftest import ROOT


def constructing_home(home: Path, own: Path) -> Path:
    """A copy of ``home`` at ``own`` whose sample is where cirque draws it."""
    shutil.copytree(home, own)
    shutil.copytree(own / "sample", own / "samples" / "atelier")
    return own


def construct(home: Path, name: str, *options: str) -> Path:
    """The benchmark ``name``, by the command."""
    folder = home / "benchmarks" / name
    done = subprocess.run(
        [sys.executable, "-m", "cli.main", "construct", "sessions", "sample", "--gallery", "atelier", "--model",
         "built-in", "--out", str(folder), *options],
        cwd=ROOT, env=environment_of(home), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def judge(folder: Path) -> dict[str, int]:
    """Scores of every tenth session of a construction, as the judge command writes them; overall by query id."""
    judged, overall = [], {}
    for path in sorted((folder / "raw").glob("*.json")):
        raw = open_raw(path)
        for number, record, result in list(raw.results())[::10]:
            session, score = session_of_raw(record, raw.subset, number), 1 + number // 10 % 5
            judged.append(JudgedSession("first", raw.subset, f"other-{number}", len(session.turns),
                                        dict.fromkeys(DIMENSIONS, score), f"Reason {score}.", (),
                                        content_digest(session)).as_json())
            overall[str(result.query_id)] = score
    (folder / "judged").mkdir()
    (folder / "judged" / "judged.json").write_text(json.dumps({"sessions": judged}), "utf-8")
    return overall


def person(request: dict[str, Any]) -> Reply:
    """Short answers of a language model, by what the request asks for."""
    [wanted] = request["response_format"]["json_schema"]["schema"]["required"]
    said = {"caption": "a red dress with short sleeves", "query": "a blue dress with long sleeves",
            "instruction": f"Make it number {len(json.dumps(request['messages'])) % 97}"}
    return Reply(json.dumps({wanted: said[wanted]}))
