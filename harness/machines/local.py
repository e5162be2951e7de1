"""The machine that weakspot runs on."""

from __future__ import annotations

import os
import platform

from weakspot.errors import Unsupported
from weakspot.harness.machines import CARCH, Machine

_NAMES = {"amd64": "x86_64", "arm64": "aarch64"}  # as macOS and the BSDs call them


def machine() -> Machine:
    """This machine. Raises Unsupported on an architecture that litmus7 does not know."""
    arch = platform.machine().lower()
    arch = _NAMES.get(arch, arch)
    if arch not in CARCH:
        raise Unsupported(
            f"tests cannot run on this machine: its architecture is {arch}",
            advice="known are " + ", ".join(CARCH),
        )
    return Machine(name="local", arch=arch, litmus7=("-carch", CARCH[arch]))


def cores() -> int:
    """How many logical processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
