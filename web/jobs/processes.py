"""Jobs that this server runs as processes of their own: ``cirque jobs resume ID``, which runs the recorded command.
They go on when the server ends, and are seen and stopped by their records, as all jobs are."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import IO

from cir_core.errors import DatasetError
from cir_core.jobs.records import JobRecords
from cir_core.settings import environment_with

AT_A_TIME = 2
_PATIENCE = 60.0    # seconds for the imports of a new process, on a busy machine
_LOOK = 0.1
_LAST = 2000        # characters of what it said


class JobProcesses:
    """Thread-safe."""

    def __init__(self, home: Path, records: JobRecords) -> None:
        self._home, self._records = home, records
        self._lock = threading.Lock()
        self._running: list[subprocess.Popen[bytes]] = []

    def run(self, job_id: str, account: str) -> None:
        """Begin or continue the job, and return once it keeps its record. Raises ``DatasetError`` if it does not
        begin, or too many are at work."""
        with self._lock:
            self._running = [one for one in self._running if one.poll() is None]
            if len(self._running) >= AT_A_TIME:
                raise DatasetError(f"{AT_A_TIME} jobs that were started here are running, which is the limit. "
                                   "Wait until one is done, or stop one: finished parts are kept.")
            said = tempfile.TemporaryFile()     # noqa: SIM115  closed below; the process has its own
            try:
                process = subprocess.Popen(
                    [sys.executable, "-P", "-m", "cli.main", "jobs", "resume", job_id, f"--account={account}"],
                    stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=said, cwd=self._home,
                    env=environment_with({"CIRQUE_HOME": str(self._home)}), start_new_session=True)
            except OSError as error:
                said.close()
                raise DatasetError(f"No process could be started: {error.strerror}. Run it from the command line: "
                                   f"cirque jobs resume {job_id}") from error
            self._running.append(process)
        threading.Thread(target=process.wait, name="cirque-job-process", daemon=True).start()   # leaves no zombie
        with said:
            self._wait(process, job_id, said)

    def _wait(self, process: subprocess.Popen[bytes], job_id: str, said: IO[bytes]) -> None:
        until = time.monotonic() + _PATIENCE
        while self._records.find(job_id).process != process.pid:
            if process.poll() is not None and self._records.find(job_id).process != process.pid:
                raise DatasetError(_sentence(said) or f"The job ended at once, with exit code {process.returncode}. "
                                   f"Run it from the command line: cirque jobs resume {job_id}")
            if time.monotonic() > until:
                return
            time.sleep(_LOOK)


def _sentence(said: IO[bytes]) -> str:
    """The last line of what the process said."""
    said.seek(0)
    lines = said.read()[-_LAST:].decode("utf-8", "replace").split("\n")
    return next((line.strip() for line in reversed(lines) if line.strip()), "")
