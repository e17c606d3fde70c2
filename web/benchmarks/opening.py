"""A constructed session, or a query with targets, as a stored session of a person's own, to go on with in the search
screen."""

from __future__ import annotations

from collections.abc import Sequence

from cir_core.construct.browse.folders import ConstructionFolder
from cir_core.construct.browse.sessions import BrowsedSession
from cir_core.construct.browse.targets import BrowsedQuery
from cir_core.construct.sessions.settings import ConstructionSettings
from cir_core.errors import CirqueError, DatasetError
from cir_core.methods.declared import find_method
from cir_core.support.texts import quoted, shortened
from cir_core.types.methods import MethodSettings
from web.benchmarks.gallery import BenchmarkGallery
from web.http.public_errors import public_message
from web.services import Services

_TITLE = 80


def open_session(
    services: Services, folder: ConstructionFolder, one: BrowsedSession, gallery: BenchmarkGallery
) -> str:
    """The id of the new session, whose turns are searched again with the constructing method, each from the image that
    was picked.

    It has no target: a person who tried to find it would be counted as one who searched by themselves. Raises
    ``DatasetError`` if the gallery or one of the images is gone, or a turn cannot be searched.
    """
    result = one.result
    steps = [(one.gallery_id(turn.selected_image if turn.turn and turn.selected_image
                         else result.reference_image_id),
              (turn.relative_caption or "") if turn.turn else result.original_query) for turn in result.turns]
    title = shortened(f"{folder.name}: {result.query_id}", _TITLE)
    return _searched(services, gallery, title, steps, _method(folder, services))


def open_query(
    services: Services, folder: ConstructionFolder, one: BrowsedQuery, gallery: BenchmarkGallery
) -> str:
    """The id of the new session, of one turn: the query, searched with the method that searches begin with. It has no
    target, like :func:`open_session`'s. Raises ``DatasetError``."""
    record = one.read()
    title = shortened(f"{folder.name}: {record.query_id}", _TITLE)
    return _searched(services, gallery, title, [(record.reference, record.text)], None)


def _searched(
    services: Services, gallery: BenchmarkGallery, title: str, steps: Sequence[tuple[str, str]],
    method: MethodSettings | None,
) -> str:
    """``steps``: reference and text of each turn."""
    if gallery.gallery is None:
        raise DatasetError(f"{gallery.problem} So this cannot be opened.")
    search = services.search
    missing = [image_id for image_id, _ in steps if image_id not in gallery.gallery]
    if missing or not steps:
        lacks = quoted(missing[0]) if missing else "the images"
        raise DatasetError(f"The gallery {quoted(gallery.name)} no longer has {lacks}, so this cannot be opened.")
    session = search.start(gallery.name, method=method, title=title)
    parent: str | None = None
    for number, (image_id, text) in enumerate(steps, start=1):
        try:
            parent = search.run_turn(session.session_id, text, reference_id=image_id, parent_id=parent).turn.turn_id
        except CirqueError as error:
            raise DatasetError(f"Turn {number} could not be searched again: {public_message(error)} What was searched "
                               f"before it is in the session {quoted(title)} of the search screen.") from error
    return session.session_id


def _method(folder: ConstructionFolder, services: Services) -> MethodSettings:
    """The constructing method: CIReVL with the weights of the card, or the method of that name without a card."""
    settings = folder.card.get("settings")
    try:
        return ConstructionSettings(**settings).method if isinstance(settings, dict) else _usual(services)
    except TypeError:
        return _usual(services)


def _usual(services: Services) -> MethodSettings:
    return find_method("cirevl", services.methods).settings
