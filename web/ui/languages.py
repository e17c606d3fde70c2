"""The language of a study's screens, those of judges and participants. An English text is the key of its translation in
the catalogues, ``assets/languages/*.json``: ``{"language": its own name, "texts": {English: translation}}``. Screens of
those who run studies are English.

Scripts do the same with the same catalogues, in ``assets/js/shared/language.js``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache

from annotation.records import Study
from cir_core.errors import StudyError
from cir_core.support.texts import quoted
from web.ui.static_files import ASSETS

SETTING = "language"   # of a study
ENGLISH = "en"
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
    for pattern, to in _patterns(language):
        if found := pattern.fullmatch(text):
            return _HOLE.sub(lambda hole: found[hole[1]], to)
    return text


@cache
def _patterns(language: str) -> tuple[tuple[re.Pattern[str], str], ...]:
    """Of long enough texts with values: a short one would match nearly anything."""
    found = []
    for english, to in catalogue(language).items():
        parts = _HOLE.split(english)
        if len(parts) > 1 and len("".join(parts[::2])) > _LEAST:
            found.append((re.compile("".join(f"(?P<{part}>.*)" if place % 2 else re.escape(part)
                                             for place, part in enumerate(parts)), re.DOTALL), to))
    return tuple(found)


_LEAST = 12   # characters
