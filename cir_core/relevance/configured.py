"""The relevance model of the settings over galleries. Importing this module loads no model and no torch."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from cir_core.errors import EncoderUnavailable, RelevanceUnavailable
from cir_core.gallery.gallery import Gallery
from cir_core.relevance.where import has_files
from cir_core.settings import Settings, get_settings

if TYPE_CHECKING:
    from cir_core.relevance.model import RelevanceModel
    from cir_core.relevance.scorer import RelevanceScorer

ScorerOf = Callable[[Gallery], "RelevanceScorer"]
_KEPT = 4   # scorers; one over a gallery without stored features keeps those that it made
_scorers: dict[tuple[str, str, str], RelevanceScorer] = {}
_lock = threading.Lock()


def problem_of(settings: Settings) -> str:
    """Why methods and judgements by CIRQRS are not available, in words for any visitor; "" if their model is there."""
    if has_files(settings.relevance):
        return ""
    return ("Needs a relevance model. Set CIRQUE_RELEVANCE to bundled, or to a folder written by "
            "`cirque relevance train`.")


def configured_model(settings: Settings | None = None) -> RelevanceModel:
    """The model of ``settings`` (by default the process's), loaded once. Raises ``RelevanceUnavailable``."""
    settings = settings or get_settings()
    if problem := problem_of(settings):
        raise RelevanceUnavailable(problem)
    from cir_core.relevance.model import load_relevance

    try:
        return load_relevance(settings.relevance, device=settings.device, precision=settings.precision,
                              allow_downloads=settings.allow_downloads)
    except EncoderUnavailable as error:
        raise RelevanceUnavailable(f"The relevance model cannot be loaded: {error}") from error


def configured_scorer(gallery: Gallery, settings: Settings | None = None) -> RelevanceScorer:
    """The settings' model over ``gallery``; the same one while neither changes. It is opened again when the gallery's
    features have been stored meanwhile. Raises ``RelevanceUnavailable``."""
    model = configured_model(settings)
    from cir_core.relevance.scorer import RelevanceScorer
    from cir_core.relevance.store import open_features

    key = str(gallery.folder), gallery.generation, model.identity.revision
    with _lock:
        known = _scorers.pop(key, None)
        if known is None or known.model is not model or not (known.complete or open_features(gallery, model) is None):
            known = RelevanceScorer(model, gallery)
        _scorers[key] = known
        while len(_scorers) > _KEPT:
            del _scorers[next(iter(_scorers))]
        return known


def scorers_of(settings: Settings) -> ScorerOf:
    """:func:`configured_scorer` with ``settings``."""
    return lambda gallery: configured_scorer(gallery, settings)
