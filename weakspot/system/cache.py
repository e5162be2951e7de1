"""Answers that are cached in files, and the files that each was made from.

In: a key of everything that is known before the work begins. Out: the answer that is cached under
it for the files as they are now. A key has an answer for each content of its files, so that one who
changes between two branches of a project finds both. Compiled files are cached in the user's cache
folder; without one that can be written there is no cache, and no error.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

import msgspec

CACHE_ENTRIES = 1000
"""How many files of one kind a folder holds; those unused for longest are removed first, a tenth at
once."""

LISTS = 4
"""How many lists of files an answer of one key may have been made from."""

T = TypeVar("T", bound=msgspec.Struct)


class Inputs(msgspec.Struct, frozen=True):
    """What must be unchanged for an answer to hold.

    `hashes` are those of the files `names`, relative to a folder; `listing` is a hash of the names
    in the searched folders, since a new file there may be included instead of another one.
    """

    names: tuple[str, ...]
    hashes: tuple[str, ...]
    listing: str = ""


class Entry(msgspec.Struct, frozen=True):
    """A compiled file."""

    text: str
    compiler: str
    inputs: Inputs


def inputs(names: Sequence[str], folder: Path, searched: Sequence[Path] = ()) -> Inputs:
    """The files, relative to the folder, as they are now. Raises OSError for one that is not."""
    return Inputs(
        names=tuple(names),
        hashes=tuple(_digest_file(folder / name) for name in names),
        listing=_listing(searched),
    )


class _Read(msgspec.Struct, frozen=True):
    """Which files the answers of a key were made from, the last one first."""

    lists: tuple[tuple[str, ...], ...] = ()


def read_made(
    path: Path | None, type_: type[T], folder: Path, searched: Sequence[Path]
) -> T | None:
    """The answer that `write_made` has cached there for the files as they are now."""
    if path is None:
        return None
    for names in (read(_lists(path), _Read) or _Read()).lists:
        try:
            place = _made(path, inputs(names, folder, searched))
        except OSError:  # a file is not there
            continue
        if (found := read(place, type_)) is not None:
            with contextlib.suppress(OSError):
                os.utime(place)
                os.utime(_lists(path))
            return found
    return None


def write_made(path: Path | None, answer: msgspec.Struct, made: Inputs) -> None:
    """Cache an answer that was made from these files, beside those from other contents of them."""
    if path is None:
        return
    write(_made(path, made), answer)
    known = (read(_lists(path), _Read) or _Read()).lists
    lists = (made.names, *(each for each in known if each != made.names))
    write(_lists(path), _Read(lists[:LISTS]))


def _lists(path: Path) -> Path:
    return path.with_suffix(".files")


def _made(path: Path, made: Inputs) -> Path:
    parts = "\0".join(made.names), "\0".join(made.hashes), made.listing
    return path.with_name(f"{path.stem}-{digest(*parts)[:32]}{path.suffix}")


def folder_of(kind: str) -> Path | None:
    """The folder for one kind of things in the user's cache folder; None without a home."""
    import platformdirs

    try:
        return platformdirs.user_cache_path("weakspot") / kind
    except RuntimeError:
        return None


def path_of(key: str) -> Path | None:
    """Where a compiled file is cached; None where nothing can be."""
    folder = folder_of("ir")
    return folder and folder / f"{key}.json"


def read(path: Path | None, type_: type[T]) -> T | None:
    """The answer that is cached there; None where there is none that is whole."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=type_) if path else None
    except (OSError, msgspec.DecodeError):
        return None


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


def digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode(errors="surrogateescape")).hexdigest()


def _digest_file(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _listing(folders: Sequence[Path]) -> str:
    names = []
    for folder in folders:
        with contextlib.suppress(PermissionError):
            names.append("/".join(sorted(file.name for file in folder.iterdir())))
    return digest(*names)
