"""A finished turn with other chips, another λ or other rounds, without a language model."""

from dataclasses import replace

import numpy as np
import pytest

from cir_core.errors import LanguageModelUnavailable, SearchError
from cir_core.images.uploads import UploadFolder
from cir_core.language.tasks import ConstraintsAnswer, ReflectAnswer
from cir_core.methods.fusion import slerp
from cir_core.methods.references import Previous
from cir_core.methods.soft_filter import soft_score
from cir_core.search.searcher import Searcher, TurnResult
from cir_core.sessions.pool import SearcherPool
from cir_core.sessions.service import SearchService
from cir_core.types.composition import Adjustment, Constraints, Marks, Usage
from cir_core.types.records import MethodSettings, Reflection, SoftFilter
from tests.fakes.colours import NAME, colour_gallery
from tests.fakes.encoder import FakeEncoder
from tests.fakes.language import ReplayingLanguageModel, SilentLanguageModel
from tests.fakes.store import InMemorySessionStore
from tests.fakes.turns import a_session, a_turn

SAID = {
    "reflect": [ReflectAnswer(intent="i", query="blue"), ReflectAnswer(intent="i", query="blue red")],
    "constraints": [ConstraintsAnswer(keep=("plain",), prescriptive="red", proscriptive="green")],
}
BOTH = MethodSettings(reflection=Reflection(rounds=2), soft_filter=SoftFilter(0.5))
FILTER = MethodSettings(soft_filter=SoftFilter(0.5))
CORR = MethodSettings(reflection=Reflection(rounds=2))
PLAIN = MethodSettings()
METHODS = {"plain": PLAIN, "SoFT": FILTER, "CoRR": CORR, "both": BOTH}


@pytest.fixture
def searcher(gallery):
    return Searcher(gallery, FakeEncoder(), ReplayingLanguageModel(SAID, caption="green"))


@pytest.fixture
def silent(gallery):
    """The same gallery, and nobody to ask."""
    return Searcher(gallery, FakeEncoder(), SilentLanguageModel())


def first_turn(searcher, method, **options):
    return searcher.turn(searcher.gallery_reference("r0g3b0"), "red", method, k=64, **options)


def ranking(found):
    return [(hit.image_id, hit.score, hit.rank) for hit in found.hits]


def check_ledger(found):
    for hit in found.hits:
        assert sum(value for _, value in hit.parts) == pytest.approx(hit.score, abs=1e-5)


@pytest.mark.parametrize("name", METHODS)
def test_no_change_changes_nothing(searcher, silent, name):
    found = first_turn(searcher, METHODS[name], target_id="r0g0b3")
    same = silent.adjust(found, METHODS[name], Adjustment(), k=64, target_id="r0g0b3")
    np.testing.assert_array_equal(same.vector, found.vector)
    assert ranking(same) == ranking(found) and same.target_rank == found.target_rank
    assert same.composition == found.composition and same.notes == found.notes
    assert [[name for name, _ in hit.parts] for hit in same.hits] == [
        [name for name, _ in hit.parts] for hit in found.hits]
    check_ledger(same)


def test_no_change_on_a_later_turn(searcher, silent):
    first = first_turn(searcher, BOTH)
    found = searcher.turn(searcher.gallery_reference(first.hits[1].image_id), "blue", BOTH, k=64,
                          marks=Marks((first.hits[2].image_id,)),
                          previous=Previous(first.vector, first.hits, ("r0g3b0",)))
    same = silent.adjust(found, BOTH, Adjustment(rounds=2, soft_filter=SoftFilter(0.5)), k=64)
    np.testing.assert_array_equal(same.vector, found.vector)
    assert ranking(same) == ranking(found) and same.composition.marks == found.composition.marks
    check_ledger(same)


@pytest.mark.parametrize("soft_filter", [SoftFilter(0.0), SoftFilter(1.0), SoftFilter(0.3, "penalty"),
                                         SoftFilter(0.9, "reward")])
def test_another_lambda_is_the_turn_made_with_it(searcher, silent, soft_filter):
    found = first_turn(searcher, BOTH)
    adjusted = silent.adjust(found, BOTH, Adjustment(soft_filter=soft_filter), k=64, target_id="r0g0b3")
    again = Searcher(silent.gallery, FakeEncoder(), ReplayingLanguageModel(SAID, caption="green"))
    made = first_turn(again, replace(BOTH, soft_filter=soft_filter), target_id="r0g0b3")
    np.testing.assert_array_equal(adjusted.vector, made.vector)
    assert ranking(adjusted) == ranking(made) and adjusted.target_rank == made.target_rank
    assert adjusted.composition.soft_filter == soft_filter
    assert adjusted.composition.constraints == found.composition.constraints
    check_ledger(adjusted)


def test_lambda_zero_is_the_order_without_a_filter(searcher, silent):
    found = first_turn(searcher, FILTER)
    adjusted = silent.adjust(found, FILTER, Adjustment(soft_filter=SoftFilter(0.0)), k=64)
    assert ranking(adjusted) == ranking(first_turn(searcher, PLAIN)) != ranking(found)


def test_other_chips_filter_by_what_they_say(searcher, silent):
    found = first_turn(searcher, FILTER)
    chips = Constraints(prescriptive=(" blue\n", "blue", "azul 👗", ""), proscriptive=("red", "red"))
    adjusted = silent.adjust(found, FILTER, Adjustment(constraints=chips), k=64, target_id="r0g0b3")
    cleaned = Constraints(prescriptive=("blue", "azul 👗"), proscriptive=("red",), edited=True)
    assert adjusted.composition.constraints == cleaned
    score = soft_score(found.vector, cleaned, SoftFilter(0.5), silent.encoder)
    expected = silent.index.search_scored(score, 64, exclude=["r0g3b0"])
    assert ranking(adjusted) == [(hit.image_id, hit.score, hit.rank) for hit in expected]
    assert adjusted.target_rank == [hit.image_id for hit in expected].index("r0g0b3") + 1
    np.testing.assert_array_equal(adjusted.vector, found.vector)
    assert (adjusted.caption, adjusted.merged_text) == (found.caption, found.merged_text)
    check_ledger(adjusted)


def test_all_chips_taken_away_is_the_order_without_a_filter(searcher, silent):
    found = first_turn(searcher, replace(FILTER, soft_filter=SoftFilter(1.0)))
    plain = first_turn(searcher, PLAIN)
    for mode in ("both", "reward", "penalty"):
        adjusted = silent.adjust(found, FILTER, Adjustment(Constraints(), SoftFilter(1.0, mode)), k=64)
        assert [hit.image_id for hit in adjusted.hits] == [hit.image_id for hit in plain.hits]
        assert adjusted.composition.constraints == Constraints(edited=True)
        check_ledger(adjusted)


def test_chips_on_a_turn_that_had_none(searcher, silent):
    found = first_turn(searcher, PLAIN)
    assert found.composition.constraints is None
    adjusted = silent.adjust(found, PLAIN, Adjustment(constraints=Constraints(prescriptive=("blue",))), k=64)
    assert adjusted.composition.soft_filter == SoftFilter()
    assert ranking(adjusted) != ranking(found)


@pytest.mark.parametrize(("adjustment", "sentence"), [
    (Adjustment(constraints=Constraints(prescriptive=tuple(map(str, range(13))))), "13 texts"),
    (Adjustment(constraints=Constraints(proscriptive=("x" * 1001,))), "the limit is 1,000"),
    (Adjustment(soft_filter=SoftFilter(1.5)), "between 0 and 1"),
    (Adjustment(soft_filter=SoftFilter(float("nan"))), "between 0 and 1"),
    (Adjustment(rewritten="  \n "), "Say what should be different"),
    (Adjustment(rewritten="x" * 1001), "the limit is 1,000"),
    (Adjustment(rewritten="blue", rounds=0), "no refined query"),
])
def test_what_cannot_be_changed_has_a_sentence(searcher, silent, adjustment, sentence):
    found = first_turn(searcher, BOTH)
    with pytest.raises(SearchError, match=sentence):
        silent.adjust(found, BOTH, adjustment)


def test_nothing_to_rewrite_in_a_turn_without_reflection(searcher, silent):
    with pytest.raises(SearchError, match="no refined query"):
        silent.adjust(first_turn(searcher, PLAIN), PLAIN, Adjustment(rewritten="blue"))


@pytest.mark.parametrize("k", [0, 1001])
def test_k_is_as_for_a_turn(searcher, silent, k):
    with pytest.raises(SearchError, match="1 to 1000"):
        silent.adjust(first_turn(searcher, PLAIN), PLAIN, Adjustment(), k=k)


@pytest.mark.parametrize("fusion", ["slerp", "linear", "replace", "pseudo-feedback"])
@pytest.mark.parametrize("rounds", [0, 1])
def test_fewer_rounds_are_the_turn_made_with_fewer(gallery, silent, fusion, rounds):
    def made(rounds):
        searcher = Searcher(gallery, FakeEncoder(), ReplayingLanguageModel(SAID, caption="green"))
        reflection = Reflection(rounds=rounds, fusion=fusion) if rounds else None
        return first_turn(searcher, MethodSettings(reflection=reflection), target_id="r0g0b3")

    method = MethodSettings(reflection=Reflection(rounds=2, fusion=fusion))
    adjusted = silent.adjust(made(2), method, Adjustment(rounds=rounds), k=64, target_id="r0g0b3")
    expected = made(rounds)
    assert len(adjusted.composition.rounds) == rounds
    # v_0 is made again from its terms, which may cost its last digit.
    np.testing.assert_allclose(adjusted.vector, expected.vector, atol=2e-7)
    assert [hit.image_id for hit in adjusted.hits[:10]] == [hit.image_id for hit in expected.hits[:10]]
    check_ledger(adjusted)


def test_rounds_beyond_those_there_are(searcher, silent):
    found = first_turn(searcher, CORR)
    for rounds in (2, 3, 99):
        np.testing.assert_array_equal(
            silent.adjust(found, CORR, Adjustment(rounds=rounds)).vector, found.vector)
    assert silent.adjust(found, CORR, Adjustment(rounds=-1)).composition.rounds == ()


def test_a_rewritten_query_takes_the_place_of_the_last_one_that_counts(searcher, silent):
    found = first_turn(searcher, CORR)
    v0, blue, green = searcher.encoder.encode_texts(["green red", "blue", "green"])
    adjusted = silent.adjust(found, CORR, Adjustment(rewritten=" green\n"), k=64)
    expected = slerp(green, slerp(blue, v0, history_weight=0.8), history_weight=0.8)
    np.testing.assert_allclose(adjusted.vector, expected, atol=1e-6)
    one, two = adjusted.composition.rounds
    assert (one.query, one.edited, two.query, two.edited) == ("blue", False, "green", True)
    assert two.looked_at == found.composition.rounds[1].looked_at
    # Together with fewer rounds it is the first one's query that is rewritten.
    adjusted = silent.adjust(found, CORR, Adjustment(rewritten="green", rounds=1), k=64)
    np.testing.assert_allclose(adjusted.vector, slerp(green, v0, history_weight=0.8), atol=1e-6)
    assert [one.query for one in adjusted.composition.rounds] == ["green"]
    assert [one.query for one in found.composition.rounds] == ["blue", "blue red"], "the old turn is as it was"
    check_ledger(adjusted)


def test_taking_every_text_away_is_said(searcher, silent):
    found = first_turn(searcher, FILTER)
    bare = silent.adjust(found, FILTER, Adjustment(constraints=Constraints(keep=("plain",))), k=64)
    assert "there is no text left to filter by" in bare.notes
    one = silent.adjust(found, FILTER, Adjustment(constraints=Constraints(proscriptive=("green",))), k=64)
    assert "there is no text left to filter by" not in one.notes


def test_one_change_after_another(searcher, silent):
    found = first_turn(searcher, BOTH)
    once = silent.adjust(found, BOTH, Adjustment(rewritten="green"), k=64)
    twice = silent.adjust(once, BOTH, Adjustment(soft_filter=SoftFilter(1.0)), k=64)
    both = silent.adjust(found, BOTH, Adjustment(rewritten="green", soft_filter=SoftFilter(1.0)), k=64)
    np.testing.assert_array_equal(twice.vector, both.vector)
    assert ranking(twice) == ranking(both)


def test_a_filter_that_could_not_be_asked_for_leaves_the_order_and_says_so(gallery):
    language = ReplayingLanguageModel({"constraints": [LanguageModelUnavailable("away.")]}, caption="green")
    found = first_turn(Searcher(gallery, FakeEncoder(), language), replace(FILTER, soft_filter=SoftFilter(1.0)))
    plain = first_turn(Searcher(gallery, FakeEncoder(), ReplayingLanguageModel({}, caption="green")), PLAIN)
    assert [hit.image_id for hit in found.hits] == [hit.image_id for hit in plain.hits]
    assert found.notes == ("there are no constraints to filter by: away.",)
    assert found.composition.constraints == Constraints()


def test_chips_of_a_talkative_model_can_still_be_changed(gallery, silent):
    many = tuple(f"detail {number}" for number in range(30))
    language = ReplayingLanguageModel({"constraints": [
        ConstraintsAnswer(keep=many, add=many, remove=many, prescriptive=" red ", proscriptive=" ")]})
    found = first_turn(Searcher(gallery, FakeEncoder(), language), FILTER)
    chips = found.composition.constraints
    assert (chips.prescriptive, chips.proscriptive) == (("red",), ())
    edited = replace(chips, prescriptive=(*chips.prescriptive, "blue"))
    adjusted = silent.adjust(found, FILTER, Adjustment(constraints=edited))
    assert adjusted.composition.constraints.prescriptive == ("red", "blue")


# Stored turns: the same through the service.


@pytest.fixture
def service(tmp_path):
    colour_gallery(tmp_path)
    return service_over(tmp_path, InMemorySessionStore(), ReplayingLanguageModel(SAID, caption="green"))


def service_over(tmp_path, store, language):
    home = tmp_path / "home"
    return SearchService(SearcherPool(home, lambda encoder: language, lambda spec: FakeEncoder()), store,
                         UploadFolder(home / "uploads", max_megapixels=4))


def test_a_stored_turn_is_adjusted_as_the_fresh_one(service, tmp_path):
    session = service.start(NAME, method=BOTH, target_id="r0g0b3")
    turn = service.run_turn(session.session_id, "red", reference_id="r0g3b0", k=64).turn
    # Another process, which has only what is stored, and no language model at all.
    later = service_over(tmp_path, service._store, SilentLanguageModel())
    same = later.adjust(later.loaded(session.session_id, turn.turn_id), Adjustment(), k=64)
    np.testing.assert_array_equal(same.vector, turn.vector)
    assert ranking(same) == ranking(turn) and same.target_rank == turn.target_rank
    adjusted = later.adjust(later.loaded(session.session_id, turn.turn_id),
                            Adjustment(soft_filter=SoftFilter(1.0)), k=64)
    assert ranking(adjusted) != ranking(turn)
    assert adjusted.target_rank == [hit.image_id for hit in adjusted.hits].index("r0g0b3") + 1
    assert service.session(session.session_id).turns == (turn,), "looking at a change stores nothing"


def test_a_kept_change_is_a_turn_beside_the_old_one(service, tmp_path):
    session = service.start(NAME, method=BOTH)
    one = service.run_turn(session.session_id, "red", reference_id="r0g3b0").turn
    two = service.run_turn(session.session_id, "blue", reference_id=one.hits[0].image_id, parent_id=one.turn_id).turn
    later = service_over(tmp_path, service._store, SilentLanguageModel())
    change = Adjustment(soft_filter=SoftFilter(0.9), constraints=Constraints(prescriptive=("blue",)))
    kept = later.save_adjusted(session.session_id, two.turn_id, change)
    adjusted = later.adjust(later.loaded(session.session_id, two.turn_id), change)
    session = service.session(session.session_id)
    assert session.turns == (one, two, kept) and len(session.branches) == 2
    assert (kept.parent_id, kept.number) == (two.parent_id, two.number) and kept.branch_id != two.branch_id
    assert (kept.modification_text, kept.reference_id) == (two.modification_text, two.reference_id)
    assert kept.hits == adjusted.hits and kept.vector.tobytes() == adjusted.vector.tobytes()
    assert kept.composition == replace(adjusted.composition, usage=kept.composition.usage)
    assert kept.excluded_ids == two.excluded_ids
    # Another λ is another protocol, under which the language model that answered is still named: that is
    # what a session begun with this λ would have had.
    assert kept.protocol_digest == service.start(
        NAME, method=replace(BOTH, soft_filter=SoftFilter(0.9))).protocol.digest
    assert two.protocol_digest == session.protocol.digest != kept.protocol_digest
    # Other chips alone are what the person did, under the same protocol.
    chips = later.save_adjusted(session.session_id, two.turn_id, Adjustment(constraints=Constraints()))
    assert chips.protocol_digest == two.protocol_digest
    assert len(service.session(session.session_id).branches) == 3


def test_a_kept_first_turn_opens_a_branch_of_its_own(service):
    session = service.start(NAME, method=BOTH)
    one = service.run_turn(session.session_id, "red", reference_id="r0g3b0").turn
    kept = service.save_adjusted(session.session_id, one.turn_id, Adjustment(rounds=1))
    assert (kept.parent_id, kept.number) == (None, 1) and kept.branch_id != one.branch_id
    # A kept turn can itself be gone on from, and be changed again.
    after = service.run_turn(session.session_id, "blue", parent_id=kept.turn_id).turn
    assert after.branch_id == kept.branch_id and after.number == 2
    again = service.adjust(service.loaded(session.session_id, kept.turn_id), Adjustment(rounds=0))
    assert again.composition.rounds == ()
    same = service.adjust(service.loaded(session.session_id, kept.turn_id), Adjustment())
    np.testing.assert_array_equal(same.vector, kept.vector)


def test_what_a_kept_turn_cost_is_counted_once(service):
    session = service.start(NAME, method=BOTH)
    turn = service.run_turn(session.session_id, "red", reference_id="r0g3b0").turn
    # Caption, merge, two rounds of reflection, constraints.
    assert turn.composition.usage.calls == 5
    kept = service.save_adjusted(session.session_id, turn.turn_id, Adjustment(soft_filter=SoftFilter(0.0)))
    assert kept.composition.usage == Usage(models=("replaying/1",))
    assert service.session(session.session_id).turn(turn.turn_id).composition.usage == turn.composition.usage


def test_after_the_target_is_shown_a_change_has_no_rank(service):
    session = service.start(NAME, method=BOTH, target_id="r0g0b3")
    turn = service.run_turn(session.session_id, "red", reference_id="r0g3b0").turn
    assert service.adjust(service.loaded(session.session_id, turn.turn_id),
                          Adjustment(rounds=0)).target_rank is not None
    service.reveal_target(session.session_id)
    assert service.adjust(service.loaded(session.session_id, turn.turn_id), Adjustment(rounds=0)).target_rank is None


def test_turns_of_an_earlier_version_say_why_they_cannot_be_changed(service):
    session = service.start(NAME)
    old = service._store.add_turn(a_turn(session.session_id, None, composition=None))
    with pytest.raises(SearchError, match="earlier version"):
        service.adjust(service.loaded(session.session_id, old.turn_id), Adjustment(rounds=0))
    with pytest.raises(SearchError, match="earlier version"):
        service.save_adjusted(session.session_id, old.turn_id, Adjustment(rounds=0))
    with pytest.raises(SearchError, match="earlier version"):
        TurnResult.of(old)
    with pytest.raises(SearchError, match="not part of this session"):
        service.adjust(service.loaded(session.session_id, "elsewhere"), Adjustment())


def test_a_gallery_indexed_anew_does_not_change_an_old_turn(service):
    session = service.start(NAME, method=FILTER)
    turn = service.run_turn(session.session_id, "red", reference_id="r0g3b0").turn
    stale = replace(session.protocol, gallery_digest="0" * 16)
    other = service._store.create_session(a_session(session_id="stale", gallery=NAME, method=FILTER, protocol=stale))
    service._store.add_turn(replace(turn, turn_id="old", session_id=other.session_id))
    with pytest.raises(SearchError, match="has changed since this session began"):
        service.adjust(service.loaded(other.session_id, "old"), Adjustment(soft_filter=SoftFilter(0.0)))


def test_notes_of_rounds_taken_back_go_with_them(gallery):
    said = {"reflect": [ReflectAnswer(intent="i", query="blue", notes=("first round",)),
                        ReflectAnswer(intent="i", query="red", notes=("second round",))]}
    searcher = Searcher(gallery, FakeEncoder(), ReplayingLanguageModel(said, caption="green"))
    found = first_turn(searcher, CORR)
    assert {"first round", "second round"} <= set(found.notes)
    one = searcher.adjust(found, CORR, Adjustment(rounds=1))
    assert "first round" in one.notes and "second round" not in one.notes
    assert "1 of 2 rounds of reflection are applied" in one.notes
    rewritten = searcher.adjust(found, CORR, Adjustment(rewritten="green"))
    assert "the query of round 2 was rewritten by hand" in rewritten.notes


def test_only_what_is_new_is_encoded_again(gallery):
    asked = []

    class Counting(FakeEncoder):
        def encode_texts(self, texts):
            asked.extend(texts)
            return super().encode_texts(texts)

    searcher = Searcher(gallery, Counting(), ReplayingLanguageModel(SAID, caption="green"))
    found = first_turn(searcher, FILTER)
    asked.clear()
    searcher.adjust(found, FILTER, Adjustment(soft_filter=SoftFilter(0.9)))
    assert asked == []
    changed = replace(found.composition.constraints, prescriptive=("red", "blue"))
    searcher.adjust(found, FILTER, Adjustment(constraints=changed))
    assert asked == ["blue"]
