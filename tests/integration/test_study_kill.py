"""People who judge lose nothing that was acknowledged, though the process is killed."""

from __future__ import annotations

import random
import sys
from collections import Counter, defaultdict
from dataclasses import replace

import pytest

from annotation.records import StudyPlan
from annotation.studies.assignment import plan_places
from storage.engine.database import open_database
from storage.studies.store import SqlStudyStore
from tests.fakes.databases import check_sound, database_of, open_migrated
from tests.fakes.study_records import ITEMS, STUDY
from tests.integration.victims import Writer

pytestmark = [pytest.mark.extended, pytest.mark.skipif(sys.platform == "win32", reason="kill -9")]


@pytest.fixture
def url(tmp_path):
    url = database_of(tmp_path)
    engine = open_migrated(url)
    items = [replace(ITEMS[0], item_id=f"i{number}", number=number, key=str(number)) for number in range(8000)]
    study = replace(STUDY, plan=StudyPlan(2, 1, 0, 7))
    SqlStudyStore(engine).create(study, items, [], plan_places(items, study.plan))
    engine.dispose()
    return url


def test_kill_while_two_people_judge(url):
    draw = random.Random(5)
    acknowledged: dict[tuple[str, str], list[str]] = defaultdict(list)  # name and item: tokens, in order
    for kills in range(1, 4):
        writers = {name: Writer("judgement_writer", url, name) for name in ("Ann", "Bo")}
        for name, writer in writers.items():
            for line in writer.kill_after(draw.randint(10, 40)):
                item_id, token = line.split()
                acknowledged[name, item_id].append(token)
        check_sound(url)
        engine = open_database(url)
        store = SqlStudyStore(engine)
        kept: dict[tuple[str, str], list[str]] = defaultdict(list)
        for judgement in store.judgements("s1", history=True):
            kept[judgement.annotator, judgement.item_id].append(judgement.token)
        ahead = 0
        for key, tokens in acknowledged.items():
            assert kept[key][:len(tokens)] == tokens  # each is there, once, in its place
            ahead += len(kept[key]) > len(tokens)
        # An answer may have been on disk before it was printed: at most one of each writer per kill.
        assert ahead + len(kept.keys() - acknowledged.keys()) <= 2 * kills
        check_states(store)
        engine.dispose()
    assert len(acknowledged) > 20


def check_states(store):
    """Answers, states, drafts and the counts of the seats changed together or not at all."""
    current = {(one.annotator, one.item_id): one.answer["unsure"] for one in store.judgements("s1")}
    found = Counter()
    for one in store.assignments("s1"):
        unsure = current.get((one.annotator, one.item_id))
        assert one.state == {None: "open", True: "unsure", False: "done"}[unsure]
        found[one.state] += 1
    counts = store.counts("s1")
    assert (counts["done"], counts["unsure"]) == (found["done"] + found["unsure"], found["unsure"])
    for name, item_id in list(current)[-3:]:
        assert store.workspace("s1", name, item_id=item_id).draft is None
