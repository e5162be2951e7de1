"""The files of a library."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

_OTHER_SYSTEM = re.compile(
    r"(?<![a-z])(?:win(?:dows|32|64)?|mingw|cygwin|mac(?:os)?|osx|darwin|apple|ios|android|bare(?:metal)?"
    r"|(?:free|net|open)?bsd|solaris|sunos|hpux|aix|qnx|(?:free)?rtos|deprecated)(?![a-z])",
    re.IGNORECASE,
)
"""In names of files and folders for other systems than Linux."""


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


def is_for_another_system(path: str) -> bool:
    """Whether a path names another system than Linux."""
    return _OTHER_SYSTEM.search(path) is not None
