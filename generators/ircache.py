"""The cache of compiled files, in the user's cache folder.

In: a key that stands for all that is known before the compiler runs. Out: the entry kept under
it, if the files it was made of are unchanged. Without a folder that can be written there is no
cache, and no error.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

import msgspec

CACHE_ENTRIES = 1000
"""How many compiled files the cache keeps; the oldest go first."""


class Entry(msgspec.Struct, frozen=True):
    """A compiled file, and what must be unchanged for it to hold.

    `hashes` are of the files `names`; `listing` is of the names in the searched folders, since a
    file that is new there may be included instead of another one.
    """

    text: str
    compiler: str
    names: list[str]
    hashes: list[str]
    listing: str


def entry(
    text: str, compiler: str, names: list[str], folder: Path, searched: Sequence[Path]
) -> Entry:
    """The entry for the files `names`, relative to `folder`, as they are now."""
    hashes = [_digest_file(folder / name) for name in names]
    return Entry(
        text=text, compiler=compiler, names=names, hashes=hashes, listing=_listing(searched)
    )


def _entry_path(key: str) -> Path:
    """In the user's cache folder. OSError when there is none that can be written."""
    bases = (os.environ.get("XDG_CACHE_HOME"), os.environ.get("HOME"))
    for base, rest in zip(bases, ("weakspot/ir", ".cache/weakspot/ir"), strict=True):
        if base and Path(base).is_absolute():
            folder = Path(base, rest)
            folder.mkdir(parents=True, exist_ok=True)
            return folder / f"{key}.json"
    raise FileNotFoundError("no cache folder")


def read(key: str, folder: Path, searched: Sequence[Path]) -> Entry | None:
    """The entry, if it is there and still holds."""
    try:
        found = msgspec.json.decode(_entry_path(key).read_bytes(), type=Entry)
        fresh = [_digest_file(folder / name) for name in found.names]
    except (OSError, msgspec.DecodeError):
        return None
    return found if fresh == found.hashes and found.listing == _listing(searched) else None


def write(key: str, kept: Entry) -> None:
    """Keep the entry. A cache that cannot be written costs time and nothing else."""
    with contextlib.suppress(OSError, msgspec.EncodeError, UnicodeEncodeError):
        target = _entry_path(key)
        content = msgspec.json.encode(kept)
        handle, scratch = tempfile.mkstemp(dir=target.parent, suffix=".tmp")
        with os.fdopen(handle, "wb") as out:
            out.write(content)
        Path(scratch).replace(target)
        entries = sorted(target.parent.glob("*.json"), key=lambda file: file.stat().st_mtime)
        for old in entries[:-CACHE_ENTRIES]:
            old.unlink(missing_ok=True)


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
