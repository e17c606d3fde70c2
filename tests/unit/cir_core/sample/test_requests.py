"""Requests: what phrases want, how sets are drawn."""

from collections import Counter

import pytest

from cir_core.garments.lexicon import BY_KEY, GROUPS
from cir_core.sample.atelier.catalogue import catalogue
from cir_core.sample.request_set import CONTRADICTING, PlannedRequest, Pool, carried_on, make_request_set, next_request
from cir_core.sample.request_wording import MEASURED, TUNING
from cir_core.sample.requests import SPLITS, in_principle, meanings, pattern_with_accent, satisfies, together

DRESS = {"category": "dress", "colour": "blue", "second_colour": "white", "pattern": "stripes", "sleeves": "short",
         "neckline": "vneck", "length": "long", "fit": "regular", "trim": "none"}
WORDINGS = {"measured": MEASURED, "tuning": TUNING}


def all_but(group, *values):
    return set(BY_KEY[group].keys) - set(values)


def wants_of(phrase, reference, wording=MEASURED):
    """The wants of the meanings that ``phrase`` can say of ``reference``."""
    found = [one for group in GROUPS for one in meanings(reference, group.key, wording)]
    return [{group: set(values) for group, values in one.wants.items()} for one in found if phrase in one.phrases]


@pytest.mark.parametrize(("phrase", "reference", "wants"), [
    ("in red", {}, {"colour": {"red"}}),
    ("in lilac", {}, {"colour": {"purple"}}),
    ("not blue", {}, {"colour": all_but("colour", "blue")}),
    ("! anything but blue please", {}, {"colour": all_but("colour", "blue")}),
    ("darker", {}, {"colour": {"black", "navy", "brown"}}),
    ("with longer sleeves", {}, {"sleeves": {"elbow", "long"}}),
    ("with longer sleeves", {"sleeves": "elbow"}, {"sleeves": {"long"}}),
    ("with shorter sleeves", {"sleeves": "long"}, {"sleeves": {"short", "elbow"}}),
    ("without the sleeves", {}, {"sleeves": {"sleeveless", "straps"}}),
    ("shorter", {}, {"length": {"short", "medium"}}),
    ("not so long", {}, {"length": {"short", "medium"}}),
    ("looser", {}, {"fit": {"loose"}}),
    ("higher at the neck", {}, {"neckline": {"crew", "collar", "turtleneck"}}),
    ("without the stripes", {}, {"pattern": all_but("pattern", "stripes", "pinstripes")}),
    ("with red stripes", {}, {"second_colour": {"red"}, "pattern": {"stripes", "pinstripes"}}),
    ("with a red belt", {"pattern": "plain", "trim": "belt"}, {"second_colour": {"red"}, "trim": {"belt"}}),
    ("without the white in it", {}, {"second_colour": all_but("second_colour", "white")}),
    ("floor-length", {"length": "short"}, {"length": {"long"}}),
    ("cropped", {"category": "shirt"}, {"length": {"short"}}),
    ("as a top", {}, {"category": {"toptee"}}),
])
def test_what_a_phrase_wants(phrase, reference, wants):
    assert wants_of(phrase, {**DRESS, **reference}) == [wants]


@pytest.mark.parametrize(("phrase", "reference"), [
    ("in blue", {}),                                         # it is
    ("with stripes", {"pattern": "pinstripes"}),
    ("with longer sleeves", {"sleeves": "long"}),
    ("with longer sleeves", {"sleeves": "sleeveless"}),      # there is nothing to be longer
    ("longer", {}), ("not red", {}),
    ("cropped", {}), ("floor-length", {"category": "toptee", "length": "short"}),
    ("without the belt", {}),
])
def test_nobody_asks_for_what_is_there_or_does_not_apply(phrase, reference):
    assert wants_of(phrase, {**DRESS, **reference}) == []


def test_two_groups_in_one_request_the_one_with_with_last():
    red = next(one for one in meanings(DRESS, "colour", MEASURED) if one.wants["colour"] == {"red"})
    collar = next(one for one in meanings(DRESS, "neckline", MEASURED) if one.wants["neckline"] == {"collar"})
    both = together(collar, red, MEASURED)
    assert both.wants == {"colour": {"red"}, "neckline": {"collar"}} and both.kind == "double"
    assert "! in red and with a collar" in both.phrases and "! with a collar and in red" not in both.phrases
    assert together(red, red, MEASURED) is None
    dots = [one for one in pattern_with_accent(DRESS, MEASURED) if one.phrases == ("with orange dots",)]
    assert [one.wants for one in dots] == [{"pattern": {"dots"}, "second_colour": {"orange"}}]
    assert not any("stripes" in one.phrases[0] for one in pattern_with_accent(DRESS, MEASURED))


def test_what_can_be_worn():
    assert in_principle(DRESS, {"colour": frozenset({"red"})})
    assert in_principle(DRESS, {"colour": frozenset({"white"})})            # with stripes of another colour
    assert in_principle(DRESS, {"pattern": frozenset({"plain"})})           # and then without a second colour
    assert not in_principle({**DRESS, "category": "shirt"}, {"trim": frozenset({"belt"})})
    red_on_red = {"colour": frozenset({"red"}), "second_colour": frozenset({"red"})}
    assert not in_principle(DRESS, red_on_red)


def test_later_requests_count_where_both_cannot_be_had():
    earlier = {"colour": frozenset({"red"}), "sleeves": frozenset({"elbow", "long"})}
    assert carried_on(earlier, {"trim": frozenset({"bow"})}) == {**earlier, "trim": {"bow"}}
    assert carried_on(earlier, {"sleeves": frozenset({"long"})}) == {"colour": {"red"}, "sleeves": {"long"}}
    assert carried_on(earlier, {"colour": frozenset({"blue"})}) == {**earlier, "colour": {"blue"}}


# --- wordings and sets -------------------------------------------------------------------------


def fragments_and_sentences(wording):
    tables = (wording.values, wording.negated, wording.steps)
    said = [phrase.strip() for table in tables for group in table.values() for words in group.values()
            for phrase in words.split("|")]
    return {one for one in said if not one.startswith("!")}, {one for one in said if one.startswith("!")}


def test_no_frame_and_no_sentence_of_the_measure_is_used_in_tuning():
    frames = [{frame for some in wording.frames.values() for frame in some} | set(wording.doubles)
              for wording in WORDINGS.values()]
    assert not frames[0] & frames[1]
    fragments, sentences = zip(*map(fragments_and_sentences, WORDINGS.values()), strict=True)
    assert not sentences[0] & sentences[1]
    common = fragments[0] & fragments[1]
    assert len(common) <= 0.05 * len(fragments[0]), common  # the rest differ in the words themselves
    assert not set(MEASURED.accents.values()) & set(TUNING.accents.values())


@pytest.mark.parametrize("wording", WORDINGS.values(), ids=WORDINGS)
def test_every_value_of_every_group_can_be_asked_for(wording):
    for group in GROUPS:
        asked = set()
        for category in ("dress", "shirt", "toptee"):
            for value in group.keys:
                reference = {**DRESS, "category": category, group.key: value}
                asked |= {value for one in meanings(reference, group.key, wording) if one.kind == "single"
                          for value in one.wants[group.key]}
        assert asked == set(group.keys) - ({"none"} if group.key == "second_colour" else set())


@pytest.fixture(scope="module")
def truths():
    garments = catalogue(7, {"train": 300, "val": 900, "test": 2400})
    return {split: {one.item_id: one.attributes for one in garments if one.split == split}
            for split in ("train", "val", "test")}


@pytest.fixture(scope="module")
def measured(truths):
    return make_request_set(truths["test"], seed=3)


def test_kinds_and_groups_are_in_their_proportions(measured):
    assert len(measured.requests) == 320 and len(measured.sessions) == 60
    kinds = Counter(one.request.kind for one in measured.requests)
    # 320 * 45 %, 25 %, 15 %, 15 %
    assert kinds == {"single": 144, "double": 80, "negated": 48, "comparative": 48}
    groups = Counter(group for one in measured.requests for group in one.request.about)
    assert set(groups) == set(BY_KEY)
    assert {group for group, _ in groups.most_common(3)} == {"colour", "sleeves", "pattern"}


def test_requests_change_something_and_can_be_satisfied(measured, truths):
    pool = Pool(truths["test"])
    references = [one.reference_id for one in measured.requests] + [one.reference_id for one in measured.sessions]
    assert len(set(references)) == len(references)
    for one in measured.requests:
        reference = truths["test"][one.reference_id]
        assert all(reference[group] not in one.request.wants[group] for group in one.request.about)
        assert in_principle(reference, one.request.wants)
        assert pool.satisfying(one.request.wants, [one.reference_id]).any()


def test_the_same_seed_gives_the_same_set_and_a_part_of_it_is_its_beginning(measured, truths):
    again = make_request_set(truths["test"], seed=3)
    assert again == measured and again.digest == measured.digest
    assert make_request_set(truths["test"], seed=4, requests=20, sessions=2).digest != measured.first(20).digest
    part = measured.first(10)
    assert part.requests == measured.requests[:10] and len(part.sessions) == 10 and part.digest != measured.digest


def test_tuning_shares_no_reference_and_no_text_with_the_measure(measured, truths):
    assert not set(SPLITS["measured"]) & set(SPLITS["tuning"])
    tuning = make_request_set({**truths["val"], **truths["train"]}, purpose="tuning", seed=3)
    assert len(tuning.requests) == 320
    asked = [{one.request.text for one in some.requests} for some in (measured, tuning)]
    assert len(asked[0]) > 200 and not asked[0] & asked[1]
    references = [{one.reference_id for one in (*some.requests, *some.sessions)} for some in (measured, tuning)]
    assert not references[0] & references[1]


def test_one_session_in_five_takes_something_back(measured):
    for number, session in enumerate(measured.sessions):
        back = [turn for turn, step in enumerate(session.plan) if step.takes_back]
        assert len(session.plan) == 4 and len(back) == (number % CONTRADICTING == CONTRADICTING - 1)
        groups = [group for step in session.plan if not step.takes_back for group in step.groups]
        assert len(set(groups)) == len(groups)
        for turn in back:
            assert turn >= 2 and session.plan[turn].groups[0] in groups


def test_a_later_request_contradicts_an_earlier_one_only_where_it_is_meant_to(measured, truths):
    pool, tried = Pool(truths["test"]), Counter()
    for session in measured.sessions:
        wants, used = {}, [session.reference_id]
        for turn, step in enumerate(session.plan, start=1):
            request = next_request(session, turn, used[-1], wants, used, pool, "measured")
            if request is None:
                continue
            clash = {group for group, values in request.wants.items() if not wants.get(group, values) & values}
            assert clash == (set(step.groups) if step.takes_back else set())
            tried[step.takes_back] += 1
            wants = carried_on(wants, request.wants)
            good = [pool.ids[row] for row in pool.satisfying(wants, used).nonzero()[0]]
            assert good and all(satisfies(truths["test"][image_id], wants) for image_id in good)
            used.append(good[0])
    assert tried[True] >= 6 and tried[False] > 180


def test_the_words_are_the_same_for_every_picked_image_they_apply_to(measured, truths):
    """So that methods that pick different images are asked the same, as far as possible."""
    pool = Pool(truths["test"])
    plain = [image_id for image_id, one in truths["test"].items() if one["colour"] == "grey"][:8]
    session = next(one for one in measured.sessions if one.plan[0] == PlannedRequest("single", ("colour",)))
    asked = [next_request(session, 1, image_id, {}, [image_id], pool, "measured") for image_id in plain]
    assert len({one.text for one in asked}) == 1
