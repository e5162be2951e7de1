"""The files of a library."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path


def files_below(roots: Iterable[Path], most: int) -> Iterator[str]:
    """The files in these folders and below, sorted within each, until there are more than so many;
    each once, and none in a hidden folder."""
    seen: set[str] = set()
    for root in roots:
        for folder, inner, names in os.walk(root):
            if (real := os.path.realpath(folder)) in seen:
                inner.clear()
                continue
            seen.add(real)
            inner[:] = sorted(each for each in inner if not each.startswith("."))
            most -= len(names)
            if most < 0:
                return
            yield from (f"{folder}/{each}" for each in sorted(names))
