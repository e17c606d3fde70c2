"""Write the search sessions of people as raw files.

    DIR/raw/SUBSET.json   finished sessions with a target, oldest first
    DIR/left_out.json     the others, with the reasons
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from cir_core.construct.filtering.files import closest_texts
from cir_core.construct.sessions.builder import DIGITS
from cir_core.datasets.readers.circled import released_id
from cir_core.datasets.readers.circled_raw import write_raw
from cir_core.encoders.base import Encoder
from cir_core.errors import DatasetError, GalleryError
from cir_core.gallery.gallery import Gallery
from cir_core.images.uploads import is_upload
from cir_core.jobs.journal import as_bytes
from cir_core.sessions.store import SessionStore, SessionSummary
from cir_core.sessions.target import attempt
from cir_core.support.files import write_atomically
from cir_core.support.texts import counted
from cir_core.types.records import SearchSession, Turn
from cir_core.version import __version__

Closest = Callable[[Sequence[str]], Sequence[tuple[int, float]]]
"""Of texts: for each after the first its most similar earlier one, from 1, and the cosine."""

LeftOut = Literal["no target", "not finished", "no turn", "several references", "uploaded or cut-out image",
                  "later turn without text"]
LEFT_OUT: dict[LeftOut, str] = {
    "no target": "a search without a target to find",
    "not finished": "the target was neither found nor given up",
    "no turn": "nothing was searched before the end",
    "several references": "a turn has several reference images, and the format has one",
    "uploaded or cut-out image": "a reference is not an image of the gallery",
    "later turn without text": "a turn after the first has no text, and the format has no such turns",
}
K = 10
_AT_ONCE = 100          # sessions in memory, with the vectors of their turns
_ALL = 2**31 - 1


def subset_of(session: SearchSession) -> str:
    """As in exports of sessions: "atelier_all"."""
    return f"{session.gallery}_{session.protocol.split}"


def why_left_out(session: SearchSession, turns: Sequence[Turn]) -> LeftOut | None:
    """``turns``: those of :func:`attempt_until_hit`. None if it has a raw format."""
    if session.target_id is None:
        return "no target"
    if not session.target_revealed:
        return "not finished"
    if not turns:
        return "no turn"
    if any(turn.further for turn in turns):
        return "several references"
    if any(is_upload(turn.reference_id) for turn in turns):
        return "uploaded or cut-out image"
    if any(not turn.modification_text.strip() for turn in turns[1:]):
        return "later turn without text"
    return None


def attempt_until_hit(session: SearchSession, k: int) -> tuple[Turn, ...]:
    """The turns that count towards the target, up to the first with it among the best ``k``: constructed sessions end
    there too. The last line of turns, if there are several."""
    turns = attempt(session)
    first = next((number for number, turn in enumerate(turns) if _rank(turn) <= k), len(turns))
    return turns[:first + 1]


def own_result(
    session: SearchSession, turns: Sequence[Turn], k: int, closest: Closest, digest_of: Callable[[str], str | None]
) -> dict[str, Any]:
    """A member of ``results``. Requires that :func:`why_left_out` is None. ``digest_of`` an image id: SHA-256 of its
    file, if known."""
    assert session.target_id is not None
    subset, success = subset_of(session), _rank(turns[-1]) <= k
    target = released_id(subset, session.target_id)
    similar = [None, *closest([turn.modification_text for turn in turns])]
    return {
        "query_id": session.session_id, "reference_image_id": released_id(subset, turns[0].reference_id),
        "target_image_id": target, "ground_truth_ids": [target], "original_query": turns[0].modification_text,
        "success": success, "success_turn": len(turns) - 1 if success else -1,
        "turns": [_turn(number, turn, subset, target, k, near, digest_of(turn.reference_id))
                  for number, (turn, near) in enumerate(zip(turns, similar, strict=True))],
    }


def _turn(
    number: int, turn: Turn, subset: str, target: str, k: int, near: tuple[int, float] | None, digest: str | None
) -> dict[str, Any]:
    later = number > 0
    return {
        "turn": number, "query_text": turn.merged_text,
        "search_results": [[released_id(subset, hit.image_id), round(hit.score, DIGITS)] for hit in turn.hits[:k]],
        "selected_image": released_id(subset, turn.reference_id) if later else None,
        "selected_image_caption": (turn.caption or None) if later else None,
        "relative_caption": turn.modification_text if later else None,
        "gt_rankings": {target: _rank(turn)}, "best_gt_rank": _rank(turn),
        "text_similarity": near[1] if near else None, "similar_turn": near[0] - 1 if near else None,
        **({"image_sha256": digest} if digest else {}), **({"notes": list(turn.notes)} if turn.notes else {}),
    }


def _rank(turn: Turn) -> int:
    assert turn.target_rank is not None     # turns without one do not count towards the target
    return turn.target_rank


@dataclass(frozen=True)
class OwnReport:
    """``sessions`` by subset; ``left_out`` by reason; ``written``: the ids of the sessions in the files."""

    sessions: Mapping[str, int]
    left_out: Mapping[LeftOut, int]
    notes: Sequence[str]
    outputs: Sequence[Path]
    written: Sequence[str]


def export_own(
    store: SessionStore, folder: Path, *, encoder_of: Callable[[str], Encoder], open_gallery: Callable[[str], Gallery],
    gallery: str | None = None, k: int = K,
) -> OwnReport:
    """Write every finished session with a target to ``folder``, or those over ``gallery``.

    ``encoder_of`` loads the encoder that compares texts, by the spec of the one that searched. Ranks are those at the
    time of the search, over the gallery without the images that its method left out. Raises ``DatasetError`` if
    ``folder`` has raw files of other subsets, which would be mixed with these.
    """
    by_subset: dict[str, list[dict[str, Any]]] = {}
    newest: dict[str, SearchSession] = {}
    left_out: list[dict[str, str]] = []
    written: list[str] = []
    counts: Counter[LeftOut] = Counter()
    notes: Counter[str] = Counter()
    closest: dict[str, Any] = {}
    digests: dict[str, Callable[[str], str | None]] = {}
    for session, turns, reason in _sessions(store, gallery, k):
        if reason is not None or not isinstance(session, SearchSession):
            left_out.append({"session_id": session.session_id, "gallery": session.gallery, "reason": reason or ""})
            counts[reason or "no turn"] += 1
            continue
        subset, spec = subset_of(session), session.protocol.encoder.spec
        if spec not in closest:
            closest[spec] = closest_texts(encoder_of(spec))
        if session.gallery not in digests:
            digests[session.gallery] = _digests(open_gallery, session.gallery)
        record = own_result(session, turns, k, closest[spec], digests[session.gallery])
        by_subset.setdefault(subset, []).append(record)
        newest[subset] = session
        written.append(session.session_id)
        notes["ended"] += len(turns) < len(session.turns)
        notes["marks"] += any(turn.composition and turn.composition.marks for turn in turns)
        notes["excluded"] += any(turn.excluded_ids for turn in turns)
    _refuse_others(folder, by_subset)
    outputs = []
    for subset, records in sorted(by_subset.items()):
        outputs.append(folder / "raw" / f"{subset}.json")
        outputs[-1].parent.mkdir(parents=True, exist_ok=True)
        protocol = newest[subset].protocol
        compared = encoder_of(protocol.encoder.spec).identity
        write_raw(outputs[-1], {
            "dataset_name": subset,
            "config": {"made_by": "people", "k": k, "gallery": newest[subset].gallery, "version": __version__,
                       "encoders": {"diversity": {"spec": compared.spec, "revision": compared.revision}}},
            "data_completeness": {"sessions": len(records), "images": protocol.gallery_size},
        }, records)
    folder.mkdir(parents=True, exist_ok=True)
    write_atomically(folder / "left_out.json", as_bytes(left_out))
    return OwnReport({name: len(records) for name, records in sorted(by_subset.items())}, dict(counts), _notes(notes),
                     outputs, written)


def _sessions(
    store: SessionStore, gallery: str | None, k: int
) -> Iterator[tuple[SearchSession | SessionSummary, tuple[Turn, ...], LeftOut | None]]:
    """Every session, oldest first, with the turns that count, and why it is left out."""
    rows = sorted(store.sessions(_ALL, gallery), key=lambda row: (row.created_at, row.session_id))
    for start in range(0, len(rows), _AT_ONCE):
        some = rows[start:start + _AT_ONCE]
        wanted = [row.session_id for row in some if row.has_target and row.target_revealed and row.turns]
        found = {session.session_id: session for session in store.finished_target_sessions(wanted)}
        for row in some:
            session = found.get(row.session_id)
            if session is not None:
                turns = attempt_until_hit(session, k)
                yield session, turns, why_left_out(session, turns)
            elif not row.has_target:
                yield row, (), "no target"
            else:
                yield row, (), "no turn" if row.target_revealed else "not finished"


def _digests(open_gallery: Callable[[str], Gallery], name: str) -> Callable[[str], str | None]:
    """Of images that are still in their gallery."""
    try:
        gallery = open_gallery(name)
    except GalleryError:
        return lambda image_id: None
    return lambda image_id: gallery.image(gallery.row_of(image_id)).sha256 if image_id in gallery else None


def _refuse_others(folder: Path, subsets: Mapping[str, Any]) -> None:
    others = [path.name for path in sorted((folder / "raw").glob("*.json")) if path.stem not in subsets]
    if others:
        raise DatasetError(f"{folder} contains {others[0]}, which is not of these sessions. Choose another folder with "
                           "--out.")


def _notes(counts: Counter[str]) -> list[str]:
    found = []
    if counts["ended"]:
        found.append(f"{counted(counts['ended'], 'session has', 'sessions have')} turns that are left out: behind the "
                     "first hit, after the end, or on another branch.")
    if counts["marks"]:
        found.append(f"{counted(counts['marks'], 'session uses', 'sessions use')} marked results, which the format has "
                     "no place for.")
    if counts["excluded"]:
        found.append(f"In {counted(counts['excluded'], 'session')} the method left images out of the ranking; "
                     "constructed sessions leave out none.")
    return found
