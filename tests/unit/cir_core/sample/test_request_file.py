"""Requests and dialogues of a file: what is read, what is refused, whom they are asked about, and how answers count."""

from types import SimpleNamespace

import pytest

from cir_core.errors import DatasetError
from cir_core.sample.evaluate_requests import evaluate_written, run_written
from cir_core.sample.request_figures import WrittenAnswer, written_figures
from cir_core.sample.request_file import WrittenEntry, WrittenSet, WrittenTurn, drawn, read_request_file, wanted
from cir_core.sample.request_set import Pool
from cir_core.search.searcher import TurnResult
from cir_core.types.composition import Composition
from cir_core.types.records import Hit, MethodSettings
from tests.fakes.colours import colour_gallery
from tests.fakes.encoder import FakeEncoder
from tests.fakes.language import ScriptedLanguageModel
from tests.unit.cir_core.sample.test_evaluate_requests import TEXT, TRUTH, garment

FILE = """
[[request]]
class = "colour"
reference = {colour = "!red"}
text = "make it red"
wants = {colour = "red"}

[[request]]
class = "vague"
text = "for the theatre"
expect = "choices"

[[dialogue]]
reference = {colour = "blue", category = "dress"}
[[dialogue.turn]]
text = "in red"
wants = {colour = "red"}
[[dialogue.turn]]
text = "undo"
act = "undo"
shows = 0
[[dialogue.turn]]
text = "the original colour"
wants = {colour = "@|teal"}
"""


@pytest.fixture
def written(tmp_path):
    def write(text):
        path = tmp_path / "ours.toml"
        path.write_text(text, "utf-8")
        return read_request_file(path)

    return write


@pytest.fixture
def pool():
    return Pool(TRUTH)


def test_requests_and_dialogues_are_read(written):
    found = written(FILE)
    red, vague, dialogue = found.entries
    assert (found.file, found.requests, [one.is_dialogue for one in found.entries]) == (
        "ours.toml", 2, [False, False, True])
    assert red == WrittenEntry("colour", {"colour": "!red"}, (WrittenTurn("make it red", {"colour": "red"}),),
                               "request 1 ('make it red')")
    assert vague.turns == (WrittenTurn("for the theatre", {}, "choices"),)
    assert dialogue.name == "dialogue" and dialogue.turns[1] == WrittenTurn("undo", {}, "", "undo", 0)
    assert found.digest == written(FILE + "\n").digest != written(FILE.replace("make it", "in")).digest
    assert [one.where for one in found.first(1).entries] == ["request 1 ('make it red')", "dialogue 1"]


def test_values_named_either_none_of_and_as_the_reference():
    said = {"colour": "red|blue", "fit": "!slim", "length": "@", "trim": "!bow|@"}
    found = wanted(said, garment(length="short", trim="belt"))
    assert found["colour"] == {"red", "blue"} and found["fit"] == {"regular", "loose"} and found["length"] == {"short"}
    assert found["trim"] == {"none", "buttons", "pocket", "ruffle", "piping"}


@pytest.mark.parametrize(("change", "problem"), [
    (("make it red", ""), r"request 1 \(''\) has no `text`"),
    (('class = "colour"', ""), r"request 1 \('make it red'\) has no `class`"),
    (('"!red"}', '"!reddish"}'), r"no colour is 'reddish'. There are black, white"),
    (('{colour = "!red"}', '{colour = "@"}'), r"no colour is '@'"),
    (('{colour = "!red"}', '{shade = "red"}'), r"`reference` of 'shade'. The attributes are category, colour"),
    (('{colour = "!red"}', '"red"'), r"`reference` that is not a table"),
    (('wants = {colour = "red"}\n\n', "\n"), r"says nothing of its answer"),
    (('"choices"', '"maybe"'), r"expect = 'maybe'. Write one of choices, said"),
    (("shows = 0", "shows = 2"), r"dialogue 1, turn 2 has no earlier turn .* Add shows = 0"),
    (("shows = 0", ""), r"dialogue 1, turn 2 has no earlier turn"),
    (('act = "undo"', ""), r"dialogue 1, turn 2 has `shows` without an act"),
    (("[[dialogue.turn]]", "[[dialogue.turns]]"), r"dialogue 1 has the key 'turns'. There are class, reference, turn"),
    (('expect = "choices"', 'expects = "choices"'), r"request 2 \('for the theatre'\) has the key 'expects'"),
    (("[[request]]", "[request"), r"cannot be read"),
    ((FILE, "request = 3"), r"has a `request` that is not a list"),
    ((FILE, ""), r"has no \[\[request\]\]"),
])
def test_a_mistake_is_named_with_its_entry_and_what_to_do(written, change, problem):
    with pytest.raises(DatasetError, match=rf"ours\.toml.*{problem}.*docs/how-to/evaluate/requests\.md"):
        written(FILE.replace(*change))


def test_a_file_that_is_not_there_is_a_sentence(tmp_path):
    with pytest.raises(DatasetError, match="No such file"):
        read_request_file(tmp_path / "none.toml")
    (tmp_path / "latin.toml").write_bytes(b'text = "\xe9"')
    with pytest.raises(DatasetError, match="not text in UTF-8"):
        read_request_file(tmp_path / "latin.toml")


def one_request(reference, wants, where="request 1"):
    return WrittenEntry("colour", reference, (WrittenTurn("some text", wants),), where)


def test_references_meet_the_condition_and_have_an_answer(pool):
    # Not red are ref, teal8, blue7, blue6 and grey8; for "grey" grey8 itself has no answer.
    grey = one_request({"colour": "!red"}, {"colour": "grey"})
    found, without = drawn(WrittenSet("f", (grey,)), pool, 9, seed=1)
    assert {image_id for _, image_id in found} == {"ref", "teal8", "blue7", "blue6"} and without == []
    assert drawn(WrittenSet("f", (grey,)), pool, 2, seed=1)[0] == found[:2]
    orders = {tuple(image_id for _, image_id in drawn(WrittenSet("f", (grey,)), pool, 9, seed)[0]) for seed in range(9)}
    assert len(orders) > 1


def test_entries_that_can_be_asked_about_nothing_are_named(pool):
    nobody = one_request({"colour": "black"}, {"colour": "red"}, "request 2")
    nothing = one_request({"colour": "blue"}, {"colour": "black"}, "request 3")
    dialogue = WrittenEntry("dialogue", {}, (WrittenTurn("a", {"colour": "red"}), WrittenTurn("b", {"fit": "loose"})),
                            "dialogue 1", is_dialogue=True)
    found, without = drawn(WrittenSet("f", (one_request({}, {"colour": "red"}), nobody, nothing, dialogue)), pool, 1, 1)
    assert len(found) == 1
    assert without == ["request 2: no image is as its `reference`", "request 3: no image has what it wants",
                       "dialogue 1: no image has what turn 2 wants"]
    with pytest.raises(DatasetError, match=r"^f matches no image .* request 2: no image"):
        drawn(WrittenSet("f", (nobody,)), pool, 1, 1)


class Following:
    """Reads requests as they are."""

    def follow(self, text, scene):
        from cir_core.language.readers.reader import Pointed

        return Pointed(text, scene.reference_id)


class Scripted:
    """A searcher that shows what is scripted, and keeps what it was asked."""

    reader = Following()

    def __init__(self, *script):
        self.script, self.asked = list(script), []

    def stored_captions(self, image_ids):
        return ()

    def gallery_reference(self, image_id):
        return image_id

    gallery = SimpleNamespace(name="g")

    def card(self, settings):
        return None

    def turn(self, reference, text, settings, *, previous=None, k, without=()):
        self.asked.append((reference, text, previous.references if previous else ()))
        left = [one for one in self.script.pop(0) if one not in without]
        hits = tuple(Hit(one, 1 / rank, rank) for rank, one in enumerate(left, start=1))
        return TurnResult("a dress", "a dress", (), [0.0], hits, (), None, {}, Composition([0.0], ()))


def dialogue(*turns):
    return WrittenEntry("dialogue", {}, turns, "dialogue 1", is_dialogue=True)


def test_a_dialogue_goes_on_from_what_satisfies_most(pool):
    searcher = Scripted(("blue7", "red5", "red7"), ("grey8", "red8"))
    first, second = run_written(
        dialogue(WrittenTurn("in red", {"colour": "red", "sleeves": "long"}),
                 WrittenTurn("as it was, short sleeves", {"colour": "@", "sleeves": "short"})),
        "ref", MethodSettings(exclude="history"), pool, searcher)
    # red5 and red7 have both; red7 shares more of the rest with ref.
    assert searcher.asked == [("ref", "in red", ()), ("red7", "as it was, short sleeves", ("ref",))]
    # Two of the three shown are red with long sleeves, as are two of the gallery.
    assert (first.satisfaction, first.wants["sleeves"]) == (1.0, ("long",))
    # "@" is the first reference, which is blue.
    assert (second.wants["colour"], second.satisfaction) == (("blue",), 0.0)
    assert first.silent is None   # the method does not read requests


def test_after_an_act_that_goes_back_the_same_hits_are_shown(pool):
    turns = (WrittenTurn("in red", {"colour": "red"}), WrittenTurn("in grey", {"colour": "grey"}),
             WrittenTurn("undo", {}, "", "undo", 1), WrittenTurn("in teal", {"colour": "teal"}),
             WrittenTurn("start over", {}, "", "start over", 0), WrittenTurn("in grey", {"colour": "grey"}))
    searcher = Scripted(("red8", "red7"), ("grey8",), ("teal8",), ("grey8",))
    answers = run_written(dialogue(*turns), "ref", MethodSettings(exclude="history"), pool, searcher)
    # Nothing is searched for the acts; what follows goes on from the turn that is shown, or from the first reference.
    assert searcher.asked == [("ref", "in red", ()), ("red8", "in grey", ("ref",)), ("red8", "in teal", ("ref",)),
                              ("ref", "in grey", ())]
    assert [one.satisfaction for one in answers] == [pytest.approx(2 / 3), 1.0, 1.0, 1.0, 1.0, 1.0]
    assert answers[2].notes == ("undo: shows turn 1",) and answers[2].preservation is None
    assert answers[4].shown == ()


def test_an_act_that_is_not_understood_is_searched_for_and_shows_something_else(pool):
    turns = (WrittenTurn("in red", {"colour": "red"}), WrittenTurn("hither", {}, "", "back", 1))
    answers = run_written(dialogue(*turns), "ref", MethodSettings(), pool, Scripted(("red8",), ("red7",)))
    same = run_written(dialogue(*turns), "ref", MethodSettings(), pool, Scripted(("red8",), ("red8",)))
    assert (answers[-1].satisfaction, same[-1].satisfaction) == (0.0, 1.0)


def test_others_are_images_that_were_not_shown(pool):
    turns = (WrittenTurn("in red", {"colour": "red"}), WrittenTurn("something else", {"colour": "red"}, "", "other"))
    searcher = Scripted(("red8",), ("red8", "red7", "blue7"))
    answers = run_written(dialogue(*turns), "ref", MethodSettings(), pool, searcher)
    # The same request, without the one that was shown; of red7 and red5, the other two that are red, one is.
    assert searcher.asked[1] == ("ref", "in red", ()) and answers[-1].shown == ("red7", "blue7")
    assert answers[-1].satisfaction == 0.5


def test_a_turn_that_nothing_can_satisfy_any_more_has_no_figure(pool):
    turns = (WrittenTurn("in teal", {"colour": "teal"}), WrittenTurn("teal", {"colour": "teal"}))
    answers = run_written(dialogue(*turns), "ref", MethodSettings(), pool, Scripted(("teal8",), ("blue7",)))
    assert answers[0].satisfaction == 1.0 and answers[1].satisfaction is None   # teal8 is the reference now


def answer(where, satisfaction=None, as_expected=None, silent=False):
    return WrittenAnswer(where, "c", 1, "ref", "t", "", "q", (), (), (), (), {}, (), {}, satisfaction, satisfaction,
                         as_expected, silent)


def test_figures_count_answers_and_draw_entries_as_a_whole():
    found = written_figures([answer("a", 1.0), answer("a", 1.0), answer("b", 0.4), answer("c", None, True),
                             answer("d", None, False, silent=True)], seed=1)
    assert (found.count, found.silent) == (5, 1)
    share = found.measures["satisfaction@5"]
    assert share.value == pytest.approx(0.8) and (share.low, share.high) == (pytest.approx(0.4), pytest.approx(1.0))
    assert found.measures["as expected"].value == 0.5
    assert written_figures([answer("a", 1.0, silent=None)], seed=1).silent is None
    assert [one.failed for one in (answer("a", 1.0), answer("a", 0.8), answer("a", None, False),
                                   answer("a", silent=True))] == [False, True, True, True]


def test_over_a_gallery(tmp_path):
    gallery = colour_gallery(tmp_path, steps=3)
    truth = {image_id: garment(colour="red" if image_id[1] > image_id[5] else "blue") for image_id in gallery.ids}
    asked = WrittenSet("f", (one_request({"colour": "blue"}, {"colour": "red"}),
                             one_request({"colour": "black"}, {"colour": "red"}, "request 2")))
    report = evaluate_written(gallery, truth, FakeEncoder(), ScriptedLanguageModel(), [TEXT], asked, seed=1, most=2)
    assert (report.requests, report.dialogues, report.asked) == (2, 0, 2)
    assert report.without == ("request 2: no image is as its `reference`",)
    [scores] = report.scores
    assert [one.where for one in scores.answers] == ["request 1", "request 1"] and scores.turns == ()
    assert scores.by_class["colour"] == scores.overall and asked.digest in scores.protocol.scope
    again = evaluate_written(gallery, truth, FakeEncoder(), ScriptedLanguageModel(), [TEXT], asked, seed=1, most=2)
    assert again == report
