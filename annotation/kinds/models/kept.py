"""Answers of language models to a study, as files in the study's folder: apart from people's, and gone with it.

STUDY_FOLDER/models/MODEL-CARD/journal.jsonl    answers, on disk before they count (cir_core.jobs.journal)
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from annotation.analysis.records import ModelAnswer, ModelAnswers
from annotation.records import Study
from annotation.studies.image_snapshots import studies_folder
from cir_core.errors import DatasetError
from cir_core.jobs.journal import JobCard, read_card
from cir_core.support.json_lines import whole_lines


def models_folder(home: Path, study_id: str) -> Path:
    return studies_folder(home) / study_id / "models"


def folder_of(home: Path, study: Study, model: str, card: JobCard) -> Path:
    """Of one model's answers: other instructions or another prompt have another folder."""
    content = {name: value for name, value in card.as_json().items() if name != "version"}
    digest = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:8]
    return models_folder(home, study.study_id) / f"{re.sub('[^0-9A-Za-z.]+', '-', model).strip('-')[:60]}-{digest}"


def read_models(home: Path, study: Study) -> tuple[ModelAnswers, ...]:
    """Of every model, by name; of a model asked under several instructions those asked last. A journal that another
    process writes is read as far as it goes; one that is damaged is left out, and says so when it is resumed."""
    found: dict[str, ModelAnswers] = {}
    for path in _journals(home, study.study_id):
        with suppress(DatasetError):
            card = read_card(path)
            if card is not None and card.get("protocol") == study.protocol:
                found[card["language_model"]] = _read(path, card)
    return tuple(found[name] for name in sorted(found) if found[name].answers or found[name].failed)


def models_stamp(home: Path, study_id: str) -> str:
    """Changes whenever an answer is added; "" without any."""
    return "".join(f"+{path.parent.name[-8:]}.{path.stat().st_size}" for path in _journals(home, study_id))


def _journals(home: Path, study_id: str) -> list[Path]:
    """The latest last."""
    return sorted(models_folder(home, study_id).glob("*/journal.jsonl"),
                  key=lambda path: (path.stat().st_mtime_ns, path.parent.name))


def _read(path: Path, card: dict[str, Any]) -> ModelAnswers:
    answers: dict[int, ModelAnswer] = {}
    failed: set[int] = set()
    for at, line in _items(path):
        if (result := line.get("result")) is None:
            answers.pop(at, None)
            failed.add(at)
            continue
        failed.discard(at)
        answers[at] = ModelAnswer(result["item"], bool(at % 2), result["answer"], result["reason"], result["again"])
    return ModelAnswers(card["language_model"], tuple(answers[at] for at in sorted(answers)),
                        sum(at % 2 == 0 for at in failed), card)


def _items(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    lines = whole_lines(path)
    next(lines, None)
    return ((line["at"], line) for _, _, line in lines if "at" in line)
