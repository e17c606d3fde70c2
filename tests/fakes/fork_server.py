"""Forks itself, with the modules of the web server and of the commands imported, for each start that
``tests.fakes.forked`` asks for.

It listens on the socket that is its standard input, and ends when nobody reads its standard output any more. One
message a start: JSON with ``argv``, ``environment`` and ``folder``, and three or four files: standard output, standard
error, a pipe to which the process id goes and, at the end, the exit status as of ``os.waitstatus_to_exitcode`` and the
CPU seconds of the process and of those it waited for, a line each; and standard input, empty if it is left out.
"""

from __future__ import annotations

import gc
import json
import logging
import os
import runpy
import select
import signal
import socket
import sys
from contextlib import suppress
from importlib import import_module
from typing import Any

import typer.main

from tests.fakes.kept_encoder import keep_encoder

_MOST = 2**20     # bytes of a message
# What commands and servers import when they first need it, a second and more of each.
_LATE = ("openai", "scipy.stats", "sklearn.linear_model", "statsmodels.stats.inter_rater")


def main() -> None:
    """Serve until the other end of the standard output closes. Returns in a child alone, which then runs what it was
    asked for."""
    # With a gallery to open, the server imports the encoder at once: 7 s of processor time, against 2 s that a child
    # with these modules takes to end.
    sys.modules["triton"] = None  # type: ignore[assignment] # for GPUs, and it complains at the end of a process
    import cir_core.encoders.open_clip_encoder  # noqa: F401
    import cli.main
    import web.server  # noqa: F401
    list(typer.main.get_command(cli.main.app).commands.values())     # type: ignore[attr-defined] # imports them
    for late in _LATE:
        import_module(late)

    keep_encoder(warm=True)
    logging.getLogger().handlers.clear()     # what open_clip says while it loads makes one, for standard error

    # Python warns of a module that is run although it was imported.
    del sys.modules["triton"], sys.modules["cli.main"]
    gc.collect()
    gc.freeze()        # children end in a fifth of the time: nobody looks through these modules once more
    signal.signal(signal.SIGINT, signal.SIG_IGN)      # Ctrl-C is for the children
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)     # nobody waits for those who wait
    message, files = _next_start(socket.socket(fileno=0))
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    output, errors, told, *given = files
    if child := os.fork():
        _tell(told, child)
        _, status, used = os.wait4(child, 0)
        _tell(told, os.waitstatus_to_exitcode(status))
        _tell(told, used.ru_utime + used.ru_stime)
        os._exit(0)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.dup2(given[0] if given else os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(output, 1)
    os.dup2(errors, 2)
    for file in files:
        os.close(file)
    run(json.loads(message))


def _next_start(listening: socket.socket) -> tuple[bytes, list[int]]:
    """A message and its files, in a child that has no other file of the server."""
    waiting = select.poll()
    waiting.register(1, select.POLLERR)
    waiting.register(listening, select.POLLIN)
    asking: dict[int, socket.socket] = {}
    while True:
        for file, _ in waiting.poll():
            if file == 1:
                os._exit(0)
            if file == listening.fileno():
                one = listening.accept()[0]
                asking[one.fileno()] = one
                waiting.register(one, select.POLLIN)
                continue
            message, files, _, _ = socket.recv_fds(asking[file], _MOST, 4)
            if not message:
                waiting.unregister(file)
                asking.pop(file).close()
            elif os.fork():
                for sent in files:
                    os.close(sent)
            else:
                for other in (listening, *asking.values()):
                    other.close()
                return message, files


def _tell(told: int, number: float) -> None:
    with suppress(BrokenPipeError):      # whoever asked is gone
        os.write(told, f"{number}\n".encode())


def run(asked: dict[str, Any]) -> None:
    """As ``python`` does with ``argv``: a script, ``-m`` and a module, or ``-c`` and code."""
    os.environ.clear()
    os.environ.update(asked["environment"])
    os.chdir(asked["folder"])
    kind, *rest = asked["argv"]
    if kind == "-m":
        sys.argv = rest
        runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
    elif kind == "-c":
        sys.argv = ["-c", *rest[1:]]
        exec(compile(rest[0], "<string>", "exec"), {"__name__": "__main__"})
    else:
        sys.argv = [kind, *rest]
        runpy.run_path(kind, run_name="__main__")


if __name__ == "__main__":
    main()
