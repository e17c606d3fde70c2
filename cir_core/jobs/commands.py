"""The commands that keep a record while they run, and how each is run again. Nothing else is ever run from a record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class JobCommand:
    """``words`` come first on the command line. ``resumes``: run again, it continues where it ended; else it begins
    anew, with the answers of language models that are stored. ``adds`` and ``drops``: options of a second run."""

    words: tuple[str, ...]
    kind: str
    resumes: bool = True
    adds: tuple[str, ...] = ()
    drops: tuple[str, ...] = ()
    but: tuple[str, ...] = ()       # the next word, of short commands below it


_GOES_ON = ("--resume",)
COMMANDS = (
    JobCommand(("index",), "Indexing"),
    JobCommand(("datasets", "index"), "Indexing"),
    JobCommand(("galleries", "repair"), "Repair of a gallery"),
    JobCommand(("captions", "build"), "Captions", drops=("--restart",)),
    JobCommand(("audit",), "Audit", but=("join",)),
    JobCommand(("evaluate",), "Evaluation", resumes=False),
    JobCommand(("construct", "sessions"), "Construction", adds=_GOES_ON),
    JobCommand(("construct", "multi-target"), "Targets of queries", adds=_GOES_ON),
    JobCommand(("construct", "single-target"), "Rewriting of queries", adds=_GOES_ON),
    JobCommand(("construct", "judge"), "Judging of sessions", adds=_GOES_ON),
    JobCommand(("reproduce",), "Reproduction", adds=("--yes",)),
    JobCommand(("study", "judge"), "Study put to a model", adds=_GOES_ON),
    JobCommand(("relevance", "train"), "Training of a relevance model"),
    JobCommand(("relevance", "index"), "Relevance features"),
)


def command_of(arguments: Sequence[str]) -> JobCommand | None:
    """The command that ``arguments`` (what follows "cirque") begin with; None if it is none of :data:`COMMANDS`."""
    for command in COMMANDS:
        size = len(command.words)
        if tuple(arguments[:size]) == command.words and not set(arguments[size:size + 1]) & set(command.but):
            return command
    return None


def recordable(arguments: Sequence[str]) -> tuple[str, ...]:
    """``arguments`` without names and passwords in URLs. What was taken out is not run again (:func:`again`)."""
    return tuple("://".join((start, *map(_without_credentials, rest)))
                 for start, *rest in (argument.split("://") for argument in arguments))


def _without_credentials(address: str) -> str:
    """Of what stands behind "://". A password, which follows a colon, may have slashes and more than one @ in it."""
    word = next(iter(address.split(maxsplit=1)), "") if not address[:1].isspace() else ""
    host = word.partition("/")[0]
    end = word.rfind("@") if ":" in host.partition("@")[0] else host.find("@")
    return address if end < 0 else "…" + address[end:]


def plain(arguments: Sequence[str]) -> tuple[str, ...]:
    """Without the options in which a first run and a second one differ: equal for runs of one job."""
    command = command_of(arguments)
    return tuple(one for one in arguments if command is None or one not in (*command.adds, *command.drops))


def again(arguments: Sequence[str]) -> tuple[str, ...] | None:
    """What to run so that the job of ``arguments`` continues; None if it is not to be run."""
    command = command_of(arguments)
    if command is None or any("://…@" in argument for argument in arguments):
        return None
    return (*plain(arguments), *command.adds)
