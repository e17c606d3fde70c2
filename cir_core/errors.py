"""Every error cirque raises on purpose. Each message says what to do next.

    CirqueError
    ├── SettingsError            a setting is missing or cannot be used
    ├── ImageUnreadable          an image file or upload that cannot be decoded safely
    ├── TryLater                 more is asked than may be done now; says how long to wait
    │   ├── DecodingBusy         too many large images are being decoded
    │   └── QuotaExceeded        somebody has uploaded what they may in a day
    ├── GalleryError             a gallery is missing, damaged or wrongly named
    │   ├── UnknownImage         an id that the gallery does not hold
    │   └── EncoderMismatch      a gallery searched with another encoder's vectors
    ├── EncoderUnavailable       weights that are not on this machine, a bad checkpoint
    ├── LanguageModelError       a language model failed or answered in the wrong form
    │   ├── UnsupportedTask      a role this language model cannot fill
    │   ├── LanguageModelUnavailable   its server cannot be reached or keeps failing
    │   └── Stopped              the person stopped the answer half-way
    ├── MethodError              a method declaration that cannot be used, an unknown method
    ├── DatasetError             a benchmark file that does not have its format
    ├── SearchError              a turn that cannot be run as asked
    │   └── UnknownSession       a session, turn or branch id that is not in the store
    ├── StudyError               a study that cannot be made or used as asked
    │   ├── UnknownStudy         no study of that name
    │   ├── UnknownScores        no scores of that name with the study
    │   ├── UnknownItem          an item that is not there, or not this person's
    │   │   └── NotJoined        somebody who has no seat in the study
    │   ├── StudyClosed          answers are no longer taken
    │   ├── UsedToken            a token that came with another answer before
    │   ├── GateStands           something comes before the next answer: guidelines, consent, a check
    │   └── IncompleteJudgement  an answer that lacks something or contradicts itself
    │       └── NeedsConfirmation   one that may be meant as it is; kept when it is sent again as confirmed
    ├── LogError                 something that the audit log cannot be asked for
    ├── AccessError              somebody who may not do this
    │   └── SignInFailed         a name and password that do not go together, an expired sign-in
    │       └── TooManyTries     too many wrong passwords; says how long to wait
    └── StorageError             what was to be kept cannot be: database or uploaded picture

Screens and commands catch ``CirqueError`` only; anything else is a defect and keeps
its traceback.
"""

from __future__ import annotations

from typing import Literal


class CirqueError(Exception):
    """Base of the tree. ``str(error)`` is a sentence for the person at the screen."""


class SettingsError(CirqueError):
    pass


class ImageUnreadable(CirqueError):
    pass


class TryLater(CirqueError):
    """``seconds``: after which it is worth trying again."""

    def __init__(self, message: str, seconds: int = 5) -> None:
        super().__init__(message)
        self.seconds = seconds


class DecodingBusy(TryLater):
    def __init__(self, message: str = "cirque is busy decoding large images. Try again in a moment.") -> None:
        super().__init__(message)


class QuotaExceeded(TryLater):
    pass


class GalleryError(CirqueError):
    pass


class UnknownImage(GalleryError):
    pass


class EncoderMismatch(GalleryError):
    pass


class EncoderUnavailable(CirqueError):
    pass


class LanguageModelError(CirqueError):
    pass


class UnsupportedTask(LanguageModelError):
    pass


class LanguageModelUnavailable(LanguageModelError):
    pass


class Stopped(LanguageModelError):
    pass


class MethodError(CirqueError):
    pass


class DatasetError(CirqueError):
    pass


class SearchError(CirqueError):
    pass


class UnknownSession(SearchError):
    pass


class StudyError(CirqueError):
    pass


class UnknownStudy(StudyError):
    pass


class UnknownScores(StudyError):
    pass


class UnknownItem(StudyError):
    pass


class NotJoined(UnknownItem):
    pass


class StudyClosed(StudyError):
    pass


class UsedToken(StudyError):
    pass


class GateStands(StudyError):
    pass


class IncompleteJudgement(StudyError):
    pass


class NeedsConfirmation(IncompleteJudgement):
    pass


class LogError(CirqueError):
    pass


class AccessError(CirqueError):
    pass


class SignInFailed(AccessError):
    pass


class TooManyTries(SignInFailed):
    """``counted``: which count of wrong passwords makes the wait."""

    def __init__(self, message: str, seconds: int, counted: Literal["name and address", "address", "name"]) -> None:
        super().__init__(message)
        self.seconds, self.counted = seconds, counted


class StorageError(CirqueError):
    """Has two sentences. ``str(error)`` is for the log and the command line: which database or folder, what is wrong,
    and the remedy. ``told`` is for browsers, whose people can neither free a disk nor start a database."""

    def __init__(self, message: str, told: str = "") -> None:
        super().__init__(message)
        self.told = told or nothing_saved()


def nothing_saved(reason: str = "") -> str:
    """What browsers are told while nothing can be kept; ``reason`` in short."""
    why = f": {reason}" if reason else ""
    return (f"Nothing can be saved at the moment{why}. Nothing that was saved before is lost. Tell whoever runs this "
            "cirque.")
