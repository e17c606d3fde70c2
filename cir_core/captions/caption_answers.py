"""Language-model captions of images, stored by the images' content hash."""

from __future__ import annotations

import threading
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from cir_core.errors import GalleryError
from cir_core.support.json_lines import Lines, read_heading

FORMAT = 1


@dataclass(frozen=True)
class CaptionPlan:
    """Everything generated captions depend on; answers under different plans are never mixed."""

    model: str
    samples: int            # M
    domain: str
    encoder_revision: str   # of the features described; "" for a model that sees the images
    prompt_version: str = ""    # "" for a model without prompts

    def differences(self, other: CaptionPlan) -> tuple[str, str]:
        """Readable differences: the values here and in ``other``."""
        words = {"model": "model {}", "samples": "{} samples", "domain": "domain {}",
                 "encoder_revision": "encoder revision {}", "prompt_version": "prompt version {}"}
        mine, theirs = asdict(self), asdict(other)
        changed = [key for key in words if mine[key] != theirs[key]]
        here, there = (", ".join(words[key].format(plan[key] or "none") for key in changed) for plan in (mine, theirs))
        return here, there


@dataclass(frozen=True)
class Answers:
    """``texts[i]`` is the answer to sample i, tidied; "" if empty, None if
    missing. ``problem`` is the last error, "" if there was none."""

    texts: tuple[str | None, ...]
    problem: str = ""

    @property
    def missing(self) -> list[int]:
        """Samples to request: all of them again as long as every answer is empty."""
        every = not any(self.texts)
        return [i for i, text in enumerate(self.texts) if every or text is None]


class CaptionAnswers:
    """Answers by the SHA-256 of the image file, on disk. Thread-safe, one process at a time."""

    def __init__(self, path: Path, plan: CaptionPlan) -> None:
        """Continue the file at ``path``, or start a new one if it has another plan (see :func:`read_plan`)."""
        self._none = Answers((None,) * plan.samples)
        self._lines = Lines(path, {"format": FORMAT, **asdict(plan)})
        self._lock = threading.Lock()
        self._offsets: dict[str, int] = {}      # the texts stay on disk: there may be millions
        self._unfinished: set[str] = set()
        for offset, line in self._lines:
            self._note(line["sha256"], offset, _answers(line))

    def of(self, sha256: str) -> Answers:
        offset = self._offsets.get(sha256)
        return self._none if offset is None else _answers(self._lines.read(offset))

    def is_complete(self, sha256: str) -> bool:
        return sha256 in self._offsets and sha256 not in self._unfinished

    def put(self, sha256: str, answers: Answers) -> None:
        """Replace the answers for an image. They survive a killed process once this returns."""
        line = {"sha256": sha256, "texts": answers.texts, "problem": answers.problem}
        offset = self._lines.append(line)
        with self._lock:
            self._note(sha256, offset, answers)

    def close(self) -> None:
        self._lines.close()

    def _note(self, sha256: str, offset: int, answers: Answers) -> None:
        self._offsets[sha256] = offset
        if answers.missing:
            self._unfinished.add(sha256)
        else:
            self._unfinished.discard(sha256)


def read_plan(path: Path) -> CaptionPlan | None:
    """The plan of the answers at ``path``; None if there are none. Raises ``GalleryError`` for answers without a
    readable plan: they may have cost money, so they are not overwritten without consent."""
    heading = read_heading(path)
    if heading is None and (not path.exists() or path.stat().st_size == 0):
        return None
    try:
        if heading is None or heading.pop("format") != FORMAT:
            raise KeyError("format")
        return CaptionPlan(**heading)
    except (KeyError, TypeError) as error:
        raise GalleryError(f"The generated captions in {path} are damaged or were written by another version of "
                           "cirque. Move the file away to keep it, or add --restart to start anew.") from error


def _answers(line: dict[str, Any]) -> Answers:
    return Answers(tuple(line["texts"]), line["problem"])
