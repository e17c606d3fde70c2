"""Choosing the reference: one picture or several, a region cut out of one of them."""

from __future__ import annotations

import json
from dataclasses import replace

from cir_core.errors import CirqueError, SearchError
from cir_core.images.uploads import checked_region, is_upload
from cir_core.methods.references import check_further
from cir_core.sessions.service import SearchService
from cir_core.support.texts import quoted
from cir_core.types.composition import Cut
from web.search.actions.parts import Action, starting
from web.search.inputs import Data, text_of
from web.search.view import UiState

CUTS_KEPT = 50


def set_reference(service: SearchService, view: UiState, data: Data) -> UiState:
    """Another first picture. Those added stay, except where a search is to go on from this one ``alone``."""
    image_id = text_of(data, "image")
    service.check_image(view.gallery, image_id)
    further = () if data.get("alone") is True else tuple(one for one in view.further if one != image_id)
    return replace(view, reference_id=image_id, further=further, compare=None)


def add_reference(service: SearchService, view: UiState, data: Data) -> UiState:
    """One more picture, beside the one that the page says the next search starts from (``reference``)."""
    view = starting(service, view, data)
    image_id = text_of(data, "image")
    service.check_image(view.gallery, image_id)
    if view.reference_id is None:
        return replace(view, reference_id=image_id, compare=None)
    further = (*view.further, image_id)
    check_further(view.reference_id, further)
    return replace(view, further=further, compare=None)


def remove_reference(service: SearchService, view: UiState, data: Data) -> UiState:
    return replace(view, further=tuple(one for one in view.further if one != text_of(data, "image")))


def take_cut(service: SearchService, view: UiState, data: Data) -> UiState:
    """An upload that was cut out ``of`` one of the reference pictures takes its place."""
    view = starting(service, view, data)
    image_id, source_id, region = text_of(data, "image"), text_of(data, "of"), checked_region(data.get("region"))
    for one in (image_id, source_id):
        service.check_image(view.gallery, one)
    if not is_upload(image_id):
        raise SearchError("The page is out of date. Reload it.")
    if image_id != source_id and image_id in (view.reference_id, *view.further):
        raise SearchError("This region is already one of the reference pictures. Choose a different one.")
    if source_id == view.reference_id:
        view = replace(view, reference_id=image_id)
    elif source_id in view.further:
        view = replace(view, further=tuple(image_id if one == source_id else one for one in view.further))
    else:
        raise SearchError(f"{quoted(source_id)} is no longer one of the reference pictures. Cut again.")
    return replace(view, cuts=(*view.cuts, Cut(image_id, source_id, region))[-CUTS_KEPT:], compare=None)


def surprise(service: SearchService, view: UiState, data: Data) -> UiState:
    found = service.random_images(view.gallery, 2 + len(view.further))
    others = [image_id for image_id in found if image_id not in (view.reference_id, *view.further)] or found
    if not others:
        raise SearchError(f"Gallery {quoted(view.gallery)} is empty. Index some images first.")
    return replace(view, reference_id=others[0], further=tuple(one for one in view.further if one != others[0]))


def as_shown(service: SearchService, view: UiState, data: Data) -> UiState:
    """The references that an open page shows, as far as they are known, after the server was restarted."""
    if image_id := text_of(data, "shown_reference"):
        view = set_reference(service, view, {"image": image_id, "alone": True})
    try:
        listed = json.loads(text_of(data, "shown_further")[:10_000] or "[]")
    except (ValueError, RecursionError):
        listed = []
    for one in listed if image_id and isinstance(listed, list) else []:
        try:
            view = add_reference(service, view, {"image": one})
        except CirqueError:
            continue
    return view


REFERENCES: dict[str, Action] = {
    "reference": set_reference, "add_reference": add_reference, "remove_reference": remove_reference,
    "cut": take_cut, "surprise": surprise,
}
