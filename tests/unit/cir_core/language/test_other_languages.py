"""Requests in other languages, emoji and vague wishes: each is read as what it means, and English stays as it is."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path
from types import SimpleNamespace

import pytest

from cir_core.garments.tables import listed, table
from cir_core.language.builtin.aspects import aspects
from cir_core.language.builtin.captions import merge
from cir_core.language.builtin.reading.dictionaries import LANGUAGES, dictionary, english
from cir_core.language.builtin.reading.edits import Edits
from cir_core.language.builtin.reading.foreign import translate
from cir_core.language.builtin.reading.parse import interpret, parse_edits
from cir_core.language.builtin.reading.vocabulary import phrases
from cir_core.language.readers.garments import GarmentReader
from cir_core.language.readers.plain import PlainReader
from cir_core.language.readers.scene import Scene
from cir_core.types.records import Hit

SHIRT = "a regular fit regular length blue plain shirt with short sleeves, a collar and orange buttons"
DRESS = "a slim fit long red and green striped dress with short sleeves and a round neck"
REQUESTS: dict[str, dict[str, str]] = tomllib.loads(Path(__file__).with_name("requests.toml").read_text("utf-8"))
FEWEST = {"mixed": 10, "misspelt": 10, "emoji": 30}   # requests of a kind; else of a language


def meant(edits: Edits) -> object:
    """What is asked for. To keep what stays anyway asks for nothing."""
    return ({(one.operation, one.group, one.value, one.direction, one.of_trim)
             for one in edits.edits if one.operation != "keep"}, edits.noun, set(edits.unwanted), set(edits.unused))


@pytest.mark.parametrize("language", REQUESTS)
def test_what_people_type_is_read_as_what_it_means(language: str) -> None:
    requests = REQUESTS[language]
    assert len(requests) >= FEWEST.get(language, 50)
    for text, meaning in requests.items():
        plain = interpret(meaning)
        assert plain.edits or plain.noun, meaning
        assert meant(parse_edits(text)) == meant(plain), (text, translate(text).text)


def test_each_language_has_its_requests() -> None:
    assert set(REQUESTS) == {*LANGUAGES, *FEWEST}


SETS = {("category", "dress"), ("colour", "red"), ("sleeves", "long")}


@pytest.mark.parametrize("text", [
    "ein rotes Kleid mit langen Ärmeln", "une robe rouge à manches longues", "un vestido rojo de manga larga",
    "un vestito rosso a maniche lunghe", "um vestido vermelho de manga comprida", "een rode jurk met lange mouwen",
    "czerwona sukienka z długimi rękawami", "長袖の赤いドレス", "长袖红色连衣裙", "長袖紅色連衣裙",
    "UNE ROBE À MANCHES LONGUES ROUGE", "vestido de manga larga rojo", "rotes Kleid, langärmlig",
    "Kleid, rot, mit Aermeln, langen Aermeln", "une robe rouge a manches longues", "dluga rękaw, sukienka czerwona "
    "z długim rękawem",
])
def test_a_red_dress_with_long_sleeves(text: str) -> None:
    edits = parse_edits(text).edits
    assert {(one.group, one.value) for one in edits if one.operation == "set" and one.group != "length"} == SETS


@pytest.mark.parametrize(("text", "group", "value"), [
    *[(text, "trim", "belt") for text in (
        "ohne Gürtel", "ohne den Guertel", "sans ceinture", "sans la ceinture", "sin cinturón", "sin cinturon",
        "senza cintura", "sem cinto", "zonder riem", "bez paska", "ベルトなし", "ベルトはいらない",
        "不要腰带", "没有腰带")],
    *[(text, "colour", "blue") for text in (
        "nicht blau", "kein Blau", "pas bleu", "pas de bleu", "no azul", "non blu", "não azul", "niet blauw",
        "nie niebieski", "青ではない", "青ではなく", "不要蓝色")],
])
def test_what_is_not_wanted_is_dropped(text: str, group: str, value: str) -> None:
    [edit] = parse_edits(text).edits
    assert (edit.operation, edit.group, edit.value) == ("drop", group, value)


@pytest.mark.parametrize("text", [
    "I want it for my son", "with a die cut", "a rock style print", "hell, no stripes", "a robe", "a marine blue shirt",
    "mini", "a rose print", "beige", "sans serif letters", "no hose, please", "point collar", "a grand ball dress",
    "met gala style", "rode a horse in it", "tire tracks", "a pull over", "the court jester's dress", "ten buttons",
    "long sleeves or short", "with a door print", "a golf shirt", "in a van", "son of a gun", "a manga print",
    "role model", "my dame", "lime", "the same but in violet", "con artist", "an estate sale dress", "a lunar print",
    "has polkadots", "is losser fitting", "is more colorful", "w/ longe slvs", "a diferente colour", "Ed Hardy shirt",
    "café au lait", "is red with physical ed written on it", "", "  ", "?", "more", "or", "a", "on", "de", "la",
    "it has a los angeles logo", "der", "with the word 'une' on it",
])
def test_english_is_not_taken_for_another_language(text: str) -> None:
    assert translate(text).text == text and not translate(text).pieces


def test_what_the_reader_knows_is_english() -> None:
    for phrase in phrases():
        assert translate(" ".join(phrase)).text == " ".join(phrase)
    assert all(translate(text).text == text for requests in REQUESTS.values() for text in requests.values())


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_word_of_a_dictionary_is_read_as_its_english_one(language: str) -> None:
    """Those that are not English, too, and are not another language's first."""
    words = table(f"words/{language}")["words"]
    assert len(words) > 120
    wrong = []
    for meaning, texts in words.items():
        assert not translate(meaning.removeprefix("~")).pieces, meaning
        for text in listed(texts):
            plain = text.replace("- ", " ").removesuffix("-")
            found = translate(plain)
            if found.pieces and not meaning.startswith("~") and meant(interpret(found.text)) != meant(
                    interpret(meaning)):
                wrong.append((plain, found.text, meaning))
    assert {plain for plain, _, _ in wrong} <= {"los", "larg", "dritt", "pas", "青色"}, wrong


def test_words_of_the_list_of_english_words_are_in_a_dictionary() -> None:
    """The list is no dictionary of English."""
    extra = [word for word in table("words/english")["words"].split()
             if not any(dictionary(language).knows(word) for language in LANGUAGES)]
    assert not extra
    assert "robe" in english() and "rouge" not in english()


@pytest.mark.parametrize(("text", "label"), [
    ("in Rot", "red (Rot)"), ("ohne Knöpfe", "no trim (ohne Knöpfe)"), ("赤いシャツ", "red (赤い)"),
    ("avec des rayures blanches", "white as the second colour (blanches)"), ("bez guzików", "no trim (bez guzików)"),
    ("in red", "red"), ("make it rojo", "red (rojo)"),
])
def test_chips_have_the_words_that_were_typed(text: str, label: str) -> None:
    assert label in [one.label for one in aspects(SHIRT, text).aspects if one.asked]


@pytest.mark.parametrize(("text", "words"), [
    ("in Rot mit Glitzer", "glitzer"), ("avec une licorne bleue", "licorne"), ("z jednorożcem", "z jednorożcem"),
    ("con un unicornio", "con un unicornio"), ("ユニコーン", "ユニコーン"), ("独角兽", "独角兽"),
    ("für den Sommer", "für den Sommer"),
    ("bunt", "bunt"), ("röd klänning", "röd klänning"), ("🦄", "🦄"), ("in red 🦄", "🦄"),
    ("🎃🎃", "🎃 🎃"), ("🇫🇷", "🇫🇷"),
])
def test_what_is_not_understood_is_said_as_it_is_typed(text: str, words: str) -> None:
    assert aspects(SHIRT, text).unused == (words,)


def test_the_note_has_the_english_text() -> None:
    assert merge(SHIRT, "une robe rouge à manches longues").notes == (
        "read in English as: a red dress with long sleeves",)


@pytest.mark.parametrize("text", ["без рукавов", "красное платье", "빨간 드레스", "κόκκινο φόρεμα", "فستان أحمر"])
def test_other_scripts_are_left_to_a_connected_model(text: str) -> None:
    note, used, nothing = merge(SHIRT, text).notes
    assert note.startswith("the built-in language model reads English only, and words of German, French, ")
    assert (used, nothing) == (f"used as typed: {text}", "no change recognised in your text")


@pytest.mark.parametrize("word", ["rot, ", "赤", "schwarzwa "])
def test_nothing_of_a_long_text_is_lost_on_the_way(word: str) -> None:
    text = f"in Rot {word * 400} unicorn"
    assert translate(text).text.startswith("in red") and translate(text).text.endswith(" unicorn")
    read_as, *notes = parse_edits(text).notes
    assert "Only the first 200 words were read" in notes and len(read_as) < 400


SHOWN = tuple(Hit(f"result-{rank}", 1 - rank / 100, rank) for rank in range(1, 13))
SAID = {"further": (), "composition": None, "modification_text": "in red"}
TURNS = (SimpleNamespace(number=1, reference_id="dress", caption=DRESS, hits=SHOWN[::-1], **SAID),
         SimpleNamespace(number=2, reference_id="shirt", caption=SHIRT, hits=SHOWN, **SAID))


@pytest.mark.parametrize("text", [
    "wie das zweite, aber in grün", "comme le deuxième mais en vert", "como el segundo pero en verde",
    "come il secondo ma in verde", "como o segundo mas em verde", "zoals de tweede maar in het groen",
    "jak drugi, ale zielony", "2番目のもので緑色", "第二个，但是绿色",
])
def test_results_are_pointed_at(text: str) -> None:
    found = GarmentReader().follow(text, Scene(TURNS, "shirt", lambda ids: [""] * len(ids)))  # type: ignore[arg-type]
    assert found.reference_id == "result-2" and not found.unclear
    assert meant(parse_edits(found.text)) == meant(parse_edits("in green"))


def test_the_other_methods_encode_english() -> None:
    assert GarmentReader().in_english("une robe rouge") == "a red dress"
    assert GarmentReader().in_english("a  red dress, s'il te plait") == "a  red dress, s'il te plait"
    assert PlainReader().in_english("une robe rouge") == "une robe rouge"   # of anything: nothing is known of the words


@pytest.mark.parametrize("text", ["in grün", "en vert", "緑色", "in green", "with a unicorn"])
def test_what_points_at_nothing_stays_as_it_is_typed(text: str) -> None:
    scene = Scene(TURNS, "shirt", lambda ids: [""] * len(ids))  # type: ignore[arg-type]
    assert GarmentReader().follow(text, scene).text == text


@pytest.mark.parametrize(("texts", "meaning"), [
    ("rückgängig, annuler, deshacer, annulla, desfazer, ongedaan maken, cofnij, 元に戻して, 撤销", "undo"),
    ("zurück, retour, atrás, indietro, voltar, terug, wróć, 戻って, 返回", "go back"),
    ("von vorne, recommencer, empezar de nuevo, ricominciare, recomeçar, opnieuw, od nowa, 最初から, 重新开始",
     "start over"),
    ("etwas anderes, autre chose, otra cosa, qualcos'altro, outra coisa, iets anders, coś innego, 別のもの, 别的",
     "something else"),
    ("nicht das, pas ça, eso no, non quello, isso não, niet dat, nie to, それじゃない, 不是这个", "not that"),
])
def test_words_of_a_dialogue_are_the_english_ones(texts: str, meaning: str) -> None:
    assert {translate(text).text for text in listed(texts)} == {meaning}


@pytest.mark.parametrize(("text", "meaning"), [
    ("👚🏽", "blouse"), ("👚🏿", "blouse"), ("❤️", "red"), ("❤", "red"),
    ("❤️👗😍🙏", "red dress"),
    ("🎀❌", "the bow removed"), ("🎀❌, red", "the bow removed, red"), ("🚫🎀", "without a bow"),
    ("👎🔴", "without red"), ("🔵➡️🟢", "change blue to green"), ("in red ✨", "in red"), ("🌸🌸🌸", "flowers"),
    ("vestido 🔴", "red dress"), ("🎀なし", "without a bow"), ("👗🖤🤍", "black and white dress"),
])
def test_signs_are_words(text: str, meaning: str) -> None:
    assert meant(parse_edits(text)) == meant(interpret(meaning))


@pytest.mark.parametrize("text", [
    "dark", "something dark", "dark colours", "not too bright", "bright", "brighter colours", "pastel",
    "in pastel colours", "a warm colour", "warmer colours", "cooler tones", "muted", "muted colours",
    "something less loud", "neon", "earthy tones", "for summer", "for winter", "spring vibes", "for autumn",
    "for a wedding", "as a wedding guest", "for a funeral", "for an interview", "for a birthday party", "for the gym",
    "to the opera", "less boring", "cosy", "colourful", "🏖️", "❄️", "🌈", "💍", "für den Sommer", "pour un mariage",
    "para la oficina", "夏らしい", "适合婚礼", "elegancka",
])
def test_vague_wishes_are_choices_and_change_nothing(text: str) -> None:
    answer = aspects(SHIRT, text)
    assert answer.choices and answer.unused
    assert not [one.label for one in answer.aspects if one.asked]
    for choice in answer.choices:   # each is understood, and changes something
        edits = parse_edits(choice)
        assert edits.edits and not edits.unused, choice


def test_cloth_is_no_colour() -> None:
    assert aspects(SHIRT, "light fabric").choices == ()


def test_warm_colours_are_not_warm_clothes() -> None:
    assert not set(aspects(SHIRT, "warm colours").choices) & set(aspects(SHIRT, "for winter").choices)
    assert set(aspects(SHIRT, "no warm colours").choices) <= {"in blue", "in teal", "in green", "in purple"}


def test_dictionaries_are_read_when_a_word_is_unknown() -> None:
    """English costs nothing more."""
    code = ("from cir_core.language.builtin.reading.parse import parse_edits\n"
            "from cir_core.language.builtin.reading.dictionaries import dictionary\n"
            "read = lambda: dictionary.cache_info().currsize\n"
            "parse_edits('in red with long sleeves, please'); before = read()\n"
            "parse_edits('in rot'); print(before, read())")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.split() == ["0", str(len(LANGUAGES))]
