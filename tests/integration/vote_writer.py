"""Keeps answers, comparisons and votes until it is killed, and prints each vote acknowledged.

python -m tests.integration.vote_writer <database url>

Of each name it keeps an answer, a comparison and a vote, then revises the vote. It prints
the name and the id of the vote.
"""

import hashlib
import sys

from cir_core.types.records import new_id
from storage.engine.database import open_database
from storage.sessions.comparisons import SqlComparisonStore, SqlVoteStore
from storage.sessions.llm_cache import SqlAnswerCache
from tests.fakes.comparisons import a_comparison, a_vote


def key_of(name: str) -> str:
    return hashlib.sha256(name.encode()).hexdigest()


if __name__ == "__main__":
    engine = open_database(sys.argv[1])
    answers, comparisons, votes = SqlAnswerCache(engine), SqlComparisonStore(engine), SqlVoteStore(engine)
    while True:
        name = new_id()
        answers.put(key_of(name), f'"{name}"', model="m", role="r", prompt_version="1", prompt_tokens=1,
                    completion_tokens=1)
        comparisons.add_comparison(a_comparison(comparison_id=name))
        for chosen in ("plain", None):
            vote = votes.put_vote(a_vote(name, annotator=name, chosen=chosen))
            print(name, vote.vote_id, flush=True)
