"""Pictures of a study: two sizes, names that tell nothing, whole or not at all."""

import threading
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from annotation.studies.image_snapshots import (
    LARGE_EDGE,
    NOT_FOUND,
    SMALL_EDGE,
    clear_leftovers,
    freezing,
    studies_folder,
)
from cir_core.errors import ImageUnreadable, StorageError
from tests.fakes.picture_files import DISPLAY_P3, profile, screen, shown


@pytest.fixture
def pictures(tmp_path) -> Path:
    folder = tmp_path / "pictures"
    folder.mkdir()
    for name, size in (("wide.jpg", (2000, 500)), ("small.png", (40, 30)), ("tall.webp", (100, 600))):
        Image.new("RGB", size, "teal").save(folder / name)
    (folder / "empty.jpg").touch()
    (folder / "text.png").write_text("no picture")
    return folder


def found_in(folder: Path):
    return lambda image_id: folder / image_id if (folder / image_id).exists() else None


def opened(path: Path) -> Image.Image:
    with Image.open(path) as image:
        image.load()
        return image


def test_two_sizes_never_larger_than_the_picture(pictures, tmp_path):
    with freezing(tmp_path, "study1") as freezer:
        frozen = freezer.freeze(["wide.jpg", "small.png", "tall.webp"], found_in(pictures), max_megapixels=64)
        freezer.finish()
    sizes = {}
    for image_id, image in frozen.images.items():
        folder = studies_folder(tmp_path) / "study1"
        sizes[image_id] = [opened(folder / f"{image.token}-{size}.webp").size for size in "sl"]
        assert sizes[image_id][1] == (image.width, image.height)
    # 2000 × 500 on 288 and 1280: by 288 / 2000 and 1280 / 2000; 100 × 600 is below 1280.
    assert sizes == {"wide.jpg": [(SMALL_EDGE, 72), (LARGE_EDGE, 320)], "small.png": [(40, 30)] * 2,
                     "tall.webp": [(48, 288), (100, 600)]}
    assert len(list((studies_folder(tmp_path) / "study1").iterdir())) == 6, "nothing else is in the folder"
    assert [path.name for path in studies_folder(tmp_path).iterdir()] == ["study1"]


def test_tokens_tell_nothing_and_are_others_in_another_study(pictures, tmp_path):
    tokens = []
    for study_id in ("one", "two"):
        with freezing(tmp_path, study_id) as freezer:
            found = freezer.freeze(["wide.jpg", "small.png"], found_in(pictures), max_megapixels=64).images
            again = freezer.freeze(["small.png"], found_in(pictures), max_megapixels=64).images
            freezer.finish()
        assert again["small.png"] == found["small.png"]
        tokens += [image.token for image in found.values()]
    assert len(set(tokens)) == 4 and all(len(token) == 24 and int(token, 16) for token in tokens)


def test_what_cannot_be_frozen_is_named_with_its_reason(pictures, tmp_path):
    with freezing(tmp_path, "study1") as freezer:
        frozen = freezer.freeze(["gone.jpg", "empty.jpg", "text.png", "wide.jpg", "small.png"], found_in(pictures),
                                max_megapixels=0.5)
    assert list(frozen.images) == ["small.png"] and list(frozen.refused) != []
    assert frozen.refused["gone.jpg"] == NOT_FOUND and "empty (0 bytes)" in frozen.refused["empty.jpg"]
    assert "cannot be read as an image" in frozen.refused["text.png"]
    assert "the limit is 0.5" in frozen.refused["wide.jpg"]


def test_pictures_keep_their_colours_and_lose_their_metadata(tmp_path):
    image = Image.new("RGB", (20, 10), (200, 100, 50))
    exif = Image.Exif()
    exif[0x010E] = "who took it"
    exif[0x0112] = 6    # lies on its side
    image.save(tmp_path / "a.jpg", quality=100, icc_profile=profile(screen, DISPLAY_P3), exif=exif)
    with freezing(tmp_path, "study1") as freezer:
        found = freezer.freeze(["a"], lambda image_id: tmp_path / "a.jpg", max_megapixels=1).images["a"]
        freezer.finish()
    path = studies_folder(tmp_path) / "study1" / f"{found.token}-l.webp"
    frozen = opened(path)
    assert frozen.size == (found.width, found.height) == (10, 20), "upright"
    assert "icc_profile" not in frozen.info and not frozen.getexif() and b"who took it" not in path.read_bytes()
    assert np.abs(np.subtract(frozen.getpixel((5, 5)), shown((200, 100, 50), screen, DISPLAY_P3))).max() < 6


def test_progress_ends_at_all_of_them(pictures, tmp_path):
    told = []
    with freezing(tmp_path, "study1") as freezer:
        freezer.freeze(["gone.jpg", "wide.jpg", "small.png", "tall.webp"], found_in(pictures), max_megapixels=64,
                       progress=lambda done, total: told.append((done, total)))
    assert told[-1] == (4, 4) and [done for done, _ in told] == sorted(done for done, _ in told)


def test_pictures_that_are_not_wanted_after_all_go(pictures, tmp_path):
    with freezing(tmp_path, "study1") as freezer:
        freezer.freeze(["wide.jpg", "small.png"], found_in(pictures), max_megapixels=64)
        freezer.keep_only(["small.png"])
        freezer.finish()
    assert list(freezer.images) == ["small.png"] and len(list((studies_folder(tmp_path) / "study1").iterdir())) == 2


@pytest.mark.parametrize("finished", [False, True])
def test_nothing_is_left_of_a_study_that_failed(pictures, tmp_path, finished):
    with pytest.raises(KeyboardInterrupt), freezing(tmp_path, "study1") as freezer:
        freezer.freeze(["wide.jpg"], found_in(pictures), max_megapixels=64)
        if finished:
            freezer.finish()
        raise KeyboardInterrupt
    # Once it has its name, only the database can say whether there is such a study.
    assert clear_leftovers(tmp_path, lambda study_id: False) == finished
    assert list(studies_folder(tmp_path).iterdir()) == []


def test_a_creation_that_was_killed_is_cleared_and_one_at_work_is_not(pictures, tmp_path):
    folder = studies_folder(tmp_path)
    with freezing(tmp_path, "working") as freezer:
        freezer.freeze(["wide.jpg"], found_in(pictures), max_megapixels=64)
        for study_id in ("half", "renamed", "stored"):   # killed while freezing, before storing, after storing
            (folder / f".{study_id}.lock").touch()
            made = folder / (".half.part" if study_id == "half" else study_id)
            made.mkdir()
            (made / "0.webp").touch()
        cleared = []
        # Another process: locks are between open files.
        thread = threading.Thread(target=lambda: cleared.append(clear_leftovers(tmp_path, "stored".__eq__)))
        thread.start()
        thread.join()
        assert cleared == [2]
        assert sorted(path.name for path in folder.iterdir()) == [".working.lock", ".working.part", "stored"]
        freezer.finish()
    assert sorted(path.name for path in folder.iterdir()) == ["stored", "working"]
    assert clear_leftovers(tmp_path, lambda study_id: False) == 0, "what is finished has no lock"
    assert len(list(folder.iterdir())) == 2


def test_a_folder_that_cannot_be_written_is_said(tmp_path):
    (tmp_path / "studies").touch()
    with pytest.raises(StorageError, match="cannot be saved in"), freezing(tmp_path, "study1"):
        pass


def test_a_picture_that_is_no_file_is_read_when_it_is_its_turn(pictures, tmp_path):
    def gone() -> bytes:
        raise ImageUnreadable("b cannot be read: some.tar is missing.")

    found = {"a": (pictures / "small.png").read_bytes, "b": gone}
    with freezing(tmp_path, "study1") as freezer:
        frozen = freezer.freeze(["a", "b", "c"], found.get, max_megapixels=64)
        freezer.finish()
    assert (frozen.images["a"].width, frozen.images["a"].height) == (40, 30)
    assert frozen.refused == {"b": "cannot be read: some.tar is missing", "c": NOT_FOUND}
