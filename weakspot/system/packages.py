"""Where the files are that come with a package."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path


def folder(package: str) -> Path:
    """The folder of a package; importlib.resources finds it too, but takes longer to import than
    most commands to answer."""
    return Path(import_module(package).__path__[0])
