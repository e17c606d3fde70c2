"""Some of the files that hold much, for every reader; ``python -m tests.fuzz.bombs`` tries all of them on all."""

from pathlib import Path

import pytest

from tests.fuzz.bombs import attempts, bombs

pytestmark = pytest.mark.sqlite   # nothing here is kept in a database


@pytest.mark.extended   # a fork for each bomb and reader
def test_every_reader_takes_bombs_in_bounded_memory(tmp_path: Path) -> None:
    tried = list(attempts(tmp_path, each=2))
    assert [attempt for attempt in tried if attempt.bad] == []
    assert {attempt.bomb for attempt in tried} == bombs().keys()
