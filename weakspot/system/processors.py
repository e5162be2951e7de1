"""The processors of this machine."""

from __future__ import annotations

import os


def use_at_most(count: int) -> None:
    """Run this process, and those that it starts, on so many processors at most."""
    if hasattr(os, "sched_setaffinity"):
        allowed = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, allowed[:count])


def cores() -> int:
    """How many logical processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
