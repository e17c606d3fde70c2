"""The parts of the chat adapter that need no server: prompts, forms, pictures, reading answers."""

from __future__ import annotations

import base64
import contextlib
import copy
import io
import re
from dataclasses import replace
from typing import Any, get_args, get_type_hints

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from cir_core.errors import LanguageModelError, SettingsError, UnsupportedTask
from cir_core.language import prompts
from cir_core.language.openai.messages import data_url, in_words, messages, schema, without_system
from cir_core.language.openai.reading import WrongForm, bare, has_object, partial_fields, read_answer
from cir_core.language.openai.replies.complaints import Complained, Kind, NoAnswer, NotChat, complaint_of
from cir_core.language.openai.replies.contents import Said, said_in
from cir_core.language.openai.replies.failures import explained
from cir_core.language.openai.server import Server
from cir_core.language.prompts import Prompt, load, quoted
from cir_core.language.tasks import (
    ROLES,
    AspectsTask,
    CaptionAnswer,
    CaptionTask,
    ConfidenceTask,
    ConstraintsTask,
    DifferenceTask,
    JudgeTask,
    MergeTask,
    Picture,
    ReflectTask,
    RewriteTask,
    Task,
)
from cir_core.language.tasks.base import CUT_OFF
from cir_core.language.wrappers.base import Conditions
from cir_core.language.wrappers.cached import answer_key
from cir_core.settings import Settings
from cir_core.types.records import DOMAINS
from cli.galleries.captions import build

MERGE = MergeTask("a red dress", "make it blue")
RED = Picture.of(Image.new("RGB", (8, 8), "red"))
NAMED = ConfidenceTask(RED, "in blue", ("candidate 1", "candidate 2"), (RED, RED))


def prompt(role: str) -> Prompt:
    found = load(role)
    assert found is not None
    return found


@pytest.mark.parametrize("role", ROLES)
def test_every_role_has_a_prompt_whose_places_are_inputs_of_its_task(role):
    task = ROLES[role]()
    known = task.inputs().keys() | {"fields", "domain"}
    written = prompt(role)
    assert re.fullmatch(r"\d+\.[0-9a-f]{8}", written.version) and written.max_tokens >= 50
    assert len(written.labels_of(task)) == len(task.pictures())
    for text in (written.system, written.user, *written.parts.values()):
        assert set(re.findall(r"\{(\w+)\}", text)) <= known
    assert written.parts.keys() <= task.inputs().keys()
    if "domain" in task.inputs():
        assert tuple(written.domains) == DOMAINS
        assert "{domain}" in written.system


def test_whatever_a_model_is_told_is_in_the_version_and_so_in_the_key():
    written, task = prompt("caption"), CaptionTask(RED)
    form = copy.deepcopy(dict(written.form))
    form["properties"]["caption"]["description"] = "One sentence."
    others = [
        replace(written, number="2"), replace(written, system=written.system + "!"), replace(written, user="Caption!"),
        replace(written, labels=("Photo",)), replace(written, domains={**written.domains, "dress": "A dress."}),
        replace(written, parts={}), replace(written, common=(*written.common[:-1], "Answer in JSON.")),
        replace(written, form=form),
    ]
    keys = {answer_key("m@h", task, Conditions(one.version, 512)) for one in (written, *others)}
    assert len(keys) == 9
    assert replace(written).version == written.version and replace(written, max_tokens=999).version == written.version
    assert "description" in str(written.form) and "notes" not in written.form["properties"]


def test_another_wording_of_an_answers_field_is_another_version(monkeypatch):
    before = prompt("merge").version
    monkeypatch.setitem(ROLES, "merge", type("Other", (MergeTask,), {"answer_type": CaptionAnswer}))
    prompts._all.cache_clear()
    try:
        assert prompt("merge").version != before
    finally:
        monkeypatch.undo()
        prompts._all.cache_clear()
    assert prompt("merge").version == before


@pytest.mark.parametrize("role", [role for role in ROLES if "domain" in ROLES[role]().inputs()])
def test_a_domain_that_there_is_none_of_is_said_to_be_none(role):
    with pytest.raises(SettingsError, match=r"no domain 'chair'.*garment, dress, shirt, toptee, scene, circo"):
        prompt(role).fill(replace(ROLES[role](), domain="chair"), "")


def test_settings_prompts_and_commands_know_the_same_domains():
    assert get_args(Settings.model_fields["domain"].annotation) == DOMAINS
    assert get_args(get_args(get_type_hints(build)["domain"])[0]) == DOMAINS


def test_roles_without_a_prompt_have_none():
    assert load("common") is None and load("no-such-role") is None


def test_a_persons_braces_and_quotes_stay_text():
    system, user = prompt("merge").fill(MergeTask('a {caption} "x"', "{modification_text} {0} {nothing}\n- obey"), "F")
    assert '"a {caption} \\"x\\""' in user
    assert '"{modification_text} {0} {nothing}\\n- obey"' in user
    assert system.endswith("F")


def test_parts_appear_only_when_they_apply():
    reflect, difference = prompt("reflect"), prompt("difference")
    assert "were found with" not in reflect.fill(ReflectTask(captions=("a",)), "")[1]
    shown = reflect.fill(ReflectTask(captions=("a b", "c"), previous_query="old", round_number=2), "")[1]
    assert 'the query "old"' in shown and "round 2" in shown and '1. "a b"\n2. "c"' in shown
    assert "attempt" not in difference.fill(DifferenceTask(history=("add a belt",)), "")[1]
    again = difference.fill(DifferenceTask(history=("add a belt",), attempt=3), "")[1]
    assert "attempt 3" in again and '1. "add a belt"' in again


def test_captions_are_asked_for_by_domain_and_anew_by_number():
    texts = {domain: prompt("caption").fill(CaptionTask(RED, domain), "")[0] for domain in prompt("caption").domains}
    assert len(set(texts.values())) == 6 and "collar" in texts["shirt"] and "length" in texts["dress"]
    assert "number 4" in prompt("caption").fill(CaptionTask(RED, sample=4), "")[1]


def test_the_empty_is_said_to_be_none():
    assert quoted("") == quoted(None) == quoted([]) == "(none)"
    assert quoted([]) in prompt("difference").fill(DifferenceTask(), "")[1]


@pytest.mark.parametrize("role", ROLES)
def test_schemas_are_closed_and_leave_out_notes(role):
    made = schema(ROLES[role]())
    assert made["additionalProperties"] is False
    assert made["required"] == list(made["properties"]) and "notes" not in made["properties"]
    # Keywords that strict servers refuse.
    assert not re.search(r"minLength|minimum|maximum|default|title|\$ref", str(made))


def test_the_schema_of_scores_names_the_candidates():
    assert schema(NAMED)["properties"]["scores"]["required"] == ["candidate 1", "candidate 2"]
    assert '"keep" (list of texts): Attribute values of the image that stay.' in in_words(ConstraintsTask(RED))


@pytest.mark.parametrize("text", [
    '{"query": "a blue dress"}',
    '```json\n{"query": "a blue dress"}\n```',
    'Sure! {"query": "a blue dress"} Anything else?',
    '{"answer": {"query": "a blue dress"}}',
    '[{"query": "a blue dress"}]',
    '<think>{"query": "a red dress"} no, blue</think>{"query": "a blue dress"}',
    'A draft: {"query": "a dress"}. Better: {"query": "a blue dress"}',
    'In {curly} words: {"query": "a blue dress", "notes": ["mine"]} and {"n": 1}',
    '{"query": "  a blue\n dress "}',
    '{"query": "\\"a blue dress\\""}',
    '{"query": "Edited Description: a blue dress"}',
    '{"query": "a blue dress", "extra": {"deep": {"er": "}"}}}',
])
def test_answers_are_found_in_what_surrounds_them(text):
    answer = read_answer(MERGE, text)
    assert answer.query == "a blue dress" and answer.notes == ()


def test_braces_in_strings_and_second_colons_are_kept():
    found = '{"query": "a dress with a } and a { print: \\"so: what\\" {it says}"}'
    assert read_answer(MERGE, found).query == 'a dress with a } and a { print: "so: what" {it says}'


@pytest.mark.parametrize(("task", "text", "field", "fault"), [
    (MERGE, "", "the answer", "no text"),
    (MERGE, "a blue dress", "the answer", "no whole JSON object"),
    (MERGE, '{"query": "a bl', "the answer", "no whole JSON object"),
    (MERGE, "<think>hm</think>", "the answer", "no whole JSON object"),
    (MERGE, '{"caption": "x"}', "query", "required"),
    (MERGE, '{"query": " \\n "}', "query", "at least 1"),
    (MERGE, '{"query": null}', "query", "required"),
    (MERGE, '{"query": ["x"]}', "query", "string"),
    (CaptionTask(RED), '{"caption": " "}', "caption", "empty"),
    (DifferenceTask(RED, RED), '{"instruction": "\\"\\""}', "instruction", "at least 1"),
    (JudgeTask(target=RED), '{"reason": "x", "naturalness": 6, "coherence": 1, "progress": 1, "redundancy": 1, '
                            '"overall": 1}',
     "naturalness", "less than or equal to 5"),
    (ConstraintsTask(RED), '{"keep": "t-shirt", "prescriptive": "x", "proscriptive": ""}', "keep", "tuple"),
    (NAMED, '{"scores": {"candidate 1": 0.5}}', "scores", "'candidate 2' has no score"),
    (NAMED, '{"scores": {"candidate 1": 0.5, "candidate 2": 1, "candidate 3": 0}}', "scores",
     "no candidate 'candidate 3'"),
    (NAMED, '{"scores": {"candidate 1": 1.5, "candidate 2": 1}}', "scores.candidate 1", "less than or equal to 1"),
    (NAMED, '{"scores": {"candidate 1": NaN, "candidate 2": 1}}', "scores.candidate 1", "equal to"),
])
def test_what_cannot_be_used_names_the_field(task, text, field, fault):
    with pytest.raises(WrongForm) as caught:
        read_answer(task, text)
    assert caught.value.field == field and fault in caught.value.fault


def test_nested_answers_and_empty_list_entries():
    answer = read_answer(ConstraintsTask(RED), '{"keep": ["t-shirt", " "], "add": null, "remove": [], '
                                               '"prescriptive": "a  black t-shirt", "proscriptive": ""}')
    assert answer.keep == ("t-shirt",) and answer.add == () and answer.prescriptive == "a black t-shirt"


@pytest.mark.parametrize(("text", "expected"), [
    ("The image shows a red dress.", "a red dress."),
    ("In this picture, there is a dog", "a dog"),
    ("A photo of two cats", "two cats"),
    ("“a red dress”", "a red dress"),
    ('Caption: "The photo depicts a red dress"', "a red dress"),
    ("Colour: red", "Colour: red"),
    ('"red" and "blue"', '"red" and "blue"'),
    ("a dress: red: long", "a dress: red: long"),
    ("Caption:", "Caption:"),
])
def test_sentences_are_bared_of_what_models_add(text, expected):
    assert bare(text) == expected


def test_an_instruction_begins_with_a_capital():
    answer = read_answer(DifferenceTask(RED, RED), '{"instruction": "Instruction: \'add a belt\'"}')
    assert answer.instruction == "Add a belt"


@given(st.text(alphabet='{}[]":,\\ abc\n', max_size=200))
def test_reading_ends_in_an_answer_or_a_fault(text):
    partial_fields(MERGE, text)
    with contextlib.suppress(WrongForm):
        assert read_answer(MERGE, text + '{"query"').query


def test_hostile_depth_and_length_end_quickly():
    for text in ("{" * 300_000, '{"a":' * 50_000 + "1" + "}" * 50_000, '{"' * 100_000):
        with pytest.raises(WrongForm):
            read_answer(MERGE, text)


def test_the_beginning_of_an_answer():
    text = 'ok ```json {"intent": "a longer dress", "satisfied": ["red", "lo'
    assert partial_fields(ReflectTask(), text) == {"intent": "a longer dress", "satisfied": ["red", "lo"]}
    assert partial_fields(ReflectTask(), "thinking") == {} == partial_fields(ReflectTask(), "<think>{\"query\": ")
    assert partial_fields(MERGE, '{"other": 1, "query": "a') == {"query": "a"}


def opened(url: str) -> tuple[str, Image.Image]:
    head, _, content = url.partition(",")
    return head, Image.open(io.BytesIO(base64.b64decode(content)))


def test_pictures_are_scaled_to_the_edge_and_lose_their_metadata():
    photo = Image.effect_noise((1000, 500), 80).convert("RGB")
    photo.info["icc_profile"] = b"profile"
    head, image = opened(data_url(photo, 256))
    assert head == "data:image/jpeg;base64" and image.size == (256, 128) and "icc_profile" not in image.info
    assert photo.size == (1000, 500) and photo.info["icc_profile"]
    head, image = opened(data_url(Image.new("RGB", (300, 200), "red"), 256))
    assert head == "data:image/png;base64" and image.size == (256, 171)
    assert opened(data_url(Image.effect_noise((40, 40), 80), 512))[1].size == (40, 40)


def test_each_picture_follows_its_label():
    task = RewriteTask(RED, RED, (RED, Picture("a green dress")), "in blue")
    system, user = messages(task, prompt("rewrite"), sees=True, edge=64)
    assert system["role"] == "system"
    shown = [part.get("text", part["type"]) for part in user["content"]]
    assert shown[:7] == ["Reference image:", "image_url", "Target:", "image_url", "Distractor 1:", "image_url",
                         'Distractor 2: "a green dress"']
    assert shown[7].startswith('The request: "in blue"')
    [only] = without_system([system, user])
    assert only["role"] == "user" and only["content"][0]["text"] == system["content"]


@pytest.mark.parametrize(("task", "expected"), [
    (NAMED, ["Reference image", '"candidate 1"', '"candidate 2"']),
    (JudgeTask((RED, RED), ("a", "b"), RED), ["Turn 1", "Turn 2", "Target"]),
    (ReflectTask(RED, candidates=(RED, RED)), ["Reference image", "Result 1", "Result 2"]),
    (ConstraintsTask(RED), ["Reference image"]),
])
def test_labels(task: Task, expected: list[str]):
    assert prompt(task.role).labels_of(task) == expected


def test_a_model_that_does_not_see_reads_captions_or_says_it_cannot():
    def unread() -> Image.Image:
        raise AssertionError("no pixels for a model that does not see")

    task = DifferenceTask(Picture("a red dress", load=unread), Picture("a blue dress", load=unread))
    user = messages(task, prompt("difference"), sees=False, edge=64)[1]
    assert isinstance(user["content"], str)
    assert 'First image: "a red dress"' in user["content"] and 'Second image: "a blue dress"' in user["content"]
    for blind in (CaptionTask(Picture(load=unread)), ConfidenceTask(names=("a",), candidates=(Picture(),))):
        with pytest.raises(UnsupportedTask, match="captions"):
            messages(blind, prompt(blind.role), sees=False, edge=64)


@pytest.mark.parametrize(("url", "name"), [
    ("https://api.openai.com/v1", "m@api.openai.com"),
    ("https://api.openai.com:443/v1/", "m@api.openai.com"),
    ("http://LOCALHOST:11434/v1", "m@localhost:11434"),
    ("http://[::1]:8000/v1", "m@[::1]:8000"),
    ("https://me:secret-password@host.example/v1?api-version=preview#x", "m@host.example"),
])
def test_the_name_has_host_and_unusual_port_only(url, name):
    server = Server(url, "m", "sk-1234567890")
    assert server.name == name
    assert not re.search("secret|sk-1234567890", repr(server) + server.url)


def test_authorization_and_query():
    server = Server("https://me:p%40ss-word@host/v1?api-version=preview", "m")
    assert server.url == "https://host/v1" and server.query == {"api-version": "preview"}
    assert server.authorization == "Basic " + base64.b64encode(b"me:p@ss-word").decode()
    assert Server("https://me:pass@host/v1", "m", "sk-1").authorization == "Bearer sk-1"
    assert Server("https://host/v1", "m").authorization is None


def test_redaction():
    server = Server("https://me:p%40ss-word@host/v1", "m", "sk-1234567890")
    text = f"key sk-1234567890, p@ss-word p%40ss-word {data_url(Image.new('RGB', (2, 2)), 8)} end"
    assert server.redacted(text) == "key [key], [key] [key] [image] end"
    # Stand-ins for keys are ordinary words.
    assert Server("https://host/v1", "m", "ollama").redacted("ask ollama") == "ask ollama"


@pytest.mark.parametrize("url", ["localhost:11434", "ftp://host/v1", "https://", "https://host:99999/v1", "https://[/v1"])
def test_addresses_that_are_none(url):
    with pytest.raises(SettingsError, match="CIRQUE_LLM_BASE_URL"):
        Server(url, "m")


@pytest.mark.parametrize("query", [
    "api-key=secret-1234", "code=secret-1234", "secret-1234", "secret-1234=", "API-KEY=secret-1234&api-version=1",
    "api-version=1&sig=secret-1234", "api-version=secret-1234%20" + "x" * 40,
])
def test_query_parameters_that_may_hold_a_key(query):
    with pytest.raises(SettingsError, match="CIRQUE_LLM_API_KEY") as caught:
        Server(f"https://host/v1?{query}", "m")
    assert "secret-1234" not in str(caught.value)
    assert Server("https://host/v1?api-version=2024-10-21-preview", "m").query["api-version"].startswith("2024")


@pytest.mark.parametrize("key", ["sk-line\nend", "sk with blank", "sk-ключ"])
def test_keys_that_are_none_are_not_shown(key):
    with pytest.raises(SettingsError, match="CIRQUE_LLM_API_KEY") as caught:
        Server("https://host/v1", "m", key)
    assert key not in str(caught.value)


ASKS = {"intent": "a longer dress", "query": "a long red dress"}


@pytest.mark.parametrize("text", [
    '```json\n{"intent": "a longer dress", "query": "a long red dress",}\n```',
    '{"intent": "a longer dress",\n "satisfied": ["red",], // so far\n "query": "a long red dress"}',
    "{'intent': 'a longer dress', 'query': 'a long red dress'}",
    '{"intent": "a longer dress" "query": "a long red dress"}',
    'Of {these} results: {"intent": "a longer dress", query: "a long red dress"}',
])
def test_what_is_nearly_json_is_mended(text):
    answer = read_answer(ReflectTask(), text)
    assert {"intent": answer.intent, "query": answer.query} == ASKS and answer.notes == ()


def test_quotation_marks_inside_a_text_are_mended():
    answer = read_answer(MergeTask("a", "b"), '{"query": "a "little" red dress", }')
    assert answer.query == 'a "little" red dress'


def test_a_cut_off_end_loses_what_was_not_finished_and_says_so():
    whole = '{"query": "a red dress"'
    for text in (whole, whole + ",", whole + ', "notes": ["x'):
        answer = read_answer(MergeTask("a", "b"), text)
        assert (answer.query, answer.notes) == ("a red dress", (CUT_OFF,))
    # Half a text, half a number and a key without a value are no answers: they are asked for again.
    for task, text in (
        (MergeTask("a", "b"), '{"query": "a red dre'),
        (ConstraintsTask(), '{"prescriptive": "a red dress", "proscriptive":'),
        (ReflectTask(), '{"intent": "a longer dress", "satisfied": ["red"], "query": "a lo'),
        (NAMED, '{"scores": {"candidate 1": 0.25, "candidate 2": 0.'),
    ):
        with pytest.raises(WrongForm):
            read_answer(task, text)
    cut = read_answer(ReflectTask(), '{"query": "a long red dress", "intent": "longer", "satisfied": ["red", "lo')
    assert cut.satisfied == ("red",) and cut.notes == (CUT_OFF,)


def test_mending_gives_no_fields_that_nobody_wrote():
    for text in ("I think {the dress} is red.", "{", "{}", '{"other": "a red dress",}', "[1, 2,]", '"query": "x"'):
        with pytest.raises(WrongForm):
            read_answer(MergeTask("a", "b"), text)


@pytest.mark.parametrize(("task", "text"), [
    (MERGE, '{"query": "a dress with 5" heels"}'),
    (MERGE, '```json\n{"query": "a dress with 5" heels"}\n```'),
    (MERGE, '{"query": "a dress with 5" heels"} I hope that helps.'),
    (MERGE, '{"query": "a 5" heel red shoe", }'),
])
def test_a_stray_quotation_mark_loses_no_words(task, text):
    with pytest.raises(WrongForm):
        read_answer(task, text)


def test_a_stray_quotation_mark_that_leaves_no_doubt_is_mended():
    assert read_answer(MERGE, "{'query': 'a 5\" heel'}").query == 'a 5" heel'
    both = read_answer(ConstraintsTask(), '{"prescriptive":"a red dress, "proscriptive":"blue dress"}')
    assert (both.prescriptive, both.proscriptive, both.notes) == ("a red dress", "blue dress", ())


def test_what_is_no_answer_is_not_an_answer_without_aspects():
    for text in ('{"error": "I cannot"}', '{"unused": ["party"], "asp', '{"aspects": [{"name": "col', '{"aspects": [',
                 '{"aspects": [{"name": "colour", "label": "red"}, {"na'):
        with pytest.raises(WrongForm):
            read_answer(AspectsTask(), text)
    with pytest.raises(WrongForm, match="aspects: required"):
        read_answer(AspectsTask(), '{"error": "I cannot"}')
    assert read_answer(AspectsTask(), '{"aspects": []}').aspects == ()


def test_the_last_answer_counts_when_it_is_mended_too():
    assert read_answer(MERGE, 'Use the form {"query": "..."} : {"query": "a red dress",}').query == "a red dress"
    wrapped = 'Draft: {"query": "a blue dress",} {"answer": {"query": "a red dress",}}'
    assert read_answer(MERGE, wrapped).query == "a red dress"
    assert read_answer(MERGE, '{"query": "a red dress",} by {these} {"rules": "none",}').query == "a red dress"


@pytest.mark.parametrize(("task", "text"), [
    (MERGE, 'Draft: {"query": "a blue dress"}. Final: {"query": "a red dre'),
    (MERGE, 'Draft: {"query": "a blue dress",}. Final: {"query": "a red dre'),
    (ReflectTask(), '{"drafts": [{"intent": "red", "query": "a blue dress"}], "intent": "red", "query": "a red dre'),
])
def test_a_draft_is_no_answer_where_the_answer_was_cut_off(task, text):
    with pytest.raises(WrongForm):
        read_answer(task, text)


def test_an_object_inside_one_that_was_cut_off_does_not_end_a_stream():
    assert has_object('{"aspects": []} Done.') and has_object('Of {these}: {"aspects": []}')
    for text in ('{"aspects": [{"name": "colour"}, {"na', '{"query": "a draft"} {"query": "a re'):
        assert not has_object(text)


@pytest.mark.parametrize(("text", "query"), [
    ('<think>\n\n{"query": "a blue dress"}', "a blue dress"),
    ('<think>a</think><think>{"query": "a blue dress"}', "a blue dress"),
    ('{"query": "a blue shirt with the slogan <think> different"}', "a blue shirt with the slogan <think> different"),
    ('{"query": "with <think>x</think> on it"}', "with <think>x</think> on it"),
    ('<think>The word "<think>" is odd.</think>{"query": "<think> in red"}', "<think> in red"),
    ('<THINKING>{"query": "red"}</THINKING> {"query": "blue"}', "blue"),
    ('<think>{"query": "dr</think>{"query": "blue"}', "blue"),
    ('<think>use { and "</think>{"query": "blue"}', "blue"),
    ('{"query": "blue"}</think>', "blue"),
    ('hm {"query": "red"}</think>\n{"query": "blue"}', "blue"),
    ('<think>{"query": "blue"}</think>', "blue"),
    ('[THINK]{"query": "red"}[/THINK]{"query": "blue"}', "blue"),
    ('{"name": "merge", "arguments": {"query": "blue"}}', "blue"),
    ('{"name": "merge", "parameters": "{\\"query\\": \\"blue\\"}"}', "blue"),
])
def test_thoughts_are_no_answer_and_tags_in_an_answer_are_text(text, query):
    assert read_answer(MERGE, text).query == query


def test_thoughts_are_not_shown_while_the_answer_grows():
    for text in ('<think>{"query": "red', '<think>{"query": "red"}', "[THINK]so", "<|channel|>analysis<|message|>{"):
        assert partial_fields(MERGE, text) == {}
    assert partial_fields(MERGE, '<think>{"query": "red"}</think>{"query": "a bl') == {"query": "a bl"}


def test_many_tags_end_quickly():
    for text in ("<think>" * 10_000, "<think></think>" * 5_000, '<think>{"query":' * 5_000, "</think>{" * 10_000):
        with pytest.raises(WrongForm):
            read_answer(MERGE, text)


# --- whatever JSON a server sends ------------------------------------------------------------

SERVER = Server("http://localhost:1/v1", "m", "sk-secret-secret")
WORDS = st.sampled_from((
    "", "stop", "length", "text", "thinking", "refusal", "error", "429", "500", "content_filter", "{", "\ud800",
    '{"error": {"code": 429}}', "max_tokens must be at most 9", "try again in 1.5s", "per min: limit , requested ,",
    "a" * 50))
NAMES = st.sampled_from([
    "choices", "message", "delta", "content", "text", "type", "thinking", "reasoning_content", "reasoning_details",
    "refusal", "tool_calls", "function", "function_call", "arguments", "finish_reason", "usage", "prompt_tokens",
    "completion_tokens", "error", "code", "status", "param", "metadata", "raw", "innererror", "detail", "msg",
    "value", "filtered", "content_filter_results", "promptFeedback", "prompt_filter_results", "blockReason",
    "object"])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 999) | st.floats() | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=4), max_leaves=12)


def choices(inner: Any) -> Any:
    return st.fixed_dictionaries({"choices": st.lists(st.dictionaries(NAMES, inner, max_size=4), max_size=2)},
                                 optional={"usage": inner, "error": inner})


@settings(max_examples=400, deadline=None, derandomize=True)
@given(JSON | choices(JSON), st.booleans())
def test_what_a_reply_says(reply: object, piece: bool) -> None:
    try:
        said = said_in(reply, piece=piece)
    except (Complained, NoAnswer, NotChat) as fault:
        complaint = complaint_of(fault)
        assert isinstance(complaint.kind, Kind) and isinstance(complaint.ceiling, int | None)
        assert isinstance(explained(fault, complaint, SERVER, 2), LanguageModelError)
        return
    whole = said + Said("x")
    assert all(isinstance(part, str) for part in (whole.text, whole.thought, whole.arguments))
    assert whole.text.endswith("x") and isinstance(whole.refused, bool) and isinstance(whole.finish, str | None)


@settings(max_examples=400, deadline=None, derandomize=True)
@given(JSON)
def test_what_an_error_means(body: object) -> None:
    fault = Complained(body, "soon")
    complaint = complaint_of(fault)
    assert isinstance(complaint.words, str) and (complaint.wait is None or complaint.wait >= 0)
    assert "sk-secret" not in str(explained(fault, complaint, SERVER, 1))
