"""Statistics of sessions, counted by hand here."""

from __future__ import annotations

import json
from typing import Any

import pytest

from cir_core.construct.describe.report import describe_sessions, page, size_table, terms_table, wording_table
from cir_core.construct.describe.sets import read_sets
from cir_core.construct.describe.tagging import SUGGESTED, TransformersTagger, category_of
from cir_core.construct.describe.targets import (
    describe_targets,
    histogram_table,
    holds_targets,
    target_page,
    target_table,
)
from cir_core.construct.describe.word_cloud import places, word_cloud
from cir_core.construct.describe.words import Term, wording
from cir_core.construct.targets.provenance import Candidate, FoundIn, QueryCandidates, write_provenance
from cir_core.datasets.readers.circled import CircledSession, CircledTurn, write_sessions
from cir_core.datasets.readers.circled_raw import write_raw
from cir_core.datasets.readers.soft import MultiTarget, write_multi_target
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
    with pytest.raises(DatasetError, match="holds no file of sessions"):
        read_sets([tmp_path / "empty"])


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


# --- queries with several targets ------------------------------------------------------------

def record(reference, **scores):
    return MultiTarget(reference, "t", ("x",), 0.85, scores)


def candidates(confidence):
    found = (FoundIn("tg_img", 1, 1.0, 0.1), FoundIn("caption_query", 3, 0.3, confidence))
    return QueryCandidates("q", "r", "t", ("x",), "x", (), {}, (Candidate("a", found[:1]), Candidate("t", found)))


@pytest.fixture
def folder(tmp_path):
    selection = tmp_path / "multi_target_selection"
    # Targets: 2 (the original among them), 3 (with the reference), 1 (0.5 is below the threshold).
    write_multi_target(selection / "dress_multi_target_selection.json", [
        record("r1", t=0.9, a=0.85), record("r2", a=0.9, b=0.9, r2=1.0), record("r3", a=0.9, t=0.5)])
    write_multi_target(selection / "shirt_multi_target_selection.json", [record("r4", t=0.9, a=0.9)])
    for name, scores in (("dress", (0.9, 0.94, 1.0, 0.3, None)), ("shirt", (0.95, 0.04))):
        write_provenance(tmp_path / f"provenance/{name}.jsonl", [candidates(one) for one in scores])
    return tmp_path


def test_counts_by_number_of_targets_and_of_their_confidences(folder):
    dress, shirt, both = describe_targets([folder]).rows
    assert (dress.queries, dress.targets, dress.by_targets) == (3, 6, {1: 1, 2: 1, 3: 1})
    assert (dress.mean, dress.most, dress.rewritable, dress.without_original, dress.with_reference) == (2.0, 3, 1, 2, 1)
    # The greatest of its groups, in steps of 0.05: 0.9 and 0.94 at 0.90, 1 at the last one; without its own 0.1 counts.
    assert dress.original == {0.1: 1, 0.3: 1, 0.9: 2, 0.95: 1} and shirt.original == {0.1: 1, 0.95: 1}
    assert (both.name, both.queries, both.by_targets) == ("all", 4, {1: 1, 2: 2, 3: 1})
    assert both.original == {0.1: 2, 0.3: 1, 0.9: 2, 0.95: 2}
    found = describe_targets([folder])
    assert [row[:4] for row in target_table(found).rows][-1] == ("all", 4, 8, 2.0)
    assert [row[:2] for row in histogram_table(found).rows] == [(1, 1), (2, 2), (3, 1)]
    page = target_page(found, "both")
    assert "Targets of a query, all: 1: 1, 2: 2, 3: 1" in page and "from 0.95: 2" in page


def test_a_file_alone_has_its_provenance_beside_it(folder, tmp_path):
    path = folder / "multi_target_selection/shirt_multi_target_selection.json"
    [row] = describe_targets([path]).rows
    assert row.original == {0.1: 1, 0.95: 1}
    (folder / "provenance/shirt.jsonl").unlink()
    [row] = describe_targets([path]).rows
    assert row.original is None and "Confidence of" not in target_page(describe_targets([path]), "shirt")


def test_files_of_targets_are_told_from_files_of_sessions(folder, tmp_path):
    assert holds_targets(folder) and holds_targets(folder / "multi_target_selection")
    assert holds_targets(folder / "multi_target_selection/dress_multi_target_selection.json")
    for name, content in (("a", '[{"session_id": "x", "turns": []}]'), ("b", '{"results": []}'), ("c", "[]")):
        (tmp_path / name).write_text(content)
        assert not holds_targets(tmp_path / name)
    empty = tmp_path / "hat_multi_target_selection.json"
    empty.write_text("[]")
    assert holds_targets(empty)
    [row] = describe_targets([empty]).rows
    assert (row.name, row.queries, row.targets, row.mean, row.most) == ("hat", 0, 0, None, 0)
    assert histogram_table(describe_targets([empty])).rows == () and "0 queries" in target_page(
        describe_targets([empty]), "hat")
    assert not holds_targets(tmp_path / "none") and not holds_targets(tmp_path / "provenance")
