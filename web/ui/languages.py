"""The language of a study's screens, those of judges and participants. An English text is the key of its translation in
the catalogues, ``assets/languages/*.json``: ``{"language": its own name, "texts": {English: translation}}``. Screens of
those who run studies are English.

Scripts do the same with the same catalogues, in ``assets/js/shared/language.js``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import cache

from annotation.records import Study
from cir_core.errors import StudyError
from cir_core.support.texts import quoted
from web.ui.static_files import ASSETS

SETTING = "language"   # of a study
ENGLISH = "en"
_LEAST = 12   # characters of a text beside its values; as in language.js
_HOLE = re.compile(r"\{(\w+)\}")


@cache
def languages() -> Mapping[str, str]:
    """The name of each language in itself, by its code (BCP 47), English first."""
    return {ENGLISH: "English"} | {path.stem: str(json.loads(path.read_text("utf-8"))["language"])
                                   for path in sorted((ASSETS / "languages").glob("*.json"))}


@cache
def catalogue(language: str) -> Mapping[str, str]:
    """Translations by their English text; none of English, and of languages that there are none of."""
    if language == ENGLISH or language not in languages():
        return {}
    texts: dict[str, str] = json.loads((ASSETS / "languages" / f"{language}.json").read_text("utf-8"))["texts"]
    return texts


def language_of(study: Study) -> str:
    """As set, else English."""
    chosen = study.settings.get(SETTING)
    return chosen if isinstance(chosen, str) and chosen in languages() else ENGLISH


def checked_language(code: object) -> str:
    """Raises ``StudyError``."""
    if not isinstance(code, str) or code not in languages():
        raise StudyError(f"There are no screens in the language {quoted(str(code), 20)}. Choose one of: "
                         f"{', '.join(languages())}.")
    return code


def translated(language: str, text: str) -> str:
    """A text or message of cirque's in this language; as it is where the catalogue does not have it. Values in it are
    put in where ``{name}`` stands in the catalogue."""
    texts = catalogue(language)
    if text in texts:
        return texts[text]
    for parts, to in _with_values(language):
        if (found := _values(parts, text)) is not None:
            return _HOLE.sub(lambda hole: found[hole[1]], to)
    return text


@cache
def _with_values(language: str) -> tuple[tuple[list[str], str], ...]:
    """Texts with values, split at them, and their translations: long enough ones, as a short one would fit nearly
    anything."""
    split = ((_HOLE.split(english), to) for english, to in catalogue(language).items())
    return tuple((parts, to) for parts, to in split if len(parts) > 1 and len("".join(parts[::2])) > _LEAST)


def _values(parts: Sequence[str], text: str) -> dict[str, str] | None:
    """The values where ``text`` is ``parts`` with a value in place of every second one, its name: each as short as it
    can be, the last one the rest. None where it is not."""
    (first, *between, last), names, found, at = parts[::2], parts[1::2], {}, len(parts[0])
    if not text.startswith(first) or not text.endswith(last) or len(text) < len(first) + len(last):
        return None
    for name, part in zip(names, [*between, None], strict=True):
        end = len(text) - len(last) if part is None else text.find(part, at, len(text) - len(last))
        if end < at:
            return None
        found[name], at = text[at:end], end + len(part or "")
    return found
