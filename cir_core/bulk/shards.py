"""Results of parts in storage that several machines share: a folder, or any file system of fsspec (s3://…).

    AREA/JOB/00000012-3fa9c1d2.npz     the results of part 12, complete or not there

A file has its last name only once it is complete; numpy's format has a checksum of every array.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from cir_core.errors import ClusterError
from cir_core.support.files import write_atomically
from cir_core.types.records import new_id

_SUFFIX = ".npz"


@dataclass(frozen=True)
class Shards:
    """``area``: a folder or a URL. All methods but :meth:`write` are for the one process that joins the results."""

    area: str
    job: str

    def write(self, number: int, content: bytes) -> str:
        """Store the results of part ``number``; returns their name. Raises ``ClusterError``."""
        name = f"{number:08d}-{new_id(8)}{_SUFFIX}"
        with self._errors_explained("written"):
            system, root = self._opened()
            if _is_local(self.area):
                write_atomically(Path(root) / name, content)
            else:   # an object store has whole objects only, other systems rename
                part = f"{root}/.{name}.part"
                system.makedirs(root, exist_ok=True)
                system.pipe_file(part, content)
                system.mv(part, f"{root}/{name}")
        return name

    def names(self) -> list[str]:
        """Of the parts that are stored, in order. Raises ``ClusterError``."""
        with self._errors_explained("read"):
            system, root = self._opened()
            system.invalidate_cache()
            try:
                paths = system.ls(root, detail=False)
            except FileNotFoundError:
                return []
            return sorted(name for path in paths if (name := path.rpartition("/")[2]).endswith(_SUFFIX))

    def read(self, name: str) -> bytes:
        """Raises ``ClusterError``."""
        with self._errors_explained("read"):
            system, root = self._opened()
            try:
                content: bytes = system.cat_file(f"{root}/{name}")
                return content
            except FileNotFoundError:
                raise ClusterError(f"The workers stored results under {self.area}, where this machine does not find "
                                   "them. Set CIRQUE_RAY_STORAGE to a folder that all machines share, or to s3://BUCKET"
                                   "/PREFIX.") from None

    def remove(self, name: str) -> None:
        """Delete the results ``name``, which are joined. One that stays is joined again, which changes nothing."""
        with suppress(Exception):   # each file system has its own: botocore's are no OSError
            system, root = self._opened()
            system.rm_file(f"{root}/{name}")

    def discard(self) -> None:
        """Delete what is left: the job is done."""
        with suppress(Exception):   # as above: what was made is joined
            system, root = self._opened()
            system.invalidate_cache()
            if system.exists(root):
                system.rm(root, recursive=True)

    def _opened(self) -> tuple[Any, str]:
        from fsspec.core import url_to_fs  # takes a moment, and a single machine does not need it

        system, root = url_to_fs(self.area)
        return system, f"{root.rstrip('/')}/{self.job}"

    @contextmanager
    def _errors_explained(self, done: str) -> Iterator[None]:
        try:
            yield
        except ImportError as error:    # fsspec's sentence names the package
            raise ClusterError(f"{self.area} cannot be {done}: {error}. For s3://, install it from the checkout: "
                               ".venv/bin/pip install -e '.[objects]'") from error
        except ValueError as error:     # an unknown protocol, or incomplete settings of one
            raise ClusterError(f"{self.area} cannot be {done}: {error}. Check CIRQUE_RAY_STORAGE.") from error
        except ClusterError:
            raise
        except Exception as error:      # each file system has its own: botocore's are no OSError
            reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
            raise ClusterError(f"{self.area} cannot be {done}: {reason}. Check CIRQUE_RAY_STORAGE and its credentials, "
                               "here and where ray start was run, then run the same command again: what was joined "
                               "is not lost.") from error


def _is_local(area: str) -> bool:
    return "://" not in area or area.startswith(("file://", "local://"))


def packed(content: Any, arrays: Mapping[str, np.ndarray[Any, Any]]) -> bytes:
    """``content``, as JSON, and ``arrays`` as one file."""
    written = np.frombuffer(json.dumps(content).encode(), np.uint8)
    file = io.BytesIO()
    np.savez(file, allow_pickle=False, content=written, **arrays)
    return file.getvalue()


def unpacked(stored: bytes) -> tuple[Any, dict[str, np.ndarray[Any, Any]]]:
    """What :func:`packed` was given. Raises ``ValueError`` if it is damaged."""
    try:
        with np.load(io.BytesIO(stored), allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        return json.loads(arrays.pop("content").tobytes()), arrays
    except (zipfile.BadZipFile, KeyError, EOFError) as error:
        raise ValueError(f"not what was written ({error})") from error
