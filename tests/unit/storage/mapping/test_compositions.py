"""A composition comes back from the database exactly."""

from __future__ import annotations

import json
from dataclasses import MISSING, fields

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from cir_core.errors import SearchError
from cir_core.types.composition import Composition, Constraints, Cut, Marks, ReflectionRound, Usage, Wording
from cir_core.types.records import SoftFilter
from storage.checks import check_comparison, check_turn
from storage.mapping.rows import pack_composition, unpack_composition
from tests.fakes.comparisons import a_column, a_comparison
from tests.fakes.turns import a_composition, a_turn, same_composition

TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12)
TEXTS = st.lists(TEXT, max_size=3).map(tuple)
COUNT = st.integers(0, 10**9)
SOME = st.floats(0, 1e9)
DIM = 3
VECTOR = arrays.arrays(np.float32, DIM, elements=st.floats(width=32, allow_nan=True, allow_infinity=True))
ROUND = st.builds(
    ReflectionRound, number=COUNT, query=TEXT, intent=TEXT, satisfied=TEXTS, problems=TEXTS, strategy=TEXT,
    looked_at=TEXTS, pictures=COUNT, notes=TEXTS, edited=st.booleans(), milliseconds=SOME,
    vector=st.none() | VECTOR)
COMPOSITION = st.builds(
    Composition, base=VECTOR, terms=st.lists(st.tuples(TEXT, VECTOR), max_size=3).map(tuple),
    rounds=st.lists(ROUND, max_size=3).map(tuple),
    marks=st.builds(Marks, TEXTS, TEXTS),
    constraints=st.none() | st.builds(Constraints, TEXTS, TEXTS, TEXTS, TEXTS, TEXTS, st.booleans()),
    soft_filter=st.none() | st.builds(SoftFilter, st.floats(0, 1), st.sampled_from(["both", "reward", "penalty"])),
    usage=st.builds(Usage, COUNT, COUNT, COUNT, COUNT, st.none() | SOME, TEXTS, TEXTS),
    edited=st.none() | st.builds(Wording, TEXT, TEXT), read_as=TEXT, further=TEXTS,
    cuts=st.lists(st.builds(Cut, TEXT, TEXT, st.tuples(*[st.floats(0, 1)] * 4)), max_size=2).map(tuple))


def through_json(composition):
    packed = pack_composition(composition)
    text = json.dumps(packed["composition"], ensure_ascii=False, allow_nan=False)
    return unpack_composition(json.loads(text), packed["composition_vectors"])


@given(COMPOSITION)
def test_any_composition_comes_back(composition):
    assert same_composition(through_json(composition), composition)


def test_none_is_none():
    assert pack_composition(None) == {"composition": None, "composition_vectors": None}
    assert unpack_composition(None, None) is None


def test_no_field_is_forgotten():
    """A field that is added to a record is stored, or this test fails: none may have its default."""
    composition = a_composition()
    loaded = through_json(composition)
    for record, back in [
        (composition, loaded), (composition.rounds[0], loaded.rounds[0]), (composition.marks, loaded.marks),
        (composition.constraints, loaded.constraints), (composition.soft_filter, loaded.soft_filter),
        (composition.usage, loaded.usage), (composition.edited, loaded.edited),
    ]:
        for field in fields(record):
            if field.name == "step_parts":  # what other kinds of steps keep
                continue
            kept = getattr(back, field.name)
            if field.default is not MISSING and not isinstance(kept, np.ndarray):
                assert kept != field.default, field.name
            assert kept is not None
    assert same_composition(loaded, composition)


def test_the_vectors_lie_one_after_the_other_as_little_endian_float32():
    base, term, reflected = np.eye(3, dtype=np.float32)
    composition = Composition(base, (("text", term),),
                              (ReflectionRound(1, "", vector=None), ReflectionRound(2, "", vector=reflected)))
    one, zero = b"\x00\x00\x80\x3f", b"\x00" * 4  # 1.0 is 0x3f800000
    block = pack_composition(composition)["composition_vectors"]
    assert block == one + zero * 3 + one + zero * 3 + one


def test_vectors_read_back_cannot_be_changed():
    loaded = through_json(a_composition())
    for vector in (loaded.base, loaded.terms[0][1], loaded.rounds[0].vector):
        with pytest.raises(ValueError, match="read-only"):
            vector[0] = 1


def test_records_of_an_older_version_take_defaults():
    packed = pack_composition(a_composition())
    del packed["composition"]["usage"]["cost"], packed["composition"]["rounds"][0]["strategy"]
    loaded = unpack_composition(packed["composition"], packed["composition_vectors"])
    assert loaded.usage.cost is None and loaded.rounds[0].strategy == ""
    assert loaded.usage.calls == 2


BAD_VECTORS = [
    {"base": np.zeros(64)}, {"base": np.zeros((1, 64), np.float32)}, {"terms": (("text", np.zeros(63, np.float32)),)},
    {"rounds": (ReflectionRound(1, "", vector=np.zeros(64, np.float16)),)},
]
BAD_TEXTS = [
    {"terms": (("\0", np.zeros(64, np.float32)),)}, {"marks": Marks(less_like=("\ud83d",))},
    {"constraints": Constraints(keep=("fine", "\0"))}, {"usage": Usage(models=("\ud83d",))},
    {"rounds": (ReflectionRound(1, "", problems=("half \ud83d",)),)},
]


@pytest.mark.parametrize(("changes", "error"), [
    *((changes, ValueError) for changes in BAD_VECTORS), *((changes, SearchError) for changes in BAD_TEXTS)])
def test_what_cannot_be_kept_is_refused_before_it_is_written(changes, error):
    composition = a_composition(**changes)
    with pytest.raises(error, match=r"stored|float32"):
        check_comparison(a_comparison(columns=(a_column(), a_column(composition=composition))))
    turn = a_turn("s", None, composition=composition)
    with pytest.raises(error, match=r"stored|float32"):
        check_turn(turn)


def test_other_texts_of_a_column():
    for changes in ({"problem": "\0"}, {"notes": ("\ud83d",)}, {"caption": "\0"}, {"method": "\0"}):
        with pytest.raises(SearchError, match="cannot be stored"):
            check_comparison(a_comparison(columns=(a_column(**changes),)))
