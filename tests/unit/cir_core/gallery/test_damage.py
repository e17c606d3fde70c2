"""Flipped bytes, cut files and NaN in whatever is stored of a gallery: named, and never a wrong number."""

from __future__ import annotations

import dataclasses
import errno
import io
import json
import logging
import os
import random
import struct
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from cir_core.errors import EncoderMismatch, GalleryError
from cir_core.gallery import gallery as galleries
from cir_core.gallery.gallery import gallery_names, list_galleries, open_gallery, unreadable_galleries
from cir_core.gallery.indexing import index_folder, repair_gallery
from cir_core.gallery.integrity import GalleryCheck, check_gallery
from cir_core.gallery.journal import Record
from cir_core.gallery.paths import Header, features_path, images_path, sums_path
from cir_core.gallery.publishing import load_published
from cir_core.index.flat import FlatIndex
from cir_core.language.builtin import BuiltinLanguageModel
from cir_core.search.searcher import Searcher
from cir_core.types.records import MethodSettings
from tests.fakes.colours import NAME, colour_gallery
from tests.fakes.encoder import FakeEncoder

DIM, SIZE = 32, 64
ROW = 4 * DIM
QUERIES = FakeEncoder().encode_texts(["red", "green blue", "something else"])


@pytest.fixture
def whole(tmp_path):
    """The gallery's folder, what is in it, and what searches find in it."""
    gallery = colour_gallery(tmp_path)
    files = {path.name: path for path in (
        features_path(gallery.folder, gallery.generation), images_path(gallery.folder, gallery.generation),
        sums_path(gallery.folder, gallery.generation), gallery.folder / "gallery.json")}
    kinds = {name.partition("-")[0].partition(".")[0]: path for name, path in files.items()}
    return Whole(tmp_path, gallery, kinds)


class Whole:
    def __init__(self, tmp_path, gallery, kinds):
        self.home, self.photos = tmp_path / "home", tmp_path / "photos"
        self.folder, self.digest, self.ids = gallery.folder, gallery.digest, gallery.ids
        self.generation, self.files = gallery.generation, kinds
        self.vectors = np.array(gallery.features)
        self.content = {kind: path.read_bytes() for kind, path in kinds.items()}

    def open(self):
        return open_gallery(NAME, home=self.home)

    def flip(self, kind, *places):
        content = bytearray(self.files[kind].read_bytes())
        for place in places:
            content[place] ^= 0x10
        self.files[kind].write_bytes(content)

    def expected(self, query, ids):
        """Scores of ``ids``, best first, of the vectors as they were."""
        rows = [self.ids.index(image_id) for image_id in ids]
        scores = (self.vectors[rows].astype(np.float64) * query.astype(np.float64)).sum(axis=1).astype(np.float32)
        order = np.lexsort((np.arange(len(rows)), -scores))
        return [(ids[place], scores[place]) for place in order]

    def check_searches(self, gallery):
        index = FlatIndex(gallery.features, gallery.ids)
        for query in QUERIES:
            found = [(hit.image_id, np.float32(hit.score)) for hit in index.search(query, SIZE)]
            assert found == self.expected(query, list(gallery.ids))


def repair(whole, encoder=None):
    encoder = encoder or FakeEncoder()
    return repair_gallery(NAME, home=whole.home, encoder=encoder), encoder


class FailingDisk:
    """Opening ``path`` fails with the error number ``opening``, or reading its bytes ``lost`` with ``reading``."""

    def __init__(self, monkeypatch, path, *, opening=0, reading=errno.EIO, lost=range(0)):
        def fail(number):
            raise OSError(number, os.strerror(number), str(path))

        class File(io.FileIO):
            def read(self, size=-1):
                end = len(lost) and (os.fstat(self.fileno()).st_size if size < 0 else self.tell() + size)
                return fail(reading) if self.tell() < lost.stop and lost.start < end else super().read(size)

        def opened(self, mode="r", *args, **kwargs):
            if self != path:
                return usual(self, mode, *args, **kwargs)
            return fail(opening) if opening else File(self, "r")

        usual = Path.open
        monkeypatch.setattr(Path, "open", opened)


@pytest.mark.parametrize("number", [errno.EMFILE, errno.EACCES, errno.ENFILE, errno.ENOMEM, errno.ESTALE])
@pytest.mark.parametrize("when", ["opening", "reading"])
@pytest.mark.parametrize("with_sums", [True, False])
def test_a_file_that_cannot_be_opened_is_not_taken_for_damaged(whole, monkeypatch, number, when, with_sums):
    if not with_sums:
        whole.files["sums"].unlink()
    with monkeypatch.context() as patch:
        FailingDisk(patch, whole.files["features"], **{when: number}, lost=range(ROW * SIZE))
        with pytest.raises(GalleryError, match=f"cannot be read: {os.strerror(number)}") as refused:
            whole.open()
        assert "damaged" not in str(refused.value) and "encoded again" not in str(refused.value)
        assert "cannot be read" in check_gallery(NAME, home=whole.home).damage
        with pytest.raises(OSError, match=os.strerror(number)):
            load_published(whole.folder)
        encoder = FakeEncoder()
        with pytest.raises(GalleryError, match=os.strerror(number)):
            index_folder(whole.photos, name=NAME, home=whole.home, encoder=encoder)
        assert encoder.images == 0
    gallery = whole.open()      # nothing about it was kept
    assert gallery.damage == "" and gallery.digest == whole.digest
    whole.check_searches(gallery)


@pytest.mark.parametrize("kept", [0, 3, 7, 8])
@pytest.mark.parametrize("with_sums", [True, False])
def test_a_part_of_the_disk_that_cannot_be_read(whole, monkeypatch, kept, with_sums):
    """Blocks of 8 rows here; one of them is lost."""
    monkeypatch.setattr("cir_core.support.checksums._BLOCK_BYTES", 8 * ROW)
    index_folder(whole.photos, name=NAME, home=whole.home, encoder=FakeEncoder(revision="2"))
    files = {path.name.partition("-")[0]: path for path in whole.folder.iterdir()}
    if not with_sums:
        files["sums"].unlink()
    block = 8 * (kept // 2)
    FailingDisk(monkeypatch, files["features"], lost=range(ROW * block + 5, ROW * block + 6))
    gallery = whole.open()
    lost = whole.ids[block:block + 8]
    assert gallery.lost == len(lost) == 8
    assert gallery.ids == tuple(image_id for image_id in whole.ids if image_id not in lost)
    whole.check_searches(gallery)


def test_opening_a_gallery_does_not_wait_for_the_verification_of_another(whole, monkeypatch):
    index_folder(whole.photos, name="other", home=whole.home, encoder=FakeEncoder())
    begun, go_on, verified = threading.Event(), threading.Event(), []
    usual = galleries.damaged_rows

    def slow(folder, header, sums):
        verified.append(folder.name)
        if folder.name == NAME:
            begun.set()
            assert go_on.wait(60)
        return usual(folder, header, sums)

    galleries._open.clear()
    monkeypatch.setattr(galleries, "damaged_rows", slow)
    with ThreadPoolExecutor(2) as pool:
        waiting = [pool.submit(whole.open) for _ in range(2)]
        try:
            assert begun.wait(60)
            other = open_gallery("other", home=whole.home)
            assert open_gallery("other", home=whole.home) is other and len(other) == SIZE
            assert not any(one.done() for one in waiting)
        finally:
            go_on.set()
        assert waiting[0].result(60) is waiting[1].result(60)
    assert sorted(verified) == sorted([NAME, "other"])      # each was verified once


def test_a_damaged_header_is_not_signed_anew(whole):
    header = json.loads(whole.content["gallery"])
    for changed in ({"split": "test"}, {"max_megapixels": 65.0}, {"digest": "0" * 16}):
        whole.files["gallery"].write_text(json.dumps(header | changed))
        assert load_published(whole.folder) is None
        with pytest.raises(GalleryError, match=r"gallery\.json does not match its checksum.*cirque index"):
            whole.open()
        with pytest.raises(GalleryError, match="encoded again"):
            repair(whole)
    encoder = FakeEncoder()
    index_folder(whole.photos, name=NAME, home=whole.home, encoder=encoder)
    assert encoder.images == SIZE and whole.open().digest == whole.digest


def test_a_header_is_signed_by_what_its_file_says(whole, monkeypatch):
    """In another order and layout, and read by a version whose headers have a field more."""
    header = json.loads(whole.content["gallery"])
    whole.files["gallery"].write_text(json.dumps(dict(reversed(header.items()))))
    assert whole.open().damage == ""

    @dataclass(frozen=True)
    class LaterHeader(Header):
        kind: str = "photos"

    monkeypatch.setattr("cir_core.gallery.paths.Header", LaterHeader)
    gallery = whole.open()
    assert gallery.damage == "" and check_gallery(NAME, home=whole.home).damage == ""
    published = load_published(whole.folder)
    assert published is not None and published.header.kind == "photos"
    whole.files["sums"].unlink()
    repair(whole)       # adds the checksums of the file as it is
    assert whole.open().damage == "" and check_gallery(NAME, home=whole.home) == GalleryCheck(NAME, SIZE)


def test_an_undamaged_gallery_is_in_order(whole):
    gallery = whole.open()
    assert gallery.damage == "" and gallery.lost == 0 and len(gallery) == SIZE
    assert check_gallery(NAME, home=whole.home).damage == "" and check_gallery("none", home=whole.home) is None
    whole.check_searches(gallery)


@pytest.mark.parametrize("rows", [[0], [SIZE - 1], [3, 4, 5, 40], list(range(0, SIZE, 2))])
def test_damaged_vectors_are_named_left_out_and_repaired_alone(whole, rows, caplog):
    whole.flip("features", *(ROW * row + 17 for row in rows))
    with caplog.at_level(logging.WARNING):
        gallery = whole.open()
    assert [image_id for image_id in whole.ids if image_id not in gallery] == [whole.ids[row] for row in rows]
    assert gallery.lost == len(rows) and f"{len(rows)} vector" in gallery.damage and gallery.damage in caplog.text
    assert f"cirque galleries repair {NAME}" in gallery.damage and f"{rows[0]}" in gallery.damage
    assert gallery.digest != whole.digest and gallery.generation != whole.generation and len(gallery.digest) == 16
    assert gallery.images[0].sha256 and all(
        gallery.image(gallery.row_of(one)).path == f"{one}.png" for one in gallery.ids)
    whole.check_searches(gallery)
    assert check_gallery(NAME, home=whole.home).damage == gallery.damage
    report, encoder = repair(whole)
    assert report.encoded == encoder.images == len(rows)
    mended = whole.open()
    assert (mended.ids, mended.digest, mended.damage) == (whole.ids, whole.digest, "")
    assert np.asarray(mended.features).tobytes() == whole.vectors.tobytes()
    assert check_gallery(NAME, home=whole.home).damage == ""


def test_indexing_again_repairs_too_and_reads_no_other_file(whole):
    whole.flip("features", ROW * 7)
    encoder = FakeEncoder()
    report = index_folder(whole.photos, name=NAME, home=whole.home, encoder=encoder)
    assert encoder.images == report.encoded == 1 and report.unchanged == SIZE
    assert any("damaged" in note for note in report.notes)
    assert whole.open().digest == whole.digest
    again = index_folder(whole.photos, name=NAME, home=whole.home, encoder=FakeEncoder())
    assert again.encoded == 0 and not again.notes


def test_a_repair_needs_only_the_damaged_images_and_changes_nothing_without_them(whole):
    whole.flip("features", ROW * 2, ROW * 5)
    for image_id in whole.ids:
        if image_id != whole.ids[2]:
            (whole.photos / f"{image_id}.png").unlink()
    with pytest.raises(GalleryError, match=rf"not repaired.*{whole.ids[5]}\.png is missing"):
        repair(whole)
    assert whole.open().lost == 2
    Image.new("RGB", (8, 8), "red").save(whole.photos / f"{whole.ids[5]}.png")
    _, encoder = repair(whole)
    assert encoder.images <= 2 and whole.open().lost == 0 and whole.open().ids == whole.ids
    with pytest.raises(EncoderMismatch):
        repair(whole, FakeEncoder(revision="another"))


def test_too_much_damage_is_refused(whole):
    whole.flip("features", *(ROW * row for row in range(SIZE // 2 + 1)))
    with pytest.raises(GalleryError, match=r"33 vectors of 64 .* too many .* cirque galleries repair colours"):
        whole.open()
    with pytest.raises(GalleryError, match="too many"):
        whole.open()
    assert "too many" in check_gallery(NAME, home=whole.home).damage
    repair(whole)
    assert whole.open().digest == whole.digest


@pytest.mark.parametrize("size", [0, 1, ROW, 40 * ROW, 40 * ROW + 5, SIZE * ROW - 1])
def test_a_file_of_vectors_that_was_cut_off(whole, size):
    whole.files["features"].write_bytes(whole.content["features"][:size])
    kept = size // ROW
    if kept < SIZE // 2:
        with pytest.raises(GalleryError, match=f"{SIZE - kept} vectors"):
            whole.open()
    else:
        gallery = whole.open()
        assert gallery.ids == whole.ids[:kept]
        whole.check_searches(gallery)
    _, encoder = repair(whole)
    assert encoder.images == SIZE - kept
    assert whole.open().digest == whole.digest


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 39.45, 0.0])
@pytest.mark.parametrize("with_sums", [True, False])
def test_numbers_that_no_encoder_gives(whole, value, with_sums):
    if not with_sums:   # as earlier versions wrote it
        whole.files["sums"].unlink()
    content = bytearray(whole.content["features"])
    place = ROW * 9 + 4 * int(np.argmax(np.abs(whole.vectors[9])))
    content[place:place + 4] = struct.pack("<f", value)
    whole.files["features"].write_bytes(content)
    gallery = whole.open()
    assert whole.ids[9] not in gallery and gallery.lost == 1
    whole.check_searches(gallery)
    _, encoder = repair(whole)
    assert encoder.images == 1 and whole.open().digest == whole.digest
    assert check_gallery(NAME, home=whole.home).has_sums


def test_a_gallery_of_an_earlier_version_opens_and_gets_checksums(whole):
    whole.files["sums"].unlink()
    assert whole.open().digest == whole.digest
    assert not check_gallery(NAME, home=whole.home).has_sums
    encoder = FakeEncoder()
    index_folder(whole.photos, name=NAME, home=whole.home, encoder=encoder)
    assert encoder.images == 0 and whole.open().generation == whole.generation
    assert whole.files["sums"].read_bytes() == whole.content["sums"]


@pytest.mark.parametrize("kind", ["images", "gallery"])
@pytest.mark.parametrize("seed", range(6))
def test_damaged_texts_are_refused_and_made_again(whole, kind, seed):
    content, draw = whole.content[kind], random.Random(seed)
    place = draw.randrange(len(content))
    if kind == "gallery" and content.index(b'"source"') <= place < content.index(b'"split"'):
        place = content.index(b'"digest"') + 12     # people who move their images change the source
    whole.flip(kind, place)
    with pytest.raises(GalleryError, match=r"damaged|another version|There are"):
        whole.open()
    index_folder(whole.photos, name=NAME, home=whole.home, encoder=FakeEncoder())
    assert whole.open().digest == whole.digest and len(whole.open()) == SIZE


def test_a_header_that_cannot_be_read_is_listed_as_such(whole):
    whole.files["gallery"].write_text("{")
    assert list_galleries(whole.home) == [] and gallery_names(whole.home) == [NAME]
    [said] = unreadable_galleries(whole.home)
    assert "gallery.json is damaged" in said and "cirque index" in said
    assert check_gallery(NAME, home=whole.home).damage == said


@pytest.mark.parametrize("seed", range(4))
def test_damaged_checksums_cost_no_vector(whole, seed, caplog):
    whole.flip("sums", random.Random(seed).randrange(len(whole.content["sums"])))
    with caplog.at_level(logging.WARNING):
        gallery = whole.open()
    assert len(gallery) == SIZE and "sums-" in caplog.text
    assert "sums-" in check_gallery(NAME, home=whole.home).damage
    _, encoder = repair(whole)
    assert encoder.images == 0 and check_gallery(NAME, home=whole.home).damage == ""


def test_files_that_moved_images_were_told_in_stay_valid(whole):
    """As people do it: by hand, in any layout."""
    moved = whole.photos.rename(whole.photos.with_name("elsewhere"))
    header = json.loads(whole.content["gallery"])
    whole.files["gallery"].write_text(json.dumps(header | {"source": str(moved)}))
    assert whole.open().damage == "" and whole.open().path_of(whole.ids[0]).is_file()


def test_a_gallery_that_is_damaged_while_it_is_open_is_opened_anew(whole):
    before = whole.open()
    assert whole.open() is before
    whole.flip("features", ROW * 3 + 1)
    after = whole.open()
    assert after is not before and after.lost == 1 and whole.open() is after
    whole.files["features"].write_bytes(whole.content["features"])
    assert whole.open().lost == 0


def test_a_search_says_how_many_images_are_left_out(whole):
    whole.flip("features", ROW * 3 + 1, ROW * 4)
    encoder = FakeEncoder()
    searcher = Searcher(whole.open(), encoder, BuiltinLanguageModel(encoder))
    found = searcher.turn(searcher.gallery_reference(whole.ids[0]), "red", MethodSettings(base="text-only"))
    assert "2 images of this gallery are left out" in found.notes[0] and str(whole.home) not in found.notes[0]
    card = searcher.card(MethodSettings(base="text-only"))
    assert card.gallery_size == SIZE - 2 and card.gallery_digest != whole.digest


@pytest.mark.parametrize("seed", range(25))
def test_any_damage_of_any_file(whole, seed):
    """Every search finds what it did, without the images that are left out, or says what is damaged."""
    draw = random.Random(seed)
    kind = draw.choice(list(whole.files))
    content = bytearray(whole.content[kind])
    how = draw.choice(["flip", "flip", "cut", "zeros", "nan", "shift"])
    place = draw.randrange(len(content))
    if how == "flip":
        for _ in range(draw.choice([1, 3, 20, 2000])):
            content[draw.randrange(len(content))] ^= 1 << draw.randrange(8)
    elif how == "cut":
        del content[place:]
    elif how == "zeros":
        content[place:place + 300] = bytes(len(content[place:place + 300]))
    elif how == "nan":
        content[place:place + 4] = struct.pack("<f", float("nan"))
    else:
        content.insert(place, 7)
    whole.files[kind].write_bytes(content)
    changed = bytes(content) != whole.content[kind]
    try:
        gallery = whole.open()
    except GalleryError as error:
        assert changed and "cirque" in str(error)
    else:
        whole.check_searches(gallery)
        assert (gallery.digest == whole.digest) == (gallery.lost == 0) == (len(gallery) == SIZE)
    if changed and kind != "gallery":   # a folder in it may have changed to another that is not there
        assert check_gallery(NAME, home=whole.home).damage


@pytest.mark.parametrize("damage", ["flip", "nan", "old line and nan", "width", "sha256"])
def test_vectors_of_an_interrupted_run_are_verified_when_it_resumes(tmp_path, damage):
    photos = tmp_path / "photos"
    photos.mkdir()
    for number in range(12):
        Image.new("RGB", (8, 8), (20 * number, 9, 40)).save(photos / f"{number:02d}.png")

    def index(encoder, home):
        return index_folder(photos, name="g", home=home, encoder=encoder, batch_size=2)

    index(FakeEncoder(), tmp_path / "whole")
    with pytest.raises(RuntimeError):
        index(FakeEncoder(fail_at=5), tmp_path / "home")
    work = tmp_path / "home" / "galleries" / "g" / "work"
    content = bytearray((work / "vectors.f32").read_bytes())
    assert len(content) == 8 * ROW
    if damage in ("width", "sha256"):    # of a record: the line is still one, and says something else
        lines = [json.loads(line) for line in (work / "journal.jsonl").read_text().splitlines()]
        fields = [field.name for field in dataclasses.fields(Record)]
        place = fields.index(damage)
        lines[1][1][place] = 740 if damage == "width" else "0" + lines[1][1][place][1:-1] + "x"
        (work / "journal.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    else:
        content[3 * ROW + 2:3 * ROW + 4] = b"\xc0\x7f" if damage != "flip" else bytes([content[3 * ROW + 2] ^ 1, 0])
        (work / "vectors.f32").write_bytes(content)
    if damage == "old line and nan":
        lines = [json.loads(line) for line in (work / "journal.jsonl").read_text().splitlines()]
        (work / "journal.jsonl").write_text("".join(
            json.dumps([record[:6] for record in line]) + "\n" for line in lines))
    encoder = FakeEncoder()
    report = index(encoder, tmp_path / "home")
    assert report.resumed == 7 and encoder.images == 5
    found, expected = (open_gallery("g", home=tmp_path / name) for name in ("home", "whole"))
    assert found.digest == expected.digest
    assert np.asarray(found.features).tobytes() == np.asarray(expected.features).tobytes()


def test_nothing_that_is_not_finite_is_ever_stored(tmp_path):
    class Overflowing(FakeEncoder):
        def encode_images(self, images):
            vectors = super().encode_images(images)
            vectors[0] = np.nan
            return vectors

    photos = tmp_path / "photos"
    photos.mkdir()
    for number in range(3):
        Image.new("RGB", (8, 8), (20 * number, 9, 40)).save(photos / f"{number}.png")
    report = index_folder(photos, name="g", home=tmp_path / "home", encoder=Overflowing())
    assert report.n == 2 and report.skipped == (("0.png", "has a vector that is not finite; try fp32."),)
    assert np.isfinite(open_gallery("g", home=tmp_path / "home").features).all()
