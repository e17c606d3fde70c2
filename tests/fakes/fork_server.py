"""Forks itself, with the modules of the web server imported, for each start that ``tests.fakes.forked`` asks for.

One message a start, on the socket that is the standard input: JSON with ``argv`` and ``environment``, and three files:
standard output, standard error, and a pipe to which the process id goes and, at the end, the exit status as of
``os.waitstatus_to_exitcode``, a line each.
"""

from __future__ import annotations

import gc
import json
import os
import runpy
import signal
import socket
import sys
from typing import Any

_MOST = 2**20     # bytes of a message


def main() -> None:
    """Serve until the other end closes. Returns in a child alone, which then runs what it was asked for."""
    # With a gallery to open, the server imports the encoder at once: 7 s of processor time, against 2 s that a child
    # with these modules takes to end.
    sys.modules["triton"] = None  # type: ignore[assignment] # for GPUs, and it complains at the end of a process
    import cir_core.encoders.open_clip_encoder  # noqa: F401
    import web.server  # noqa: F401

    del sys.modules["triton"]
    gc.collect()
    gc.freeze()        # children end in a fifth of the time: nobody looks through these modules once more
    signal.signal(signal.SIGINT, signal.SIG_IGN)      # Ctrl-C is for the children
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)     # nobody waits for those who wait
    with socket.socket(fileno=0) as asked:
        while True:
            message, (*files,), _, _ = socket.recv_fds(asked, _MOST, 3)
            if not message:
                os._exit(0)
            if not os.fork():
                break
            for file in files:
                os.close(file)
        asked.detach()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    output, errors, told = files
    if child := os.fork():
        _tell(told, child)
        _tell(told, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        os._exit(0)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(output, 1)
    os.dup2(errors, 2)
    for file in files:
        os.close(file)
    run(json.loads(message))


def _tell(told: int, number: int) -> None:
    os.write(told, f"{number}\n".encode())


def run(asked: dict[str, Any]) -> None:
    """As ``python`` does with ``argv``: a script, or ``-m`` and a module."""
    os.environ.clear()
    os.environ.update(asked["environment"])
    if asked["argv"][0] == "-m":
        sys.argv = asked["argv"][1:]
        runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
    else:
        sys.argv = asked["argv"]
        runpy.run_path(sys.argv[0], run_name="__main__")


if __name__ == "__main__":
    main()
