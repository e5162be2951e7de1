"""Processes that a test starts and interrupts."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path


def wait_until_busy(child: subprocess.Popen[str], seconds: float = 1.2) -> None:
    """Until the process has used so many seconds of processors, more than it takes to start: how
    long that takes depends on what else runs."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and child.poll() is None:
        # after the name, from the state on (proc(5)): utime and stime are fields 14 and 15
        fields = Path(f"/proc/{child.pid}/stat").read_text().rpartition(")")[2].split()
        if (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK") > seconds:
            return
        time.sleep(0.02)


def wait_until_gone(group: int, seconds: float = 5.0) -> None:
    """Until no process of the group is left. Processes that were killed take a moment to end."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return
        assert time.monotonic() < deadline, f"processes of the group {group} still run"
        time.sleep(0.02)
