"""Every error cirque raises on purpose. Each message says what to do next.

    CirqueError
    ├── SettingsError            a setting is missing or cannot be used
    ├── ImageUnreadable          an image file or upload that cannot be decoded safely
    ├── TryLater                 a temporary refusal; carries the seconds to wait
    │   ├── DecodingBusy         too many large images are being decoded
    │   └── QuotaExceeded        somebody has used up their uploads for today
    ├── GalleryError             a gallery is missing, damaged or wrongly named
    │   ├── UnknownImage         an id that is not in the gallery
    │   └── EncoderMismatch      a gallery searched with another encoder's vectors
    ├── IndexUnavailable         the server that has a gallery's index cannot be reached
    ├── EncoderUnavailable       weights missing on this machine, a bad checkpoint
    ├── LanguageModelError       a language model failed or answered in the wrong form
    │   ├── UnsupportedTask      a role this language model cannot fill
    │   ├── LanguageModelUnavailable   its server cannot be reached or keeps failing
    │   ├── LanguageModelRefused it declined, or answered twice in a form that cannot be used
    │   └── Stopped              the person stopped the answer half-way
    ├── MethodError              an invalid method declaration, an unknown method
    ├── DatasetError             a malformed benchmark file
    ├── SearchError              a turn that cannot be run as requested
    │   └── UnknownSession       a session, turn or branch id that is not in the store
    ├── StudyError               a study that cannot be created or used as requested
    │   ├── UnknownStudy         no study of that name
    │   ├── UnknownScores        the study has no scores of that name
    │   ├── UnknownItem          an item that does not exist or is not assigned to this person
    │   │   └── NotJoined        the person has no seat in the study
    │   ├── StudyClosed          the study no longer takes answers
    │   ├── UsedToken            a token that was already used for another answer
    │   ├── GateStands           a step is required before the next answer: guidelines, consent, a check
    │   └── IncompleteJudgement  an incomplete or contradictory answer
    │       └── NeedsConfirmation   an unusual answer; saved when it is sent again as confirmed
    ├── ClusterError             a Ray cluster or its storage cannot be used
    ├── LogError                 an invalid query of the audit log
    ├── AccessError              permission denied
    │   └── SignInFailed         wrong name or password, an expired sign-in
    │       └── TooManyTries     too many wrong passwords; carries the seconds to wait
    └── StorageError             a failed write: database or uploaded image

Screens and commands catch ``CirqueError`` only; anything else is a defect and keeps its traceback.
"""

from __future__ import annotations

from typing import Literal

RULES_CAN = "The built-in rules can answer in its place."


class CirqueError(Exception):
    """Base of the tree. ``str(error)`` is a sentence for the user."""


class SettingsError(CirqueError): ...
class ImageUnreadable(CirqueError): ...


class TryLater(CirqueError):
    """``seconds``: when to try again."""

    def __init__(self, message: str, seconds: int = 5) -> None:
        super().__init__(message)
        self.seconds = seconds


class DecodingBusy(TryLater):
    def __init__(self, message: str = "cirque is busy decoding large images. Try again in a moment.") -> None:
        super().__init__(message)


class QuotaExceeded(TryLater): ...
class GalleryError(CirqueError): ...
class UnknownImage(GalleryError): ...
class EncoderMismatch(GalleryError): ...
class IndexUnavailable(CirqueError): ...
class EncoderUnavailable(CirqueError): ...
class RelevanceUnavailable(CirqueError): ...
class RelevanceMismatch(CirqueError): ...
class LanguageModelError(CirqueError): ...
class UnsupportedTask(LanguageModelError): ...
class LanguageModelUnavailable(LanguageModelError): ...
class ImagesRefused(LanguageModelError): ...


class LanguageModelRefused(LanguageModelError):
    """Ends with :data:`RULES_CAN`, so that a screen that shows it can offer them."""

    def __init__(self, message: str) -> None:
        super().__init__(message if message.endswith(RULES_CAN) else f"{message} {RULES_CAN}")


class Stopped(LanguageModelError): ...
class MethodError(CirqueError): ...
class DatasetError(CirqueError): ...
class UnknownBenchmark(DatasetError): ...
class SearchError(CirqueError): ...
class UnknownSession(SearchError): ...
class StudyError(CirqueError): ...
class UnknownStudy(StudyError): ...
class UnknownScores(StudyError): ...
class UnknownItem(StudyError): ...
class NotJoined(UnknownItem): ...
class StudyClosed(StudyError): ...
class UsedToken(StudyError): ...
class GateStands(StudyError): ...
class IncompleteJudgement(StudyError): ...
class NeedsConfirmation(IncompleteJudgement): ...
class ClusterError(CirqueError): ...
class LogError(CirqueError): ...
class AccessError(CirqueError): ...
class SignInFailed(AccessError): ...


class TooManyTries(SignInFailed):
    """``counted``: which counter of wrong passwords causes the wait."""

    def __init__(self, message: str, seconds: int, counted: Literal["name and address", "address", "name"]) -> None:
        super().__init__(message)
        self.seconds, self.counted = seconds, counted


class StorageError(CirqueError):
    """Has two messages. ``str(error)`` is for the log and the command line: which database or folder, what is wrong,
    and the remedy. ``told`` is for browsers: their users cannot free a disk or start a database."""

    def __init__(self, message: str, told: str = "") -> None:
        super().__init__(message)
        self.told = told or nothing_saved()


def nothing_saved(reason: str = "") -> str:
    """The message browsers show while nothing can be saved; ``reason`` in short."""
    why = f": {reason}" if reason else ""
    return (f"Nothing can be saved at the moment{why}. Nothing that was saved before is lost. Tell the operator of "
            "this cirque.")


ENDS_A_RUN = (LanguageModelUnavailable, Stopped, EncoderUnavailable, GalleryError, MethodError, StorageError,
              RelevanceUnavailable, RelevanceMismatch, IndexUnavailable)
"""Errors of the method or the machine, which end a run over many queries; others concern one query. The gallery's
images are checked in advance."""
