"""Cache, breaker, fallback, routing, and how the settings put them together."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any, cast

import pytest
from PIL import Image

from cir_core.errors import (
    LanguageModelError,
    LanguageModelUnavailable,
    SettingsError,
    Stopped,
    StorageError,
    UnsupportedTask,
)
from cir_core.evaluation.method_runs import StrictLanguageModel
from cir_core.language.base import Observer
from cir_core.language.builtin import BuiltinLanguageModel
from cir_core.language.connect import connected, language_models
from cir_core.language.tasks import A, CaptionAnswer, CaptionTask, JudgeTask, MergeAnswer, MergeTask, Picture, Task
from cir_core.language.wrappers.availability import BreakerLanguageModel, CountedLanguageModel, FallbackLanguageModel
from cir_core.language.wrappers.base import Conditions, conditions_of
from cir_core.language.wrappers.cached import CachedLanguageModel, SingleFlightLanguageModel, answer_key
from cir_core.language.wrappers.routed import RoutedLanguageModel
from cir_core.methods.observer import PartWatch, TurnObserver
from cir_core.settings import Settings
from cir_core.types.composition import Usage
from tests.fakes.answer_cache import DictCache
from tests.fakes.encoder import FakeEncoder
from tests.fakes.language import ScriptedLanguageModel

MERGE = MergeTask("a red dress", "make it blue")


class Asked:
    """A model that does what ``act`` does, counts how often, and reports usage."""

    name, sees = "served@host", True

    def __init__(
        self, act: Callable[[Task[Any]], Any], conditions: Callable[[Task[Any]], Conditions] = lambda task: Conditions()
    ) -> None:
        self.act, self.conditions, self.times = act, conditions, 0

    def complete(self, task: Task[A], watch: Observer | None = None) -> A:
        self.times += 1
        if watch is not None:
            watch.spent(Usage(1, 0, 100, 10, None, (self.name,)))
        return cast(A, self.act(task))


def raises(error: Exception) -> Callable[[Task[Any]], Any]:
    def act(task: Task[Any]) -> Any:
        raise error
    return act


def blue(task: Task[Any]) -> MergeAnswer:
    return MergeAnswer(query="a blue dress")


AWAY = LanguageModelUnavailable("host cannot be reached. Check that it runs.")


def test_the_second_time_is_free_and_the_same():
    inner, cache = Asked(blue, lambda task: Conditions("1.1", 512, 0.0)), DictCache()
    model = CachedLanguageModel(inner, cache)
    first, second = Observer(), Observer()
    assert model.complete(MERGE, first) == model.complete(MERGE, second) == blue(MERGE)
    assert inner.times == 1
    assert first.usage == Usage(1, 0, 100, 10, None, ("served@host",))
    assert second.usage == Usage(cached=1, models=("served@host",))
    assert cache.puts == [{"model": "served@host", "role": "merge", "prompt_version": "1.1", "prompt_tokens": 100,
                           "completion_tokens": 10}]


def test_tokens_are_kept_when_nobody_watches():
    cache = DictCache()
    CachedLanguageModel(Asked(blue), cache).complete(MERGE)
    assert cache.puts[0]["prompt_tokens"] == 100


def test_an_answer_that_something_was_in_the_way_of_is_not_kept():
    inner, cache = Asked(lambda task: MergeAnswer(query="a blue dress", notes=("sent smaller",))), DictCache()
    model = CachedLanguageModel(inner, cache)
    assert model.complete(MERGE).notes == model.complete(MERGE).notes == ("sent smaller",)
    assert inner.times == 2 and cache.rows == {}


def test_a_cached_answer_needs_no_server():
    inner, cache = Asked(blue), DictCache()
    CachedLanguageModel(inner, cache).complete(MERGE)
    inner.act = raises(AWAY)
    assert CachedLanguageModel(BreakerLanguageModel(inner), cache).complete(MERGE) == blue(MERGE)
    with pytest.raises(LanguageModelUnavailable):
        CachedLanguageModel(inner, cache).complete(replace(MERGE, caption="other"))


@pytest.mark.parametrize("damaged", ["", "{", '{"caption": "x"}', '{"query": ""}'])
def test_a_damaged_row_is_asked_again(damaged):
    inner, cache = Asked(blue), DictCache()
    cache.rows[answer_key(inner.name, MERGE, Conditions())] = damaged
    assert CachedLanguageModel(inner, cache).complete(MERGE) == blue(MERGE)
    assert inner.times == 1


def test_a_full_disk_costs_the_cache_and_not_the_answer(caplog: pytest.LogCaptureFixture):
    class FullDisk:
        def get(self, key: str) -> str | None:
            raise StorageError("the disk is full")

        def put(self, key: str, answer: str, **about: Any) -> None:
            raise StorageError("the disk is full")

    inner = Asked(blue)
    model = CachedLanguageModel(inner, FullDisk())
    assert model.complete(MERGE) == model.complete(MERGE) == blue(MERGE)
    assert inner.times == 2 and "could not be kept" in caplog.text


def test_the_key_knows_everything_an_answer_depends_on():
    red, green = Image.new("RGB", (4, 4), "red"), Image.new("RGB", (4, 4), "green")
    task = CaptionTask(Picture.of(red), "dress")
    usual = Conditions("1.1", 512, 0.0)
    keys = {
        answer_key("m@h", task, usual), answer_key("m@i", task, usual),
        answer_key("m@h", task, replace(usual, prompt_version="1.2")),
        answer_key("m@h", task, replace(usual, image_edge=256)),
        answer_key("m@h", task, replace(usual, temperature=0.5)),
        answer_key("m@h", replace(task, domain="shirt"), usual),
        answer_key("m@h", replace(task, sample=1), usual),
        answer_key("m@h", replace(task, picture=Picture.of(green)), usual),
        answer_key("m@h", replace(task, picture=Picture.of(red.resize((2, 8)))), usual),
        answer_key("m@h", replace(task, picture=Picture(digest="d")), usual),
        answer_key("m@h", MERGE, usual),
    }
    assert len(keys) == 11
    assert answer_key("m@h", CaptionTask(Picture.of(red.copy()), "dress"), usual) in keys


def test_a_digest_spares_the_pixels():
    def unread() -> Image.Image:
        raise AssertionError("the digest names the content")

    answer_key("m", CaptionTask(Picture(digest="d", load=unread)), Conditions())


def test_a_caption_of_the_manifest_is_the_answer():
    model = CachedLanguageModel(Asked(raises(AssertionError("not to be asked"))), DictCache())
    assert model.complete(CaptionTask(Picture(" a coat"))) == CaptionAnswer(caption=" a coat")


@pytest.mark.parametrize("given", [{}, {"llm_sees": False}])
def test_with_any_settings_a_caption_of_the_manifest_is_the_answer(given):
    for served in ({}, SERVED):
        model = language_models(settings(**served, **given), DictCache())(FakeEncoder())
        watch = Observer()
        answer = model.complete(CaptionTask(Picture(" a coat")), watch)
        assert answer == CaptionAnswer(caption=" a coat") and watch.usage == Usage()


def test_an_answer_under_other_conditions_is_kept_under_them():
    """Images are sent smaller from now on: the remark tells of it, and the answer is as good as the next one."""
    edge = [512]

    def smaller(task: Task[Any]) -> MergeAnswer:
        edge[0] = 256
        return MergeAnswer(query="a blue dress", notes=("sent smaller",))

    inner, cache = Asked(smaller, lambda task: Conditions("1.1", edge[0])), DictCache()
    model = CachedLanguageModel(inner, cache)
    assert model.complete(MERGE).notes == model.complete(MERGE).notes == ("sent smaller",)
    assert inner.times == 1 and list(cache.rows) == [answer_key("served@host", MERGE, Conditions("1.1", 256))]


def test_conditions_are_those_of_the_model_that_is_asked():
    told = Conditions("3.1", 512)
    asked = Asked(blue, lambda task: told)
    kept = CachedLanguageModel(asked, DictCache())
    for model in (kept, BreakerLanguageModel(asked), CountedLanguageModel(asked, lambda *heard: None),
                  StrictLanguageModel(asked), FallbackLanguageModel(kept, BuiltinLanguageModel()),
                  RoutedLanguageModel(BuiltinLanguageModel(), {"merge": kept}), RoutedLanguageModel(kept, {})):
        assert conditions_of(model, MERGE) == told
    assert conditions_of(BuiltinLanguageModel(), MERGE) == Conditions()


def test_somebody_follows_who_looks_at_partial_answers():
    class Follows(Observer):
        def partial(self, role, fields):
            pass

    seen: list[bool] = []

    class Noting(Asked):
        def complete(self, task, watch=None):
            seen.append(watch.follows)
            return super().complete(task, watch)

    model = CachedLanguageModel(Noting(blue), DictCache())
    for number, watch in enumerate((None, Observer(), TurnObserver(), PartWatch(TurnObserver()), Follows())):
        model.complete(replace(MERGE, caption=str(number)), watch)
    assert seen == [False, False, False, False, True]


def test_watching_and_stopping_pass_through_the_cache():
    class Growing(Observer):
        def partial(self, role, fields):
            seen.append((role, fields))
            self.stop()

    class Streaming(Asked):
        def complete(self, task, watch=None):
            watch.partial("merge", {"query": "a"})
            assert watch.stopped
            watch.stop()
            raise Stopped("stopped")

    seen: list[Any] = []
    cache = DictCache()
    with pytest.raises(Stopped):
        CachedLanguageModel(Streaming(blue), cache).complete(MERGE, Growing())
    assert seen == [("merge", {"query": "a"})] and cache.rows == {}


def test_the_built_in_model_answers_for_a_server_that_is_away_and_says_so():
    watch = Observer()
    answer = FallbackLanguageModel(Asked(raises(AWAY)), BuiltinLanguageModel()).complete(MERGE, watch)
    assert answer.query == BuiltinLanguageModel().complete(MERGE).query
    note = answer.notes[-1]
    assert "built-in" in note and "instead of served:" in note and "cannot be reached" in note
    assert watch.usage.models == ("served@host", BuiltinLanguageModel.name)
    assert watch.usage.stand_ins == (BuiltinLanguageModel.name,)


def test_a_role_it_cannot_fill_ends_in_the_servers_error():
    model = FallbackLanguageModel(Asked(raises(AWAY)), BuiltinLanguageModel())
    with pytest.raises(LanguageModelUnavailable, match=r"host cannot be reached.*cannot fill the role 'judge'"):
        model.complete(JudgeTask())


def test_when_both_fail_both_are_named():
    class BuiltIn(Asked):
        name = "built-in"

    broken = BuiltIn(raises(LanguageModelError("The images show no difference.")))
    with pytest.raises(LanguageModelUnavailable, match=r"host cannot be reached.*no difference"):
        FallbackLanguageModel(Asked(raises(AWAY)), broken).complete(MERGE)


@pytest.mark.parametrize("error", [Stopped("s"), LanguageModelError("key"), UnsupportedTask("u"), ValueError("defect")])
def test_other_errors_are_not_covered_up(error):
    model = FallbackLanguageModel(BreakerLanguageModel(Asked(raises(error))), ScriptedLanguageModel())
    for _ in range(2):
        with pytest.raises(type(error)):
            model.complete(MERGE)


def test_the_breaker_asks_again_after_its_rest():
    now = [0.0]
    inner = Asked(raises(AWAY))
    model = BreakerLanguageModel(inner, rest=30, clock=lambda: now[0])

    def times_after(seconds: float) -> int:
        now[0] += seconds
        with pytest.raises(LanguageModelUnavailable, match="cannot be reached"):
            model.complete(MERGE)
        return inner.times

    # Asked at 0, which fails; at 29 not; at 31 again, which fails; at 32 not.
    assert [times_after(s) for s in (0, 29, 2, 1)] == [1, 1, 2, 2]
    inner.act = blue
    now[0] += 30
    assert model.complete(MERGE) == blue(MERGE) == model.complete(MERGE)
    assert inner.times == 4


def test_one_request_tries_while_the_others_fail_at_once():
    now = [0.0]
    inner = Asked(raises(AWAY))
    model = BreakerLanguageModel(inner, rest=30, clock=lambda: now[0])
    with pytest.raises(LanguageModelUnavailable):
        model.complete(MERGE)
    now[0] = 31
    trying, go_on = threading.Event(), threading.Event()

    def slow(task: Task[Any]) -> MergeAnswer:
        trying.set()
        assert go_on.wait(60)
        return blue(task)

    inner.act = slow
    thread = threading.Thread(target=model.complete, args=(MERGE,))
    thread.start()
    assert trying.wait(60)
    with pytest.raises(LanguageModelUnavailable, match="not asked again for 30 s"):
        model.complete(MERGE)
    go_on.set()
    thread.join()
    assert inner.times == 2
    inner.act = blue
    assert model.complete(MERGE) == blue(MERGE)


def test_the_note_is_given_each_time():
    inner = Asked(raises(AWAY))
    model = FallbackLanguageModel(BreakerLanguageModel(inner), BuiltinLanguageModel())
    notes = {model.complete(MERGE).notes[-1] for _ in range(3)}
    assert inner.times == 1 and len(notes) == 1, "so that a turn that asks several times says it once"
    assert "instead of served:" in notes.pop()


def test_routes():
    captioner = ScriptedLanguageModel("a coat")
    model = RoutedLanguageModel(Asked(blue), {"caption": captioner})
    assert model.name == "served@host + scripted/1 (caption)" and model.sees
    assert model.complete(CaptionTask()).caption == "a coat"
    assert model.complete(MERGE).query == "a blue dress"
    assert not RoutedLanguageModel(ScriptedLanguageModel(), {"caption": captioner}).sees


def settings(**values: Any) -> Settings:
    return Settings(**values)


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch):
    for name in Settings.model_fields:
        monkeypatch.delenv(f"CIRQUE_{name.upper()}", raising=False)


SERVED = {"llm_base_url": "http://127.0.0.1:9/v1", "llm_model": "m", "llm_api_key": "sk-1234567890"}


def test_without_a_server_the_built_in_model_works_alone():
    assert isinstance(language_models(settings(llm_api_key="unused"), DictCache())(FakeEncoder()), BuiltinLanguageModel)


def test_with_a_server_the_built_in_model_steps_in():
    for_encoder = language_models(settings(**SERVED, llm_retries=0), DictCache())
    model = for_encoder(FakeEncoder())
    assert model.name == "m@127.0.0.1:9" and model.sees
    # Nothing listens on port 9.
    assert "The language model's server cannot be reached" in model.complete(MERGE).notes[-1]


def test_measurements_can_do_without_the_fallback():
    model = language_models(settings(**SERVED, llm_retries=0), DictCache(), fallback=False)(FakeEncoder())
    with pytest.raises(LanguageModelUnavailable, match="cannot be reached"):
        model.complete(MERGE)


def test_a_model_that_does_not_see_leaves_captions_to_the_built_in_one():
    model = language_models(settings(**SERVED, llm_sees=False), DictCache())(FakeEncoder())
    assert model.name == f"m@127.0.0.1:9 + {BuiltinLanguageModel.name} (caption)" and not model.sees


def test_every_setting_of_the_server_arrives():
    given = {"llm_temperature": 0.5, "llm_timeout": 7.0, "llm_connect_timeout": 3.0, "llm_retries": 1,
             "llm_concurrency": 2, "llm_image_edge": 64, "llm_sees": False, "llm_prompt_price": 0.15,
             "llm_completion_price": 0.6}
    model = connected(settings(**SERVED, **given))
    assert model is not None
    assert {f"llm_{name}": getattr(model.server, name) for name in
            (key.removeprefix("llm_") for key in given)} == given
    assert model.server.key == "sk-1234567890" and model.server.base_url == SERVED["llm_base_url"]


def test_half_a_connection_is_a_mistake():
    for half, missing in (("llm_base_url", "CIRQUE_LLM_MODEL"), ("llm_model", "CIRQUE_LLM_BASE_URL")):
        with pytest.raises(SettingsError, match=missing):
            language_models(settings(**{half: SERVED[half]}), DictCache())


@pytest.mark.parametrize("captioner", ["blip", "blip:", "clip:/path"])
def test_captioners_that_are_none(captioner):
    with pytest.raises(SettingsError, match="CIRQUE_CAPTIONER"):
        language_models(settings(captioner=captioner), DictCache())


def test_a_captioner_that_is_not_there(tmp_path):
    with pytest.raises(LanguageModelError, match="nowhere"):
        language_models(settings(captioner=f"blip:{tmp_path / 'nowhere'}", device="cpu"), DictCache())


def test_the_key_is_not_in_the_settings_text():
    assert "sk-1234567890" not in repr(settings(**SERVED)) + str(settings(**SERVED))


# --- one request for what several threads ask at one time ------------------------------------

class Gated:
    """Answers with the number of the request, once ``go`` is set; fails at the requests in ``failing``."""

    name, sees = "gated/1", False

    def __init__(self, failing=()):
        self.failing, self.asked = failing, 0
        self.entered, self.go = threading.Event(), threading.Event()
        self._lock = threading.Lock()

    def complete(self, task, watch=None):
        with self._lock:
            self.asked += 1
            number = self.asked
        self.entered.set()
        assert self.go.wait(60)
        if number in self.failing:
            raise LanguageModelError(f"request {number}")
        return MergeAnswer(query=f"{task.modification_text} {number}")


def ask(model, texts):
    """Every text in a thread of its own; the gate opens when the first request is under way and the others wait."""
    single = SingleFlightLanguageModel(model)
    with ThreadPoolExecutor(len(texts)) as pool:
        futures = [pool.submit(single.complete, MergeTask("a", text)) for text in texts]
        assert model.entered.wait(60)
        model.go.set()
        for future in futures:
            future.exception()
    return futures, single


def test_the_same_task_is_asked_once_and_others_are_not_held_up():
    model = Gated()
    single = SingleFlightLanguageModel(model)
    with ThreadPoolExecutor(4) as pool:
        first = pool.submit(single.complete, MergeTask("a", "red"))
        assert model.entered.wait(60)
        others = [pool.submit(single.complete, MergeTask("a", "red")) for _ in range(3)]
        model.go.set()
        answers = {future.result().query for future in (first, *others)}
    # Whoever came while the first was under way has its answer; each answer is that of one request.
    assert len(answers) == model.asked <= 4 and "red 1" in answers
    model.asked = 0
    assert single.complete(MergeTask("a", "red")).query == "red 1" and model.asked == 1   # it keeps nothing


def test_of_those_that_wait_for_a_failure_each_asks_in_its_own_name():
    model = Gated(failing=(1,))
    futures, single = ask(model, ["red"] * 4)
    failed = [future for future in futures if future.exception() is not None]
    assert [str(future.exception()) for future in failed] == ["request 1"]
    assert all(future.result().query.startswith("red ") for future in futures if future not in failed)
    model.failing = (model.asked + 1,)
    with pytest.raises(LanguageModelError):
        single.complete(MergeTask("a", "blue"))
    assert (single.name, single.sees) == ("gated/1", False)
