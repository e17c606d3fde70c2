from dataclasses import replace

import pytest

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
        {"captions": "cc"}, {"domain": "chair"}, {"index": "faiss:hnsw"}, {"index": "faiss:ivf-sq"},
    ]
    digests = {make_card(**{**BASE, **change}).digest for change in changes}
    assert len(digests) == len(changes) and base not in digests


def test_exact_search_is_not_in_a_card_so_that_digests_stay():
    assert "index" not in card_to_dict(make_card(**BASE))
    assert card_to_dict(make_card(**BASE, index="faiss:hnsw"))["index"] == "faiss:hnsw"


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
     "this session began with the language model built-in/1; this turn continues with the language model large@there"),
    ({"captions": "cc"},
     "this session began with no optimised captions; this turn continues with the optimised captions cc"),
    ({"domain": "chair"}, "this session began with the domain 'garment'; this turn continues with the domain 'chair'"),
    ({"index": "faiss:hnsw"}, "this session began with exact search; this turn continues with the index faiss:hnsw"),
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
