"""Recognise text that is not English."""

from __future__ import annotations

import re
import unicodedata

from cir_core.language.builtin.reading.vocabulary import phrases

_WORD = re.compile(r"[^\W\d_]+")
_MOST_READ = 1000
# Small words and garment words that English does not have: German, French, Spanish, Italian, Portuguese, Dutch.
_LISTED = (
    "und mit ohne nicht aber ein eine einen einem einer der das ist soll bitte statt oder wie noch kein keine rot "
    "rote rotes roten blau blaue blaues grün grüne gelb gelbe schwarz schwarze weiß weiss weiße grau lila braun "
    "rosa kleid hemd bluse ärmel ärmeln aermel länger kürzer laenger kuerzer gestreift gepunktet kragen gürtel "
    "knöpfe avec sans mais une est pas moins dans rouge bleu bleue vert verte jaune noir noire blanc blanche gris "
    "chemise manche manches courtes longues longue courte rayures pois col ceinture boutons même sin pero por una "
    "uno los las el más menos rojo roja azul verde amarillo amarilla negro negra blanco blanca rosado morado "
    "vestido camisa manga mangas largas cortas largo corto rayas lunares cuello botones mismo misma en senza più "
    "meno rosso rossa giallo gialla nero nera bianco bianca viola vestito camicia maniche lunghe righe com sem "
    "vermelho vermelha amarelo preto branco roxo compridas curtas listras met zonder maar meer rood blauw groen "
    "geel zwart paars jurk mouwen lange korte strepen"
)
_WORDS = frozenset(_LISTED.split())
_TELLING = frozenset({"value", "step", "part", "noun", "simpler", "shade", "with", "not", "without", "the"})


def is_foreign(text: str) -> bool:
    """Whether ``text`` is in another script, or has more words of other languages than English ones with a meaning."""
    words = _WORD.findall(unicodedata.normalize("NFC", text[:_MOST_READ]).lower())
    letters = "".join(words)
    if letters and sum("LATIN" in unicodedata.name(letter, "") for letter in letters) * 2 < len(letters):
        return True
    known = phrases()
    foreign = [word for word in words if word in _WORDS]
    english = [word for word in words
               if word not in _WORDS and (sense := known.get((word,))) and sense.kind in _TELLING]
    return len(foreign) > len(english)
