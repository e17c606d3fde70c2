"""A worker of pytest-xdist, forked by :mod:`tests.fakes.fork_server`: what all workers import is in memory once.

execnet starts it in place of an interpreter (``python -u -c CODE``). It hands its own files and ``CODE`` to the server
of forks, and ends as the forked process does.
"""

from __future__ import annotations

import json
import os
import socket
import sys
from pathlib import Path


def main() -> None:
    arguments = sys.argv[sys.argv.index("-c"):]
    read, write = os.pipe()
    asking = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    asking.connect(os.environ["PYTEST_CIRQUE_FORKS"])
    message = {"argv": arguments, "environment": dict(os.environ), "folder": str(Path.cwd())}
    socket.send_fds(asking, [json.dumps(message).encode()], [1, 2, write, 0])
    for file in (0, 1, write):    # or the end of the worker would not be noticed at the other end
        os.close(file)
    with os.fdopen(read) as told:
        _, code, *_ = (told.readline() or "-9" for _ in range(2))
    os._exit(int(code) % 256)


if __name__ == "__main__":
    main()
