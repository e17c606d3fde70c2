"""Of several captions the one that finds its image best; runs that stop, fail and go on."""

import json
import threading

import numpy as np
import pytest
from PIL import Image

from cir_core.captions.caption_build import CaptionProgress, optimise_captions
from cir_core.captions.captions import (
    MANIFEST,
    Candidate,
    RankSummary,
    best_captions,
    distinct_captions,
    tidy_caption,
)
from cir_core.captions.stored import captions_locked, captions_path, read_captions, read_choices
from cir_core.errors import (
    EncoderMismatch,
    GalleryError,
    LanguageModelError,
    LanguageModelUnavailable,
    UnsupportedTask,
)
from cir_core.gallery.gallery import open_gallery, remove_gallery
from cir_core.gallery.indexing import index_folder
from cir_core.gallery.paths import features_path
from cir_core.index.flat import FlatIndex
from cir_core.language.wrappers.base import Conditions
from tests.fakes.captioner import ScriptedCaptioner, numbered
from tests.fakes.encoder import CountingEncoder, FakeEncoder
from tests.fakes.patience import wait_for

# Three images A, B, C; scores of a caption are its products with the rows.
FEATURES = np.array([[1, 0, 0], [0.8, 0.6, 0], [0, 1, 0]], dtype=np.float32)
TEXTS = {
    "late": (0.96, 0.28, 0),       # A 0.96, B 0.936, C 0.28: B at rank 2, cosine 0.936
    "weak": (0.48, 0.36, 0.8),     # A 0.48, B 0.6, C 0.36: B at rank 1, cosine 0.6
    "good": (0.6, 0.8, 0),         # A 0.6, B 0.96, C 0.8: B at rank 1, cosine 0.96
    "as good": (0.6, 0.8, 0),
}


class TableEncoder(FakeEncoder):
    """Vectors of texts from a table; remembers which were encoded."""

    def __init__(self, table):
        super().__init__(8)
        self.table, self.encoded = table, []

    def encode_texts(self, texts):
        self.encoded += texts
        return np.array([self.table[text] for text in texts], dtype=np.float32)


def best(captions, row=1, features=FEATURES, table=TEXTS):
    index = FlatIndex(features, [str(i) for i in range(len(features))])
    candidates = [Candidate(text, sample) for sample, text in enumerate(captions)]
    [choice] = best_captions(index, features, TableEncoder(table), [(row, candidates)])
    return choice


@pytest.mark.parametrize(("captions", "caption", "rank", "cosine", "sample", "first_rank"), [
    (("late", "weak"), "weak", 1, 0.6, 1, 2),               # the rank decides, though 0.936 > 0.6
    (("late", "weak", "good"), "good", 1, 0.96, 2, 2),      # equal ranks: the cosine
    (("as good", "good"), "as good", 1, 0.96, 0, 1),        # equal cosines: generated first
    (("good", "as good"), "good", 1, 0.96, 0, 1),
    (("late",), "late", 2, 0.936, 0, 2),
])
def test_rank_then_cosine_then_order(captions, caption, rank, cosine, sample, first_rank):
    choice = best(captions)
    assert (choice.caption, choice.rank, choice.sample, choice.first_rank) == (caption, rank, sample, first_rank)
    assert choice.cosine == pytest.approx(cosine, abs=1e-6)
    assert choice.distinct == len(captions)


def test_of_two_copies_the_first_is_found_first():
    features = FEATURES[[1, 0, 1]]
    assert best(["good"], row=0, features=features).rank == 1
    assert best(["good"], row=2, features=features).rank == 2  # same score, later in the gallery


def test_many_images_at_once_give_what_each_gives_alone():
    rng = np.random.default_rng(20261121)
    features = rng.standard_normal((40, 8)).astype(np.float32)
    features /= np.linalg.norm(features, axis=1, keepdims=True)
    table = {f"t{i}": vector / np.linalg.norm(vector) for i, vector in enumerate(rng.standard_normal((60, 8)))}
    drawn = [[f"t{i}" for i in rng.integers(0, 60, 9)] for _ in range(40)]
    images = [(row, [Candidate(text, i) for i, text in enumerate(texts)]) for row, texts in enumerate(drawn)]
    encoder = TableEncoder(table)
    together = best_captions(FlatIndex(features, [str(i) for i in range(40)]), features, encoder, images)
    assert together == [best(texts, row, features, table) for row, texts in enumerate(drawn)]
    assert len(encoder.encoded) == len(set(encoder.encoded))
    for row, choice in enumerate(together):
        # By definition, with the numbers of numpy alone.
        scores = features.astype(np.float64) @ np.array([table[text] for text in drawn[row]]).T
        keys = [((scores[:, i] > scores[row, i]).sum() + 1, -scores[row, i]) for i in range(9)]
        assert choice.caption == drawn[row][keys.index(min(keys))]


def test_repeated_and_empty_captions_are_no_candidates():
    given = [Candidate(text, i) for i, text in enumerate(["", "b", "a", "b", "", "a", "c"])]
    assert distinct_captions(given) == [Candidate("b", 1), Candidate("a", 2), Candidate("c", 6)]


def test_captions_are_one_tidy_line():
    assert tidy_caption(" a  red\n dress\t") == "a red dress"
    assert tidy_caption("e\u0301te\u0301") == "\u00e9t\u00e9"
    assert tidy_caption("连衣裙 👗") == "连衣裙 👗"
    assert tidy_caption("\ud800x") == "?x"
    assert tidy_caption(" \u200b\n") == ""
    assert len(tidy_caption("long " * 1000)) <= 1000


def test_summary_of_ranks():
    # mean (1 + 1 + 4 + 8) / 4 = 3.5, median (1 + 4) / 2 = 2.5, two of four at rank 1
    assert RankSummary.of([4, 1, 8, 1]) == RankSummary(3.5, 2.5, 0.5)
    assert RankSummary.of([]) == RankSummary(0.0, 0.0, 0.0)


COLOURS = {"red": (255, 0, 0), "green": (0, 255, 0), "blue": (0, 0, 255), "yellow": (255, 255, 0)}
IDS = ("blue", "green", "red", "yellow")  # in the gallery's order


@pytest.fixture
def source(tmp_path):
    folder = tmp_path / "photos"
    folder.mkdir()
    for name, colour in COLOURS.items():
        Image.new("RGB", (8, 8), colour).save(folder / f"{name}.png")
    return folder


def indexed(source, tmp_path, **options):
    index_folder(source, name="g", encoder=FakeEncoder(), home=tmp_path / "home", **options)
    return open_gallery("g", home=tmp_path / "home")


@pytest.fixture
def gallery(source, tmp_path):
    return indexed(source, tmp_path)


def name_of(gallery):
    names = {image.sha256: image.image_id for image in gallery.images}
    return lambda task: names[task.picture.digest]


def run(gallery, model, **options):
    return optimise_captions(gallery, FakeEncoder(), model, **{"samples": 3, **options})


def test_a_damaged_gallery_gets_no_captions(gallery, tmp_path):
    path = features_path(gallery.folder, gallery.generation)
    whole, content = path.read_bytes(), bytearray(path.read_bytes())
    content[9] ^= 1
    path.write_bytes(content)
    damaged, model = open_gallery("g", home=tmp_path / "home"), ScriptedCaptioner()
    for options in ({}, {"limit": 1}, {"restart": True}):
        with pytest.raises(GalleryError, match=r"whole gallery.*cirque galleries repair g"):
            run(damaged, model, **options)
    assert not (gallery.folder / "captions").exists()
    path.write_bytes(whole)
    assert run(open_gallery("g", home=tmp_path / "home"), ScriptedCaptioner()).published


def test_a_whole_gallery(gallery):
    """FakeEncoder: an image of one colour and that word point the same way; yellow is red + green.

    Sample 0 says "red" of everything. For blue and green "red" scores little: both are at the
    same tiny product with it, behind red and yellow: blue at rank 3 (first in the gallery),
    green at rank 4. For yellow, "red" finds red first: rank 2.
    """
    colour = name_of(gallery)
    model = ScriptedCaptioner(
        lambda task: ("red", "red green", "Blue" if colour(task) == "blue" else colour(task))[task.sample])
    seen: list[CaptionProgress] = []
    report = run(gallery, model, progress=seen.append)
    assert report.published and (report.asked, report.resumed, report.problems) == (12, 0, ())
    captions = read_captions(gallery)
    assert captions is not None and captions.header == report.header
    assert dict(captions.texts) == {"blue": "Blue", "green": "green", "red": "red", "yellow": "red green"}
    choices, problems = read_choices(gallery)
    assert problems == {}
    assert {name: (one.rank, one.first_rank, one.sample, one.distinct) for name, one in choices.items()} == {
        "blue": (1, 3, 2, 3), "green": (1, 4, 2, 3), "red": (1, 1, 0, 2), "yellow": (1, 2, 1, 3)}
    header = report.header
    assert (header.before, header.after) == (RankSummary(2.5, 2.5, 0.25), RankSummary(1.0, 1.0, 1.0))
    assert (header.captioner, header.samples, header.domain) == ("scripted/1", 3, "garment")
    assert (header.images, header.captioned, header.incomplete) == (4, 4, 0)
    assert header.distinct == (3 + 3 + 2 + 3) / 4
    assert (header.gallery_digest, header.encoder_revision) == (gallery.digest, FakeEncoder().identity.revision)
    assert [(p.done, p.total) for p in seen if p.stage == "captions"] == [(i, 4) for i in range(5)]
    assert (seen[-1].stage, seen[-1].done, seen[-1].total) == ("ranks", 4, 4)


def test_what_the_model_is_given(gallery):
    tasks = []
    run(gallery, ScriptedCaptioner(lambda task: tasks.append(task) or "red"), samples=2, domain="scene")
    assert [(task.picture.digest, task.sample) for task in tasks] == [
        (image.sha256, sample) for image in gallery.images for sample in (0, 1)]
    first = tasks[0]
    assert first.domain == "scene" and np.array_equal(first.picture.features, gallery.features[0])
    assert first.picture.load().getpixel((0, 0)) == COLOURS["blue"]
    assert first.picture.load() is first.picture.load(), "one image is decoded once for all samples"


def test_the_manifests_caption_is_one_more_candidate(source, tmp_path):
    manifest = tmp_path / "m.csv"
    manifest.write_text("id,path,caption\na,red.png,red\nb,blue.png,grün\nc,green.png,\n", encoding="utf-8")
    gallery = indexed(source, tmp_path, manifest=manifest)
    given = []
    report = run(gallery, ScriptedCaptioner(lambda task: given.append(task.picture.caption) or "blue"))
    assert set(given) == {None} and report.asked == 9
    choices, _ = read_choices(gallery)
    assert (choices["a"].caption, choices["a"].sample, choices["a"].distinct) == ("red", MANIFEST, 2)
    assert (choices["b"].caption, choices["b"].sample) == ("blue", 0)
    assert choices["a"].first_rank > 1, "the first caption is the model's"


def test_a_second_run_asks_nothing_and_publishes_nothing_new(gallery):
    first = run(gallery, ScriptedCaptioner())
    content = captions_path(gallery).read_bytes()
    model = ScriptedCaptioner()
    second = run(gallery, model)
    assert model.asked == [] and second.resumed == 4
    assert second.header.digest == first.header.digest
    assert captions_path(gallery).read_bytes() == content


def failing(gallery, name, error):
    colour = name_of(gallery)

    def say(task):
        if colour(task) == name:
            raise error
        return numbered(task)

    return say


def test_a_bad_image_is_noted_and_tried_again(gallery, source):
    def looks(task):
        task.picture.load()
        return numbered(task)

    original = (source / "green.png").read_bytes()
    (source / "green.png").write_bytes(original[:40])
    model = ScriptedCaptioner(looks)
    report = run(gallery, model)
    [(image_id, problem)] = report.problems
    assert image_id == "green" and "green.png is" in problem
    assert len(model.asked) == 3 * 3 + 1, "what cannot be read is not asked about again for every sample"
    captions = read_captions(gallery)
    assert captions is not None and len(captions.texts) == 3 and captions.caption_of("green") is None
    assert read_choices(gallery)[1] == dict(report.problems)

    (source / "green.png").write_bytes(original)
    model = ScriptedCaptioner(looks)
    report = run(gallery, model)
    assert {digest for digest, _ in model.asked} == {gallery.image(1).sha256} and len(model.asked) == 3
    assert report.problems == () and report.resumed == 3
    captions = read_captions(gallery)
    assert captions is not None and len(captions.texts) == 4


def test_a_model_error_is_the_images_alone(gallery):
    model = ScriptedCaptioner(failing(gallery, "red", LanguageModelError("The answer has no caption.")))
    report = run(gallery, model, samples=10)
    assert report.problems == (("red", "The answer has no caption."),)
    assert report.header.captioned == 3
    assert len(model.asked) == 30 + 3, "three errors after one another are enough"


def test_one_failed_sample_leaves_the_others_and_is_asked_for_again(gallery):
    def say(task):
        if task.sample == 1 and task.picture.digest == gallery.image(0).sha256:
            raise LanguageModelError("The answer has no caption.")
        return numbered(task)

    report = run(gallery, ScriptedCaptioner(say))
    assert report.problems == (("blue", "The answer has no caption."),)
    assert (report.header.captioned, report.header.incomplete) == (4, 1)
    assert read_choices(gallery)[0]["blue"].distinct == 2
    model = ScriptedCaptioner()
    report = run(gallery, model)
    assert model.asked == [(gallery.image(0).sha256, 1)]
    assert report.problems == () and report.header.incomplete == 0
    assert read_choices(gallery)[0]["blue"].distinct == 3


def test_empty_answers_are_dropped(gallery):
    colour = name_of(gallery)
    report = run(gallery, ScriptedCaptioner(
        lambda task: " " if colour(task) == "red" or task.sample == 0 else numbered(task)))
    assert report.problems == (("red", "got no caption from the language model."),)
    choices, _ = read_choices(gallery)
    assert "red" not in choices and choices["blue"].distinct == 2 and choices["blue"].sample > 0
    model = ScriptedCaptioner(lambda task: "red")
    run(gallery, model)
    assert model.asked == [(gallery.image(2).sha256, i) for i in range(3)]
    with pytest.raises(GalleryError, match="No image of gallery 'g' got a caption"):
        run(gallery, ScriptedCaptioner(lambda task: ""), restart=True)


@pytest.mark.parametrize("workers", [1, 3])
def test_a_model_that_goes_away_keeps_what_was_done(gallery, workers):
    before = threading.Semaphore(5)  # answers before the server is gone

    def say(task):
        if not before.acquire(blocking=False):
            raise LanguageModelUnavailable("The server does not answer.")
        return numbered(task)

    with pytest.raises(LanguageModelUnavailable, match=r"does not answer\. Nothing is lost"):
        run(gallery, ScriptedCaptioner(say), workers=workers)
    assert read_captions(gallery) is None
    model = ScriptedCaptioner()
    run(gallery, model, workers=workers)
    assert len(model.asked) == 12 - 5, "not even the samples of unfinished images are asked for again"


def test_a_role_that_cannot_be_filled_stops_the_run(gallery):
    def say(task):
        raise UnsupportedTask("This model does not caption.")

    model = ScriptedCaptioner(say)
    with pytest.raises(UnsupportedTask):
        run(gallery, model)
    assert len(model.asked) == 1


def test_ctrl_c_keeps_what_was_done(gallery):
    def interrupt(progress):
        if progress.done == 2:
            raise KeyboardInterrupt

    first = ScriptedCaptioner()
    with pytest.raises(KeyboardInterrupt):
        run(gallery, first, progress=interrupt)
    second = ScriptedCaptioner()
    run(gallery, second)
    assert len(first.asked) + len(second.asked) == 12
    assert set(first.asked).isdisjoint(second.asked)


def test_ctrl_c_waits_for_no_more_than_the_answers_on_their_way(gallery):
    others = threading.Event()

    class Slow(ScriptedCaptioner):
        def complete(self, task, watch=None):
            answer = super().complete(task, watch)
            if task.picture.digest != gallery.image(0).sha256:
                others.set()
                wait_for(lambda: watch.stopped, told=lambda: "nobody stops the others")
            return answer

    def interrupt(progress):
        if progress.done == 1:
            assert others.wait(60)
            raise KeyboardInterrupt

    first = Slow()
    with pytest.raises(KeyboardInterrupt):
        run(gallery, first, workers=2, progress=interrupt)
    asked = [digest for digest, _ in first.asked if digest != gallery.image(0).sha256]
    assert asked and len(asked) == len(set(asked)), "one answer each"
    second = ScriptedCaptioner()
    run(gallery, second)
    assert len(second.asked) == 12 - len(first.asked) and set(second.asked).isdisjoint(first.asked)


def test_as_many_images_at_a_time_as_workers(gallery):
    together = threading.Barrier(4, timeout=60)

    def say(task):
        if task.sample == 0:
            together.wait()  # passes only when all four images are being asked about
        return numbered(task)

    parallel = run(gallery, ScriptedCaptioner(say), workers=4)
    assert parallel.header.captioned == 4
    alone = run(gallery, ScriptedCaptioner(), restart=True)
    assert alone.header.digest == parallel.header.digest


def test_other_parameters_need_restart(gallery):
    run(gallery, ScriptedCaptioner())
    published = captions_path(gallery).read_bytes()
    for model, options, said in [
        (ScriptedCaptioner(name="other/2"), {}, "with model scripted/1; you ask for model other/2"),
        (ScriptedCaptioner(), {"samples": 5}, "with 3 samples; you ask for 5 samples"),
        (ScriptedCaptioner(), {"domain": "dress"}, "with domain garment; you ask for domain dress"),
    ]:
        with pytest.raises(GalleryError, match=said) as error:
            run(gallery, model, **options)
        assert "--restart" in str(error.value) and model.asked == []
    assert captions_path(gallery).read_bytes() == published
    model = ScriptedCaptioner(name="other/2")
    report = run(gallery, model, samples=2, restart=True)
    assert len(model.asked) == 8 and report.resumed == 0
    captions = read_captions(gallery)
    assert captions is not None and captions.header.captioner == "other/2"


class Prompted(ScriptedCaptioner):
    """A model that tells the version of its prompt."""

    prompt_version = "1.0011aabb"

    def conditions(self, task):
        return Conditions(self.prompt_version)


def test_answers_to_another_prompt_are_not_mixed_with_these(gallery):
    run(gallery, Prompted(), limit=2)
    model = Prompted()
    model.prompt_version = "1.2233ccdd"
    with pytest.raises(GalleryError, match=r"prompt version 1\.0011aabb; you ask for prompt version 1\.2233ccdd"):
        run(gallery, model)
    assert model.asked == []
    assert run(gallery, Prompted()).resumed == 2
    run(gallery, model, restart=True)
    assert len(model.asked) == 12


@pytest.mark.parametrize("spoil", [
    lambda heading: {**heading, "format": 2},
    lambda heading: {**heading, "unknown": 1},
    lambda heading: {key: value for key, value in heading.items() if key != "format"},
    lambda heading: {key: value for key, value in heading.items() if key != "model"},
    lambda heading: None,
])
def test_answers_of_another_version_are_not_written_over_unasked(gallery, spoil):
    run(gallery, ScriptedCaptioner())
    path = gallery.folder / "captions" / "texts.jsonl"
    first, rest = path.read_text().split("\n", 1)
    heading = spoil(json.loads(first))
    content = ("no heading" if heading is None else json.dumps(heading)) + "\n" + rest
    path.write_text(content)
    model = ScriptedCaptioner()
    with pytest.raises(GalleryError, match="--restart"):
        run(gallery, model)
    assert model.asked == [] and path.read_text() == content
    run(gallery, model, restart=True)
    assert len(model.asked) == 12
    assert run(gallery, ScriptedCaptioner()).resumed == 4


def test_texts_made_from_features_belong_to_their_encoder(source, tmp_path):
    """A blind model describes vectors, so other vectors need other descriptions."""
    for sees, refused in ((False, True), (True, False)):
        home = tmp_path / str(sees)
        index_folder(source, name="g", encoder=FakeEncoder(), home=home)
        run(open_gallery("g", home=home), ScriptedCaptioner(sees=sees))
        other = CountingEncoder(40)
        index_folder(source, name="g", encoder=other, home=home)
        gallery, model = open_gallery("g", home=home), ScriptedCaptioner(sees=sees)
        assert read_captions(gallery) is None
        if refused:
            with pytest.raises(GalleryError, match="encoder revision"):
                optimise_captions(gallery, other, model, samples=3)
        else:
            optimise_captions(gallery, other, model, samples=3)
            captions = read_captions(gallery)
            assert captions is not None and captions.header.encoder_revision == other.identity.revision
            assert other.texts == 12, "ranks of the other encoder say nothing here"
        assert model.asked == []
    with pytest.raises(EncoderMismatch):
        run(gallery, ScriptedCaptioner())


def test_after_indexing_again_only_new_images_are_captioned_and_all_are_ranked(gallery, source, tmp_path):
    colour = name_of(gallery)
    say = {"blue": "blue", "green": "green", "red": "red", "yellow": "red green"}
    run(gallery, ScriptedCaptioner(lambda task: say[colour(task)]))
    assert read_choices(gallery)[0]["red"].rank == 1
    (source / "green.png").unlink()
    Image.new("RGB", (9, 9), COLOURS["red"]).save(source / "a new red.png")  # before "red" in the gallery
    gallery = indexed(source, tmp_path)
    assert gallery.ids == ("a new red", "blue", "red", "yellow") and read_captions(gallery) is None
    model = ScriptedCaptioner(lambda task: "red")
    report = run(gallery, model)
    assert model.asked == [(gallery.image(0).sha256, i) for i in range(3)] and report.resumed == 3
    captions = read_captions(gallery)
    assert captions is not None
    assert dict(captions.texts) == {"a new red": "red", "blue": "blue", "red": "red", "yellow": "red green"}
    assert read_choices(gallery)[0]["red"].rank == 2, "the new image has the same vector and comes first"


def test_copies_of_a_file_share_their_captions(source, tmp_path):
    (source / "copy.png").write_bytes((source / "red.png").read_bytes())
    gallery = indexed(source, tmp_path)
    model = ScriptedCaptioner()
    report = run(gallery, model)
    assert len(model.asked) == 12 and report.header.captioned == 5
    captions = read_captions(gallery)
    assert captions is not None and captions.caption_of("copy") == captions.caption_of("red")


def test_a_try_with_the_first_images_publishes_nothing(gallery):
    model = ScriptedCaptioner()
    report = run(gallery, model, limit=2)
    assert (report.published, report.header.images, report.header.captioned) == (False, 2, 2)
    assert len(model.asked) == 6 and read_captions(gallery) is None
    model = ScriptedCaptioner()
    assert run(gallery, model).resumed == 2 and len(model.asked) == 6
    assert run(gallery, ScriptedCaptioner(), limit=99).header.images == 4


@pytest.mark.parametrize("when", ["captioned", "ranked"])
@pytest.mark.parametrize("what", ["indexed", "removed"])
def test_a_gallery_that_changes_meanwhile_is_not_published(gallery, source, tmp_path, what, when):
    def change():
        if what == "indexed":
            (source / "red.png").unlink()
            indexed(source, tmp_path)
        else:
            remove_gallery("g", home=tmp_path / "home")

    def say(task):
        if when == "captioned" and (task.picture.digest, task.sample) == (gallery.image(3).sha256, 0):
            change()
        return numbered(task)

    class Watching(FakeEncoder):
        def encode_texts(self, texts):
            assert when == "ranked", "the change was seen before"
            change()
            return super().encode_texts(texts)

    with pytest.raises(GalleryError, match="was indexed again or removed"):
        optimise_captions(gallery, Watching(), ScriptedCaptioner(say), samples=3)
    assert not captions_path(gallery).exists()
    model = ScriptedCaptioner()
    report = run(indexed(source, tmp_path), model)
    assert report.published
    assert len(model.asked) == (0 if what == "indexed" else 12)


def test_one_process_at_a_time(gallery):
    with captions_locked(gallery), pytest.raises(GalleryError, match="being made by another process"):
        run(gallery, ScriptedCaptioner())
    run(gallery, ScriptedCaptioner())


def test_a_full_or_closed_disk_has_a_sentence(gallery):
    (gallery.folder / "captions").write_text("a file")
    with pytest.raises(GalleryError, match="Free some space"):
        run(gallery, ScriptedCaptioner())


def test_ranks_of_a_stopped_run_are_kept(gallery, monkeypatch):
    """Encoding millions of texts takes hours, too."""
    monkeypatch.setattr("cir_core.captions.caption_build._TEXTS", 6)  # two images a block

    class Dying(FakeEncoder):
        calls = 0

        def encode_texts(self, texts):
            self.calls += 1
            if self.calls == 2:
                raise RuntimeError("out of memory")
            return super().encode_texts(texts)

    with pytest.raises(RuntimeError):
        optimise_captions(gallery, Dying(), ScriptedCaptioner(), samples=3)

    encoder = CountingEncoder()
    report = optimise_captions(gallery, encoder, ScriptedCaptioner(), samples=3)
    assert encoder.texts == 6 and report.header.captioned == 4
    whole = run(gallery, ScriptedCaptioner(), restart=True)
    assert whole.header.digest == report.header.digest
