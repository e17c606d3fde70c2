"""The same images in a folder, an archive, a Parquet file, a data set on disk and a store are the same gallery."""

import io
import json
import tarfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

from cir_core.errors import GalleryError, ImageUnreadable
from cir_core.gallery import originals
from cir_core.gallery.gallery import open_gallery
from cir_core.gallery.indexing import index_folder, index_source, repair_gallery
from cir_core.gallery.paths import features_path
from cir_core.gallery.sources import addresses
from cir_core.gallery.sources.objects import ObjectFiles
from cir_core.gallery.sources.opening import Asked, open_source
from cir_core.gallery.sources.source import SourceAway
from cir_core.support import downloads
from cir_core.support.downloads import ImageRefused
from tests.fakes.encoder import FakeEncoder

COUNT = 24      # more than a batch of rows


def picture(number: int, edge: int = 8) -> bytes:
    content = io.BytesIO()
    Image.new("RGB", (edge, edge), (10 * number, 99, 255 - 10 * number)).save(content, "PNG")
    return content.getvalue()


PICTURES = {f"p{number:02}": picture(number) for number in range(COUNT)}


def add(tar: tarfile.TarFile, name: str, content: bytes) -> None:
    member = tarfile.TarInfo(name)
    member.size = len(content)
    tar.addfile(member, io.BytesIO(content))


def write_tar(path: Path, members) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(path, "w") as tar:
        for name, content in members:
            add(tar, name, content)
    return path


def a_folder(tmp_path: Path) -> Path:
    folder = tmp_path / "photos"
    folder.mkdir()
    for name, content in PICTURES.items():
        (folder / f"{name}.png").write_bytes(content)
    return folder


def shards(tmp_path: Path) -> Path:
    members = [(f"{name}.png", content) for name, content in PICTURES.items()]
    write_tar(tmp_path / "shards/000.tar", members[:10])
    write_tar(tmp_path / "shards/sub/001.tar", members[10:])
    return tmp_path / "shards"


def parquet(tmp_path: Path, **columns) -> Path:
    columns = columns or {"id": list(PICTURES), "image": list(PICTURES.values())}
    pq.write_table(pa.table(columns), tmp_path / "some.parquet", row_group_size=10)
    return tmp_path / "some.parquet"


def hugging_face(tmp_path: Path) -> Path:
    """As ``save_to_disk`` writes it: a stream of batches, and what it says about itself."""
    folder = tmp_path / "saved"
    folder.mkdir()
    names = ["a cat", "a dog"]
    features = {"info": {"features": {"image": {"_type": "Image"}, "label": {"_type": "ClassLabel", "names": names}}}}
    schema = pa.schema([("image", pa.struct([("bytes", pa.binary()), ("path", pa.string())])), ("key", pa.string()),
                        ("label", pa.int64())], {"huggingface": json.dumps(features)})
    cells = [{"bytes": content, "path": f"{name}.png"} for name, content in PICTURES.items()]
    table = pa.table([cells, list(PICTURES), [number % 2 for number in range(COUNT)]], schema=schema)
    file = folder / "data-00000-of-00001.arrow"
    with pa.ipc.new_stream(str(file), schema) as stream:
        stream.write_table(table, max_chunksize=7)
    (folder / "dataset_info.json").write_text("{}")
    (folder / "state.json").write_text(json.dumps({"_data_files": [{"filename": file.name}]}))
    return folder


def run(given, tmp_path: Path, name: str = "g", encoder=None, **asked):
    encoder = encoder or FakeEncoder()
    source = open_source(str(given), Asked(**asked))
    report = index_source(source, name=name, encoder=encoder, home=tmp_path / "home", batch_size=5)
    return report, open_gallery(name, home=tmp_path / "home"), encoder


@pytest.mark.parametrize("made", [shards, parquet, hugging_face])
def test_the_same_images_are_the_same_gallery(tmp_path, made):
    index_folder(a_folder(tmp_path), name="folder", encoder=FakeEncoder(), home=tmp_path / "home", batch_size=5)
    folder = open_gallery("folder", home=tmp_path / "home")
    report, gallery, _ = run(made(tmp_path), tmp_path)
    assert report.added == COUNT and not report.skipped
    assert gallery.ids == folder.ids and np.array_equal(gallery.features, folder.features)
    assert [gallery.original_of(one) for one in gallery.ids] == list(PICTURES.values())
    assert gallery.load_image("p03").tobytes() == folder.load_image("p03").tobytes()
    if made is not hugging_face:    # which has captions, and those count
        assert gallery.digest == folder.digest
    else:
        assert [gallery.caption_of(one) for one in ("p00", "p01")] == ["a cat", "a dog"]
    again, _, encoder = run(tmp_path / gallery.root.name, tmp_path)
    assert (again.unchanged, encoder.calls) == (COUNT, 0)


def test_a_folder_with_an_image_is_a_folder_whatever_else_lies_there(tmp_path):
    folder = a_folder(tmp_path)
    before = open_source(str(folder)).scan()
    write_tar(folder / "some.tar", [("x.png", picture(1))])
    parquet(folder)
    source = open_source(str(folder))
    assert source.layout is None and source.scan().entries == before.entries
    _, gallery, _ = run(folder, tmp_path)
    assert gallery.original_of("p00") == folder / "p00.png"
    assert b"layout" not in (tmp_path / "home/galleries/g/gallery.json").read_bytes()


def test_thumbnails_are_kept_and_originals_that_changed_are_not_shown(tmp_path):
    folder = shards(tmp_path)
    _, gallery, _ = run(folder, tmp_path)
    write_tar(folder / "000.tar", [(f"{name}.png", picture(9, 9)) for name in list(PICTURES)[:10]])
    with pytest.raises(ImageUnreadable, match=r"p00.png has changed since the gallery was indexed.*Index it again"):
        gallery.original_of("p00")
    (folder / "sub/001.tar").unlink()
    with pytest.raises(ImageUnreadable, match=r"p20.png cannot be read: 001.tar is missing"):
        gallery.load_for_encoder("p20")
    for name in gallery.ids:
        with Image.open(gallery.thumbnail_of(name)) as small:
            assert small.size == (8, 8)


def test_only_what_changed_is_encoded_again(tmp_path):
    folder = shards(tmp_path)
    run(folder, tmp_path)
    members = [(f"{name}.png", content) for name, content in list(PICTURES.items())[:10]]
    write_tar(folder / "000.tar", [("new.png", picture(2, 9)), ("p00.png", picture(3, 9)), *members[1:]])
    report, gallery, encoder = run(folder, tmp_path)
    # All others of the archive lie elsewhere now: they are read, and known by their bytes.
    assert (report.added, report.changed, report.unchanged, encoder.images) == (1, 1, COUNT - 1, 2)
    assert gallery.original_of("p05") == PICTURES["p05"]


@pytest.mark.parametrize("made", [shards, parquet])
def test_a_stopped_run_goes_on(tmp_path, made):
    source = made(tmp_path)
    with pytest.raises(RuntimeError):
        run(source, tmp_path, encoder=FakeEncoder(fail_at=3))
    report, _, encoder = run(source, tmp_path)
    assert (report.n, report.resumed, encoder.images) == (COUNT, 10, COUNT - 10)


def test_a_damaged_vector_is_made_again_from_its_archive(tmp_path):
    _, gallery, _ = run(shards(tmp_path), tmp_path)
    vectors, expected = features_path(gallery.folder, gallery.generation), np.array(gallery.features)
    content = bytearray(vectors.read_bytes())
    content[4 * 32 * 7:4 * 32 * 8] = bytes(4 * 32)
    vectors.write_bytes(content)
    report = repair_gallery("g", home=tmp_path / "home", encoder=FakeEncoder())
    assert report.encoded == 1
    assert np.array_equal(open_gallery("g", home=tmp_path / "home").features, expected)


def test_captions_beside_the_images_of_an_archive(tmp_path):
    write_tar(tmp_path / "some.TAR", [
        ("a.json", b'{"caption": "of the file", "width": 3}'), ("./a.png", picture(1)), ("a.txt", b" a  red\ncar "),
        ("b.jpg", picture(2)), ("b.json", b'{"text": "from json"}'), ("b.cls", b"7"),
        ("c.png", picture(3)), ("c.json", b"[[")])
    report, gallery, _ = run(tmp_path / "some.TAR", tmp_path)
    assert [gallery.caption_of(one) for one in gallery.ids] == ["a red car", "from json", None]
    assert gallery.ids == ("a", "b", "c") and not report.skipped


def test_what_an_archive_holds_besides_is_told(tmp_path):
    path = tmp_path / "bad.tar"
    with tarfile.open(path, "w") as tar:
        add(tar, "../out.png", picture(1))
        add(tar, "/etc/x.png", picture(1))
        link = tarfile.TarInfo("link.png")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        tar.addfile(link)
        add(tar, "good.png", picture(2))
        add(tar, "notes.pdf", b"x")
        add(tar, "broken.png", b"no image")
        add(tar, "late.png", picture(5))
    whole = path.read_bytes()
    path.write_bytes(whole[:whole.rindex(b"late.png") + 512 + 20])
    report, gallery, _ = run(path, tmp_path)
    assert gallery.ids == ("good",)
    reasons = dict(report.skipped)
    assert "leads out of its archive" in reasons["bad.tar/../out.png"] and "leads out" in reasons["bad.tar//etc/x.png"]
    assert "is a link" in reasons["bad.tar/link.png"]
    assert reasons["bad.tar/notes.pdf"] == "does not have the name of an image file."
    assert "is cut off: bad.tar ends before it" in reasons["bad.tar/late.png"]
    assert "damaged or cut off after 7 entries" in reasons["bad.tar"]
    assert "bad.tar/broken.png" in reasons and not (tmp_path / "out.png").exists()


@pytest.mark.parametrize("size", [-512, -1024, -2**40])
def test_an_entry_with_a_negative_size_ends_its_archive(tmp_path, size):
    path = write_tar(tmp_path / "bad.tar", [("a.png", picture(1))])
    whole = path.read_bytes().rstrip(b"\0")
    whole += bytes(-len(whole) % 512)
    back = tarfile.TarInfo("b.png")
    back.size = size
    path.write_bytes(whole + back.tobuf(tarfile.GNU_FORMAT) + bytes(1024))
    report, gallery, _ = run(path, tmp_path)
    assert gallery.ids == ("a",) and "damaged or cut off after 1 entry" in dict(report.skipped)["bad.tar"]


def test_folders_may_be_named_like_archives(tmp_path):
    write_tar(tmp_path / "s/sets.tar/a.tar", [("x.tar/1.png", picture(1))])
    report, gallery, _ = run(tmp_path / "s", tmp_path)
    assert gallery.original_of(gallery.ids[0]) == picture(1) and not report.skipped
    (tmp_path / "s/sets.tar/a.tar").unlink()
    with pytest.raises(ImageUnreadable, match=r"a\.tar is missing"):
        gallery.original_of(gallery.ids[0])


def test_the_same_key_twice_is_told_and_both_are_kept(tmp_path):
    write_tar(tmp_path / "s/0.tar", [("a.png", picture(1)), ("b.png", picture(2)), ("b.png", picture(3))])
    write_tar(tmp_path / "s/1.tar", [("a.png", picture(4))])
    report, gallery, _ = run(tmp_path / "s", tmp_path)
    assert gallery.ids == ("0.tar/a.png", "0.tar/b.png", "0.tar/b.png~2", "1.tar/a.png")
    assert "4 images share a key with another one ('a' occurs 2 times)" in report.notes[0]
    assert gallery.original_of("0.tar/b.png~2") == picture(3)


def test_huge_entries_and_bombs_are_skipped(tmp_path):
    bomb = io.BytesIO()
    Image.new("1", (9000, 9000)).save(bomb, "PNG")
    write_tar(tmp_path / "some.tar", [("bomb.png", bomb.getvalue()), ("a.png", picture(1))])
    report, _, _ = run(tmp_path / "some.tar", tmp_path)
    assert [path for path, why in report.skipped if "81 megapixels" in why] == ["some.tar/bomb.png"]
    source = open_source(str(tmp_path / "some.tar"))
    with pytest.raises(ImageUnreadable, match="too large for one image"):
        source.read(source.scan().entries[0], 50)


@pytest.mark.parametrize("name", ["x.tar.gz", "x.tgz"])
def test_a_packed_archive_is_refused_with_the_remedy(tmp_path, name):
    with tarfile.open(tmp_path / name, "w:gz") as tar:
        add(tar, "a.png", picture(1))
    with pytest.raises(GalleryError, match=r"Unpack it to .tar"):
        open_source(str(tmp_path / name))


# --- tables ------------------------------------------------------------------------------------


def test_a_table_without_images_names_its_columns_and_the_option(tmp_path):
    path = parquet(tmp_path, name=["a"], price=[3.5])
    with pytest.raises(GalleryError, match=r"name \(string\), price \(double\).*--column"):
        open_source(str(path)).scan()
    path = parquet(tmp_path, a=[picture(1)], b=[picture(2)])
    with pytest.raises(GalleryError, match=r"several columns.*a, b\. Name one with --column"):
        open_source(str(path)).scan()
    with pytest.raises(GalleryError, match=r"no column 'c' \(--column\)\. It has: a \(binary\), b"):
        open_source(str(path), Asked(column="c")).scan()
    _, gallery, _ = run(path, tmp_path, column="b")
    assert gallery.original_of("some/0") == picture(2)


def test_broken_rows_are_skipped_and_the_others_kept(tmp_path):
    path = parquet(tmp_path, key=["a", None, "a", "d"], image=[picture(1), picture(2), picture(3), None],
                   text=["red", None, " blue ", "x"])
    report, gallery, _ = run(path, tmp_path)
    assert gallery.ids == ("some.parquet#0", "some/1", "some.parquet#2")
    assert [gallery.caption_of(one) for one in gallery.ids] == ["red", None, "blue"]
    assert report.skipped == (("some.parquet#3", "is empty in the column 'image'."),)
    assert "share a key" in report.notes[0]


def test_a_damaged_table_is_told(tmp_path):
    folder = tmp_path / "tables"
    folder.mkdir()
    parquet(folder)
    whole = (folder / "some.parquet").read_bytes()
    (folder / "worse.parquet").write_bytes(whole[:-30])
    report, gallery, _ = run(folder, tmp_path)
    assert len(gallery) == COUNT and [path for path, _ in report.skipped] == ["worse.parquet"]


def test_a_cut_off_data_set_keeps_what_comes_before(tmp_path):
    folder = hugging_face(tmp_path)
    file = folder / "data-00000-of-00001.arrow"
    whole = file.read_bytes()
    file.write_bytes(whole[:len(whole) // 2])
    report, gallery, _ = run(folder, tmp_path)
    assert 0 < len(gallery) < COUNT and "cut off" in dict(report.skipped)[file.name]


def test_a_data_set_whose_offsets_lead_out_of_it_is_told(tmp_path):
    folder = hugging_face(tmp_path)
    file = folder / "data-00000-of-00001.arrow"
    whole = file.read_bytes()
    ends = np.cumsum([0, *(len(name) for name in list(PICTURES)[7:14])]).astype("<i4").tobytes()   # of the second batch
    places = [at for at in range(0, len(whole), 8) if whole.startswith(ends, at)]
    for at in places[1:2]:
        whole = whole[:at + 4] + (2**30).to_bytes(4, "little") + whole[at + 8:]
    file.write_bytes(whole)
    report, gallery, _ = run(folder, tmp_path)
    assert len(gallery) == 7 and "damaged" in dict(report.skipped)[file.name]


# --- addresses ---------------------------------------------------------------------------------


class Web:
    """Answers to addresses: bytes, or an error."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, answers) -> None:
        self.answers, self.asked = answers, []
        monkeypatch.setattr(downloads, "download", self.download)
        monkeypatch.setattr(addresses, "_PAUSES", (0.0, 0.0))

    async def download(self, address, receive, **limits):
        self.asked.append(address)
        found = self.answers[address]
        if isinstance(found, list):
            found = found.pop(0)
        if isinstance(found, Exception):
            raise found

        async def pieces():
            yield found

        return await receive("x", pieces())


def test_addresses_are_fetched_only_when_asked_for_and_never_twice(tmp_path, monkeypatch):
    urls = [f"https://me:secret@example.org/{name}?sig=hidden" for name in "abc"]
    busy = ImageRefused("the server of the image's URL answered with status 503.", again=True)
    gone = ImageRefused("the server of the image's URL answered with status 404.")
    web = Web(monkeypatch, dict(zip(urls, ([busy, picture(1)], picture(2), gone), strict=True)))
    path = parquet(tmp_path, id=["a", "b", "c"], url=urls, caption=["one", "two", "three"])
    with pytest.raises(GalleryError, match=r"'url'.*add --fetch"):
        run(path, tmp_path)
    assert not web.asked
    report, gallery, _ = run(path, tmp_path, fetch=True, rate=1000)
    assert gallery.ids == ("a", "b") and gallery.caption_of("b") == "two"
    assert report.skipped == (
        ("some.parquet#2", "cannot be fetched: the server of the image's URL answered with status 404."),)
    assert sorted(web.asked) == [urls[0], *urls]
    web.asked.clear()
    run(path, tmp_path, fetch=True, rate=1000)
    assert web.asked == [urls[2]]      # the one that failed
    kept = b"".join(one.read_bytes() for one in (tmp_path / "home").rglob("*") if one.is_file())
    assert b"secret" not in kept and b"hidden" not in kept


def test_no_address_gives_more_than_so_much(tmp_path, monkeypatch):
    monkeypatch.setattr(addresses, "_MOST", len(picture(1)))
    web = Web(monkeypatch, {"https://example.org/a": picture(1), "https://example.org/b": picture(1) + b"x"})
    report, gallery, _ = run(parquet(tmp_path, id=["a", "b"], url=list(web.answers)), tmp_path, fetch=True, rate=1000)
    assert gallery.ids == ("a",) and "cannot be fetched" in dict(report.skipped)["some.parquet#1"]


def test_a_run_stops_where_the_network_is_away(tmp_path, monkeypatch):
    away = ImageRefused("the image could not be fetched from its URL.", again=True)
    web = Web(monkeypatch, {f"https://example.org/{number}": away for number in range(99)})
    path = parquet(tmp_path, id=[str(number) for number in range(99)], url=list(web.answers))
    with pytest.raises(SourceAway, match="None of the last 50 images could be fetched"):
        run(path, tmp_path, fetch=True, rate=1000)


def test_an_original_is_fetched_when_needed_kept_and_told_when_away(tmp_path, monkeypatch):
    web = Web(monkeypatch, {"https://example.org/a": picture(1), "https://example.org/b": picture(2)})
    path = parquet(tmp_path, id=["a", "b"], url=list(web.answers))
    _, gallery, _ = run(path, tmp_path, fetch=True, rate=1000)
    web.asked.clear()
    assert gallery.original_of("a") == gallery.original_of("a") == picture(1)
    assert web.asked == ["https://example.org/a"]
    web.answers["https://example.org/b"] = ImageRefused("the image did not arrive within 30 seconds.", again=True)
    for _ in range(2):
        with pytest.raises(ImageUnreadable, match="cannot be fetched: the image did not arrive"):
            gallery.original_of("b")
    assert web.asked[1:] == ["https://example.org/b"]     # one try, and not again at once
    assert gallery.thumbnail_of("b").is_file()


def test_what_failed_is_remembered_without_what_was_fetched(tmp_path, monkeypatch):
    web = Web(monkeypatch, {"https://example.org/a": picture(1)})
    path = parquet(tmp_path, id=["a"], url=list(web.answers))
    _, gallery, _ = run(path, tmp_path, fetch=True, rate=1000)
    web.answers["https://example.org/a"] = picture(2)
    seen = []
    for _ in range(2):
        with pytest.raises(ImageUnreadable, match="has changed since the gallery was indexed") as caught:
            gallery.original_of("a")
        seen.append(caught.value)
    assert seen[0] is not seen[1] and len(web.asked) == 2      # of the run, and of the first time


def test_kept_originals_are_bounded(tmp_path, monkeypatch):
    web = Web(monkeypatch, {f"https://example.org/{number}": picture(number) for number in range(9)})
    path = parquet(tmp_path, id=[str(number) for number in range(9)], url=list(web.answers))
    _, gallery, _ = run(path, tmp_path, fetch=True, rate=1000)
    few = originals.Originals(gallery.source, gallery.folder, 64, most_kept=3 * len(picture(1)) + 20)
    for row in range(9):
        few.get(gallery.entry(row), gallery.image(row).sha256)
    assert len(list((gallery.folder / originals.FOLDER).iterdir())) == 3


def test_names_of_machines_here_are_not_fetched_from(tmp_path):
    path = parquet(tmp_path, id=["a"], url=["http://127.0.0.1:9/a.png"])
    with pytest.raises(GalleryError, match="no public address"):
        run(path, tmp_path, fetch=True, rate=1000)


# --- stores ------------------------------------------------------------------------------------


@pytest.mark.parametrize("address", [
    "s3://key:secret@bucket/x", "s3://key:a/secret@bucket/x", "s3://key:1/secret@bucket/x", "s3://key:/secret",
    "s3://bucket/x?token=secret"])
def test_credentials_do_not_belong_into_an_address(address):
    with pytest.raises(GalleryError, match="AWS_ACCESS_KEY_ID") as caught:
        open_source(address)
    assert "secret" not in str(caught.value)
    for fine in ("hdfs://names:8020/a", "s3://bucket/a:b@2x"):
        assert ObjectFiles(fine).location == fine


def test_a_store_of_images_and_one_of_archives(tmp_path):
    import fsspec

    store = fsspec.filesystem("memory")
    for name, content in PICTURES.items():
        store.pipe(f"/bucket/photos/{name}.png", content)
    for path in shards(tmp_path).rglob("*.tar"):
        store.pipe(f"/bucket/shards/{path.name}", path.read_bytes())
    try:
        _, one, _ = run("memory://bucket/photos", tmp_path, "one")
        _, other, _ = run("memory://bucket/shards", tmp_path, "other")
        assert one.ids == other.ids == tuple(PICTURES) and np.array_equal(one.features, other.features)
        assert one.original_of("p04") == other.original_of("p04") == PICTURES["p04"]
        store.pipe("/bucket/photos/p05.png", picture(1, 9))
        with pytest.raises(GalleryError, match=r"--column.*are for tables"):
            run("memory://bucket/photos", tmp_path, column="x")
        report, _, encoder = run("memory://bucket/photos", tmp_path, "one")
        assert (report.changed, report.unchanged, encoder.images) == (1, COUNT - 1, 1)
        with pytest.raises(GalleryError, match="memory://bucket/none is empty"):
            run("memory://bucket/none", tmp_path)
    finally:
        store.rm("/bucket", recursive=True)


def test_an_archive_of_a_store_is_listed_once(tmp_path, monkeypatch):
    import fsspec
    from fsspec.implementations.memory import MemoryFileSystem

    store = fsspec.filesystem("memory")
    for path in shards(tmp_path).rglob("*.tar"):
        store.pipe(f"/bucket/listed/{path.name}", path.read_bytes())

    def away(*args, **options):
        raise ConnectionError("key AKIA")

    try:
        _, gallery, _ = run("memory://bucket/listed", tmp_path, kept=tmp_path / "listings")
        monkeypatch.setattr(MemoryFileSystem, "open", away)
        report, again, _ = run("memory://bucket/listed", tmp_path, kept=tmp_path / "listings")
        assert report.unchanged == COUNT and again.generation == gallery.generation
        with pytest.raises(SourceAway, match="cannot be reached at the moment"):
            run("memory://bucket/listed", tmp_path)
    finally:
        store.rm("/bucket", recursive=True)


def test_a_store_that_goes_away_stops_the_run_and_loses_nothing(tmp_path, monkeypatch):
    import fsspec
    from fsspec.implementations.memory import MemoryFileSystem

    store = fsspec.filesystem("memory")
    for name, content in PICTURES.items():
        store.pipe(f"/bucket/away/{name}.png", content)
    read = MemoryFileSystem.cat_file

    def away(self, path, **where):
        if "p17" in path:
            raise ConnectionError("key AKIA")
        return read(self, path, **where)

    try:
        with monkeypatch.context() as broken:
            broken.setattr(MemoryFileSystem, "cat_file", away)
            with pytest.raises(SourceAway, match="cannot be reached at the moment") as caught:
                run("memory://bucket/away", tmp_path)
        assert "AKIA" not in str(caught.value)
        report, _, _ = run("memory://bucket/away", tmp_path)
        assert report.n == COUNT and report.resumed >= 5
    finally:
        store.rm("/bucket", recursive=True)
