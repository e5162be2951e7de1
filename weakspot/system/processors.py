"""The processors of this machine."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

_most = 0


@contextlib.contextmanager
def at_most(count: int) -> Iterator[None]:
    """Inside the block this process works on so many processors at a time at most. Which these
    are is left to the operating system: processes that choose would choose the same ones."""
    global _most
    before, _most = _most, count
    try:
        yield
    finally:
        _most = before


def most() -> int:
    """How many processors this process may use at a time; 0 for all."""
    return _most


def cores() -> int:
    """How many logical processors this process may use at a time."""
    if hasattr(os, "sched_getaffinity"):
        allowed = len(os.sched_getaffinity(0))
    else:
        allowed = os.cpu_count() or 1
    return min(allowed, _most or allowed)
