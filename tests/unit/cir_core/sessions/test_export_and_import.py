"""What the search screen exports is the same session again when it is imported, and nothing is lost otherwise."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import MISSING, fields, is_dataclass, replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest
from PIL import Image

from cir_core.errors import CirqueError, GalleryError, SearchError, UnknownSession
from cir_core.images.uploads import UploadFolder
from cir_core.methods.guidance import Aspect, Guidance, Shown, Unclear
from cir_core.methods.relevance import Relevance
from cir_core.sessions.export import digest_of, export_name, session_to_circled
from cir_core.sessions.importing import read_export
from cir_core.sessions.pool import SearcherPool
from cir_core.sessions.service import SearchService
from cir_core.types.composition import Cut, Marks
from cir_core.types.methods import MethodSettings, Reflection, SoftFilter
from cir_core.types.records import Branch, SearchSession, Thumb
from storage.sessions.store import SqlSessionStore
from tests.fakes.colours import NAME, colour_gallery
from tests.fakes.databases import engine_of
from tests.fakes.encoder import FakeEncoder
from tests.fakes.language import ScriptedLanguageModel
from tests.fakes.store import InMemorySessionStore
from tests.fakes.turns import a_composition, a_session, a_turn

# --- every field ------------------------------------------------------------------------------


def a_full_session() -> SearchSession:
    """One in which no field of any record has its default everywhere."""
    method = MethodSettings(
        base="slerp", alpha=0.1, beta=0.2, gamma=0.3, feedback_depth=7, exclude="history", text_weight=0.6,
        history="weighted", decay=0.7,
        reflection=Reflection(3, 4, 5, "linear", 0.5, True, "free", "same-results"),
        soft_filter=SoftFilter(0.5, "reward"),
    ).with_parts({"guidance": Guidance(1.1, 0.2, 0.4, 0.03), "relevance": Relevance()})
    session = a_session(target_id="image-00003", target_live=True, target_revealed=True, title="Chairs 🪑",
                        created_at=datetime(2026, 5, 6, 7, 8, 9, 123456, UTC))
    card = replace(session.protocol, method=method, seed=3, scope="each category", max_turns=6, captions="00aa",
                   domain="scene", stand_ins=("small/1",), relevance="11bb", index="faiss:hnsw 22cc")
    session = replace(session, method=method, protocol=card)
    one, two = Branch("b1", session.session_id, 1, "darker"), Branch("b2", session.session_id, 3, "")
    vector = np.arange(64, dtype=np.float32)
    parts = {"guidance": Guidance(1.1, 0.2, 0.4, 0.03),
             "aspects": (Aspect("colour", "red", ("in red",), ("in blue",), 1, "more"),
                         Aspect("pattern", "striped", ("striped",), ("plain",), held=True),
                         Aspect("trim", "belt", ("a belt",), ("no trim",), needed=True),
                         Aspect("sleeves", "sleeveless", ("no sleeves",), ("thin straps", "long sleeves"), 1, near=1)),
             "shown": Shown(vector), "unclear": Unclear(("party",), ("in red",)), "relevance": Relevance()}
    first = a_turn(session.session_id, None, branch_id="b1", number=1, target_rank=9, turn_id="t1",
                   composition=a_composition().with_parts(parts))
    second = a_turn(session.session_id, "t1", branch_id="b1", number=2, turn_id="t2", seed=1)
    other = a_turn(session.session_id, "t1", branch_id="b2", number=2, turn_id="t3", seed=2,
                   composition=a_composition(seed=3))
    thumbs = tuple(Thumb(turn_id, "image-00001", f"person {number}", number == 1, session.created_at)
                   for number, turn_id in enumerate(("t1", "t3"), start=1))
    return replace(session, branches=(one, two), turns=(first, second, other), thumbs=thumbs)


def records(value: Any) -> Iterator[Any]:
    """All records in ``value``, at any depth."""
    if is_dataclass(value):
        yield value
        value = tuple(vars(value).values())
    if isinstance(value, tuple):
        for one in value:
            yield from records(one)


def default_of(field: Any) -> Any:
    return field.default if field.default_factory is MISSING else field.default_factory()


def exactly(one: Any, other: Any, where: str = "session") -> None:
    """Equal in every field, those that do not count for ``==`` too; vectors bit for bit."""
    assert type(one) is type(other), where
    if isinstance(one, np.ndarray):
        assert (one.dtype, one.shape, one.tobytes()) == (other.dtype, other.shape, other.tobytes()), where
    elif is_dataclass(one):
        for field in fields(one):
            exactly(getattr(one, field.name), getattr(other, field.name), f"{where}.{field.name}")
    elif isinstance(one, tuple):
        assert len(one) == len(other), where
        for place, (left, right) in enumerate(zip(one, other, strict=True)):
            exactly(left, right, f"{where}[{place}]")
    else:
        assert one == other, where


def test_the_session_of_this_test_uses_every_field():
    """A field that is new must be used in :func:`a_full_session`: the tests below then say whether it is carried."""
    unused: dict[tuple[str, str], bool] = {}
    for record in records(a_full_session()):
        for field in fields(record):
            value, default = getattr(record, field.name), default_of(field)
            usual = default is not MISSING and not isinstance(value, np.ndarray) and value == default
            key = type(record).__name__, field.name
            unused[key] = unused.get(key, True) and usual
    # A relevance step is used with its own settings: there is nothing else to choose without a model.
    assert [key for key, usual in unused.items() if usual and key[0] != "Relevance"] == []


def written(session: SearchSession, turn_id: str | None = None, **how: Any) -> bytes:
    return json.dumps(session_to_circled(session, turn_id, **how), ensure_ascii=False, indent=2).encode()


def test_every_field_comes_back_from_a_file():
    session = a_full_session()
    [found] = read_export(written(session))
    exactly(found.session, session)


def test_every_field_comes_back_from_a_file_by_way_of_two_databases(tmp_path):
    stores = [SqlSessionStore(engine_of(tmp_path / name)) for name in ("here", "there")]
    session = stores[0].add_session(a_full_session())
    exactly(stores[0].session(session.session_id), session)
    [found] = read_export(written(stores[0].session(session.session_id)))
    stores[1].add_session(found.session, "Ann")
    exactly(stores[1].session(session.session_id), session)
    assert stores[1].owner_of(session.session_id) == "Ann"
    for store in stores:
        store.close()


def test_a_turn_of_an_early_version_has_no_composition_there_either():
    session = a_full_session()
    session = replace(session, turns=tuple(replace(turn, composition=None) for turn in session.turns))
    exactly(read_export(written(session))[0].session, session)


def test_ranks_of_an_attempt_that_has_not_ended_are_not_in_the_file():
    session = replace(a_full_session(), target_live=False, target_revealed=False)
    content = written(session)
    assert [turn.target_rank for turn in read_export(content)[0].session.turns] == [None] * 3
    assert b'"target_rank": 9' not in content


def test_marks_can_be_read_in_the_file():
    first, _ = session_to_circled(a_full_session())
    assert first["cirque"]["turns"][0]["marks"] == {"more": ["image-00004"], "less": ["image-00005", "image-00006"]}


def test_a_branch_up_to_a_turn_is_a_session_of_its_own():
    session = a_full_session()
    [found] = read_export(written(session, "t3"))
    assert [turn.turn_id for turn in found.session.turns] == ["t1", "t3"]
    assert [branch.branch_id for branch in found.session.branches] == ["b1", "b2"]
    [found] = read_export(written(session, "t2"))
    assert [branch.branch_id for branch in found.session.branches] == ["b1"]


# --- the file's name --------------------------------------------------------------------------


@pytest.mark.parametrize(("title", "text", "said"), [
    ("My chairs", "in red", "My chairs "), ("", "in red", "in red "), ("", "", ""),
    ("", "w " * 40, "w " * 20), ("", "x" * 60, "x" * 40 + " "), ("", "  in\n red ", "in red "),
    ("", "長袖の赤い", "長袖の赤い "),
])
def test_a_file_is_named_by_the_session_its_last_day_and_its_id(title, text, said):
    session = a_session(session_id="abc", title=title, created_at=datetime(2026, 1, 1, tzinfo=UTC))
    turn = a_turn("abc", None, modification_text=text, created_at=datetime(2026, 2, 3, tzinfo=UTC))
    assert export_name(replace(session, turns=(turn,))) == f"cirque {said}2026-02-03 abc"
    assert export_name(replace(session, title="x")) == "cirque x 2026-01-01 abc"


# --- imported by a service --------------------------------------------------------------------


@pytest.fixture
def service(tmp_path):
    return another(tmp_path / "here")


def another(home):
    """A cirque with the same gallery and nothing else."""
    home.mkdir()
    colour_gallery(home)
    pool = SearcherPool(home / "home", lambda encoder: ScriptedLanguageModel("green"), lambda spec: FakeEncoder())
    return SearchService(pool, InMemorySessionStore(), UploadFolder(home / "home" / "uploads", max_megapixels=4))


def searched(service):
    """Three turns, one of them on a branch of its own; a cut-out upload beside a gallery image; marks."""
    session_id = service.start(NAME, title="Mine").session_id
    upload = service.add_upload(Image.new("RGB", (40, 30), "blue"))
    cut = service.cut_out(NAME, upload, [0.0, 0.0, 0.5, 1.0])
    one = service.run_turn(session_id, "red", reference_id="r0g3b0", further=[cut],
                           cuts=[Cut(cut, upload, (0.0, 0.0, 0.5, 1.0))]).turn
    two = service.run_turn(session_id, "green", reference_id=one.hits[0].image_id, parent_id=one.turn_id,
                           marks=Marks((one.hits[1].image_id,), (one.hits[2].image_id,))).turn
    three = service.run_turn(session_id, "blue", reference_id=one.hits[1].image_id, parent_id=one.turn_id).turn
    return service.session(session_id), one, two, three


def exported(service, session_id, turn_id=None):
    return json.dumps(service.export(session_id, turn_id)).encode()


def imported(service, content, owner=""):
    [one] = read_export(content)
    return service.import_sessions([one], owner)[0]


def test_it_is_the_same_turn_elsewhere_and_goes_on_alike(service, tmp_path):
    session, one, two, _ = searched(service)
    there = another(tmp_path / "there")
    done = imported(there, exported(service, session.session_id), "Ann")
    assert (done.session_id, done.new, done.notes) == (session.session_id, True, ())
    exactly(there.session(session.session_id), session)
    cut = one.further[0]
    assert there.reference_image(NAME, cut).tobytes() == service.reference_image(NAME, cut).tobytes()
    here, elsewhere = (each.run_turn(session.session_id, "red", parent_id=two.turn_id).turn
                       for each in (service, there))
    assert here.hits == elsewhere.hits and here.vector.tobytes() == elsewhere.vector.tobytes()
    assert [row.session_id for row in there.listed("Ann", ())[0]] == [session.session_id]


def test_twice_is_once(service, tmp_path):
    session, one, _, _ = searched(service)
    content, part = exported(service, session.session_id), exported(service, session.session_id, one.turn_id)
    for each in (content, part):
        done = imported(service, each)
        assert (done.session_id, done.new) == (session.session_id, False) and "already" in done.notes[0]
    exactly(service.session(session.session_id), session)
    assert len(service.sessions()) == 1


def test_one_that_went_on_elsewhere_becomes_a_copy_once(service, tmp_path):
    session, _, two, _ = searched(service)
    there = another(tmp_path / "there")
    imported(there, exported(service, session.session_id))
    there.run_turn(session.session_id, "red", parent_id=two.turn_id)
    content = exported(there, session.session_id)
    done = imported(service, content)
    assert done.new and done.session_id != session.session_id and "copy" in done.notes[0]
    exactly(service.session(session.session_id), session)      # what was here is as it was
    copy = service.session(done.session_id)
    assert copy.title == "Mine (imported)" and len(copy.turns) == 4 and len(copy.branches) == 2
    assert [turn.hits for turn in copy.turns] == [turn.hits for turn in there.session(session.session_id).turns]
    again = imported(service, content)
    assert (again.session_id, again.new) == (done.session_id, False) and len(service.sessions()) == 2


def test_one_that_was_removed_is_listed_again(service):
    started = service.start(NAME, owner="Ann")
    service.run_turn(started.session_id, "red", reference_id="r0g3b0")
    content = exported(service, started.session_id)
    service.remove(started.session_id, "Ann")
    imported(service, content, "Bob")
    assert service.listed("Ann", ())[1] == 0 == service.listed("Bob", ())[1]
    imported(service, content, "Ann")
    assert service.listed("Ann", ())[1] == 1


def test_a_hidden_target_is_ranked_again(service, tmp_path):
    challenge = service.deal(NAME, seed=1)
    started = service.start(NAME, target_id=challenge.target_id)
    turn = service.run_turn(started.session_id, "red", reference_id=challenge.reference_id).turn
    there = another(tmp_path / "there")
    imported(there, exported(service, started.session_id))
    assert there.session(started.session_id).turns[0].target_rank == turn.target_rank is not None


def with_changes(content, **changes):
    """The file with other fields of its session, as if it had been exported so."""
    found = json.loads(content)
    whole = found[0]["cirque"]["whole"]
    whole["session"] |= changes
    whole["digest"] = digest_of(whole["session"], whole["pictures"])
    return json.dumps(found).encode()


def test_without_its_gallery_nothing_is_imported_and_the_way_is_said(service):
    session, *_ = searched(service)
    content = with_changes(exported(service, session.session_id), gallery="elsewhere", session_id="other")
    with pytest.raises(SearchError):
        imported(service, content)                      # its turns say another session
    card = json.loads(exported(service, session.session_id))[0]["cirque"]["whole"]["session"]["protocol"]
    content = with_changes(exported(service, session.session_id), gallery="elsewhere",
                           protocol=card | {"gallery_digest": "f" * 16})
    with pytest.raises(GalleryError, match=r"'elsewhere'.*cirque index FOLDER --name elsewhere"):
        imported(service, content)
    assert len(service.sessions()) == 1


def test_a_gallery_of_the_same_images_under_another_name_will_do(service, tmp_path):
    session, *_ = searched(service)
    content = with_changes(exported(service, session.session_id), gallery="elsewhere")
    there = another(tmp_path / "there")
    done = imported(there, content)
    assert done.new and "'elsewhere'" in done.notes[0] and there.session(done.session_id).gallery == NAME


def test_a_gallery_that_has_changed_is_said_and_what_was_found_is_kept(service, tmp_path):
    session, _, two, _ = searched(service)
    card = json.loads(exported(service, session.session_id))[0]["cirque"]["whole"]["session"]["protocol"]
    content = with_changes(exported(service, session.session_id), protocol=card | {"gallery_digest": "f" * 16})
    there = another(tmp_path / "there")
    done = imported(there, content)
    assert done.new and "other images" in done.notes[0]
    assert there.session(done.session_id).turns[1].hits == two.hits
    with pytest.raises(SearchError, match="has changed"):
        there.run_turn(done.session_id, "red", parent_id=two.turn_id)


def test_a_picture_that_is_gone_is_said(service, tmp_path):
    session, *_ = searched(service)
    there = another(tmp_path / "there")
    done = imported(there, written(session))            # without the pictures' files
    assert done.new and "1 uploaded picture" in done.notes[0]


# --- files that are none ------------------------------------------------------------------------


@pytest.fixture(scope="module")
def good() -> bytes:
    return written(a_full_session())


def damaged(content: bytes, *path: Any, to: Any) -> bytes:
    """The file with another value at ``path`` of its session, under a digest that fits."""
    found = json.loads(content)
    whole = found[0]["cirque"]["whole"]
    place = whole["session"]
    for step in path[:-1]:
        place = place[step]
    if to is KeyError:
        del place[path[-1]]
    else:
        place[path[-1]] = to
    whole["digest"] = digest_of(whole["session"], whole["pictures"])
    return json.dumps(found).encode()


@pytest.mark.parametrize(("change", "said"), [
    (lambda content: content[:-200], "cut off"), (lambda content: b"", "cut off"),
    (lambda content: b"\xff\xfe\0", "cut off"),
    (lambda content: b"{}", "list of records"), (lambda content: b"[]", "list of records"),
    (lambda content: b"[1, 2]", "list of records"), (lambda content: b"[" * 100_000, "cut off"),
    (lambda content: b'[{"session_id": "a", "subset": "b", "turns": []}]', "without cirque's part"),
    (lambda content: content.replace(b'"in red"', b'"in rot"'), "changed after it was exported"),
    (lambda content: content.replace(b'"number": 2', b'"number": NaN'), "cut off"),
    (lambda content: content.replace(b'"format": 1', b'"format": 2'), "later version"),
    (lambda content: content.replace(b'"format": 1', b'"format": "1"'), "no format"),
])
def test_what_is_no_such_file_says_what_to_do(good, change, said):
    with pytest.raises(SearchError, match=said):
        read_export(change(good))


def test_a_file_of_an_earlier_version_says_why_it_cannot_be_read(good):
    content = json.loads(good)
    del content[0]["cirque"]["whole"]
    with pytest.raises(SearchError, match=r"earlier version.*Export the session again"):
        read_export(json.dumps(content).encode())


@pytest.mark.parametrize(("path", "to"), [
    (("turns", 0, "vector"), "AAAA"), (("turns", 0, "vector"), "not base64"), (("turns", 0, "vector"), None),
    (("turns", 0, "vector"), "AADAfw=="), (("turns", 0, "composition", "base"), "AAAAAA=="),
    (("turns", 0, "composition", "rounds", 0, "vector"), "AAAAAA=="),
    (("turns", 0, "hits", 0, "score"), "high"), (("turns", 0, "hits", 0, "rank"), 1.5), (("turns", 0, "hits"), {}),
    (("turns", 0, "number"), 2), (("turns", 0, "number"), True), (("turns", 1, "parent_id"), "t2"),
    (("turns", 1, "parent_id"), "t3"), (("turns", 1, "turn_id"), "t1"), (("turns", 1, "branch_id"), "none"),
    (("turns", 2, "branch_id"), "b1"), (("turns", 0, "session_id"), "other"), (("turns", 0, "turn_id"), "<b>"),
    (("turns", 0, "created_at"), "2026-01-01"), (("turns", 0, "created_at"), 5), (("turns", 0, "caption"), "a\0b"),
    (("turns", 0, "merged_text"), "\ud800"), (("turns", 0, "modification_text"), "x" * 100_001),
    (("turns", 0, "target_rank"), 2**40), (("turns", 0, "target_rank"), 0), (("turns", 0, "notes"), "one"),
    (("turns", 0, "timings_ms"), []), (("turns", 0, "caption"), KeyError), (("turns", 0), None), (("turns",), None),
    (("turns", 0, "composition", "cuts", 0, "region"), [0, 0, 1]), (("turns", 0, "composition", "step_parts"), []),
    (("method", "base"), "magic"), (("method", "feedback_depth"), 10**9), (("method", "alpha"), "much"),
    (("method",), None), (("protocol", "method", "soft_filter"), 3), (("protocol", "encoder"), None),
    (("branches", 0, "branch_id"), "b2"), (("branches", 0, "number"), 3), (("branches", 0, "number"), 0),
    (("branches",), []), (("session_id",), "../x"), (("title",), 3), (("target_live",), "yes"),
])
def test_a_damaged_session_is_refused_with_its_place(good, path, to):
    with pytest.raises(SearchError):
        read_export(damaged(good, *path, to=to))


@pytest.mark.parametrize("path", [("shade",), ("turns", 0, "shade"), ("turns", 0, "composition", "marks", "shade"),
                                  ("turns", 0, "composition", "step_parts", "shade"), ("method", "shade")])
def test_what_only_a_later_version_knows_is_not_lost_silently(good, path):
    with pytest.raises(SearchError, match=r"shade"):
        read_export(damaged(good, *path, to=1))


@pytest.mark.parametrize("path", [("turns", 0, "composition", "cuts"), ("turns", 0, "composition"), ("title",),
                                  ("protocol", "stand_ins"), ("turns", 0, "composition", "marks", "less_like")])
def test_fields_that_came_later_take_their_defaults(good, path):
    [found] = read_export(damaged(good, *path, to=KeyError))
    assert len(found.session.turns) == 3


def test_a_picture_that_is_another_is_refused_and_nothing_stored(service, tmp_path):
    session, *_ = searched(service)
    found = json.loads(exported(service, session.session_id))
    whole = found[0]["cirque"]["whole"]
    there = another(tmp_path / "there")
    name, content = next(iter(whole["pictures"].items()))
    for other in ({f"upload:{'0' * 32}": content}, {name: "AAAA"}, {"../x": content}, {name: 3}, []):
        whole["pictures"] = other
        whole["digest"] = digest_of(whole["session"], other)
        with pytest.raises(CirqueError):
            imported(there, json.dumps(found).encode())
    assert there.sessions() == () and not list((tmp_path / "there" / "home").glob("uploads/*"))
    with pytest.raises(UnknownSession):
        there.session(session.session_id)


def test_a_deleted_branch_comes_back_with_the_file_that_has_it(service):
    session, _, two, three = searched(service)
    content = exported(service, session.session_id)
    service.remove_branch(session.session_id, three.branch_id)
    done = imported(service, content)
    assert not done.new and "1 deleted branch of it came back." in done.notes
    assert {turn.turn_id for turn in service.session(session.session_id).turns} >= {two.turn_id, three.turn_id}
    assert imported(service, content).notes == ("This session is here already.",)


def test_a_deleted_branch_of_somebody_else_stays_deleted(service, tmp_path):
    session, _, _, three = searched(service)
    content = exported(service, session.session_id)
    there = another(tmp_path / "there")
    imported(there, content, "Ann")
    there.remove_branch(session.session_id, three.branch_id, "Ann")
    assert imported(there, content, "Bob").notes == ("This session is here already.",)
    assert there.session(session.session_id).turn(three.turn_id) is None


def test_a_file_whose_second_session_is_damaged_stores_none_of_them(service, tmp_path):
    good, bad = (read_export(exported(service, searched(service)[0].session_id))[0] for _ in range(2))
    broken = replace(bad, pictures=dict.fromkeys(bad.pictures, b"other"))
    there = another(tmp_path / "there")
    with pytest.raises(SearchError, match="uploaded picture"):
        there.import_sessions([good, broken])
    assert not there.sessions()
