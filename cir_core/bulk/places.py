"""Where the parts of a bulk job run. A place changes when results come, and in which order; never what they are."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeVar

Part = TypeVar("Part", contravariant=True)
Result = TypeVar("Result")


class Work(Protocol[Part, Result]):
    """What is done with each part of a job. To run elsewhere it is pickled, and so are the parts; ``str(part)`` names
    one in errors."""

    def __call__(self, parts: Iterable[Part]) -> Generator[Result]:
        """The results of ``parts``, in their order. One part may have several or none, and they must not depend on the
        other parts: elsewhere, each comes alone."""

    def prepare(self) -> None:
        """Called elsewhere before the first part. Raises ``CirqueError`` if that machine lacks what is needed."""

    def pack(self, results: Sequence[Result]) -> bytes:
        """The results of one part, as they are stored."""

    def unpack(self, content: bytes) -> Sequence[Result]:
        """What :meth:`pack` was given. Raises ``ValueError`` for damaged content."""


@dataclass(frozen=True)
class Job:
    """``name``: a file name that differs wherever results may not be mixed. ``folder``: for results that wait to be
    joined, if no other storage is configured; it need not exist."""

    name: str
    folder: Path


class Place(Protocol):
    def found(self, work: Work[Part, Result], job: Job) -> Generator[Result]:
        """Results of parts that an interrupted run of ``job`` finished and did not join."""

    def run(self, work: Work[Part, Result], parts: Iterable[Part], job: Job) -> Generator[Result]:
        """Results of ``parts``, as they finish; those of one part stay together and in order. A result counts as joined
        when the next one is asked for; close the generator to stop. Raises the ``CirqueError`` that ended a part."""

    @property
    def is_here(self) -> bool:
        """Whether it is this process."""


class Here:
    """This process. Work goes through all parts as one stream, so it can read ahead."""

    is_here = True

    def found(self, work: Work[Part, Result], job: Job) -> Generator[Result]:
        yield from ()

    def run(self, work: Work[Part, Result], parts: Iterable[Part], job: Job) -> Generator[Result]:
        return work(parts)
