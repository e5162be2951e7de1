"""The file that configures a project. It imports nothing else, since pytest loads it at startup."""

from __future__ import annotations

import re
from pathlib import Path

OWN = "weakspot.toml"
PYPROJECT = "pyproject.toml"


def find(start: Path) -> Path | None:
    """The nearest configuration file in the folder or above it."""
    for folder in (start, *start.parents):
        for name in (OWN, PYPROJECT):
            path = folder / name
            if path.is_file() and (name == OWN or _has_table(path)):
                return path
    return None


def _has_table(path: Path) -> bool:
    """Whether a pyproject.toml has a table [tool.weakspot]; whether it is TOML is checked later."""
    return bool(re.search(rb"^\s*\[\s*tool\s*\.\s*weakspot\b", path.read_bytes(), re.M))
