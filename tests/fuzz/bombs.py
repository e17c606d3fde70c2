"""Small files that hold much: in the place of each file of every reader, each tried in a process of its own.

What a reader gives back or refuses is all the same here; it must end in time, with an error that is a sentence, and in
memory that is in proportion to the file.
"""

from __future__ import annotations

import bz2
import gzip
import io
import os
import re
import shutil
import signal
import struct
import sys
import tarfile
import traceback
import warnings
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path

from cir_core.errors import CirqueError
from tests.fuzz.files import Read, readers

MOST_MB = 100.0     # that reading one may take: its megabyte, and objects of Python's for every few bytes
LONGEST = 30.0      # seconds of the processor: the machine may be busy with other tests
_SIZE = 2**20   # bytes of a bomb at most
_LONGEST_SAID = 20_000   # characters: twenty faults with the names of two files
_SKIPPED = (".png", ".jpg", ".lock")


@dataclass(frozen=True)
class Attempt:
    """How a reader took a bomb in the place of ``file``. ``end``: read, refused, or what must not be."""

    reader: str
    file: str
    bomb: str
    end: str
    megabytes: float
    seconds: float

    @property
    def bad(self) -> bool:
        return self.end not in ("read", "refused") or self.megabytes > MOST_MB or self.seconds > LONGEST


def bombs() -> Mapping[str, bytes]:
    """By name."""
    return {
        "deep arrays": b"[" * _SIZE, "deep objects": b'{"a":' * (_SIZE // 5),
        "deep and closed": b"[" * (_SIZE // 2) + b"]" * (_SIZE // 2),
        "just below a parser's depth": b'{"a":' * 3000 + b"1" + b"}" * 3000,
        "a number of a million digits": b'{"a": ' + b"9" * 10**6 + b"}",
        "an array of numbers": b"[" + b"1," * (_SIZE // 2 - 1) + b"1]",
        "numbers beyond floats": b"[" + b"1e999," * 100_000 + b"1]",
        "an array of objects": b"[" + b"{}," * (_SIZE // 3 - 1) + b"{}]",
        "lines of objects": b"{}\n" * (_SIZE // 3), "an array of arrays": b"[" + b"[]," * (_SIZE // 3 - 1) + b"[]]",
        "a long text": b'"' + b"x" * (_SIZE - 2) + b'"', "one line": b"x" * _SIZE,
        "one line of columns": b"a," * (_SIZE // 2),
        "one line of blanks": b" " * _SIZE, "empty lines": b"\n" * _SIZE, "short lines": b"a,b\n" * (_SIZE // 4),
        "quotation marks": b'"' * (_SIZE - 1), "an open quotation mark": b'id,path\n"' + b"x\n" * (_SIZE // 2 - 8),
        "many keys, one twice": b"{" + b",".join(b'"%d":0' % n for n in range(100_000)) + b',"0":1}',
        "one key again and again": b"{" + b'"a":0,' * (_SIZE // 6 - 1) + b'"a":0}',
        "escapes": b'"' + b"\\u0041" * (_SIZE // 6 - 1) + b'"',
        "TOML, deep arrays": b"a = " + b"[" * 100_000, "TOML, deep tables": b"a = " + b"{a=" * 100_000,
        "TOML, a long name": b"a." * 100_000 + b"a = 1", "TOML, a long table": b"[" + b"a." * 100_000 + b"a]",
        "TOML, many tables": b"".join(b"[t%d]\n" % n for n in range(100_000)),
        "TOML, a number": b"a = " + b"9" * 10**6, "TOML, an array of tables": b"[[a]]\n" * 200_000,
        "zeros": bytes(_SIZE), "no text": b"\xff\xfe" * (_SIZE // 2),
        "gzip": gzip.compress(bytes(2**28)), "bzip2": bz2.compress(bytes(2**28)), "zip": _zip(), "many names": _names(),
        "tar": _tar(), "Parquet": _parquet(), "npy": _npy(), "safetensors": _safetensors(),
    }


def attempts(folder: Path, only: str = "", each: int | None = None) -> Iterator[Attempt]:
    """Every bomb in the place of every file of the readers whose names hold ``only``; or ``each`` for each file, in
    turn, so that all of them are tried on one file or another."""
    all_bombs = bombs()
    turns = cycle(all_bombs.items())
    for name, good, read in readers(folder):
        if only not in name:
            continue
        files = [path.relative_to(good) for path in sorted(good.rglob("*"))
                 if path.is_file() and path.suffix not in _SKIPPED and "thumb" not in str(path)]
        for file in files:
            work = folder / "bombed"
            shutil.copytree(good, work)
            for bomb, content in islice(turns, each or len(all_bombs)):
                (work / file).write_bytes(content)
                end, megabytes, seconds = _apart(read, work)
                yield Attempt(name, str(file), bomb, end, megabytes, seconds)
            shutil.rmtree(work)


def _apart(read: Read, folder: Path) -> tuple[str, float, float]:
    """How it ended, MB, seconds of the processor."""
    hear, say = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(hear)
        os.write(say, _read(read, folder).encode("utf-8", "replace")[:4000])
        os._exit(0)
    os.close(say)
    with open(hear, "rb") as heard:
        said = heard.read().decode("utf-8", "replace")
    _, status, used = os.wait4(child, 0)
    if os.WIFSIGNALED(status):
        said = f"it was killed by {signal.Signals(os.WTERMSIG(status)).name}\n0"
    end, _, megabytes = said.rpartition("\n")
    return end, float(megabytes), used.ru_utime + used.ru_stime


def _read(read: Read, folder: Path) -> str:
    signal.setitimer(signal.ITIMER_PROF, LONGEST + 5)
    signal.alarm(10 * round(LONGEST))   # for what waits
    Path("/proc/self/clear_refs").write_text("5")   # the peak begins anew
    before = _kilobytes("VmRSS")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            read(folder)
        end = "read"
    except CirqueError as error:
        said = str(error)
        end = "refused" if 0 < len(said) < _LONGEST_SAID else f"refused in {len(said)} characters: {said[:300]}"
    except BaseException:
        end = traceback.format_exc()[-1500:]
    return f"{end}\n{(_kilobytes('VmHWM') - before) / 1024:.1f}"


def _kilobytes(name: str) -> int:
    found = re.search(rf"{name}:\s+(\d+)", Path("/proc/self/status").read_text())
    assert found is not None
    return int(found[1])


def _zip() -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("data.pkl", bytes(2**28))
    return content.getvalue()


def _names() -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for number in range(20_000):
            archive.writestr(f"../{number}/{'x' * 60}", b"")
    return content.getvalue()


def _tar() -> bytes:
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w:gz") as archive:
        about = tarfile.TarInfo("../../zeros")
        about.size = 2**28
        archive.addfile(about, io.BytesIO(bytes(2**28)))
    return content.getvalue()


def _parquet() -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    content = io.BytesIO()   # one value, many million times: a dictionary and runs
    pq.write_table(pa.table({"id": pa.chunked_array([pa.array(["x" * 100] * 100_000)] * 30)}), content)
    return content.getvalue()


def _npy() -> bytes:
    header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000000, 512), }\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header


def _safetensors() -> bytes:
    header = b'{"a":{"dtype":"F32","shape":[1000000,1000000],"data_offsets":[0,4000000000000]}}'
    return struct.pack("<Q", 2**60) + header


def main() -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        count, worst, slowest = 0, 0.0, 0.0
        for attempt in attempts(Path(folder), *sys.argv[1:2]):
            count, worst, slowest = count + 1, max(worst, attempt.megabytes), max(slowest, attempt.seconds)
            if attempt.bad:
                print(f"{attempt.reader} | {attempt.file} | {attempt.bomb} | {attempt.megabytes:.0f} MB, "
                      f"{attempt.seconds:.1f} s | {attempt.end[-700:]}\n", flush=True)
        print(f"{count} bombs; at most {worst:.0f} MB and {slowest:.1f} s")


if __name__ == "__main__":
    main()
