"""Folders and manifests become galleries; the second run does only what is new."""

import os

import numpy as np
import pytest
from PIL import Image

from cir_core.errors import EncoderUnavailable, GalleryError
from cir_core.gallery.gallery import list_galleries, open_gallery
from cir_core.gallery.indexing import index_folder
from cir_core.gallery.paths import locked
from tests.fakes.encoder import FakeEncoder


@pytest.fixture
def source(tmp_path):
    folder = tmp_path / "photos"
    (folder / "sub").mkdir(parents=True)
    for number in range(10):
        Image.new("RGB", (8, 8), (25 * number, 9, 9)).save(folder / f"{number}.png")
    Image.new("RGB", (8, 8), "green").save(folder / "sub" / "a.png")
    return folder


def run(source, tmp_path, encoder=None, **options):
    encoder = encoder or FakeEncoder()
    options = {"name": "g", "home": tmp_path / "home", "batch_size": 4, **options}
    return index_folder(source, encoder=encoder, **options), encoder


def counts(report):
    return report.added, report.changed, report.removed, report.unchanged


def test_the_first_run_takes_everything_in_order(source, tmp_path):
    report, encoder = run(source, tmp_path)
    assert counts(report) == (11, 0, 0, 0) and report.n == report.encoded == 11
    assert encoder.calls == 3  # 11 images in batches of 4
    assert open_gallery("g", home=tmp_path / "home").ids == (*"0123456789", "sub/a")


def test_the_second_run_encodes_nothing_and_keeps_the_generation(source, tmp_path):
    run(source, tmp_path)
    generation = open_gallery("g", home=tmp_path / "home").generation
    report, encoder = run(source, tmp_path)
    assert counts(report) == (0, 0, 0, 11) and encoder.calls == 0
    assert open_gallery("g", home=tmp_path / "home").generation == generation


def test_this_process_needs_no_second_encoder(source, tmp_path):
    report, encoder = run(source, tmp_path, load=lambda: pytest.fail("loaded again"))
    assert report.encoded == 11 and encoder.calls == 3


def test_added_changed_removed_touched_and_renamed_files(source, tmp_path):
    run(source, tmp_path)
    Image.new("RGB", (8, 8), "blue").save(source / "new.png")
    Image.new("RGB", (9, 9), "blue").save(source / "1.png")
    (source / "2.png").unlink()
    os.utime(source / "3.png", ns=(1, 1))
    (source / "4.png").rename(source / "four.png")
    report, encoder = run(source, tmp_path)
    # A renamed file is one removed and one added, but its vector is kept.
    assert counts(report) == (2, 1, 2, 8)
    assert encoder.images == 2
    fresh = index_folder(source, name="fresh", encoder=FakeEncoder(), home=tmp_path / "home")
    assert fresh.n == report.n
    one, other = (open_gallery(name, home=tmp_path / "home") for name in ("g", "fresh"))
    assert one.ids == other.ids and one.digest == other.digest
    assert np.array_equal(one.features, other.features)
    again, encoder = run(source, tmp_path)
    assert counts(again) == (0, 0, 0, 11) and encoder.calls == 0


def test_a_failing_encoder_loses_no_earlier_batch(source, tmp_path):
    with pytest.raises(RuntimeError, match="out of memory"):
        run(source, tmp_path, FakeEncoder(fail_at=3))
    home = tmp_path / "home"
    [info] = list_galleries(home)
    assert (info.status, info.size) == ("partial", 8)
    with pytest.raises(GalleryError, match="interrupted"):
        open_gallery("g", home=home)
    report, encoder = run(source, tmp_path)
    assert (encoder.images, report.resumed, report.n) == (3, 8, 11)


def test_the_old_generation_is_searchable_while_a_new_run_works(source, tmp_path):
    run(source, tmp_path)
    with pytest.raises(RuntimeError):
        run(source, tmp_path, FakeEncoder(40, fail_at=2))
    gallery = open_gallery("g", home=tmp_path / "home")
    assert gallery.encoder.dim == 32 and len(gallery) == 11
    assert list_galleries(tmp_path / "home")[0].status == "complete"


def test_another_encoder_starts_over_and_says_so(source, tmp_path):
    run(source, tmp_path)
    report, encoder = run(source, tmp_path, FakeEncoder(40))
    assert encoder.images == 11 and counts(report) == (0, 0, 0, 11)
    assert "every image was encoded again" in report.notes[0]
    assert open_gallery("g", home=tmp_path / "home").features.shape == (11, 40)


def test_an_interrupted_run_of_another_encoder_is_not_continued(source, tmp_path):
    with pytest.raises(RuntimeError):
        run(source, tmp_path, FakeEncoder(revision="a" * 16, fail_at=2))
    report, encoder = run(source, tmp_path)
    assert encoder.images == 11 and report.resumed == 0
    assert "dropped" in report.notes[0]


@pytest.mark.parametrize("tail", [b"[[", b"\x00\x00", b'[["x.png", 1, 2]]\n'])
def test_a_torn_journal_is_cut_back_to_the_last_whole_batch(source, tmp_path, tail):
    with pytest.raises(RuntimeError):
        run(source, tmp_path, FakeEncoder(fail_at=3))
    work = tmp_path / "home/galleries/g/work"
    with (work / "journal.jsonl").open("ab") as journal:
        journal.write(tail)
    with (work / "vectors.f32").open("ab") as vectors:
        vectors.write(b"half a vector")
    report, encoder = run(source, tmp_path)
    assert (encoder.images, report.resumed) == (3, 8)
    fresh = index_folder(source, name="fresh", encoder=FakeEncoder(), home=tmp_path / "home", batch_size=4)
    assert fresh.n == 11
    one, other = (open_gallery(name, home=tmp_path / "home") for name in ("g", "fresh"))
    assert np.array_equal(one.features, other.features)


def test_vectors_lost_by_a_power_cut_take_their_journal_lines_with_them(source, tmp_path):
    with pytest.raises(RuntimeError):
        run(source, tmp_path, FakeEncoder(fail_at=3))
    with (tmp_path / "home/galleries/g/work/vectors.f32").open("r+b") as vectors:
        vectors.truncate(5 * 32 * 4)  # of 8
    report, encoder = run(source, tmp_path)
    assert (report.resumed, encoder.images) == (4, 7)


def test_a_gallery_is_indexed_by_one_process_at_a_time(source, tmp_path):
    run(source, tmp_path)
    with locked(tmp_path / "home/galleries/g"), pytest.raises(GalleryError, match=f"process {os.getpid()}"):
        run(source, tmp_path)
    run(source, tmp_path)


def test_a_file_that_vanishes_on_the_way_is_skipped(source, tmp_path):
    class Thief(FakeEncoder):
        def encode_images(self, images):
            (source / "sub/a.png").unlink(missing_ok=True)
            return super().encode_images(images)

    report, _ = run(source, tmp_path, Thief(), batch_size=2, decode_threads=1)
    assert report.n == 10 and report.skipped == (("sub/a.png", "is missing."),)


def test_vectors_that_are_not_numbers_are_skipped_and_wrong_shapes_stop(source, tmp_path):
    class Sick(FakeEncoder):
        def encode_images(self, images):
            vectors = super().encode_images(images)
            vectors[0] = np.nan
            return vectors

    report, _ = run(source, tmp_path, Sick())
    assert report.n == 8 and {path for path, _ in report.skipped} == {"0.png", "4.png", "8.png"}

    class Short(FakeEncoder):
        def encode_images(self, images):
            return super().encode_images(images)[:, :3]

    with pytest.raises(EncoderUnavailable, match=r"shape \(4, 3\)"):
        run(source, tmp_path, Short(), name="short")


def test_progress_ends_at_the_total(source, tmp_path):
    (source / "zero.png").touch()
    seen = []
    report, _ = run(source, tmp_path, progress=seen.append)
    assert (seen[-1].done, seen[-1].total, seen[-1].skipped) == (12, 12, 1)
    assert seen[-1].images_per_second > 0 and seen[-1].eta_seconds == 0
    assert len(seen) <= 3 + report.seconds / 0.1


def test_a_full_or_closed_disk_has_a_sentence(source, tmp_path):
    (tmp_path / "home").write_text("a file")
    with pytest.raises(GalleryError, match="Free some space"):
        run(source, tmp_path)


def test_a_folder_that_cannot_be_read_is_listed(source, tmp_path, monkeypatch):
    scandir = os.scandir

    def closed(folder):
        if str(folder).endswith("sub"):
            raise PermissionError(13, "Permission denied")
        return scandir(folder)

    monkeypatch.setattr("cir_core.images.folders.os.scandir", closed)
    report, _ = run(source, tmp_path)
    assert report.n == 10
    assert report.skipped == (("sub", "is a folder that cannot be read: Permission denied."),)


def test_an_empty_folder_keeps_the_gallery_that_is_there(source, tmp_path):
    run(source, tmp_path)
    for path in source.rglob("*.png"):
        path.unlink()
    with pytest.raises(GalleryError, match="no images in"):
        run(source, tmp_path)
    assert len(open_gallery("g", home=tmp_path / "home")) == 11
    (source / "zero.png").touch()
    with pytest.raises(GalleryError, match=r"None of the 1 files .* zero\.png is empty"):
        run(source, tmp_path)
    with pytest.raises(GalleryError, match="No folder"):
        run(source / "absent", tmp_path)


@pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl"])
def test_a_manifest_gives_ids_order_and_captions(source, tmp_path, ending):
    manifest = tmp_path / f"list.{ending}"
    manifest.write_text({
        "csv": 'caption,path,id,price\n"red, round",9.png,nine,3\n,sub/a.png,ä,4\nx,gone.png,gone,5\n',
        "tsv": "caption\tpath\tid\nred, round\t9.png\tnine\n\tsub/a.png\tä\nx\tgone.png\tgone\n",
        "jsonl": '{"id": "nine", "path": "9.png", "caption": "red, round", "more": [1]}\n'
                 '{"id": "ä", "path": "sub/a.png"}\n\n{"id": "gone", "path": "gone.png"}\n',
    }[ending], encoding="utf-8-sig")
    report, _ = run(tmp_path, tmp_path, manifest=manifest, root=source, split="val")
    gallery = open_gallery("g", home=tmp_path / "home")
    assert gallery.ids == ("nine", "ä") and gallery.split == "val"
    assert gallery.caption_of("nine") == "red, round" and gallery.caption_of("ä") is None
    assert report.skipped == (("gone.png", f"is not in {source} (list.{ending}, line 4)."),)


@pytest.mark.parametrize(("name", "content"), [
    ("semicolons.csv", "id;path;caption\n1;9.png;ein großes Hemd\n".encode()),
    ("tabs.csv", "id\tpath\tcaption\n1\t9.png\tein großes Hemd\n".encode()),
    ("unicode text.txt", "ID\tPath\tCaption\n1\t9.png\tein großes Hemd\n".encode("utf-16")),
    ("array.json", '[{"image_id": 1, "file-name": "9.png", "caption": "ein großes Hemd"}]'.encode()),
])
def test_a_manifest_as_other_programs_save_it(source, tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    run(source, tmp_path, manifest=tmp_path / name)
    gallery = open_gallery("g", home=tmp_path / "home")
    assert gallery.ids == ("1",) and gallery.caption_of("1") == "ein großes Hemd"


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [("m.csv", "id,photo\na,1.png\n", "m.csv, line 1: there is no column path among id, photo. Name the columns"),
     ("m.csv", "", "m.csv is empty. Name the columns"),
     ("m.csv", "id,path\na,1.png\nb,2.png\na,3.png\n,4.png\n",
      "line 4: id 'a' is already on line 2; line 5: no id"),
     ("m.jsonl", '{"id": "a", "path": "1.png"}\n{"id": \n', "line 3, column 1: this is not valid JSON, a value is"),
     ("m.jsonl", "[1]\n", "line 1: this is not an object like"),
     ("m.jsonl", '{"id": "a"}\n', "line 1: there is no column path among id"),
     ("m.jsonl", '{"id": "a", "path": "1.png"}\n{"id": "b"}\n', "line 2: no path")],
)
def test_a_manifest_with_faults_names_their_lines(source, tmp_path, name, content, said):
    (tmp_path / name).write_text(content)
    with pytest.raises(GalleryError, match=said):
        run(source, tmp_path, manifest=tmp_path / name)
    with pytest.raises(GalleryError, match="No manifest"):
        run(source, tmp_path, manifest=tmp_path / "absent.csv")


def test_new_captions_are_taken_without_encoding(source, tmp_path):
    manifest = tmp_path / "m.csv"
    digests = set()
    for caption in ("old", "new"):
        manifest.write_text(f"id,path,caption\na,1.png,{caption}\n")
        _, encoder = run(source, tmp_path, manifest=manifest)
        digests.add(open_gallery("g", home=tmp_path / "home").digest)
    assert encoder.calls == 0
    assert open_gallery("g", home=tmp_path / "home").caption_of("a") == "new"
    assert len(digests) == 2, "captions change what is found, so they change the protocol"

def test_what_is_left_out_is_counted_and_removed_from_the_gallery(source, tmp_path):
    (source / "@eaDir").mkdir()
    Image.new("RGB", (8, 8), "red").save(source / "@eaDir" / "thumb.jpg")
    (source / "a.xmp").touch()
    report, _ = run(source, tmp_path)
    assert counts(report) == (11, 0, 0, 0) and report.skipped == ()
    assert report.left_out == (("@eaDir/", "previews of another program"), ("a.xmp", "sidecar file"))
    (source / ".cirqueignore").write_text("sub/\n[0-2].png\n")
    report, encoder = run(source, tmp_path)
    assert counts(report) == (0, 0, 4, 7) and encoder.calls == 0
    assert report.notes == ("4 images were removed from the gallery because they are left out now.",)
    assert len(report.left_out) == 6
    report, encoder = run(source, tmp_path, exclude=["*.png"], include=["9.png", "@eaDir/"])
    assert open_gallery("g", home=tmp_path / "home").ids == ("9", "@eaDir/thumb") and encoder.images == 1
    with pytest.raises(GalleryError, match=r"but what is left out: 10 excluded by --exclude '\*\.png', 1 "):
        run(source, tmp_path, exclude=["*.png"])
    assert len(open_gallery("g", home=tmp_path / "home")) == 2


def test_patterns_and_a_manifest_do_not_go_together(source, tmp_path):
    (tmp_path / "m.csv").write_text("id,path\na,1.png\n")
    with pytest.raises(GalleryError, match="a manifest names its images"):
        run(source, tmp_path, manifest=tmp_path / "m.csv", exclude=["*.gif"])
