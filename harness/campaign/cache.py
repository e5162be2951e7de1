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

from weakspot.harness.campaign.store import MemoryStore
from weakspot.system import cache

FOLDER = ".weakspot"


T = TypeVar("T", bound=msgspec.Struct)


class CacheStore(MemoryStore, Generic[T]):
    """The answers of one type below a folder; without a folder they last as long as the process.
    `stored` are the keys of answers that an earlier run has left."""

    def __init__(self, folder: Path | None, type_: type[T]) -> None:
        super().__init__()
        self._folder, self._type = folder, type_
        self.place = FOLDER if folder is not None else ""
        self.stored: set[str] = set()

    def has(self, key: str) -> bool:
        if key not in self._answers:
            found = cache.read(self._path(key), self._type)
            if found is not None:
                self._answers[key] = found
                self.stored.add(key)
        return super().has(key)

    def get(self, key: str) -> T | None:
        found = super().get(key)
        assert found is None or isinstance(found, self._type)
        return found

    def put(self, key: str, answer: object, *, final: bool = True) -> None:
        assert isinstance(answer, self._type)
        super().put(key, answer, final=final)
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
