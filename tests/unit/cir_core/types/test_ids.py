"""Ids that stand in addresses: whoever has a session's or a comparison's sees it, so nobody may guess one."""

from __future__ import annotations

import math
import secrets
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from cir_core.images.uploads import UploadFolder
from cir_core.methods.declared import builtin_methods
from cir_core.sessions.compare import ComparisonService
from cir_core.sessions.pool import SearcherPool
from cir_core.sessions.service import SearchService
from cir_core.types import records
from cir_core.types.records import new_id
from tests.fakes.colours import NAME, colour_gallery
from tests.fakes.comparison_store import InMemoryComparisonStore
from tests.fakes.encoder import FakeEncoder
from tests.fakes.language import ScriptedLanguageModel
from tests.fakes.store import InMemorySessionStore

ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
BITS = 80


def test_an_id_has_80_random_bits() -> None:
    many = 20_000
    made = [new_id() for _ in range(many)]
    length = len(made[0])
    assert length * math.log2(len(ALPHABET)) == BITS and {len(one) for one in made} == {length}
    assert len(set(made)) == many   # of 2**80; of 32 bits one would be there twice already
    expected = many / len(ALPHABET)
    spread = 6 * math.sqrt(expected * (1 - 1 / len(ALPHABET)))
    for place in range(length):     # each letter is as likely as any other, in each place
        found = Counter(one[place] for one in made)
        assert found.keys() == set(ALPHABET)
        assert all(abs(count - expected) < spread for count in found.values())


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the system's source of secrets gave, a letter for each draw; another source gives nothing here."""
    letters: list[str] = []
    def choice(alphabet: str) -> str:
        letters.append(secrets.choice(alphabet))
        return letters[-1]

    monkeypatch.setattr(records, "secrets", SimpleNamespace(choice=choice))
    return letters


@pytest.fixture
def search(tmp_path: Path) -> Iterator[SearchService]:
    colour_gallery(tmp_path)
    pool = SearcherPool(tmp_path / "home", lambda encoder: ScriptedLanguageModel("green"), lambda spec: FakeEncoder())
    yield SearchService(pool, InMemorySessionStore(), UploadFolder(tmp_path / "home" / "uploads", max_megapixels=4))


def test_sessions_and_comparisons_have_such_ids(search: SearchService, drawn: list[str]) -> None:
    session = search.start(NAME).session_id
    assert session == "".join(drawn) and len(drawn) * 5 == BITS
    drawn.clear()
    methods = [builtin_methods()[name] for name in ("image-only", "text-only")]
    compared = ComparisonService(search, InMemoryComparisonStore()).run(NAME, "r0g3b0", "red", methods).comparison_id
    assert compared == "".join(drawn) and len(drawn) * 5 == BITS
