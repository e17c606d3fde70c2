"""What a folder of images holds: photos, and what systems, programs and patterns keep out of a gallery."""

import os
import shutil
import subprocess
import unicodedata

import pytest

from cir_core.datasets.files.image_files import ImageFolder
from cir_core.errors import DatasetError, GalleryError
from cir_core.images.folders import by_folder, walk


def made(root, *paths):
    for path in paths:
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
    return root


def ignoring(folder, *lines, encoding="utf-8"):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / ".cirqueignore").write_bytes("\n".join(lines).encode(encoding))


@pytest.mark.parametrize("inside", [
    "@eaDir/a.jpg/SYNOPHOTO_THUMB_XL.jpg",
    ".thumbnails/a.jpg", "__MACOSX/._a.jpg", ".Trash/a.jpg", ".Trash-1000/files/a.jpg",
    ".Trashes/501/a.jpg", "$RECYCLE.BIN/S-1/a.jpg", "$Recycle.Bin/S-1/a.jpg", "lost+found/a.jpg", ".AppleDouble/a.jpg",
    "#recycle/a.jpg", "@Recycle/a.jpg", "RECYCLER/a.jpg", "System Volume Information/a.jpg", "#snapshot/a.jpg",
    "Lightroom Previews.lrdata/0/a.jpg", "CaptureOne/Cache/Thumbnails/a.jpg", ".@__thumb/a.jpg",
    "My.photoslibrary/resources/derivatives/a.jpg",
])
@pytest.mark.parametrize("below", ["", "2024/June/"])
def test_folders_that_systems_and_programs_keep_beside_photos(tmp_path, inside, below):
    walked = walk(made(tmp_path, f"{below}a.jpg", below + inside))
    assert walked.files == (f"{below}a.jpg",)
    (path, reason), = walked.left_out
    assert (below + inside).startswith(path) and path.endswith("/") and reason


@pytest.mark.parametrize("name", [
    "a.xmp", "a.jpg.XMP", "a.AAE", "._a.jpg", "Thumbs.db", "thumbs.db", ".DS_Store", "desktop.ini", "Picasa.ini",
    "a.THM", "a.jpg.json", "a.JPG.supplemental-metadata.json", ".trashed-1700000000-a.jpg", "Icon\r", "a.pp3",
])
def test_files_that_accompany_photos(tmp_path, name):
    walked = walk(made(tmp_path, "a.jpg", name))
    assert walked.files == ("a.jpg",) and [path for path, _ in walked.left_out] == [name]


@pytest.mark.parametrize("path", [
    "eaDir/a.jpg", "recycle/a.jpg", "node_modules/a.png", "MACOSX/a.jpg", "lost and found/a.jpg", "Previews/a.jpg",
    "My.photoslibrary/originals/0/a.jpg", "captions.json", "xmp", "a.xmp.jpg", "Thumbs.db/a.jpg", "thm.jpg",
])
def test_what_only_looks_like_it_is_taken(tmp_path, path):
    assert walk(made(tmp_path, path)).files == (path,)


def test_each_reason_is_told(tmp_path):
    ignoring(tmp_path, "# drafts", "drafts/")
    made(tmp_path, "a.jpg", ".b.jpg", "a.xmp", "@eaDir/a.jpg", ".Trash/a.jpg", "#recycle/c.jpg", "lost+found/d.jpg",
         "drafts/a.jpg", "x.gif")
    walked = walk(tmp_path, exclude=["*.gif"])
    assert dict(walked.left_out) == {
        ".b.jpg": "hidden", "a.xmp": "sidecar file", "@eaDir/": "previews of another program", ".Trash/": "hidden",
        "#recycle/": "trash", "lost+found/": "kept by the system",
        "drafts/": "excluded by .cirqueignore, line 2", "x.gif": "excluded by --exclude '*.gif'"}


FILES = ("a.jpg", "a.png", "keep.png", "foo/b.png", "foo/keep.png", "foo/bar/c.jpg", "foo/bar/baz/d.jpg",
         "other/foo.jpg", "other/foo/e.jpg", "other/bar.jpg")


# What ``git ls-files --others --exclude-standard`` lists with these lines in .gitignore; nested ones after "path:".
@pytest.mark.parametrize(("lines", "gone"), [
    (["*.png"], {"a.png", "keep.png", "foo/b.png", "foo/keep.png"}),
    (["*.png", "!keep.png"], {"a.png", "foo/b.png"}),
    (["!keep.png", "*.png"], {"a.png", "keep.png", "foo/b.png", "foo/keep.png"}),      # the last one counts
    (["/*.png"], {"a.png", "keep.png"}),
    (["foo"], {"foo/b.png", "foo/keep.png", "foo/bar/c.jpg", "foo/bar/baz/d.jpg", "other/foo/e.jpg"}),
    (["/foo/"], {"foo/b.png", "foo/keep.png", "foo/bar/c.jpg", "foo/bar/baz/d.jpg"}),
    (["/foo/", "!keep.png"], {"foo/b.png", "foo/keep.png", "foo/bar/c.jpg", "foo/bar/baz/d.jpg"}),  # its folder is gone
    (["/foo/*", "!keep.png"], {"foo/b.png", "foo/bar/c.jpg", "foo/bar/baz/d.jpg"}),
    (["foo/**", "!foo/keep.png"], {"foo/b.png", "foo/bar/c.jpg", "foo/bar/baz/d.jpg"}),
    (["foo/**/"], {"foo/bar/c.jpg", "foo/bar/baz/d.jpg"}),
    (["foo/**/d.jpg"], {"foo/bar/baz/d.jpg"}),
    (["**/foo.jpg"], {"other/foo.jpg"}),
    (["ba?.jpg", "b[aeiou]r"], {"other/bar.jpg", "foo/bar/c.jpg", "foo/bar/baz/d.jpg"}),
    (["# *.png", "", "  ", "\\#x"], set()),
    (["A.PNG"], set()),
    (["*", "!*/", "!*.jpg"], {"a.png", "keep.png", "foo/b.png", "foo/keep.png"}),
    (["*.png", "foo: !*.png"], {"a.png", "keep.png"}),                                # nearer files count first
    (["foo: *.png", "foo: !keep.png"], {"foo/b.png"}),
    (["foo: /c.jpg"], set()),
    (["foo: bar/c.jpg"], {"foo/bar/c.jpg"}),
    (["!*.jpg", "foo/bar: *", "foo/bar: !baz/"], {"foo/bar/c.jpg", "foo/bar/baz/d.jpg"}),
])
def test_patterns_mean_what_they_mean_in_gitignore(tmp_path, lines, gone):
    made(tmp_path, *FILES)
    places: dict[str, list[str]] = {}
    for line in lines:
        place, colon, pattern = line.rpartition(": ")
        places.setdefault(place, []).append(pattern if colon else line)
    for place, own in places.items():
        ignoring(tmp_path / place, *own)
    assert set(FILES) - set(walk(tmp_path).files) == gone


def test_the_callers_patterns_come_before_those_of_files(tmp_path):
    made(tmp_path, "a.png", "b.png", "c.jpg", ".hidden/d.jpg", ".hidden/._d.jpg", "@eaDir/e.jpg", "#x/f.jpg")
    ignoring(tmp_path, "a.png", "!b.png")
    taken = walk(tmp_path, exclude=["*.png", "#x/"], include=["a.png", ".hidden/", "@eaDir"]).files
    assert set(taken) == {"a.png", "c.jpg", ".hidden/d.jpg", "@eaDir/e.jpg"}
    assert set(walk(tmp_path, exclude=["*.jpg", "!c.jpg"]).files) == {"b.png", "c.jpg"}
    assert "#x/f.jpg" in walk(tmp_path, exclude=["#x/"], include=["#x/"]).files


@pytest.mark.parametrize(("pattern", "taken"), [
    ("*", set()), ("*.jpg", set()), ("?*", set()), ("**/*.jpg", set()), ("*/", set()), ("a.*", set()),
    (".*", {".b/c.jpg", "._a.jpg"}), ("._*", {"._a.jpg"}), ("/.b/", {".b/c.jpg"}), ("@*", {"@eaDir/d.jpg"}),
    ("@eaDir", {"@eaDir/d.jpg"}), ("*.thm", {"a.thm"}), ("*.xmp", {"a.xmp"}), ("Thumbs.db", {"Thumbs.db"}),
])
def test_what_systems_keep_is_taken_back_by_patterns_that_mean_it(tmp_path, pattern, taken):
    made(tmp_path, ".b/c.jpg", "._a.jpg", "@eaDir/d.jpg", "a.thm", "a.xmp", "Thumbs.db", "e.jpg")
    assert set(walk(tmp_path, include=[pattern]).files) == {"e.jpg", *taken}
    ignoring(tmp_path, "*", "!*/", "!*.jpg", f"!{pattern}")
    assert taken <= set(walk(tmp_path).files) and ("@eaDir/d.jpg" in walk(tmp_path).files) == ("@eaDir/d.jpg" in taken)


def test_patterns_meet_names_in_either_form_of_unicode(tmp_path):
    made(tmp_path, unicodedata.normalize("NFD", "Café/é.jpg"), "连衣裙.jpg", "b.jpg")
    ignoring(tmp_path, "Café/", "连*.jpg")
    assert walk(tmp_path).files == ("b.jpg",)
    ignoring(tmp_path, "\ufeffb.jpg\r", "")
    assert "b.jpg" not in walk(tmp_path).files


NAMES = (*"azA1_-][^! +&|~", "a1", "ab", "a_b", "a-b", "a]", "1b")
SETS = {        # and which of the names they leave out
    "[[:digit:]]": {"1"}, "[[:upper:]]": {"A"}, "[[:lower:]]": {"a", "z"}, "[[:alpha:]]": {"a", "z", "A"},
    "[[:alnum:]]": {"a", "z", "A", "1"}, "[[:xdigit:]]": {"a", "A", "1"}, "[[:space:]]": {" "}, "[[:blank:]]": {" "},
    "[[:cntrl:]]": set(), "[[:punct:]]": {"_", "-", "]", "[", "^", "!", "+", "&", "|", "~"},
    "[![:graph:]]": {" "}, "[![:print:]]": set(), "[^[:punct:][:alpha:]]": {" ", "1"}, "a[[:digit:]]": {"a1"},
    "[![:digit:]_][[:digit:]]": {"a1"}, "a[[:punct:]]b": {"a_b", "a-b"}, "[[:digit:]a-c]": {"1", "a"},
    "[[:digit:]-z]": {"1", "-", "z"}, "[[:digit:][:upper:]_]": {"1", "A", "_"}, "[[:alpha:]][[:alpha:]]": {"ab"},
    "/[[:upper:]]": {"A"}, "[[:digit:]]*": {"1", "1b"}, "[[:digit:]]b": {"1b"}, "![[:digit:]]": set(),
    "[]]": {"]"}, "[!]-~]?": {"1b"}, "[]-]": {"]", "-"}, "[a-]": {"a", "-"}, "[-a]": {"a", "-"}, r"[\]]": {"]"},
    r"[\^a]": {"^", "a"}, "[+--]": {"+", "-"}, "[[]": {"["}, "[[a]": {"[", "a"}, "[[:a]": {"[", "a"},
    "[&&|]": {"&", "|"}, "[~~]": {"~"}, "[a||z]": {"a", "|", "z"}, "[!-~]b": {"1b", "ab"}, r"a\]": {"a]"},
    r"\[": {"["}, r"[a\-z]": {"a", "-", "z"}, "[a]]": {"a]"}, "[[.a.]]": {"a]"},
}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("pattern", SETS)
def test_sets_of_characters_mean_what_they_mean_in_gitignore(tmp_path, pattern):
    photos = made(tmp_path / "photos", *NAMES)
    ignoring(photos, pattern)
    assert set(NAMES) - set(walk(photos).files) == SETS[pattern]
    if (git := shutil.which("git")) is not None:
        where = [git, "-C", str(tmp_path / "git"), "-c", f"core.excludesFile={os.devnull}"]
        ours = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        subprocess.run([git, "init", "-q", str(tmp_path / "git")], check=True, env=ours)
        (tmp_path / "git" / ".gitignore").write_text(f"{pattern}\n", "utf-8")
        told = subprocess.run([*where, "check-ignore", "-z", "--stdin"], input="\0".join(NAMES), capture_output=True,
                              text=True, env=ours)
        assert set(filter(None, told.stdout.split("\0"))) == SETS[pattern]


def test_no_set_of_characters_fits_a_slash(tmp_path):
    made(tmp_path, "a/b.jpg", "a-b.jpg")
    for pattern in ("a[!x]b.jpg", "a[+-9]b.jpg", "a[[:punct:]]b.jpg", "a[![:alpha:]]b.jpg"):
        ignoring(tmp_path, pattern)
        assert walk(tmp_path).files == ("a/b.jpg",)


@pytest.mark.parametrize("comment", [
    "# ***** sidecars *****", "#*****", "# a/**/b/**/c/**/d/**/e/**/f", "# [z-a]", "#", "   ", " " * 40, ""])
def test_comments_and_empty_lines_are_no_patterns(tmp_path, comment):
    made(tmp_path, "a.jpg", "b.gif")
    ignoring(tmp_path, comment, "*.gif", comment)
    walked = walk(tmp_path)
    assert walked.files == ("a.jpg",)
    assert walked.left_out == (("b.gif", "excluded by .cirqueignore, line 2"),)


@pytest.mark.parametrize(("content", "said"), [
    (b"\\#*a*a*a*a*a*b", "line 1: .* more than 4 stars"),
    (b"*.gif\n[z-a]\n", r"\.cirqueignore, line 2: '\[z-a\]' is not a pattern"),
    (b"!\n", "line 1: '!' is not a pattern"), (b"/\n", "line 1: '/' is not"), (b"a[\n", "line 1"), (b"a\\\n", "line 1"),
    (b"\n\nx\xff\n", "line 3: this is not UTF-8"), (b"*a*a*a*a*a*b", "line 1: .* more than 4 stars"),
    ("\u0301".encode() * 5000, "line 1: a pattern has more than 4,096 characters"),
    (b"#" * (2**20 + 1), "larger than a megabyte"),
    (b"\n[[:word:]]", r"line 2: '\[\[:word:\]\]' has \[:word:\], which is not a class of characters\. There are "
                      r"\[:alnum:\], .*\[:xdigit:\]\.$"),
    (b"a[![:digit:][:DIGIT:]]", r"line 1: .* has \[:DIGIT:\], which"), (b"[[::]]", r"line 1: .* has \[::\], which"),
    (b"[[:alpha:]", "line 1: .* is not a pattern"), (b"[[:digit:]/]", "line 1: .* is not a pattern"),
    (b"[]", "line 1: .* is not a pattern"), (b"[!]", "line 1: .* is not a pattern"), (b"[a-", "line 1: .* is not"),
    (b"[a\\", "line 1: .* is not a pattern"), (b"a\0b", "line 1: .* is not a pattern"),
    (b"[a-[:digit:]]", "line 1: .* is not a pattern"),
])
def test_a_line_that_is_no_pattern_is_named(tmp_path, content, said):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / ".cirqueignore").write_bytes(content)
    with pytest.raises(GalleryError, match=said) as caught:
        walk(tmp_path)
    assert "sub/.cirqueignore" in str(caught.value)
    with pytest.raises(DatasetError, match=said):
        ImageFolder(tmp_path, lambda image_id: (f"{image_id}.png",)).find("a")


@pytest.mark.parametrize("options", [{"exclude": ["["]}, {"exclude": [" "]}, {"include": ["!a"]}, {"include": [""]}])
def test_an_option_that_is_no_pattern_is_named(tmp_path, options):
    with pytest.raises(GalleryError, match=r"^--(ex|in)clude"):
        walk(tmp_path, **options)


def test_links_that_lead_in_circles(tmp_path):
    made(tmp_path / "photos", "a/b.jpg")
    made(tmp_path / "elsewhere", "c.jpg", "d.png")
    for name, target in (("loop", "."), ("up", ".."), ("self", "self"), ("again", "a"), ("out", "../elsewhere"),
                         ("out2", "../elsewhere"), (".out", "../elsewhere")):
        (tmp_path / "photos" / name).symlink_to(target)
    (tmp_path / "photos" / "dangling.jpg").symlink_to("nowhere.jpg")
    assert sorted(walk(tmp_path / "photos").files) == ["a/b.jpg", "dangling.jpg", "out/c.jpg", "out/d.png"]
    assert sorted(walk(tmp_path / "photos", exclude=["out/"]).files) == ["a/b.jpg", "dangling.jpg", "out2/c.jpg",
                                                                          "out2/d.png"]


def test_names_that_are_not_unicode(tmp_path):
    made(tmp_path, os.fsdecode(b"\xff.jpg"))
    assert walk(tmp_path, exclude=["*.png"]).files == (os.fsdecode(b"\xff.jpg"),)
    assert walk(tmp_path, exclude=["*.jpg"]).files == ()


def test_data_sets_are_not_looked_for_among_thumbnails(tmp_path):
    made(tmp_path, "@eaDir/x/a.png", "__MACOSX/images/._a.png", ".AppleDouble/a.png", "b/images/a.png")
    assert ImageFolder(tmp_path, lambda image_id: (f"{image_id}.png",)).find("a") == "b/images/a.png"


def test_files_by_folder():
    assert list(by_folder(["b/x", "a", "b/c/y", "b/z"])) == [("", ["a"]), ("b", ["x", "z"]), ("b/c", ["y"])]
