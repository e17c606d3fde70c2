"""What a study hides is told by nothing that a browser receives: not by lengths, orders, names, sizes of files, headers
or times, alone or together.

What a judge is meant to see may tell something by itself: the words of a text, what is on a picture. So texts are left
out where they are real ones, and pictures are drawn at random for each image: what tells then is how they are sent.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pytest
from scipy.stats import binomtest

from annotation.kinds.marks.create import create_target_study
from annotation.kinds.preference.create import create_preference_study
from annotation.kinds.preference.sources import SurveyQuery
from annotation.kinds.preference.survey.plan import SurveyLayout
from annotation.kinds.ratings.create import create_session_study
from annotation.kinds.table import KINDS
from annotation.kinds.validity.create import create_validity_study
from annotation.records import Decision, Item, Judgement, Study, StudyPlan
from annotation.sources.targets import TargetQuery
from annotation.studies.gold import make_gold
from cir_core.construct.judging.sample import SampledSession
from cir_core.construct.targets.provenance import Candidate, FoundIn, QueryCandidates
from cir_core.construct.targets.settings import Group
from cir_core.datasets.readers.circled import CircledSession, CircledTurn
from cir_core.images.uploads import UploadFolder
from cir_core.methods.declared import builtin_methods
from cir_core.sessions.compare import ComparisonService
from cir_core.sessions.pool import SearcherPool
from cir_core.sessions.service import SearchService
from cir_core.types.records import new_id
from tests.fakes.colours import NAME, colour_gallery
from tests.fakes.comparison_store import InMemoryComparisonStore, InMemoryVoteStore
from tests.fakes.encoder import FakeEncoder
from tests.fakes.language import ScriptedLanguageModel
from tests.fakes.store import InMemorySessionStore
from tests.fakes.studies import flagged, rated, solved, valid
from tests.security.leak_stage import Browser, Stage, difference, image, picture_features, seeded, set_stage, without
from tests.security.leak_statistics import Features, Finding, Seconds, features_of, lasting_leaks, leaks, told_by
from web.search.presenters.columns import columns
from web.search.view import UiState
from web.ui.static_files import fill

QUESTIONS = 240
METHODS = ("lemur", "okapi", "tapir")


def test_the_statistics_find_what_is_there_and_nothing_else() -> None:
    draw = np.random.default_rng(3)
    labels = list(draw.random(240) < 0.4)
    noise = draw.normal(size=(240, 150))

    def found(values: np.ndarray) -> list[Any]:
        return told_by("it", labels, [dict(zip(map(str, range(150)), row, strict=True)) for row in values])

    assert leaks(found(noise)) == []
    one = noise.copy()
    one[:, 7] += 1.2 * np.array(labels)            # d' = 1.2 gives an AUC of Φ(1.2 / √2) = 0.80
    assert found(one)[0].by == "7" and found(one)[0].leaks and 0.7 < found(one)[0].auc < 0.9
    many = noise.copy()
    many[:, :40] += 0.4 * np.array(labels)[:, None]   # Φ(0.4 / √2) = 0.61 each, as by chance
    assert any(finding.by == "classifier" and finding.leaks for finding in found(many))
    assert told_by("it", labels, [{"same": 1.0}] * 240)[0].by == "nothing that differs"
    with pytest.raises(AssertionError, match="too few to tell"):
        told_by("it", [True] * 10 + [False] * 230, [{}] * 240)


def test_a_response_time_that_tells_by_chance_is_no_leak_and_one_that_tells_each_time_is() -> None:
    draw = np.random.default_rng(4)
    labels = [bool(one) for one in draw.random(240) < 0.4]

    def again(label: bool, lasts: bool) -> Seconds:
        return Seconds(draw.normal() + lasts * label, lambda: again(label, lasts))

    def tell(seen: Any) -> list[Finding]:
        return told_by("it", labels, seen)

    for lasts in (False, True):
        seen = [{"seconds": Seconds(draw.normal() + label, partial(again, label, lasts))} for label in labels]
        assert leaks(tell(seen)) and bool(lasting_leaks(tell, seen)) is lasts
    assert lasting_leaks(tell, [{"bytes": draw.normal() + label} for label in labels]), "what is no time stays as it is"


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    made = set_stage(tmp_path_factory.mktemp("leaks") / "home")
    yield made
    made.store.engine.dispose()


@dataclass(frozen=True)
class Judged:
    """A validity study as one judge saw it, by item: half of the items are gold."""

    study: Study
    items: Mapping[str, Item]
    seen: Mapping[str, Features]
    desks: Mapping[str, Any]


@pytest.fixture(scope="module")
def judged(stage: Stage) -> Judged:
    with seeded("judging"):
        study = create_validity_study(
            stage.store, stage.home, "Leaks", stage.queries, stage.find,
            StudyPlan(seats=2, overlap=1, agreement_items=0, seed=5), created_by="local", source={"form": "audit"},
        ).study
    others = [one.item_id for one in stage.store.assignments(study.study_id) if one.seat == 2]
    for item_id in others:   # gold for the judge, who has the other half as their own
        stage.store.decide(Decision(new_id(), study.study_id, item_id, "Olga", 0, f"gold-{item_id}", valid(), "",
                                    study.created_at))
    make_gold(stage.store, study, KINDS["validity"].answers.dealt_extra, by="Olga")
    browser = Browser(stage.home, stage.store)
    browser.post("/study/join", study="Leaks")
    places = browser.get("study/overview", study="Leaks").json["places"]
    seen, desks = {}, {}
    for place in places:
        answered = browser.get("study/at", study="Leaks", item=place["item"])
        workspace = answered.json
        text = len(json.dumps(workspace["item"]["text"], ensure_ascii=False).encode()) if workspace["item"] else 0
        found = answered.features("desk", less=text)
        found |= features_of(without(workspace, "text", "study", "progress"))
        found |= {f"position mod {n}": place["position"] % n for n in (2, 3, 4)}
        item = workspace["item"]
        for name, pictures in (("reference", [item["reference"]]), ("target", [item["target"]]),
                               ("panel", item["panel"][:6])):
            found |= picture_features(name, [browser.get(one[size], repeats=1)
                                             for one in pictures for size in ("small", "large")])
        seen[place["item"]], desks[place["item"]] = found, workspace
    items = {item.item_id: item for item in stage.store.items(study.study_id)}
    return Judged(study, items, seen, desks)


def test_nothing_tells_the_hidden_category(judged: Judged) -> None:
    secrets: dict[str, list[bool]] = {}
    for kind, least in (("hidden_category", 2), ("detail", 3)):
        of = [label_of(judged.items[item_id], kind) for item_id in judged.seen]
        told = [label for label, count in Counter(of).items() if count >= 25]
        assert len(of) >= 200 and len(told) >= least, Counter(of)
        secrets |= {f"{kind} {label}": [one == label for one in of] for label in told}
    for secret, labels in secrets.items():
        assert lasting_leaks(partial(told_by, secret, labels), list(judged.seen.values())) == []


def label_of(item: Item, kind: str) -> str:
    return str(item.hidden[kind] if kind in item.hidden else item.hidden["trace"]["aggregation"]["detail_label"])


def test_nothing_tells_whether_the_target_was_found(judged: Judged) -> None:
    items = [judged.items[item] for item in judged.seen]
    labels = [item.hidden["trace"]["aggregation"]["retriever_support_at_k"]["multimodal"] > 2 for item in items]
    assert lasting_leaks(partial(told_by, "the target was found", labels), list(judged.seen.values())) == []


def test_nothing_tells_which_items_are_gold(judged: Judged, stage: Stage) -> None:
    dealt = {one.item_id: one.dealt == "gold" for one in stage.store.overview(judged.study.study_id, "Ada")}
    assert sum(dealt.values()) == len(judged.seen) / 2
    labels = [dealt[item] for item in judged.seen]
    assert lasting_leaks(partial(told_by, "gold", labels), list(judged.seen.values())) == []


def test_the_size_of_earlier_panels_would_be_found(judged: Judged) -> None:
    """Until panels had one size they had as many images as the retrievers had found, less two."""
    seen, labels = [], []
    for item_id, features in judged.seen.items():
        item = judged.items[item_id]
        seen.append(features | {".item.panel[]": len(item.hidden["panel"]) - 2})
        labels.append(item.hidden["hidden_category"] == "shortcut_solvable")
    found = told_by("shortcut_solvable", labels, seen)
    assert found[0].by == ".item.panel[]" and found[0].leaks and 0.15 < found[0].auc < 0.25, str(found[0])


def test_neither_place_nor_name_in_a_panel_tells_a_rank(judged: Judged, stage: Stage) -> None:
    """One row for each picture of a panel. The best are the first third of what was found."""
    image_ids = {token: one.image_id for token, one in stage.store.images(judged.study.study_id).items()}
    ranks = {query.key: {image_id: rank for rank, image_id in enumerate(query.in_turn)} for query in stage.queries}
    seen, best = [], []
    for item_id, workspace in list(judged.desks.items())[:80]:
        panel = workspace["item"]["panel"]
        of_name = {token: rank for rank, token in enumerate(sorted(one["token"] for one in panel))}
        for place, one in enumerate(panel):
            seen.append({"place": place, "name among the others": of_name[one["token"]]} | features_of(one))
            best.append(ranks[judged.items[item_id].key][image_ids[one["token"]]] < len(panel) / 3)
    assert leaks(told_by("among the best", best, seen)) == []


def test_how_a_picture_is_sent_does_not_tell_what_it_is_shown_as(stage: Stage) -> None:
    """The same images as reference and target, and the other way round, with panels of one another's: each has the
    same file, the same size and the same headers in both, up to its address."""
    some = stage.queries[:12]
    turned = [replace(query, reference_id=query.target_id, target_id=query.reference_id) for query in some]
    sent: list[dict[tuple[str, str], Any]] = []
    for name, queries in (("One way", some), ("Other way", turned)):
        study = create_validity_study(stage.store, stage.home, name, queries, stage.find,
                                      StudyPlan(1, 1, 0, 1), created_by="local", source={}).study
        browser = Browser(stage.home, stage.store)
        browser.post("/study/join", study=name)
        images = stage.store.images(study.study_id)
        sent.append({})
        for place in browser.get("study/overview", study=name).json["places"]:
            item = browser.get("study/at", study=name, item=place["item"]).json["item"]
            for one in (item["reference"], item["target"], *item["panel"]):
                for size in ("small", "large"):
                    answered = browser.get(one[size], repeats=1).response
                    kept = (one["width"], one["height"], answered.content, sorted(answered.headers.items()))
                    key = images[one["token"]].image_id, size
                    assert sent[-1].setdefault(key, kept) == kept
    both = sent[0].keys() & sent[1].keys()
    assert len(both) > 60 and all(sent[0][key] == sent[1][key] for key in both)
    headers = {key for of in sent for _, _, _, found in of.values() for key, _ in found}
    assert headers == {"cache-control", "content-length", "content-security-policy", "content-type", "vary",
                       "x-content-type-options"}, "no ETag, no Last-Modified: nothing of the file but its bytes"


# Preference studies -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def rated_study(stage: Stage) -> tuple[Study, Mapping[str, Item], list[tuple[str, Any, Features]]]:
    """Three methods that find at random, so that what is on their pictures tells nothing."""
    draw = random.Random(11)
    images = [image(number) for number in range(300)]
    queries = []
    for number in range(QUESTIONS):
        reference, *found = draw.sample(images, 16)
        results = {method: tuple(found[5 * place:5 * place + 5]) for place, method in enumerate(METHODS)}
        target = results[draw.choice(METHODS)][draw.randrange(5)]
        queries.append(SurveyQuery(f"shop::{number}", "shop", f"q{number}", "", f"in colour {draw.randrange(1000)}",
                                   reference, (target,), results))
    with seeded("survey"):
        study = create_preference_study(
            stage.store, stage.home, "Survey", queries, METHODS, stage.find,
            SurveyLayout(per_person=QUESTIONS, forms=4, shared_every=0, reason_every=10, seed=5), created_by="local",
            source={}, settings={"check": "none"}).study
    browser = Browser(stage.home, stage.store)
    workspace = browser.post("/study/join", study="Survey")
    while workspace["gate"]:
        workspace = browser.post("/study/gate", study="Survey", token=new_id(), **solved(workspace["gate"]))["desk"]
    heard, announced = [], dict[str, Any]()
    while (item := workspace["item"]) is not None:
        answered = browser.get("study/at", study="Survey", item=item["id"])
        found = answered.features("desk") | features_of(without(answered.json, "study", "progress"))
        ahead = [address for one in workspace["ahead"] for address in one["images"]]
        for side in "AB":
            asked = [browser.get(one[size], repeats=1) for one in item["sets"][side] for size in ("small", "large")]
            found |= picture_features(side, asked)
            found[f"{side} ahead"] = float(np.mean([place for place, address in enumerate(ahead) if any(
                one["token"] in address for one in item["sets"][side])] or [-1]))
        found |= {f"A less B {part}": found[f"A {part}"] - found[f"B {part}"]
                  for part in ("bytes", "smallest", "largest", "ahead")}
        found["A less B seconds"] = difference(found["A seconds"], found["B seconds"])
        found |= {f"position mod {n}": item["position"] % n for n in (2, 3, 4)}
        heard.append((item["id"], answered.json["item"], found))
        assert announced.get(item["id"], item) == item   # what came before it is the same, and no more
        announced = {one["item"]["id"]: one["item"] for one in workspace["ahead"] if "item" in one}
        answer = rated(reason="it fits" if item["ask_reason"] else "")
        workspace = browser.post("/study/save", study="Survey", item=item["id"], answer=answer, token=new_id(),
                                 ahead=2)["desk"]
        if workspace["gate"]:
            break
    return study, {item.item_id: item for item in stage.store.items(study.study_id)}, heard


def test_nothing_tells_which_method_stands_on_which_side(stage: Stage, rated_study: Any) -> None:
    study, items, heard = rated_study
    assert len(heard) >= 200
    image_ids = {token: image.image_id for token, image in stage.store.images(study.study_id).items()}
    on_a = []
    for item_id, shown, _ in heard:
        first = {image_ids[one["token"]] for one in shown["sets"]["A"]}
        hidden = items[item_id].hidden
        on_a.append(next(method for method, ids in zip(hidden["methods"], hidden["set_ids"], strict=True)
                         if set(ids) == first))
    for method in METHODS:
        rows = [row for row, (item_id, _, _) in enumerate(heard) if method in items[item_id].hidden["methods"]]
        assert lasting_leaks(partial(told_by, f"side of {method}", [on_a[row] == method for row in rows]),
                             [heard[row][2] for row in rows]) == []
    stored = [on_a[row] == items[item_id].hidden["methods"][0] for row, (item_id, _, _) in enumerate(heard)]
    assert lasting_leaks(partial(told_by, "which set is stored first", stored), [one for _, _, one in heard]) == []


def test_nothing_tells_where_the_target_stands_in_a_survey(stage: Stage, rated_study: Any) -> None:
    study, items, heard = rated_study
    image_ids = {token: image.image_id for token, image in stage.store.images(study.study_id).items()}
    sides, labels, seen, pictures, best = [], [], [], [], []
    for item_id, shown, features in heard:
        hidden = items[item_id].hidden
        ranks = {image_id: rank for ids in hidden["set_ids"] for rank, image_id in enumerate(ids)}
        for side in "AB":
            for place, one in enumerate(shown["sets"][side]):
                image_id = image_ids[one["token"]]
                pictures.append(features_of(one) | {"place": place})
                labels.append(image_id == hidden["target_id"])
                best.append(ranks[image_id] == 0)
        first = {image_ids[one["token"]] for one in shown["sets"]["A"]}
        if hidden["target_id"] in ranks:
            sides.append(hidden["target_id"] in first)
            seen.append(features)
    assert lasting_leaks(partial(told_by, "side of the target", sides), seen) == []
    assert leaks([*told_by("the target", labels, pictures),
                  *told_by("the best of a method", best, pictures)]) == []


# Session studies ----------------------------------------------------------------------------------


class _Photos:
    """A gallery whose images are drawn at random, so that what is on them tells nothing."""

    name = "quaggagallery"

    def __init__(self, stage: Stage) -> None:
        self.path_of = self.to_read = stage.find

    def __contains__(self, image_id: object) -> bool:
        return True


def _sessions(source: str, draw: random.Random, *subsets: str) -> list[SampledSession]:
    """Alike in everything but where they come from: turns, texts and images are drawn."""
    made = []
    for number in range(QUESTIONS // 2):
        subset = subsets[number % len(subsets)]
        *shown, target = draw.sample(range(300), draw.choice((2, 3, 6)) + 1)
        turns = tuple(CircledTurn(image(one), f"in colour {draw.randrange(100, 1000)}") for one in shown)
        made.append(SampledSession(source, CircledSession(f"{subset}_{number:04}", subset, (image(target),), turns)))
    return made


@pytest.fixture(scope="module")
def rated_sessions(stage: Stage) -> tuple[Mapping[str, Item], list[tuple[str, Any, Features]]]:
    draw = random.Random(17)
    sampled = [*_sessions("narwhalours", draw, "zebra_dress_val", "zebra_shirt_val"),
               *_sessions("lemurplain", draw, "zebra_dress_val", "zebra_shirt_val")]
    galleries: Any = {"": _Photos(stage)}
    with seeded("sessions"):
        study = create_session_study(
            stage.store, stage.home, "Dialogues", sampled, galleries, StudyPlan(1, 1, 0, 5), created_by="local",
            source={"sources": {"narwhalours": {}, "lemurplain": {}}}).study
    items = {item.item_id: item for item in stage.store.items(study.study_id)}
    browser = Browser(stage.home, stage.store)
    browser.post("/study/join", study="Dialogues")
    heard, said = [], [browser.get("study/rubric", study="Dialogues").response.text]
    for place in browser.get("study/overview", study="Dialogues").json["places"]:
        answered = browser.get("study/at", study="Dialogues", item=place["item"])
        workspace = answered.json
        found = answered.features("desk") | features_of(without(workspace, "study", "progress"))
        shown = [*(turn["image"] for turn in workspace["item"]["turns"]), workspace["item"]["target"]]
        pictures = [browser.get(one[size], repeats=1) for one in shown for size in ("small", "large")]
        found |= picture_features("story", pictures[:-2]) | picture_features("target", pictures[-2:])
        found |= {f"position mod {n}": place["position"] % n for n in (2, 3, 4)}
        heard.append((place["item"], workspace, found))
        said += [answered.response.text, *(f"{one.response.url} {one.response.headers}" for one in pictures)]
    for one in said:
        assert not any(secret in one for secret in ("narwhal", "lemur", "zebra", "quagga", '"i0', "/i0"))
    return items, heard


def test_nothing_tells_where_a_session_comes_from(rated_sessions: Any) -> None:
    items, heard = rated_sessions
    hidden = [items[item_id].hidden for item_id, _, _ in heard]
    secrets = {
        "source": [one["source"] == "narwhalours" for one in hidden],
        "subset": [one["subset"] == "zebra_dress_val" for one in hidden],
        "place in the source": [int(one["session"][-4:]) < QUESTIONS / 4 for one in hidden],
        "id of the target": [one["target_id"] < image(150) for one in hidden],
    }
    for secret, labels in secrets.items():
        assert lasting_leaks(partial(told_by, secret, labels), [found for _, _, found in heard]) == []
    # Neither does a turn or its picture tell its image, nor that another session has the same one.
    tokens = [one["token"] for _, workspace, _ in heard
              for one in (*(turn["image"] for turn in workspace["item"]["turns"]), workspace["item"]["target"])]
    ids = [image_id for one in hidden for image_id in (*one["references"], one["target_id"])]
    assert len(set(tokens)) == len(tokens) > 2 * len(set(ids))
    assert leaks(told_by("id of an image", [one < image(150) for one in ids],
                         [{"name": sorted(tokens).index(one)} for one in tokens])) == []


# Target studies -----------------------------------------------------------------------------------


def _asked(draw: random.Random) -> list[TargetQuery]:
    """Alike in everything but what is hidden: confidences, groups and the own target are drawn."""
    groups: tuple[Group, ...] = ("caption_query", "joined_query", "tg_img")
    asked = []
    for number in range(QUESTIONS):
        *shown, reference = (image(one) for one in draw.sample(range(300), draw.choice((5, 7)) + 1))
        own, missed = draw.choice(shown), draw.random() < 0.5   # no group has found it
        found = tuple(Candidate(one, (FoundIn(draw.choice(groups), place + 1, 0.5, draw.choice((0.3, 0.95))),))
                      for place, one in enumerate(shown) if one != own or not missed)
        asked.append(TargetQuery(("zebra_dress", "zebra_shirt")[number % 2], QueryCandidates(
            f"q{number:04}", reference, own, (f"lemur {number}",), f"in colour {draw.randrange(100, 1000)}", (), {},
            found)))
    return asked


def test_nothing_tells_which_candidate_the_model_took_or_the_data_set_has(stage: Stage) -> None:
    gallery: Any = _Photos(stage)
    with seeded("targets"):
        study = create_target_study(
            stage.store, stage.home, "Which fit", _asked(random.Random(19)), gallery, StudyPlan(1, 1, 0, 5),
            threshold=0.85, created_by="local", source={"files": {"zebra_dress": "", "zebra_shirt": ""}}).study
    items = {item.item_id: item for item in stage.store.items(study.study_id)}
    browser = Browser(stage.home, stage.store)
    browser.post("/study/join", study="Which fit")
    heard: list[Features] = []
    of_item: dict[str, list[bool]] = {"data set": [], "own target found": [], "own target among the first": []}
    of_picture: dict[str, list[bool]] = {"taken": [], "own target": [], "found first": [], "group": []}
    pictures, names, ids = [], [], []
    said = [browser.get("study/rubric", study="Which fit").response.text]
    for place in browser.get("study/overview", study="Which fit").json["places"]:
        answered = browser.get("study/at", study="Which fit", item=place["item"])
        shown, hidden = answered.json["item"]["candidates"], items[place["item"]].hidden
        sent = [[browser.get(one[size], repeats=1) for size in ("small", "large")] for one in shown]
        found = answered.features("desk") | features_of(without(answered.json, "study", "progress"))
        heard.append(found | picture_features("all", [one for both in sent for one in both])
                     | {f"position mod {n}": place["position"] % n for n in (2, 3, 4)})
        own = [each["image"] for each in hidden["candidates"]].index(hidden["original_target"])
        of_item["data set"].append(hidden["dataset"] == "zebra_dress")
        of_item["own target found"].append(bool(hidden["candidates"][own]["found"]))
        of_item["own target among the first"].append(own < len(shown) / 2)
        for where, (one, both, each) in enumerate(zip(shown, sent, hidden["candidates"], strict=True)):
            pictures.append(features_of(one) | picture_features("picture", both)
                            | {"place": where, "place from the end": len(shown) - where})
            of_picture["taken"].append((each["confidence"] or 0) >= study.source["threshold"])
            of_picture["own target"].append(where == own)
            of_picture["found first"].append(any(at["rank"] == 1 for at in each["found"]))
            of_picture["group"].append(any(at["group"] == "tg_img" for at in each["found"]))
            names.append(one["token"])
            ids.append(each["image"])
        said += [answered.response.text,
                 *(f"{one.response.url} {one.response.headers}" for both in sent for one in both)]
    for text in said:
        assert not any(secret in text for secret in ("lemur", "zebra", "quagga", '"confidence', '"i0', "/i0", '"q0'))
    for secret, labels in of_item.items():
        assert lasting_leaks(partial(told_by, secret, labels), heard) == []
    for secret, labels in of_picture.items():
        assert lasting_leaks(partial(told_by, secret, labels), pictures) == []
    # A name is of one query: neither does it tell its image, nor that another query has the same one.
    assert len(set(names)) == len(names) > 2 * len(set(ids))
    assert leaks(told_by("id of an image", [one < image(150) for one in ids],
                         [{"name": sorted(names).index(one)} for one in names])) == []


# Adjudication -----------------------------------------------------------------------------------


def test_letters_and_numbers_of_cases_tell_nobody_and_nothing(stage: Stage) -> None:
    with seeded("cases"):
        study = create_validity_study(
            stage.store, stage.home, "Cases", stage.queries, stage.find, StudyPlan(2, 2, 0, 3), created_by="local",
            source={}, panel_size=0).study
    items = stage.store.items(study.study_id)
    said = {"Ada": valid(), "Ben": flagged("QUERY_TOO_BROAD")}
    draw = random.Random(4)
    for who in said:
        Browser(stage.home, stage.store, who).post("/study/join", study="Cases")
    for number, item in enumerate(items):
        # Who of the two says what is drawn, or what was said would tell who said it.
        answers = dict(zip(said, draw.sample(list(said.values()), 2), strict=True))
        for who, answer in answers.items():
            stage.store.save(Judgement(new_id(), study.study_id, item.item_id, who, 0, f"{who}-{number:06}",
                                       study.protocol, answer, 1.0, study.created_at), unsure=False)
    names = {(one.item_id, json.dumps(one.answer, sort_keys=True)): one.annotator
             for one in stage.store.judgements(study.study_id)}
    browser = Browser(stage.home, stage.store, "Olga", "researcher")
    cases = browser.get("adjudicate/queue", study="Cases").json["cases"]
    by_id = {item.item_id: item for item in items}
    seen, category, in_source, first = [], [], [], []
    for case in cases:
        browser.post("/adjudicate/answer", study="Cases", item=case["item"], answer=valid())
        answered = browser.get("adjudicate/case", study="Cases", item=case["item"])
        opened = answered.json
        text = len(json.dumps(opened["item"]["text"], ensure_ascii=False).encode())
        seen.append(answered.features("case", less=text) | features_of(case) | features_of(
            without(opened, "text", "answer")) | {f"number mod {n}": opened["number"] % n for n in (2, 3)})
        item = by_id[case["item"]]
        category.append(item.hidden["hidden_category"] == "shortcut_solvable")
        in_source.append(item.number < len(items) / 2)
        first.append(names[item.item_id, json.dumps(opened["judgements"][0]["answer"], sort_keys=True)] == "Ada")
    assert len(cases) >= 200
    for secret, labels in (("category", category), ("place in the source", in_source), ("Ada is Judge A", first)):
        assert lasting_leaks(partial(told_by, secret, labels), seen) == []
    assert binomtest(sum(first), len(first)).pvalue > 0.001, "nobody is Judge A more often than by chance"


def test_before_an_own_answer_a_case_does_not_tell_what_judges_said(stage: Stage) -> None:
    with seeded("blind cases"):
        study = create_validity_study(
            stage.store, stage.home, "Blind cases", stage.queries, stage.find, StudyPlan(2, 2, 0, 3), source={},
            created_by="local", panel_size=0).study
    items, draw = stage.store.items(study.study_id), random.Random(5)
    for who in ("Ada", "Ben"):
        Browser(stage.home, stage.store, who).post("/study/join", study="Blind cases")
    unsure, long = {}, {}
    for number, item in enumerate(items):
        unsure[item.item_id], long[item.item_id] = draw.random() < 0.5, draw.random() < 0.5
        note = "nobody could tell what this is " * 40 if long[item.item_id] else ""
        other = valid(validated=None, unsure=True) if unsure[item.item_id] else flagged("QUERY_TOO_BROAD")
        for who, answer in (("Ada", valid(note=note)), ("Ben", other)):
            stage.store.save(Judgement(new_id(), study.study_id, item.item_id, who, 0, f"{who}-{number:06}",
                                       study.protocol, answer, 1.0, study.created_at),
                             unsure=bool(answer.get("unsure")))
    browser = Browser(stage.home, stage.store, "Olga", "researcher")
    cases = browser.get("adjudicate/queue", study="Blind cases").json["cases"]
    seen = []
    for place, case in enumerate(cases):
        answered = browser.get("adjudicate/case", study="Blind cases", item=case["item"])
        opened = answered.json
        assert opened.keys() == {"item", "number", "decided", "first"} and opened["first"] is None
        text = len(json.dumps(opened["item"]["text"], ensure_ascii=False).encode())
        seen.append(answered.features("case", less=text) | features_of(case) | features_of(
            without(opened, "text")) | {"place": place, "number": opened["number"]})
    assert len(cases) == len(items) >= 200, "all of them need a decision"
    for secret, of_item in (("a judge was unsure", unsure), ("a judge wrote much", long)):
        assert lasting_leaks(partial(told_by, secret, [of_item[case["item"]] for case in cases]), seen) == []


# Methods side by side on the search screen --------------------------------------------------------


def test_no_column_tells_its_method(tmp_path: Any) -> None:
    colour_gallery(tmp_path)
    home, known = tmp_path / "home", builtin_methods()
    asked = [known[name] for name in ("text-only", "image-only", "slerp")]
    pool = SearcherPool(home, lambda encoder: ScriptedLanguageModel("green"), lambda spec: FakeEncoder())
    search = SearchService(pool, InMemorySessionStore(), UploadFolder(home / "uploads", max_megapixels=4))
    service, votes = ComparisonService(search, InMemoryComparisonStore()), InMemoryVoteStore()
    draw, ids = random.Random(2), search.gallery(NAME).ids
    seen, methods = [], []
    for number in range(100):
        text = draw.choice(("red", "blue", "green"))
        made = service.run(NAME, draw.choice(ids), text, asked, blind=True, seed=draw.randrange(2**31))
        shown = columns(made, votes.votes(made.comparison_id), "me", known, "v", lambda _: None)
        page = fill("search/columns.html", view=UiState(gallery=NAME), columns=shown)
        parts = page.split("<section")[1:]
        for place, (column, drawn) in enumerate(zip(shown["columns"], parts, strict=True)):
            # What was found is what is judged; how it is shown is looked at.
            plain = without(column, "tiles")
            frame = drawn.split("<ol")[0] + drawn.partition("</ol>")[2].partition("</section>")[0]
            seen.append(features_of(plain) | {
                "place": place, "frame bytes": len(frame), "tiles": len(column["tiles"]),
                "fields of a tile": len({key for tile in column["tiles"] for key in tile}),
                "ranks": sum(tile["rank"] for tile in column["tiles"]), "number": number})
            methods.append(made.columns[place].method)
    found = [one for method in (one.name for one in asked)
             for one in told_by(f"column of {method}", [one == method for one in methods], seen)]
    assert leaks(found) == []
