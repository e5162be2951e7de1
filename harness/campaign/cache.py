"""A project's answers between runs, in its folder `.weakspot`: one file per answer, written as soon
as it is known, under a key of all that it depends on.

An answer also holds the files that it was made of, since which headers a source includes is known
only once it is compiled; it counts as long as they are unchanged. So Ctrl-C loses at most the
answer in progress, an unchanged scenario costs nothing, and a truncated file is an answer that is
asked for again. An answer that a time limit truncated is not stored: the next run may find more.
Answers for other contents of the files stay, such as those of another branch.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from pathlib import Path
from typing import Generic, TypeVar

import msgspec

from weakspot.system import cache

FOLDER = ".weakspot"


T = TypeVar("T", bound=msgspec.Struct)


class CacheStore(Generic[T]):
    """The answers of one type below a folder; a Store. Without a folder they last as long as the
    process. `stored` are the keys of answers that an earlier run has left."""

    def __init__(self, folder: Path | None, type_: type[T]) -> None:
        self._folder, self._type = folder, type_
        self._files: dict[str, tuple[Path, Sequence[Path]]] = {}
        self._known: dict[str, T] = {}
        self.stored: set[str] = set()

    @property
    def place(self) -> str:
        return FOLDER if self._folder is not None else ""

    @property
    def count(self) -> int:
        return len(self._known)

    def expect(self, key: str, folder: Path, searched: Sequence[Path]) -> None:
        """Say where the files of this key's answer are: their names are relative to the folder, and
        a new file in a searched folder may hide one of them."""
        self._files[key] = folder, searched

    def has(self, key: str) -> bool:
        if key in self._known:
            return True
        found = self._read(key)
        if found is None:
            return False
        self._known[key] = found
        self.stored.add(key)
        return True

    def get(self, key: str) -> T:
        """The answer of a key that it has."""
        return self._known[key]

    def put(self, key: str, answer: object, *, final: bool = True) -> None:
        assert isinstance(answer, self._type)
        self._known[key] = answer
        if final and key in self._files:
            cache.write_made(self._path(key), answer, answer.inputs)  # type: ignore[attr-defined]
        elif final:
            cache.write(self._path(key), answer)

    def _path(self, key: str) -> Path | None:
        return self._folder / f"{cache.digest(key)}.json" if self._folder is not None else None

    def _read(self, key: str) -> T | None:
        """The answer for the files as they are now; one without files always holds."""
        if key not in self._files:
            return cache.read(self._path(key), self._type)
        return cache.read_made(self._path(key), self._type, *self._files[key])


def project_folder(root: Path) -> Path:
    """The folder `.weakspot` of the project, which git ignores. A folder that cannot be written
    costs time only."""
    made = root / FOLDER
    with contextlib.suppress(OSError):
        made.mkdir(exist_ok=True)
        if not (made / ".gitignore").exists():
            (made / ".gitignore").write_text("*\n", encoding="utf-8")
    return made
