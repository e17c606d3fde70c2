"""Published captions: read when they fit, ignored with a reason when they do not."""

import gc
import hashlib
import logging
import random
import weakref
from dataclasses import replace

import pytest
from PIL import Image

from cir_core.captions.captions import MANIFEST, CaptionChoice, RankSummary
from cir_core.captions.stored import (
    CaptionsHeader,
    captions_digest,
    captions_locked,
    captions_path,
    check_captions,
    read_captions,
    read_choices,
    remove_captions,
    why_ignored,
    write_captions,
)
from cir_core.errors import DatasetError, GalleryError
from cir_core.gallery.gallery import open_gallery
from cir_core.gallery.indexing import index_folder
from cir_core.support.json_lines import Lines, read_heading, whole_lines
from tests.fakes.encoder import FakeEncoder

TEXTS = {"a": "ein grünes Kleid", "c": "连衣裙 👗 «fin»"}


def choice(text: str) -> CaptionChoice:
    return CaptionChoice(text, MANIFEST, 7, 0.25, 3, 9)


CHOICES = {image_id: choice(text) for image_id, text in TEXTS.items()}
PROBLEMS = {"b": "b.png is damaged."}


@pytest.fixture
def gallery(tmp_path):
    folder = tmp_path / "photos"
    folder.mkdir()
    for number, name in enumerate("abc"):
        Image.new("RGB", (8, 8), (80 * number, 9, 9)).save(folder / f"{name}.png")
    index_folder(folder, name="g", encoder=FakeEncoder(), home=tmp_path / "home")
    return open_gallery("g", home=tmp_path / "home")


def header_for(gallery, choices=CHOICES, **changes) -> CaptionsHeader:
    return replace(CaptionsHeader(
        captioner="scripted/1", samples=30, domain="garment", encoder_revision=gallery.encoder.revision,
        gallery_digest=gallery.digest, digest=captions_digest(gallery.ids, choices),
        created_at="2026-11-21T10:00:00+00:00", images=3, captioned=2, incomplete=0, distinct=3.0,
        before=RankSummary(9.0, 9.0, 0.0), after=RankSummary(7.0, 7.0, 0.0)), **changes)


def publish(gallery, choices=CHOICES, **changes):
    return write_captions(gallery, header_for(gallery, choices, **changes), choices, PROBLEMS)


def test_what_is_written_is_read(gallery):
    publish(gallery)
    captions = read_captions(gallery)
    assert captions is not None
    assert captions.header == header_for(gallery) and captions.header.captioner == "scripted/1"
    assert len(captions.texts) == 2 and dict(captions.texts) == TEXTS
    assert [captions.caption_of(name) for name in ("a", "b", "c", "upload:0", "")] == [
        TEXTS["a"], None, TEXTS["c"], None, None]
    assert read_choices(gallery) == (CHOICES, PROBLEMS)
    assert why_ignored(gallery) is None


def test_the_digest_is_of_ids_and_captions_in_gallery_order(gallery):
    publish(gallery)
    captions = read_captions(gallery)
    assert captions is not None
    content = f"a\0{TEXTS['a']}\nc\0{TEXTS['c']}\n".encode()
    assert captions.digest == hashlib.sha256(content).hexdigest()[:16]
    assert captions_digest(("c", "b", "a"), CHOICES) != captions.digest


def test_nothing_there(gallery):
    assert read_captions(gallery) is None
    assert read_choices(gallery) == ({}, {})
    assert why_ignored(gallery) is None
    assert remove_captions(gallery) is False


@pytest.mark.parametrize(("changes", "said"), [
    ({"gallery_digest": "0" * 16}, "for other images"), ({"encoder_revision": "0" * 16}, "for another encoder"),
])
def test_captions_of_another_gallery_or_encoder_are_not_used(gallery, changes, said):
    publish(gallery, **changes)
    assert read_captions(gallery) is None and read_choices(gallery) == ({}, {})
    reason = why_ignored(gallery)
    assert reason is not None and said in reason and "cirque captions build g" in reason


def test_readers_share_what_is_held_and_see_a_new_publication(gallery):
    publish(gallery)
    first = read_captions(gallery)
    assert read_captions(gallery) is first
    other = {"b": choice("a new caption")}
    publish(gallery, other)
    second = read_captions(gallery)
    assert second is not None and first is not None
    assert dict(second.texts) == {"b": "a new caption"}
    assert dict(first.texts) == TEXTS, "who has the old ones open keeps them"
    remove_captions(gallery)
    assert read_captions(gallery) is None


def test_captions_nobody_holds_take_no_memory(gallery):
    publish(gallery)
    held = weakref.ref(read_captions(gallery))
    gc.collect()
    assert held() is None


def test_only_the_header_is_read_of_captions_that_do_not_fit(gallery):
    publish(gallery, gallery_digest="0" * 16)
    head = captions_path(gallery).read_bytes().splitlines(keepends=True)[0]
    captions_path(gallery).write_bytes(head + b"not JSON\n")
    assert read_captions(gallery) is None


def test_the_same_captions_are_not_written_again(gallery):
    publish(gallery)
    content = captions_path(gallery).read_bytes()
    again = publish(gallery, created_at="2027-01-01T00:00:00+00:00")
    assert captions_path(gallery).read_bytes() == content
    assert again == header_for(gallery), "with the time when they were published"
    publish(gallery, created_at="2027-01-01T00:00:00+00:00", captioner="other/1")
    captions = read_captions(gallery)
    assert captions is not None and captions.header.created_at.startswith("2027")
    assert captions.header.captioner == "other/1"


@pytest.mark.parametrize("content", [
    b"", b"\x00\xff\n", b"[]\n", b"{}\n", b'{"format": 99}\n', b"null\n", "half", "short",
])
def test_damaged_captions_say_what_to_do(gallery, content):
    publish(gallery)
    path = captions_path(gallery)
    lines = path.read_bytes().splitlines(keepends=True)
    if content == "half":
        content = lines[0] + lines[1][:20]
    elif content == "short":  # two captions for three images
        content = lines[0] + b'["x", "y"]\n' + lines[2]
    path.write_bytes(content)
    for read in (read_captions, read_choices):
        with pytest.raises(GalleryError, match="Choose again: cirque captions build g"):
            read(gallery)
    publish(gallery)
    assert read_captions(gallery) is not None


def test_removing_waits_for_nobody(gallery):
    publish(gallery)
    with captions_locked(gallery), pytest.raises(GalleryError, match="being made by another process"):
        remove_captions(gallery)
    assert read_captions(gallery) is not None
    assert remove_captions(gallery) is True
    assert not (gallery.folder / "captions").exists()
    assert len(open_gallery("g", home=gallery.folder.parents[1])) == 3


def test_indexing_goes_on_while_captions_are_made(gallery, tmp_path):
    with captions_locked(gallery):
        report = index_folder(tmp_path / "photos", name="g", encoder=FakeEncoder(), home=tmp_path / "home")
    assert report.unchanged == 3


def kept(path, heading):
    lines = Lines(path, heading)
    content = [line for _, line in lines]
    lines.close()
    return content


def test_lines_are_kept_under_their_heading(tmp_path):
    path = tmp_path / "folder" / "lines.jsonl"
    assert read_heading(path) is None
    lines = Lines(path, {"of": 1})
    offsets = [lines.append({"n": n, "text": "ü\n\u2028"}) for n in range(100)]
    # Before anything is closed or read: a killed process does neither.
    assert [line["n"] for line in kept(path, {"of": 1})] == list(range(100))
    assert [lines.read(offset)["n"] for offset in reversed(offsets)] == list(reversed(range(100)))
    lines.close()
    assert read_heading(path) == {"of": 1}
    assert kept(path, {"of": 2}) == [] and kept(path, {"of": 1}) == []


@pytest.mark.parametrize("damage", ["flip", "first byte", "crc", "line break", "list", "cut", "not text", "zeros"])
def test_a_file_whose_heading_is_damaged_is_kept(tmp_path, damage, caplog):
    path = tmp_path / "lines.jsonl"

    def write_damaged(count):
        lines = Lines(path, {"of": "model", "n": 1})
        for number in range(count):
            lines.append({"n": number})
        lines.close()
        content = bytearray(path.read_bytes())
        first = content.index(b"\n")
        if damage == "cut":
            del content[first:]
        elif damage == "list":
            content[:first] = b"[1]"
        elif damage == "not text":
            content[3] = 0xFF
        elif damage == "zeros":
            content[:first] = bytes(first)
        else:
            content[{"flip": 9, "first byte": 0, "crc": first - 4, "line break": first}[damage]] ^= 1
        path.write_bytes(content)
        return bytes(content)

    with caplog.at_level(logging.WARNING):
        damaged = [write_damaged(3)]
        assert kept(path, {"of": "model", "n": 1}) == []
        damaged.append(write_damaged(5))
        assert kept(path, {"of": "other"}) == []
    names = ["lines.jsonl.damaged", "lines.jsonl.damaged-2"]
    assert [(tmp_path / name).read_bytes() for name in names] == damaged and len(list(tmp_path.iterdir())) == 3
    assert all(name in caplog.text for name in names)
    assert read_heading(path) == {"of": "other"}


@pytest.mark.parametrize("before", [b"", b'{"of": 2}\n{"n": 1}\n', None])
def test_a_file_with_another_heading_is_replaced(tmp_path, before, caplog):
    path = tmp_path / "lines.jsonl"
    if before is not None:
        path.write_bytes(before)
    assert kept(path, {"of": 1}) == [] and list(tmp_path.iterdir()) == [path] and not caplog.text


def test_a_line_that_is_damaged_while_the_file_is_in_use(tmp_path):
    path = tmp_path / "lines.jsonl"
    lines = Lines(path, {"of": 1})
    offset = lines.append({"n": 1})
    content = bytearray(path.read_bytes())
    content[offset + 5] ^= 1
    path.write_bytes(content)
    with pytest.raises(DatasetError, match="Run the same command again"):
        lines.read(offset)
    lines.close()


@pytest.mark.parametrize("tail", [b'{"n": 2', b'{"n": 2}', b"\x00\x00\x00", b"[2]\n", b"\xff\n", b"\n"])
def test_a_torn_end_is_cut_off(tmp_path, tail):
    path = tmp_path / "lines.jsonl"
    lines = Lines(path, {"of": 1})
    lines.append({"n": 1})
    lines.close()
    whole = path.read_bytes()
    path.write_bytes(whole + tail)
    lines = Lines(path, {"of": 1})
    assert path.read_bytes() == whole
    offset = lines.append({"n": 3})
    assert lines.read(offset) == {"n": 3}
    lines.close()
    assert [line for _, _, line in whole_lines(path)] == [{"of": 1}, {"n": 1}, {"n": 3}]


@pytest.mark.parametrize("seed", range(20))
def test_any_damage_of_captions_is_said_or_changes_nothing(gallery, seed):
    publish(gallery)
    path, draw = captions_path(gallery), random.Random(seed)
    before = dict(read_captions(gallery).texts), read_choices(gallery)
    content = bytearray(path.read_bytes())
    if seed % 4:
        content[draw.randrange(len(content))] ^= 1 << draw.randrange(8)
    else:
        del content[draw.randrange(len(content)):]
    path.write_bytes(content)
    assert "Choose again: cirque captions build g" in check_captions("g", gallery.folder)
    try:
        captions = read_captions(gallery)
        found = captions and (dict(captions.texts), read_choices(gallery))
    except GalleryError as error:
        assert "Choose again" in str(error)
    else:       # None: they say that they were chosen for other images
        assert found is None or found == before


def test_captions_of_earlier_versions_are_compared_with_their_digest(gallery):
    publish(gallery)
    path = captions_path(gallery)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:3]))
    assert check_captions("g", gallery.folder) == "" and dict(read_captions(gallery).texts) == TEXTS
    assert b"x" in lines[1] or b"a" in lines[1]
    path.write_bytes(lines[0] + lines[1].replace(b"a", b"o", 1) + lines[2])
    with pytest.raises(GalleryError, match="Choose again"):
        read_captions(gallery)
    publish(gallery)
    assert path.read_bytes().splitlines(keepends=True) == lines


@pytest.mark.parametrize("seed", range(20))
def test_a_damaged_line_costs_what_is_in_it_alone(tmp_path, seed, caplog):
    path, draw = tmp_path / "lines.jsonl", random.Random(seed)
    lines = Lines(path, {"of": 1})
    for number in range(30):
        lines.append({"n": number, "text": f"number {number}"})
    lines.close()
    content = bytearray(path.read_bytes())
    first = content.index(b"\n") + 1
    place = draw.randrange(first, len(content) - 1)
    content[place] ^= 1 << draw.randrange(8)
    path.write_bytes(content)
    again = Lines(path, {"of": 1})
    found = {line["n"]: line for _, line in again}
    assert all(line == {"n": number, "text": f"number {number}"} for number, line in found.items() if len(line) == 2)
    assert len(found) >= 28     # a line break that is damaged joins two
    assert all(again.read(offset) == line for offset, line in again)
    again.append({"n": 99})
    again.close()
    *_, (_, _, last) = whole_lines(path)
    assert last == {"n": 99}
    assert len(found) == 30 or "damaged" in caplog.text or place > content.rindex(b"\n", 0, -1)
