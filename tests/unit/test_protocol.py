from dataclasses import replace

from cir_core.protocol import card_from_dict, card_to_dict, make_card
from cir_core.types import EncoderIdentity, MethodSettings

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
    ]
    digests = {make_card(**{**BASE, **change}).digest for change in changes}
    assert len(digests) == len(changes) and base not in digests


def test_names_of_things_do_not_change_the_digest():
    encoder = replace(BASE["encoder"], spec="local-dir:/elsewhere")
    assert make_card(**{**BASE, "gallery": "mine", "encoder": encoder}).digest == make_card(**BASE).digest
