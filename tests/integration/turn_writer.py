"""Adds turns to a session until it is killed, and prints the id of each one acknowledged.

python -m tests.integration.turn_writer <database url> <session id> <turn to go on from, or "">
"""

import sys

from storage.engine.database import open_database
from storage.sessions.store import SqlSessionStore
from tests.fakes.turns import a_composition, a_turn

if __name__ == "__main__":
    url, session_id, parent_id = sys.argv[1:]
    store = SqlSessionStore(open_database(url))
    parent = parent_id or None
    while True:
        parent = store.add_turn(a_turn(session_id, parent, n_hits=60, composition=a_composition())).turn_id
        print(parent, flush=True)
