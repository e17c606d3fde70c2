"""What the gallery has of what was asked, in words: a line above the results, and headings between them."""

from __future__ import annotations

from collections.abc import Sequence

from cir_core.search.having import Group, Had, groups_of
from web.search.presenters.results import COMPARED, Dict

_NUMBERS = ("no", "one", "two", "three", "four", "five", "six")
_NAMED = 3   # requests that no image has


def whole(tiles: Sequence[Dict]) -> bool:
    """Whether all results have all that was asked, as far as it was read: then there is nothing to say."""
    return all(tick == "yes" for tile in tiles for _, tick in tile["ticks"])


def having(found: Had | None, tiles: Sequence[Dict], listed: bool) -> Dict:
    """``parts``: the tiles in their order, each part with its ``title``; one without a title if there is nothing to
    say, or if they are not ``listed`` one after another. ``text``, ``unseen``, and what can be taken ``back``."""
    plain: Dict = {"text": "", "unseen": [], "back": None, "parts": [{"title": "", "tiles": tiles}]}
    if found is None:
        return plain
    groups = groups_of([tile["ticks"] for tile in tiles]) if listed else ()
    first, *later = groups or (None,)
    # What has all is under the line itself.
    titles = ["", *(_title(one, found) for one in later if one)]
    parts, start = [], 0
    for title, group in zip(titles, groups, strict=False):
        parts.append({"title": title, "tiles": tiles[start : start + group.size]})
        start += group.size
    mixed = first is not None and not first.fewest and first.missing
    return {"text": _line(found, mixed=mixed), "back": _back(found), "parts": parts or plain["parts"],
            "unseen": found.unseen[:_NAMED] if found.requests > 1 else []}


def _line(found: Had, *, mixed: bool) -> str:
    many = found.requests > 1
    what = "all that was asked" if many else f"“{found.rarest.label}”"
    images = f"{found.images:,} images"
    more = f"; {_number(found.perhaps)}{' more' if found.whole else ''} may" if found.perhaps else ""
    if found.whole:
        verb = "has" if found.whole == 1 else "have"
        return f"{found.whole:,} of {images} {verb} {what}{more}{', and others rank between them' if mixed else ''}."
    nearest = f". The nearest lack {_things(found.fewest, found.fewest)}" if many and not found.perhaps else ""
    return f"None of {images} has {what}{more}{nearest}."


def _back(found: Had) -> Dict | None:
    """The request without which most images have the rest, where few have all."""
    if found.requests < 2 or found.whole >= COMPARED:
        return None
    if found.without > found.whole:
        gain = f"{found.without:,} {'image has' if found.without == 1 else 'images have'} the rest"
    else:
        gain = f"{found.own or 'no'} {'image has' if found.own < 2 else 'images have'} it"
    return {"name": found.rarest.name, "label": found.rarest.label, "gain": gain}


def _title(group: Group, found: Had) -> str:
    verb = "may lack" if not group.missing else "lack, or may lack," if group.unsure else "lack"
    what = _things(group.fewest, group.most) if found.requests > 1 else f"“{found.rarest.label}”"
    return f"These {verb} {what}"


def _things(fewest: int, most: int) -> str:
    return f"{_number(fewest)} thing{'' if fewest == 1 else 's'}{' or more' if most > fewest else ''}"


def _number(count: int) -> str:
    return _NUMBERS[count] if count < len(_NUMBERS) else f"{count:,}"
