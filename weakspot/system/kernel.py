"""Where the memory model of the Linux kernel is: its folder tools/memory-model, unmodified.

The folder is the one that WEAKSPOT_KERNEL_MODEL names, a kernel tree or its tools/memory-model;
else the one that `scripts/install-tools` fills, with `--kernel-model` or `--kernel-tree`.
"""

from __future__ import annotations

import os
from pathlib import Path

from weakspot.system import tools

CONFIGURATION = "linux-kernel.cfg"
"""The file that names the others of the model."""

VARIABLE = "WEAKSPOT_KERNEL_MODEL"

ADVICE = (
    "run scripts/install-tools --kernel-model in weakspot's clone, or set "
    f"{VARIABLE} to a kernel tree or its folder tools/memory-model"
)


def folder() -> Path | None:
    """The folder of the model, or None. A variable that is empty means that there is none."""
    named = os.environ.get(VARIABLE)
    if named is not None:
        places = [Path(named), Path(named) / "tools" / "memory-model"] if named else []
    else:
        known = ("kernel-model", "linux/tools/memory-model")
        places = [each / name for each in tools.prefixes() for name in known]
    return next((each for each in places if (each / CONFIGURATION).is_file()), None)
