"""``cirque galleries index`` and ``cirque index --index``: the index a gallery is searched with."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from cir_core.errors import GalleryError, IndexUnavailable
from cir_core.gallery.gallery import Gallery
from cir_core.settings import get_settings
from cir_core.types.records import Matrix
from cli.console import open_encoder, out, print_notes, progress_bar

if TYPE_CHECKING:
    from cir_core.encoders.base import Encoder

KIND_HELP = "exact, faiss:auto, faiss:hnsw, faiss:ivf-sq, faiss:ivf-pq or milvus:http://HOST:19530."
RECALL_HELP = "Least share of the best 10 and 60 images that an approximate index finds (default: 0.95)."


def give_index(name: str, kind: str, recall: float | None, encoder: Encoder | None = None) -> None:
    """Build the index ``kind`` for gallery ``name``, measured with ``encoder`` (default: the gallery's, if there are
    captions to encode), and print its figures."""
    from cir_core.index.building import build_index
    from cir_core.index.measuring import caption_vectors
    from cir_core.index.stored import RECALL, figures_in_words

    def texts(gallery: Gallery) -> Matrix | None:
        if not any(image.caption for image in gallery.images[:1000]):
            return None
        return caption_vectors(gallery, encoder or open_encoder(gallery.encoder.spec))

    with progress_bar(f"Building the index of {name}") as progress:
        stored = build_index(name, home=get_settings().home, kind=kind, recall=RECALL if recall is None else recall,
                             texts=texts, progress=progress)
    if stored is None:
        out.print(f"Gallery {name} is searched exactly.")
        return
    out.print(f"Gallery {name} has the index {stored.kind}.")
    for title, value in figures_in_words(stored):
        out.print(f"  {title}: {value}", soft_wrap=True)


def index_again(name: str, encoder: Encoder, recall: float | None = None) -> None:
    """Build the index of a gallery that was published again; nothing if search is exact or the vectors are the same.
    ``recall``: another one than it had to reach before. What prevents it is only told: the gallery itself is in order.
    """
    from cir_core.index.building import rebuild_kind

    if found := rebuild_kind(name, get_settings().home):
        kind, before = found
        try:
            give_index(name, kind, before if recall is None else recall, encoder)
        except (IndexUnavailable, GalleryError) as error:
            print_notes([f"The gallery was saved, but its index was not built again. {error} If images changed, search "
                         f"is exact until you run: cirque galleries index {name} {kind}"])


def index_of(name: str, home: Path) -> str:
    """For the list of galleries."""
    from cir_core.gallery.paths import gallery_folder
    from cir_core.index.stored import state_of

    return state_of(gallery_folder(name, home))[0]
