"""Questions out of methods, runs and HP-FashionIQ's format: the right five images, never the reference."""

import json
from dataclasses import replace

import pytest

from annotation.kinds.preference.sources.methods import from_methods
from annotation.kinds.preference.sources.queries import SETS, drawn_queries, from_hp
from annotation.kinds.preference.sources.runs import from_runs
from cir_core.datasets.records import Benchmark, BenchmarkQuery
from cir_core.errors import DatasetError, GalleryError, LanguageModelError, StudyError
from cir_core.evaluation.runs.records import Run
from cir_core.methods.declared import Method
from cir_core.types.records import MethodSettings
from tests.fakes.encoder import FakeEncoder
from tests.fakes.language import ReplayingLanguageModel, SilentLanguageModel

TEXT = Method("text", "Text", "", MethodSettings(base="text-only"))
IMAGE = Method("image", "Image", "", MethodSettings(base="image-only"))
CIREVL = Method("cirevl", "CIReVL", "", MethodSettings(base="cirevl"))
# "red" and a green reference. Equally near images stand in the pool's order: all reds are one direction.
REDS = ("r1g0b0", "r2g0b0", "r3g0b0")
GREENS = ("r0g1b0", "r0g2b0", "r0g3b0")


def query(name, text="red", reference="r0g3b0", targets=("r3g0b0",), **more):
    return BenchmarkQuery(name, reference, text, targets, **more)


def benchmark(*queries, **pools):
    return Benchmark("fashioniq", "val", queries, pools or {"": None}, lambda image_id: (f"{image_id}.png",))


def of_methods(of, gallery, methods=(TEXT, IMAGE), language=None, **more):
    return from_methods(of, gallery, FakeEncoder(), language or SilentLanguageModel(), methods,
                        **{"size": None, "seed": 1, **more})


def test_methods_find_five_images_of_the_pool_without_the_reference(gallery):
    pool = (*GREENS, "r0g0b1", "r0g0b2", *REDS, "nowhere")
    found = of_methods(benchmark(query("a", pool="shirt"), shirt=pool), gallery)
    [one] = found.queries
    assert (one.key, one.dataset, one.category, one.text) == ("fashioniq-val::a", "fashioniq-val", "shirt", "red")
    assert (one.query_id, one.reference_id, one.target_ids) == ("a", "r0g3b0", ("r3g0b0",))
    assert {name: len(ids) for name, ids in one.results.items()} == {"text": 5, "image": 5}
    # By the text the reds come first, by the image the other two greens; what is left is as far from either.
    assert set(one.results["text"][:3]) == set(REDS) and set(one.results["image"][:2]) == set(GREENS[:2])
    assert not any("r0g3b0" in ids for ids in one.results.values())
    assert found.methods == ("text", "image") and found.source["methods"] == ["text", "image"]
    assert found.source["dataset"] == "fashioniq-val" and len(found.source["cards"]) == 2
    assert any("lacks 1 images" in note for note in found.notes)
    assert found.find_picture("r3g0b0") == gallery.path_of("r3g0b0") and found.find_picture("nowhere") is None


def test_targets_may_be_hidden_excluded_or_outside_the_pool(gallery):
    pool = (*GREENS, *REDS)
    found = of_methods(benchmark(query("a", targets=(), pool="p"), query("b", targets=("nowhere",), pool="p"),
                                 query("c", targets=("r0g3b0",), excluded_ids=("r0g3b0",), pool="p"), p=pool), gallery)
    assert [one.target_ids for one in found.queries] == [(), ("nowhere",), ("r0g3b0",)]
    assert all(len(one.results) == 2 for one in found.queries)


def test_a_query_that_a_method_fails_at_is_left_to_the_others(gallery):
    """CIReVL gets no caption of the reference; a pool of five has four images besides the reference."""
    of = benchmark(query("a", pool="p"), query("b", pool="few"), p=(*GREENS, *REDS), few=(*GREENS, *REDS[:2]))
    silent = ReplayingLanguageModel({"caption": [LanguageModelError("The answer was no caption.")]})
    found = of_methods(of, gallery, (TEXT, IMAGE, CIREVL), silent)
    assert [set(one.results) for one in found.queries] == [{"text", "image"}, set()]
    assert any(note.startswith("CIReVL failed on 2 of 2 queries") for note in found.notes)
    assert "Text found fewer than 5 images for 1 of 2 queries, which are left to the other methods." in found.notes


def test_queries_whose_reference_the_gallery_lacks(gallery):
    of = benchmark(query("a"), query("b", reference="nowhere"))
    with pytest.raises(GalleryError, match="nowhere"):
        of_methods(of, gallery)
    found = of_methods(of, gallery, skip_missing=True)
    assert [one.query_id for one in found.queries] == ["a"] and found.notes[-1].startswith("1 query was left out")


def test_methods_are_two_and_ids_are_told_apart(gallery):
    with pytest.raises(StudyError, match="two different methods"):
        of_methods(benchmark(query("a")), gallery, (TEXT, TEXT))
    with pytest.raises(DatasetError, match="'a' twice"):
        of_methods(benchmark(query("a"), query("a")), gallery)


def test_a_sample_has_equal_numbers_of_each_category():
    of = benchmark(*(query(f"{pool}{n}", pool=pool) for pool, size in (("shirt", 30), ("dress", 5), ("top", 30))
                     for n in range(size)), shirt=(), dress=(), top=())
    drawn = drawn_queries(of, 25, seed=2)
    pools = [one.pool for one in drawn.queries]
    # Dresses are all there are, 5; the others share the rest.
    assert {pool: pools.count(pool) for pool in of.pools} == {"shirt": 10, "dress": 5, "top": 10}
    assert drawn.queries == drawn_queries(of, 25, seed=2).queries != drawn_queries(of, 25, seed=3).queries
    assert drawn_queries(of, None, seed=2) is of
    with pytest.raises(StudyError, match="Cannot make 66 questions from 65 queries"):
        drawn_queries(of, 66, seed=2)


# --- runs ----------------------------------------------------------------------------------------

def a_run(system: str, **rankings: str) -> Run:
    return Run(system, {query_id: tuple(ranking) for query_id, ranking in rankings.items()})


LETTERS = benchmark(query("one", reference="r"), query("two", reference="r", excluded_ids=("x",)),
                    query("three", reference="r"), query("four", reference="r"), **{"": tuple("abcdefghrxyz")})


def test_runs_give_their_best_five_without_the_reference():
    a = a_run("A", one="arbcdefg", two="xrabcde", three="abcd", four="abcde")
    b = a_run("B", one="hgfed", two="abcdex", three="hgfed")
    found = from_runs(LETTERS, [a, b], lambda image_id: None, size=None, seed=1)
    assert {one.query_id: {name: "".join(ids) for name, ids in one.results.items()} for one in found.queries} == {
        "one": {"A": "abcde", "B": "hgfed"}, "two": {"A": "abcde", "B": "abcde"}, "three": {"B": "hgfed"}}
    assert found.methods == ("A", "B") and found.source["form"] == "runs"
    assert found.notes == ("1 of 4 queries are not ranked by two runs, and left out.",
                           "A has fewer than 5 images for 1 query, which is left to the other runs.")


@pytest.mark.parametrize(("runs", "error", "says"), [
    ([a_run("A", one="abcde")], StudyError, "two different runs"),
    ([a_run("A", one="abcde"), a_run("A", one="bcdef")], StudyError, "Two runs are of the system 'A'"),
    ([a_run("A", one="abcde"), a_run("B", two="bcdef")], DatasetError, "No query .* is ranked by two"),
    ([a_run("A", one="abcde"), a_run("B", five="bcdef")], DatasetError, "'five'; the benchmark has 'one'"),
    ([a_run("A", one="abcde"), a_run("B", one="bcdeq")], DatasetError, "'q' is not in the pool of 12"),
    ([a_run("A", one="abcde"), a_run("B", one="bccde")], DatasetError, "'c' occurs twice"),
])
def test_runs_that_do_not_belong_are_refused(runs, error, says):
    with pytest.raises(error, match=says):
        from_runs(LETTERS, runs, lambda image_id: None, size=None, seed=1)


def test_circo_ids_are_the_benchmarks():
    of = replace(LETTERS, kind="circo", queries=(query("0", reference="1"),), pools={"": None})
    padded = tuple(f"{number:012}" for number in range(1, 7))
    runs = [Run("A", {"0": padded}), Run("B", {"0": ("12", "13", "14", "15", "16")})]
    [one] = from_runs(of, runs, lambda image_id: None, size=None, seed=1).queries
    assert one.results["A"] == ("2", "3", "4", "5", "6")


# --- HP-FashionIQ --------------------------------------------------------------------------------

def hp_file(folder, questions: int = 4):
    """Half of the questions are of shirts; ids are S0…, sets A00-A04 and B00-B04."""
    def path(name: str, category: str) -> str:
        return f"/-/image_data/{category}/{name}.jpg"

    content = {}
    for user, category in (("user_1", "shirt"), ("user_2", "toptee")):
        ids = [f"{category[0]}{number}" for number in range(questions // 2)]
        content[user] = {"question_set_1": {
            "ref_img_paths": [path(f"{one}ref", category) for one in ids],
            "targ_img_paths": [path(f"{one}target", category) for one in ids],
            "sentences": [f"is {one}dotmark" for one in ids],
            "retrieved_set1": [{"img_path": [path(f"{one}A{n}", category) for n in range(5)], "user_score": "4"}
                               for one in ids],
            "retrieved_set2": [{"img_path": [path(f"{one}B{n}", category) for n in range(5)], "user_score": "2"}
                               for one in ids],
            "preferred set": ["1" for _ in ids]}}
    file = folder / "hpfiq.json"
    file.write_text(json.dumps(content))
    return file


def test_a_file_of_hp_fashioniq_is_asked_anew(tmp_path):
    images = tmp_path / "images"
    (images / "shirt").mkdir(parents=True)
    (images / "shirt" / "s0ref.png").touch()
    found = from_hp(hp_file(tmp_path), size=None, seed=1, images=images)
    assert [one.query_id for one in found.queries] == [
        "user_1/question_set_1/0", "user_1/question_set_1/1", "user_2/question_set_1/0", "user_2/question_set_1/1"]
    one = found.queries[0]
    assert (one.category, one.text, one.reference_id, one.target_ids) == ("shirt", "is s0.", "s0ref", ("s0target",))
    assert one.results == {SETS[0]: tuple(f"s0A{n}" for n in range(5)), SETS[1]: tuple(f"s0B{n}" for n in range(5))}
    assert found.find_picture("s0ref") == images / "shirt" / "s0ref.png" and found.find_picture("t0ref") is None
    assert found.source["file"] == "hpfiq.json" and str(tmp_path) not in json.dumps(dict(found.source))
    assert "does not name the systems" in found.notes[0]
    drawn = from_hp(hp_file(tmp_path), size=2, seed=1, images=images).queries
    assert sorted(one.category for one in drawn) == ["shirt", "toptee"]


def test_a_broken_file_of_hp_fashioniq_names_question_and_remedy(tmp_path):
    file = hp_file(tmp_path)
    file.write_text(file.read_text().replace('"is s0dotmark"', '""').replace('"user_score": "2"', '"user_score": "9"'))
    with pytest.raises(DatasetError, match=r"(?s)^4 faults in hpfiq.json; .*user_1, question_set_1, question 0"):
        from_hp(file, size=None, seed=1)
    with pytest.raises(StudyError, match="Cannot make 5 questions from 4"):
        from_hp(hp_file(tmp_path), size=5, seed=1)
    file.write_text("{}")
    with pytest.raises(StudyError, match="contains no questions"):
        from_hp(file, size=None, seed=1)
