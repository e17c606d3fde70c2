"""The gallery that a construction searched: whether it is still there, and its images."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from cir_core.construct.browse.folders import ConstructionFolder
from cir_core.datasets.readers.circled_raw import text_in
from cir_core.errors import CirqueError
from cir_core.gallery.gallery import Gallery
from cir_core.sessions.service import SearchService
from cir_core.support.texts import quoted
from web.http.public_errors import public_message
from web.http.visitor import Visitor

Dict = dict[str, Any]


@dataclass(frozen=True)
class BenchmarkGallery:
    """``gallery`` is None if it is gone; ``problem``: what is missing or has changed since the construction."""

    name: str
    gallery: Gallery | None
    problem: str = ""

    def picture(self, benchmark: str, image_id: str, visitor: Visitor) -> Dict:
        """Addresses of an image. People who may search get those of every gallery; others only this benchmark's."""
        if self.gallery is None or image_id not in self.gallery:
            return {"id": image_id, "thumb": "", "full": ""}
        version = self.gallery.digest[:8]
        if "search" in visitor.may:
            query = urlencode({"gallery": self.name, "image": image_id, "v": version})
            return {"id": image_id, "thumb": f"media/thumb?{query}", "full": f"media/full?{query}"}
        query = urlencode({"name": benchmark, "image": image_id, "v": version})
        return {"id": image_id, "thumb": f"benchmarks/thumb?{query}", "full": f"benchmarks/full?{query}"}


def gallery_of(search: SearchService, folder: ConstructionFolder) -> BenchmarkGallery:
    """The gallery that the card of ``folder`` names."""
    name = folder.gallery
    if not name:
        return BenchmarkGallery("", None, "The files do not name the gallery, so there are no pictures. Construct them "
                                          "with cirque, which records it.")
    try:
        gallery = search.gallery(name)
    except CirqueError as error:
        return BenchmarkGallery(name, None, f"The gallery {quoted(name)} of this benchmark cannot be opened: "
                                            f"{public_message(error)}")
    return BenchmarkGallery(name, gallery, _changed(folder, gallery))


def _changed(folder: ConstructionFolder, gallery: Gallery) -> str:
    before = folder.encoder("revision")
    if before and before != gallery.encoder.revision:
        return (f"The gallery {quoted(gallery.name)} was indexed with another encoder since: "
                f"{folder.encoder('spec')} (revision {before}) constructed this benchmark, {gallery.encoder.spec} "
                f"(revision {gallery.encoder.revision}) searches now. Its sessions get other ranks on the "
                "search screen.")
    digest = text_in(folder.card, "gallery_digest")
    if digest and digest != gallery.digest:
        return (f"The gallery {quoted(gallery.name)} has other images than when this benchmark was constructed. "
                "Its sessions may get other ranks on the search screen.")
    return ""
