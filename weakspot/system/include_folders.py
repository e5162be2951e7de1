"""The folders that compilers search for headers without an option, besides their own."""

from __future__ import annotations

import os
from pathlib import Path

_VARIABLES = ("CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH")
_SYSTEM = (Path("/usr/local/include"), Path("/usr/include"))


def default_folders() -> tuple[Path, ...]:
    """Those of the environment first."""
    words = (word for name in _VARIABLES for word in os.environ.get(name, "").split(os.pathsep))
    return (*(Path(word) for word in words if word), *_SYSTEM)
