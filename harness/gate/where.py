"""Where a project's configuration is. Nothing else is imported: pytest asks at its start."""

from __future__ import annotations

import re
from pathlib import Path

OWN = "weakspot.toml"
PYPROJECT = "pyproject.toml"


def find(start: Path) -> Path | None:
    """The configuration of the project that the folder is in: the nearest one upwards."""
    for folder in (start, *start.parents):
        for name in (OWN, PYPROJECT):
            path = folder / name
            if path.is_file() and (name == OWN or _speaks(path)):
                return path
    return None


def _speaks(path: Path) -> bool:
    """Whether a pyproject.toml has our table; one that is not TOML is an error of its own."""
    return bool(re.search(rb"^\s*\[\s*tool\s*\.\s*weakspot\b", path.read_bytes(), re.M))
