"""Judges until it is killed, and prints each answer acknowledged.

python -m tests.integration.judgement_writer <database url> <annotator>

Of each item it keeps a draft, saves an answer, repeats the call as a client does that got no
reply, and revises the answer. It prints the item and the token of each answer.
"""

import sys
from datetime import UTC, datetime

from annotation.records import Draft, Judgement
from annotation.studies.assignment import reassign
from cir_core.types.records import new_id
from storage.engine.database import open_database
from storage.studies.store import SqlStudyStore
from tests.fakes.study_records import STUDY

if __name__ == "__main__":
    store, name = SqlStudyStore(open_database(sys.argv[1])), sys.argv[2]
    store.join(STUDY.study_id, name, datetime.now(UTC), reassign)
    workspace = store.workspace(STUDY.study_id, name)
    while workspace.item is not None:
        item_id = workspace.item.item_id
        store.save_draft(STUDY.study_id, Draft(item_id, name, {"note": "begun"}, 1.0, datetime.now(UTC)))
        for unsure in (True, False):
            judgement = Judgement(new_id(), STUDY.study_id, item_id, name, 0, new_id(), STUDY.protocol,
                                  {"unsure": unsure}, 1.0, datetime.now(UTC))
            for _ in range(2):
                store.save(judgement, unsure=unsure)
            print(item_id, judgement.token, flush=True)
        workspace = store.workspace(STUDY.study_id, name, after=item_id, at=datetime.now(UTC))
