"""Files are replaced, never changed: who has one open, or opens it now, reads the old content or the new."""

from pathlib import Path

from cir_core.support.files import write_atomically


def test_a_file_is_replaced_as_a_whole(tmp_path: Path) -> None:
    path = tmp_path / "kept.json"
    write_atomically(path, b"old and longer")
    with path.open("rb") as reader:
        write_atomically(path, (b"n", b"ew"))
        assert reader.read() == b"old and longer"
    assert path.read_bytes() == b"new" and list(tmp_path.iterdir()) == [path]
