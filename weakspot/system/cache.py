"""Answers that are cached in files.

In: a key of everything that the answer depends on, with the content of its files, so that one who
changes between two branches of a project finds both. Out: the answer that is cached under it.
Compiled files are cached in the user's cache folder; without one that can be written there is no
cache, and no error.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

import msgspec

CACHE_ENTRIES = 1000
"""How many files of one kind a folder holds; those unused for longest are removed first, a tenth at
once."""

T = TypeVar("T", bound=msgspec.Struct)


class Entry(msgspec.Struct, frozen=True):
    """A compiled file, and the names of the user's files that it was made from."""

    text: str
    compiler: str
    names: tuple[str, ...] = ()


def folder_of(kind: str) -> Path | None:
    """The folder for one kind of things in the user's cache folder; None without a home."""
    import platformdirs

    try:
        return platformdirs.user_cache_path("weakspot") / kind
    except RuntimeError:
        return None


@contextlib.contextmanager
def folder(kind: str, name: str = "") -> Iterator[Path]:
    """A folder of that name for one kind of things in the user's cache folder; a temporary one
    where nothing can be cached."""
    found = folder_of(kind)
    try:
        if found is None:
            raise FileNotFoundError
        (found / name).mkdir(parents=True, exist_ok=True)
    except OSError:
        found = None
    if found is not None:
        yield found / name
        return
    import tempfile

    with tempfile.TemporaryDirectory(prefix=f"weakspot-{kind}-") as scratch:
        yield Path(scratch)


def path_of(key: str) -> Path | None:
    """Where a compiled file is cached; None where nothing can be."""
    folder = folder_of("ir")
    return folder and folder / f"{key}.json"


def read(path: Path | None, type_: type[T]) -> T | None:
    """The answer that is cached there; None where there is none that is whole."""
    if path is None:
        return None
    try:
        found = msgspec.json.decode(path.read_bytes(), type=type_)
    except (OSError, msgspec.DecodeError):
        return None
    with contextlib.suppress(OSError):
        os.utime(path)  # those unused for longest are removed first
    return found


def write(path: Path | None, answer: msgspec.Struct) -> None:
    """Cache an answer, whole or not at all. What cannot be cached costs time and nothing else."""
    with contextlib.suppress(msgspec.EncodeError, UnicodeEncodeError):
        write_bytes(path, msgspec.json.encode(answer))


def write_bytes(path: Path | None, content: bytes) -> bool:
    """Cache a file, whole or not at all. Returns whether the disk takes it."""
    import tempfile

    if path is None:
        return False
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, scratch = tempfile.mkstemp(dir=path.parent, suffix=".tmp")
        with os.fdopen(handle, "wb") as out:
            out.write(content)
        Path(scratch).replace(path)
    except OSError:
        return False
    _remove_oldest(path.parent, path.suffix)
    return True


def _remove_oldest(folder: Path, suffix: str) -> None:
    with contextlib.suppress(OSError):  # another process may have removed one
        with os.scandir(folder) as found:  # a path for each would take most of the time
            entries = [entry for entry in found if entry.name.endswith(suffix)]
        if len(entries) > CACHE_ENTRIES:
            entries.sort(key=lambda entry: entry.stat().st_mtime)
            for old in entries[: -CACHE_ENTRIES * 9 // 10]:
                Path(old).unlink(missing_ok=True)


def digest_of(file: Path) -> str:
    """A digest of a file's content."""
    return hashlib.sha256(file.read_bytes()).hexdigest()


def digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode(errors="surrogateescape")).hexdigest()
