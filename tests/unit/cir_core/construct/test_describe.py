"""Statistics of sessions, counted by hand here."""

from __future__ import annotations

import json
from typing import Any

import pytest

from cir_core.construct.describe.report import (
    describe_sessions,
    page,
    places,
    size_table,
    terms_table,
    word_cloud,
    wording_table,
)
from cir_core.construct.describe.sets import read_sets
from cir_core.construct.describe.words import SUGGESTED, Term, TransformersTagger, category_of, wording
from cir_core.datasets.readers.circled import CircledSession, CircledTurn, write_sessions
from cir_core.datasets.readers.circled_raw import write_raw
from cir_core.errors import DatasetError, EncoderUnavailable

DRESSES = [
    CircledSession("fashioniq_dress_val_0000", "fashioniq_dress_val", ("Z",), (
        CircledTurn("A", "is red and long"), CircledTurn("B", "Add a long-sleeved top"))),
    CircledSession("fashioniq_dress_val_0001", "fashioniq_dress_val", ("Z",), (
        CircledTurn("C", "is red"), CircledTurn("A", "Add a belt"), CircledTurn("D", "Don't add red"))),
]
SCENES = [CircledSession("cirr_val_0000", "cirr_val", ("Z", "Y"), (CircledTurn("A", "snow"), CircledTurn("B", "")))]


@pytest.fixture
def files(tmp_path):
    write_sessions(tmp_path / "a.json", DRESSES)
    write_sessions(tmp_path / "b.json", SCENES)
    return tmp_path


def described(files, tagger=None):
    subsets, notes = read_sets([files])
    return describe_sessions(subsets, notes, tagger)


def test_sessions_by_turns(files):
    dress, scene, total = described(files).sizes
    assert (dress.name, dress.category, dress.sessions, dress.turns, dress.by_turns) == (
        "fashioniq_dress_val", "dress", 2, 5, {2: 1, 3: 1})
    assert (dress.images, dress.mean_turns, dress.gallery) == (5, 2.5, None)     # A B C D Z
    assert (scene.category, scene.images, scene.by_turns) == ("general", 4, {2: 1})
    # The same id in another subset is another image.
    assert (total.name, total.category, total.sessions, total.images, total.by_turns) == (
        "all", "dress, general", 3, 9, {2: 2, 3: 1})
    table = size_table(described(files))
    assert [column.name for column in table.columns[-3:]] == ["1 turn", "2 turns", "3 turns"]
    assert table.rows[0][-3:] == (0, 1, 1)


def test_words_of_original_captions_and_of_later_turns(files):
    first, later, both = described(files).wordings
    # is red and long | is red | snow
    assert (first.texts, first.words, first.types, first.lengths) == (3, 7, 5, {1: 1, 2: 1, 4: 1})
    assert first.mean_words == pytest.approx(7 / 3) and first.type_token_ratio == pytest.approx(5 / 7)
    assert [(one.term, one.count) for one in first.terms] == [("red", 2), ("long", 1), ("snow", 1)]
    assert first.terms[0].share == pytest.approx(2 / 3)
    # add a long-sleeved top | add a belt | don't add red; the empty text is none
    assert (later.texts, later.words, later.types) == (3, 10, 7)
    assert [(one.term, one.count) for one in later.terms][:2] == [("add", 3), ("belt", 1)]
    assert "long-sleeved" in [one.term for one in later.terms]
    assert (both.texts, both.words) == (6, 17)
    assert terms_table(described(files)).rows[0] == ("red", 2, pytest.approx(2 / 3), "add", 3, 1.0)


def test_of_nothing_there_are_no_figures():
    found = wording("none", ["", " "])
    assert (found.texts, found.mean_words, found.type_token_ratio, found.terms) == (0, None, None, ())
    assert wording("stop words", ["is the"]).terms == ()
    assert word_cloud("k", "t", ()).alt == "No words."
    assert "No sessions" in page(describe_sessions([]), "x")


class ByEnding:
    name = "endings"

    def tags(self, texts):
        return [["adjective" if word == "red" else "verb" if word in ("add", "is") else "noun" for word in words]
                for words in texts]


def test_parts_of_speech_are_shares_of_all_words(files):
    found = described(files, ByEnding())
    first = found.wordings[0].parts
    # is red and long is red snow: 2 verbs, 2 adjectives, 3 others that this tagger calls nouns
    assert (first.noun, first.verb, first.adjective) == (pytest.approx(3 / 7), pytest.approx(2 / 7),
                                                         pytest.approx(2 / 7))
    assert "Parts of speech by endings." in wording_table(found).note
    assert wording_table(found).rows[0][-2:] == (pytest.approx(2 / 7), pytest.approx(2 / 7))


def test_without_a_tagger_the_table_says_what_to_install(files):
    table = wording_table(described(files))
    assert all(row[-3:] == (None, None, None) for row in table.rows)
    assert f"--tagger {SUGGESTED}" in table.note
    assert json.loads(json.dumps(described(files).as_json()))["wordings"][0]["parts"] is None


def test_a_page_that_needs_no_network(files):
    text = page(described(files), "<my sessions>")
    assert "&lt;my sessions&gt;" in text and "3 sessions, 7 turns" in text and "Words of a text" in text
    assert "default-src &#39;none&#39;" in text and "https://" not in text.split("<script")[0]


def test_folders_that_constructions_and_filters_write(files, tmp_path):
    for folder in ("public", "raw"):
        (tmp_path / "built" / folder).mkdir(parents=True)
    write_sessions(tmp_path / "built/public/cirr_val.json", SCENES)
    head = {"dataset_name": "cirr_val", "data_completeness": {"images": 64}}
    write_raw(tmp_path / "built/raw/cirr_val.json", head, [])
    [one], _ = read_sets([tmp_path / "built"])
    assert (one.name, one.sessions, one.gallery) == ("cirr_val", tuple(SCENES), 64)
    result: dict[str, Any] = {"query_id": "1", "reference_image_id": "a", "ground_truth_ids": ["z"], "success": False,
                              "original_query": "red", "turns": []}
    write_raw(tmp_path / "raw.json", {"dataset_name": "lasco_val", "data_completeness": {"images": 9}}, [result])
    [raw], notes = read_sets([tmp_path / "raw.json"])
    assert (raw.name, raw.gallery, len(raw.sessions)) == ("lasco_val", 9, 1)
    assert notes == ["raw.json: 1 sessions of the raw file did not reach their target; they are included."]
    with pytest.raises(DatasetError, match="Two of the files have the session 'cirr_val_0000'"):
        read_sets([tmp_path / "built", files / "b.json"])
    (tmp_path / "empty").mkdir()
    with pytest.raises(DatasetError, match="contains no file of sessions"):
        read_sets([tmp_path / "empty"])


def test_of_filtered_sessions_a_subset_with_none_left_is_passed_over(files, tmp_path):
    (tmp_path / "stages.json").touch()
    (tmp_path / "public").mkdir()
    write_sessions(tmp_path / "public/cirr_val.json", [])
    for path in (tmp_path, tmp_path / "public"):
        with pytest.raises(DatasetError, match=r"has no session: .*stages.json says how many the filters dropped"):
            read_sets([path])
    write_sessions(tmp_path / "public/cirr_test.json", SCENES)
    for path in (tmp_path, tmp_path / "public"):
        [one], _ = read_sets([path])
        assert one.sessions == tuple(SCENES)


def test_no_word_of_a_cloud_covers_another():
    words = [(f"word{n}" * (1 + n % 2), 24 - n / 3) for n in range(40)]
    placed = places(words)
    assert placed[0][1:3] == (0, 0) and len(placed) > 15
    boxes = [(x - len(word) * size * 0.31, x + len(word) * size * 0.31, y - size * 0.62, y + size * 0.62)
             for word, x, y, size in placed]
    for i, a in enumerate(boxes):
        for b in boxes[:i]:
            assert a[0] >= b[1] - 0.2 or b[0] >= a[1] - 0.2 or a[2] >= b[3] - 0.2 or b[2] >= a[3] - 0.2
    figure = word_cloud("k", "t", [Term("red", 9, 0.5), Term("a<b", 1, 0.1)])
    sizes = figure.spec["data"][0]["textfont"]["size"]
    assert sizes[0] == 34 and sizes[1] == pytest.approx(34 / 3, abs=0.1)


# --- the tagger --------------------------------------------------------------------------------


def tiny_tagger(folder, labels=("NOUN", "VERB", "ADJ", "DET")):
    """A token classifier of random weights, but for the last layer: a word's label is that of its embedding."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import BertConfig, BertForTokenClassification, PreTrainedTokenizerFast

    torch.manual_seed(3)
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "belt", "add", "red", "a"]
    tokenizer = Tokenizer(models.WordLevel({word: n for n, word in enumerate(words)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="[UNK]", pad_token="[PAD]", cls_token="[CLS]",
                            sep_token="[SEP]", model_max_length=16).save_pretrained(folder)
    config = BertConfig(vocab_size=len(words), hidden_size=16, num_hidden_layers=0, num_attention_heads=2,
                        intermediate_size=16, max_position_embeddings=16,
                        id2label=dict(enumerate(labels)), label2id={label: n for n, label in enumerate(labels)})
    model = BertForTokenClassification(config).eval()
    with torch.no_grad():
        embeddings = model.bert.embeddings
        embeddings.position_embeddings.weight.zero_()
        embeddings.token_type_embeddings.weight.zero_()
        embeddings.word_embeddings.weight.zero_()
        for n in range(4):
            embeddings.word_embeddings.weight[4 + n, n] = 1.0
        model.classifier.weight.zero_()
        model.classifier.bias.zero_()
        for n in range(min(4, len(labels))):
            model.classifier.weight[n, n] = 1.0
    model.save_pretrained(folder)
    return str(folder)


def test_a_token_classifier_tags_words(tmp_path):
    tagger = TransformersTagger(tiny_tagger(tmp_path))
    assert tagger.tags([["add", "a", "red", "belt"], ["belt"], []]) == [
        ["verb", "other", "adjective", "noun"], ["noun"], []]
    # Beyond the model's length nothing is tagged; batches make no difference.
    [long, *rest] = tagger.tags([["belt"] * 20, *[["add"]] * 70])
    assert long == ["noun"] * 14 + ["other"] * 6 and rest == [["verb"]] * 70
    found = wording("texts", ["add a red belt", "a belt"], tagger)
    assert (found.parts.noun, found.parts.verb, found.parts.adjective) == (2 / 6, 1 / 6, 1 / 6)


def test_taggers_that_cannot_serve(tmp_path):
    with pytest.raises(EncoderUnavailable, match="could not be loaded"):
        TransformersTagger(str(tmp_path))
    with pytest.raises(EncoderUnavailable, match="has no label for adjectives; its labels are NOUN, VERB, X, DET"):
        TransformersTagger(tiny_tagger(tmp_path / "x", ("NOUN", "VERB", "X", "DET")))


@pytest.mark.parametrize(("label", "category"), [
    ("NOUN", "noun"), ("PROPN", "noun"), ("NNS", "noun"), ("VERB", "verb"), ("VBZ", "verb"), ("AUX", "other"),
    ("ADJ", "adjective"), ("JJR", "adjective"), ("B-ADJ", "adjective"), ("DET", "other"), ("NUM", "other"),
])
def test_labels_of_two_tag_sets(label, category):
    assert category_of(label) == category
