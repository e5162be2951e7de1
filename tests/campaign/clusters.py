"""A cluster of processes that tests kill."""

from __future__ import annotations

import socket
import subprocess
import sys
from pathlib import Path


class Cluster:
    """A scheduler and two workers on this computer, each of which may be killed."""

    def __init__(self, folder: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self._port = free.getsockname()[1]
        self.address = f"tcp://127.0.0.1:{self._port}"
        self._folder = folder
        self.start_scheduler()

    def start_scheduler(self) -> None:
        self.scheduler = self._start("scheduler", "--host", "127.0.0.1", "--port", str(self._port))
        self.workers = [self.start_worker(), self.start_worker()]

    def start_worker(self) -> subprocess.Popen[bytes]:
        return self._start("worker", self.address, "--nthreads", "1", "--no-nanny")

    def _start(self, what: str, *arguments: str) -> subprocess.Popen[bytes]:
        module = f"distributed.cli.dask_{what}"
        command = [sys.executable, "-m", module, "--dashboard-address", ":0", *arguments]
        with (self._folder / f"{what}.log").open("ab") as log:
            return subprocess.Popen(command, stdout=log, stderr=log)

    def kill(self, process: subprocess.Popen[bytes]) -> None:
        process.kill()
        process.wait()

    def kill_worker(self, at: int) -> None:
        self.kill(self.workers[at])
        self.workers[at] = self.start_worker()

    def kill_scheduler(self) -> None:
        for each in (self.scheduler, *self.workers):
            self.kill(each)

    def close(self) -> None:
        for each in (*self.workers, self.scheduler):
            self.kill(each)
