"""Whole texts that ask for something to be done, and requests that only begin like one."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from cir_core.language.acts import Act, read_act
from cir_core.language.readers.dialogue.intended import intended

UNDO, AGAIN, OTHERS = Act("undo", 1), Act("start over"), Act("others")
OF_ALL: dict[Act, str] = {
    UNDO: """jk jk undo lol|Would you kindly return to the previous results?|Hmm, no, take me one step back|Cute! undo
        undo|Undo.|go back|the one before|no wait, undo that please|can you go back?|back please|revert that|nvm
        never mind|forget it|scratch that|that was better before|I liked the previous one better|the way it was before
        rückgängig|mach das bitte rückgängig|zurück|annuler|annule|retour|deshacer|volver atrás|annulla|torna indietro
        desfazer|voltar|ongedaan maken|terug|cofnij|wróć|元に戻す|元に戻してください|一つ前に戻って|撤销|上一步|↩️|🔙""",
    AGAIN: """Wipe the slate clean, I want to begin from scratch.
        start over|from scratch|reset|OK, let's start over|start again from the beginning|forget everything
        back to the original|new search|noch mal von vorn|recommencer|empezar de nuevo|ricominciare|recomeçar
        opnieuw beginnen|zacznij od nowa|最初からやり直して|重新开始|undo everything|back to square one""",
    OTHERS: """Yes!! Have you got any others like that?|Lovely. May I see some different ones along these lines?
        Love it! Show me more please|got anything different?|anything new?|have you got something similar?|any more?
        can I see some more of these|Lovely! Any more along those lines?|other ones you have? same wishes
        Anything else that fits the bill? We've seen these.
        no, the other one|not that|not those|something else|show me others|more like that but others|no|nope
        I'd like to see something else|hmm not those, show me something different please|none of these|wrong one
        etwas anderes|nein, die andere|non, l'autre|pas ça|otra cosa|qualcos'altro|não, o outro|iets anders
        coś innego|他のを見せて|それじゃない|换一个|不是这个|I don't like these|try again|next page""",
    Act("undo", 2): "go back two steps|undo the last two|undo the last 2 changes|zwei Schritte zurück|dos pasos atrás",
    Act("turn", 1): """back to the first one|back to turn 1|go back to the 1st search please|zurück zum ersten
        back to your first suggestions|I liked the first one more|your first ideas were better""",
    Act("turn", 2): "back to the second one|go back to the second one|back to step two|turn 2|zurück zum zweiten"
                    "|retour à la deuxième recherche|回到第二个|二番目に戻って|volver al segundo|wróć do drugiego",
}
SAID = [(text.strip(), act) for act, texts in OF_ALL.items() for text in texts.replace("\n", "|").split("|")]


@pytest.mark.parametrize(("text", "act"), SAID)
def test_a_whole_text_is_an_act(text, act):
    assert read_act(text) == act


@pytest.mark.parametrize("text", [
    "", "  ", "?!", "go back to long sleeves", "undo the buttons", "undo the colour", "start with red",
    "back to stripes", "not that long", "not those sleeves", "something else in red", "the second one",
    "back to the second one but longer", "show me others in blue", "reset the colour", "another colour",
    "more like the first one", "open back", "low back", "not red", "forget the pocket", "never mind the belt",
    "start over with red", "different sleeves", "the other sleeves", "new neckline", "longer", "both",
    "as before but red", "keep this but in green", "a different dress", "rot", "noir", "the original colour",
    "back to the original colour", "zurück zu langen Ärmeln", "otra talla", "autre couleur", "not that one but red",
    "next to the sea", "別の色", "换个颜色", "l'autre couleur", "niet rood", "the last one", "number 2", "result 2",
    "please " * 40 + "undo", "undo " * 200, "the one before the church",
])
def test_a_request_is_none(text):
    assert read_act(text) is None


def test_the_strongest_of_several_counts():
    assert read_act("not that, go back") == UNDO
    assert read_act("undo, no, start over") == AGAIN
    assert read_act("not that, in red") is None


@pytest.mark.parametrize("text", [
    "I want the version with the belt, go back", "give me a red one. go back", "not with a belt please, start over",
    "I miss the colour it had at the start, can you put that back", "it is for a wedding, show me others",
    "no stripes, something else", "undo that and make it red", "nope, red please",
])
def test_talk_that_asks_for_something_is_not_left_out_for_an_act(text):
    turns = [SimpleNamespace(number=number, modification_text=said, composition=None, reference_id="r", further=(),
                             caption="", hits=()) for number, said in enumerate(("in navy", "longer"), start=1)]
    assert read_act(text) is None and intended(text, turns) is None
