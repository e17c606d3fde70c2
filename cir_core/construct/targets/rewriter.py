"""Rewrite a query so that it fits one of its targets: SoFT, section 3.2, stage 2; and check that it does."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Mapping
from dataclasses import dataclass

from cir_core.construct.inputs import Pictures
from cir_core.construct.targets.finder import confidences
from cir_core.construct.targets.settings import ATTEMPTS, DISTRACTORS, LEAST_TARGETS, Check
from cir_core.datasets.files.captions import query_texts
from cir_core.datasets.readers.soft import MultiTarget, is_spelled_out
from cir_core.errors import DatasetError
from cir_core.language.base import LanguageModel, Observer
from cir_core.language.tasks import RewriteTask
from cir_core.support.texts import clean_text, quoted
from cir_core.types.records import Domain

_SENTENCE_END = re.compile(r"[.!?][\"')\]]?\s+(?=[A-Z0-9\"'(])|[\u3002\uff01\uff1f][\W_]*(?=\w)")   # and those of CJK
_OF_THE_TASK = re.compile(r"\b(distractors?(?:\s*\d+)?|candidate\s*\d+|(?:target|reference|comparison) images?)\b",
                          re.IGNORECASE)


@dataclass(frozen=True)
class Rewritten:
    """``confidences``: of target and distractors under the new text; {} if they were not asked for. ``rejected``:
    earlier texts, each with the reason."""

    target: str
    distractors: tuple[str, ...]
    text: str
    refined: str
    confidences: Mapping[str, float]
    rejected: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def text_of(record: MultiTarget) -> str:
    """The record's captions as one text, joined by " and ". Raises ``DatasetError`` if they are all empty."""
    texts = query_texts(record.captions, "joined")
    if not texts:
        raise DatasetError(f"The captions of reference {quoted(record.reference_id)} are empty.")
    return clean_text(texts[0])


def text_problem(text: str, original: str) -> str:
    """Why ``text`` cannot replace ``original``; "" if it can, as far as the words tell."""
    if not (words := _words(text)):
        return "it has no words"
    if _SENTENCE_END.search(text):
        return "it is more than one sentence"
    if is_spelled_out(text):
        return "it is spelled out letter by letter or marked as refined"
    if named := _OF_THE_TASK.search(text):
        return f"it mentions {quoted(named[0])}"
    if words <= _words(original):
        return "it says nothing that the request does not say"
    return ""


class Rewriter:
    """Thread-safe. ``check``: "confidence" needs a model that sees."""

    def __init__(
        self, language: LanguageModel, pictures: Pictures, domain: Domain, check: Check, seed: int,
        attempts: int = ATTEMPTS,
    ) -> None:
        self._language, self._pictures, self._domain = language, pictures, domain
        self._check, self._seed, self._attempts = check, seed, attempts

    def rewrite(self, record: MultiTarget, drawn: Drawn, watch: Observer | None = None) -> Rewritten:
        """A text that passed the check. A rejected one is asked for again, with the reason.

        Raises:
            DatasetError: no text passed.
            UnknownImage: an image is not in the gallery.
            LanguageModelError: an answer that cannot be used (``LanguageModelUnavailable``, ``Stopped``: the run ends).
        """
        text = text_of(record)
        reference = self._pictures.of(record.reference_id, watch)
        shown = {name: self._pictures.of(name, watch) for name in (drawn.target, *drawn.distractors)}
        others = tuple(shown[name] for name in drawn.distractors)
        rejected: list[str] = []
        refined = problem = ""
        for _ in range(self._attempts):
            task = RewriteTask(reference, shown[drawn.target], others, text, self._domain, tuple(rejected))
            answer = self._language.complete(task, watch)
            refined = clean_text(answer.refined_caption, required=False)
            problem, known = text_problem(refined, text), dict[str, float]()
            if not problem and self._check == "confidence":
                order = sorted(shown)       # not the target first
                random.Random(f"{self._seed}/{refined}").shuffle(order)
                known = confidences(self._language, reference, refined, {name: shown[name] for name in order},
                                    self._domain, watch)
                problem = _fits_others(known, drawn)
            if not problem:
                return Rewritten(drawn.target, drawn.distractors, text, refined, known, tuple(rejected), answer.notes)
            again = f"{refined} ({problem})"
            if again in rejected:       # a model that answers the same will do so again
                break
            rejected.append(again)
        raise DatasetError(f"No rewritten text passed the check. Of the last one, {quoted(refined)}: {problem}.")


def _fits_others(known: Mapping[str, float], drawn: Drawn) -> str:
    places = [str(number) for number, name in enumerate(drawn.distractors, start=1)
              if known[name] >= known[drawn.target]]
    return f"distractor {' and '.join(places)} fits it as well as the target does" if places else ""


def _words(text: str) -> set[str]:
    return set(re.findall(r"[^\W_]+", text.casefold()))


@dataclass(frozen=True)
class Drawn:
    target: str
    distractors: tuple[str, ...]


def draw(record: MultiTarget, seed: int, *, keep_reference: bool = False) -> Drawn | None:
    """One target and two others of ``record``; None if it has fewer than three.

    The draw depends on ``seed`` and on the record's own content alone, so neither its place in a file nor the order of
    its targets change it. SoFT draws from one sequence of numbers for all records. The reference, which its files list
    as a target here and there, is not drawn unless ``keep_reference``: no text turns an image into itself.
    """
    names = sorted(name for name in record.target_ids if keep_reference or name != record.reference_id)
    if len(names) < LEAST_TARGETS:
        return None
    content = [seed, record.reference_id, record.original_target_id, *record.captions, *names]
    chance = random.Random(json.dumps(content, ensure_ascii=True))
    target = chance.choice(names)
    return Drawn(target, tuple(chance.sample([name for name in names if name != target], DISTRACTORS)))
