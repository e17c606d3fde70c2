"""What a judge sees of a session: its images, what was said about each, and the target; not where it comes from."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from typing import TypeVar

from cir_core.construct.inputs import Pictures
from cir_core.construct.judging.sample import SampledSession, Source
from cir_core.datasets.readers.circled import CircledSession
from cir_core.errors import DatasetError, SettingsError
from cir_core.gallery.gallery import Gallery
from cir_core.language.base import LanguageModel, Observer
from cir_core.language.tasks import JudgeTask
from cir_core.support.texts import quoted
from cir_core.types.records import Domain

Galleries = Mapping[str, Gallery]
"""By the name of a source or of a subset; "" is that of all others."""


_Of = TypeVar("_Of")


def gallery_for(galleries: Mapping[str, _Of], source: str, subset: str) -> _Of:
    """Raises ``SettingsError`` if there is none."""
    for name in (source, subset, ""):
        if name in galleries:
            return galleries[name]
    raise SettingsError(f"No gallery contains the images of {subset} from {quoted(source)}. Add --gallery GALLERY, or "
                        f"--gallery {source}=GALLERY.")


def galleries_as_json(galleries: Galleries) -> dict[str, str]:
    """Source or subset to the gallery's name and digest."""
    return {name: f"{gallery.name} {gallery.digest}" for name, gallery in galleries.items()}


def check_galleries(galleries: Galleries, sources: Sequence[Source]) -> None:
    """Raises ``SettingsError`` for a subset without a gallery, and for a gallery that no subset uses."""
    known = {"", *(source.name for source in sources), *(one.name for source in sources for one in source.subsets)}
    for name in galleries:
        if name not in known:
            raise SettingsError(f"--gallery {name}=... names neither a source nor a subset. There are: "
                                f"{', '.join(sorted(known - {''}))}.")
    for source in sources:
        for subset in source.subsets:
            gallery_for(galleries, source.name, subset.name)


def shown_target(session: CircledSession, gallery: Container[str]) -> str | None:
    """The target that judges see: the first one in the gallery. None for a session that names none."""
    return next((one for one in session.target_ids if one in gallery), next(iter(session.target_ids), None))


class JudgeTasks:
    """Makes the task of a session. Thread-safe. A model that sees gets the images alone; another one gets captions,
    those of the gallery's manifest or of the role ``caption``, for all sources alike: captions in raw files would tell
    sources apart."""

    def __init__(self, galleries: Galleries, language: LanguageModel, domain: Domain) -> None:
        self._galleries = galleries
        self._pictures = {gallery.name: Pictures(gallery, language, domain) for gallery in galleries.values()}

    def task(self, sampled: SampledSession, watch: Observer | None = None) -> JudgeTask:
        """Raises ``DatasetError`` for a session without a target, ``UnknownImage``, ``LanguageModelError``."""
        session = sampled.session
        gallery = gallery_for(self._galleries, sampled.source, session.subset)
        target = shown_target(session, gallery)
        if target is None:
            raise DatasetError("The session names no target, so its progress cannot be judged.")
        pictures = self._pictures[gallery.name]
        return JudgeTask(
            tuple(pictures.of(turn.reference_id, watch) for turn in session.turns),
            tuple(turn.text for turn in session.turns), pictures.of(target, watch),
        )
