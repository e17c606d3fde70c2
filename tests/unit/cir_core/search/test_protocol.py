from dataclasses import replace

import pytest

from cir_core.garments.learned import RECORD, load_reader
from cir_core.methods.declared import builtin_methods
from cir_core.search.protocol import (
    card_from_dict,
    card_to_dict,
    differences,
    make_card,
    with_method,
    with_models,
    with_stand_ins,
)
from cir_core.types.records import EncoderIdentity, MethodSettings

BASE = {
    "gallery": "demo", "gallery_size": 10, "gallery_digest": "aa", "split": "test",
    "encoder": EncoderIdentity("atelier", "bb", 8), "language_model": "built-in/1", "method": MethodSettings(),
}


def test_a_card_survives_a_round_trip():
    card = make_card(**BASE)
    assert card_from_dict(card_to_dict(card)) == card


def test_everything_that_changes_a_number_changes_the_digest():
    base = make_card(**BASE).digest
    changes = [
        {"gallery_size": 11}, {"gallery_digest": "ab"}, {"split": "val"}, {"language_model": "other/1"},
        {"encoder": EncoderIdentity("atelier", "bc", 8)}, {"caption_mode": "joined"}, {"seed": 1},
        {"method": MethodSettings(alpha=0.09)}, {"method": MethodSettings(exclude="none")},
        {"method": MethodSettings(base="text-only")}, {"scope": "each category by itself"}, {"max_turns": 4},
        {"captions": "cc"}, {"domain": "chair"},
    ]
    digests = {make_card(**{**BASE, **change}).digest for change in changes}
    assert len(digests) == len(changes) and base not in digests


def test_names_of_things_do_not_change_the_digest():
    encoder = replace(BASE["encoder"], spec="local-dir:/elsewhere")
    assert make_card(**{**BASE, "gallery": "mine", "encoder": encoder}).digest == make_card(**BASE).digest


def test_a_card_of_an_older_version_keeps_its_digest():
    old = {**card_to_dict(make_card(**BASE)), "digest": "00ff00ff00ff00ff"}
    for field in ("scope", "max_turns", "captions", "domain"):
        del old[field]
    card = card_from_dict(old)
    assert (card.domain, card.captions, card.digest) == ("garment", "", "00ff00ff00ff00ff")
    assert with_method(card, card.method) is card
    assert with_models(card, make_card(**BASE)) is card


@pytest.mark.parametrize(("change", "remark"), [
    ({"language_model": "large@there"},
     "this session began with the language model built-in/1; this turn goes on with the language model large@there"),
    ({"captions": "cc"},
     "this session began with no optimised captions; this turn goes on with the optimised captions cc"),
    ({"domain": "chair"}, "this session began with the domain 'garment'; this turn goes on with the domain 'chair'"),
])
def test_what_answers_differently_is_said_and_hashed(change, remark):
    old, new = make_card(**BASE), make_card(**{**BASE, **change})
    assert differences(old, new) == (remark,)
    assert differences(new, old) != (remark,) and len(differences(new, old)) == 1
    assert with_models(old, new) == new and with_models(new, old) == old


def test_a_turn_of_other_models_keeps_the_rest_of_its_card():
    old = make_card(**BASE)
    everything = {"language_model": "other/1", "captions": "cc", "domain": "chair"}
    new = make_card(**{**BASE, **everything, "method": MethodSettings(base="text-only"), "seed": 7})
    assert len(differences(old, new)) == 3
    assert with_models(old, new) == make_card(**{**BASE, **everything})
    assert differences(old, make_card(**{**BASE, "method": MethodSettings(base="text-only")})) == ()


def test_stand_ins_change_the_digest_and_nothing_shows_where_there_are_none():
    card = make_card(**BASE)
    assert with_stand_ins(card, ()) is card and "stand_ins" not in card_to_dict(card)
    other = with_stand_ins(card, ("built-in/2",))
    assert other.digest != card.digest and card_to_dict(other)["stand_ins"] == ("built-in/2",)
    assert with_stand_ins(other, ()) == card
    assert card_from_dict({**card_to_dict(other), "stand_ins": ["built-in/2"]}) == other


def test_a_method_that_reads_aspects_names_the_reader_of_its_encoder():
    revision, digest = (reader := load_reader(RECORD)).revision, reader.digest
    guided = builtin_methods()["guided"].settings
    bundled = {**BASE, "encoder": EncoderIdentity("atelier", revision, 192)}
    card = make_card(**{**bundled, "method": guided})
    assert card.reader == digest and card_from_dict(card_to_dict(card)) == card
    assert "reader" not in card_to_dict(make_card(**{**BASE, "method": guided})), "of another encoder"
    assert "reader" not in card_to_dict(plain := make_card(**bundled)), "of a method that reads none"
    assert with_method(plain, guided) == card and with_method(card, plain.method) == plain
    assert differences(card, plain) == differences(plain, card) == ()


def test_a_session_begun_before_there_was_a_reader_goes_on_and_says_so():
    guided = builtin_methods()["guided"].settings
    reader = load_reader(RECORD)
    card = make_card(**{**BASE, "encoder": EncoderIdentity("atelier", reader.revision, 192), "method": guided})
    earlier = card_from_dict({key: value for key, value in card_to_dict(card).items() if key != "reader"})
    assert differences(earlier, card) == (
        f"this session began with readings by texts; this turn goes on with the learned reader {reader.digest}",)
    assert with_models(earlier, card) == card and with_method(earlier, guided) is earlier
