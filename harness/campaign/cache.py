"""A project's answers between runs, in its folder `.weakspot`: one file per answer, written as soon
as it is known, under a key of all that it depends on, with the content of the source's files.

So Ctrl-C loses at most the answer in progress, an unchanged scenario costs the preprocessor's time,
and a truncated file is an answer that is asked for again. An answer that a time limit truncated is
not stored: the next run may find more.
Answers for other contents of the files stay, such as those of another branch.
"""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Generic, TypeVar

import msgspec

from weakspot.system import cache

FOLDER = ".weakspot"


T = TypeVar("T", bound=msgspec.Struct)


class CacheStore(Generic[T]):
    """The answers of one type below a folder; a Store. Without a folder they last as long as the
    process. `stored` are the keys of answers that an earlier run has left, `open` those of answers
    that are not final."""

    def __init__(self, folder: Path | None, type_: type[T]) -> None:
        self._folder, self._type = folder, type_
        self._known: dict[str, T] = {}
        self.stored: set[str] = set()
        self.open: set[str] = set()

    @property
    def place(self) -> str:
        return FOLDER if self._folder is not None else ""

    @property
    def count(self) -> int:
        return len(self._known)

    def has(self, key: str) -> bool:
        if key in self._known:
            return True
        found = cache.read(self._path(key), self._type)
        if found is None:
            return False
        self._known[key] = found
        self.stored.add(key)
        return True

    def get(self, key: str) -> T:
        """The answer of a key that it has."""
        return self._known[key]

    def forget(self, key: str) -> None:
        """Have a question asked again whose answer is not final."""
        self.open.discard(key)
        del self._known[key]

    def put(self, key: str, answer: object, *, final: bool = True) -> None:
        assert isinstance(answer, self._type)
        self._known[key] = answer
        (self.open.discard if final else self.open.add)(key)
        if final:
            cache.write(self._path(key), answer)

    def _path(self, key: str) -> Path | None:
        return self._folder / f"{cache.digest(key)}.json" if self._folder is not None else None


def project_folder(root: Path) -> Path:
    """The folder `.weakspot` of the project, which git ignores. A folder that cannot be written
    costs time only."""
    made = root / FOLDER
    with contextlib.suppress(OSError):
        made.mkdir(exist_ok=True)
        if not (made / ".gitignore").exists():
            (made / ".gitignore").write_text("*\n", encoding="utf-8")
    return made
