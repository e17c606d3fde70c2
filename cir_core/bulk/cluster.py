"""Run the parts of a bulk job on a Ray cluster. Importing this module does not import Ray.

Each part is a task. It stores its results as one shard (see ``shards``) and returns the shard's name; this process
reads it, hands the results on, and deletes it once they are joined. A worker may die at any moment, as its part is
tried again; so may this process, as the next run finds the shards that were not joined.
"""

from __future__ import annotations

import logging
import signal
import socket
import sys
import threading
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import islice
from typing import TYPE_CHECKING, Any

from cir_core.bulk.places import Job, Part, Result, Work
from cir_core.bulk.shards import Shards
from cir_core.errors import CirqueError, ClusterError
from cir_core.version import __version__

if TYPE_CHECKING:
    from types import ModuleType

RETRIES = 8         # of a part whose worker died; then something in it kills them
_WAITING = 2        # parts that are handed out for each worker, so that none waits for this process
_ANSWERS = 10.0     # seconds
_STARTS = 3         # on a machine that is too busy to start Ray in time
_LOCAL_STORE = 2**27    # bytes of Ray's object store on this machine alone: results do not pass through it
# The beginning of HTTP/2, which Ray speaks, with empty settings; the answer begins with settings, type 4.
_GREETING = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00"


class RayCluster:
    """Implements :class:`~cir_core.bulk.places.Place`.

    ``address`` is HOST:PORT of a cluster's head, auto (the cluster that this machine belongs to), local or local:CPUS
    (workers of this machine, for as long as the job runs). ``storage`` is a folder or URL that all machines share; by
    default results wait in the job's folder. Each worker has ``cpus`` processors and as many threads (0: as many as
    PyTorch has threads here, with which alone vectors are the same to the last bit), and ``gpus`` graphics processors.
    """

    is_here = False

    def __init__(self, address: str, *, storage: str = "", cpus: int = 0, gpus: float = 0.0) -> None:
        self._address, self._storage, self._cpus, self._gpus = address.strip(), storage.strip(), cpus, gpus

    def found(self, work: Work[Part, Result], job: Job) -> Generator[Result]:
        shards = self._shards(job)
        for name in shards.names():
            with suppress(ValueError):      # damaged: its part is made again
                yield from work.unpack(shards.read(name))
            shards.remove(name)

    def run(self, work: Work[Part, Result], parts: Iterable[Part], job: Job) -> Generator[Result]:
        """Raises ``ClusterError``: no cluster, none of its machines fits, storage that cannot be used, a part that
        killed its workers."""
        threads = self._cpus or _threads_here()
        shards, numbered = self._shards(job), enumerate(parts)
        first = next(numbered, None)
        if first is None:
            shards.discard()
            return
        with self._connected() as ray:
            width = _room(ray, threads, self._gpus)
            if not width:
                wanted = f"{threads} processors{f' and {self._gpus:g} GPUs' if self._gpus else ''}"
                raise ClusterError(f"No machine of the Ray cluster has {wanted}, which each worker needs. Set "
                                   "CIRQUE_RAY_CPUS and CIRQUE_RAY_GPUS (docs/how-to/scale.md).")
            task = ray.remote(num_cpus=threads, num_gpus=self._gpus, max_retries=RETRIES)(_make_shard)
            work_there = ray.put(work)      # once for each machine
            waiting: dict[Any, Part] = {}

            def submit(number: int, part: Part) -> None:
                waiting[task.remote(work_there, part, number, shards, threads, __version__)] = part

            submit(*first)
            try:
                while waiting:
                    for number, part in islice(numbered, max(0, _WAITING * width - len(waiting))):
                        submit(number, part)
                    done, _ = ray.wait(list(waiting), timeout=1.0)
                    for one in done:
                        name = _outcome(ray, one, waiting.pop(one))
                        try:
                            results = work.unpack(shards.read(name))
                        except ValueError as error:
                            raise ClusterError(f"{name} in {shards.area} is damaged: {error}. Run the same command "
                                               "again.") from error
                        yield from results
                        shards.remove(name)
                    width = _room(ray, threads, self._gpus) or width    # machines come and go
            finally:
                for one in waiting:
                    ray.cancel(one, force=True)
        shards.discard()

    def _shards(self, job: Job) -> Shards:
        return Shards(self._storage or str(job.folder), job.name)

    @contextmanager
    def _connected(self) -> Iterator[ModuleType]:
        from cir_core.settings import prepare_for_ray

        prepare_for_ray()
        try:
            import ray
        except ImportError as error:
            raise ClusterError("Work on a Ray cluster needs the ray package. Install it from the checkout: "
                               ".venv/bin/pip install -e '.[ray]'") from error
        kind, _, number = self._address.partition(":")
        options: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
        if kind == "local":
            if number and not (number.isdecimal() and int(number)):
                raise ClusterError(f"'{self._address}' does not say how many processors to use. Write local:4, or "
                                   "local for all of them.")
            options |= {"address": "local", "num_cpus": int(number) if number else None, "include_dashboard": False,
                        "object_store_memory": _LOCAL_STORE}
        else:
            _check_address(self._address)
            options["address"] = self._address
        in_main = threading.current_thread() is threading.main_thread()
        handler = signal.getsignal(signal.SIGTERM) if in_main else None
        try:
            _start(ray, self._address, options)
        finally:
            if handler is not None:     # Ray sets its own, which ends the process before anything is put in order
                signal.signal(signal.SIGTERM, handler)
        try:
            yield ray
        finally:
            ray.shutdown()


def _threads_here() -> int:
    import torch

    return torch.get_num_threads()


def _start(ray: ModuleType, address: str, options: dict[str, Any]) -> None:
    """Connect, or start a cluster. Raises ``ClusterError``."""
    for attempts_left in reversed(range(_STARTS)):
        try:
            ray.init(**options)
            return
        except (Exception, SystemExit) as error:    # it raises Exception itself, and ends the process at worst
            if attempts_left and "timed out during startup" in str(error):
                continue    # Ray gives the machine half a minute
            reason = str(error).strip().partition("\n")[0].rstrip(".")
            raise ClusterError(f"Cannot use a Ray cluster at {address} ({reason}). Start one with ray start, with the "
                               "same token on all machines (docs/how-to/scale.md), or give --ray local to use the "
                               "processors of this machine.") from error


def _check_address(address: str) -> None:
    """Ray itself would wait for minutes, and then end this process."""
    if address == "auto":
        return
    host, colon, port = address.rpartition(":")
    if not (colon and host and port.isdecimal()) or "//" in address:
        raise ClusterError(f"'{address}' is not the address of a Ray cluster. Write HOST:PORT of its head (ray start "
                           "prints it), auto for the cluster that this machine belongs to, or local. The command must "
                           "run on one of the cluster's machines.")
    try:
        with socket.create_connection((host.strip("[]"), int(port)), timeout=_ANSWERS) as connection:
            connection.sendall(_GREETING)
            answer = connection.recv(9)
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise ClusterError(f"No Ray cluster answers at {address}: {reason}. Check the address, and that ray start runs "
                           "on its head (docs/how-to/scale.md).") from error
    if answer[3:4] != b"\x04":
        raise ClusterError(f"The service at {address} is not a Ray cluster. Give the port that ray start prints, 6379 "
                           "unless another was chosen; 8265 is that of its dashboard.")


def _room(ray: ModuleType, cpus: int, gpus: float) -> int:
    """How many workers the cluster has room for now."""
    room = 0
    for node in ray.nodes():
        has = node["Resources"] if node["Alive"] else {}
        room += int(min(has.get("CPU", 0) // cpus, has.get("GPU", 0) // gpus if gpus else float("inf")))
    return room


def _outcome(ray: ModuleType, ref: Any, part: object) -> str:
    """The name of the shard of ``part``. Raises ``ClusterError``, or what its work raised."""
    errors = ray.exceptions
    try:
        name: str = ray.get(ref)
        return name
    except errors.RayTaskError as error:
        if isinstance(error.cause, CirqueError):
            raise error.cause from None
        if isinstance(error.cause, ModuleNotFoundError):
            raise ClusterError(f"A worker lacks a package: {error.cause}. Install cirque {__version__} on all machines "
                               "of the cluster, with the same extras.") from error
        raise
    except (errors.WorkerCrashedError, errors.NodeDiedError, errors.OutOfMemoryError, errors.ObjectLostError) as error:
        raise ClusterError(f"{RETRIES + 1} workers died one after the other on the same part ({part}). It may need "
                           "more memory than they have, or one of its files makes them crash. What was finished is "
                           "kept: run the same command again, without --ray to see where it fails.") from error
    except errors.RayError as error:
        raise ClusterError(f"The Ray cluster failed: {str(error).strip().partition(chr(10))[0]} What was finished is "
                           "kept: run the same command again.") from error


_prepared: set[str] = set()    # jobs for which this worker was found fit


def _make_shard(work: Work[Any, Any], part: Any, number: int, shards: Shards, threads: int, version: str) -> str:
    """In a worker: the name of the shard with the results of ``part``."""
    if version != __version__:
        raise ClusterError(f"{socket.gethostname()} has cirque {__version__}, and the command is of cirque {version}. "
                           "Install the same version on all machines of the cluster.")
    if shards.job not in _prepared:
        work.prepare()
        if torch := sys.modules.get("torch"):
            torch.set_num_threads(threads)
        _prepared.add(shards.job)
    return shards.write(number, work.pack(list(work((part,)))))
