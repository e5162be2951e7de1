"""Files that survive what happens to processes and disks.

A Journal only grows, one line per job: whatever kills the writer leaves at most one torn line, the
last, which the next writer removes. Other files are replaced whole, or not at all.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import shutil
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Generic, TypeVar

import msgspec

from weakspot.errors import BadInput, WeakspotError, quoted

SYNC_SECONDS = 1.0
"""How much work a power failure may cost. A killed process costs none: each line is handed to the
kernel at once, but waiting for the disk after each would take longer than most checks."""

T = TypeVar("T", bound=msgspec.Struct)
V = TypeVar("V")


class _Keyed(msgspec.Struct):
    key: str


class Journal(Generic[T]):
    """A file of answers, one per line, each with the key of its job."""

    def __init__(self, path: Path, type_: type[T]) -> None:
        self.path = path
        self.type = type_
        self.keys: set[str] = set()
        self._file: int | None = None
        self._synced = 0.0
        self._guard = threading.Lock()

    def read(
        self, each: Callable[[T], T] = lambda answer: answer
    ) -> tuple[list[tuple[str, T]], int, str]:
        """The answers, of `each` what it returns, how many bytes of the file they take, and what is
        wrong with its end."""
        answers: list[tuple[str, T]] = []
        good, rest = 0, b""
        keyed, decoder = msgspec.json.Decoder(_Keyed), msgspec.json.Decoder(self.type)
        try:
            with self.path.open("rb") as lines:  # they may be many: one is in memory at a time
                for number, line in enumerate(lines, 1):
                    try:
                        if not line.endswith(b"\n"):
                            rest = line
                            break
                        answers.append((keyed.decode(line).key, each(decoder.decode(line))))
                    except msgspec.DecodeError as error:
                        if lines.read(1):
                            raise BadInput(
                                f"a damaged line: {error}",
                                place=f"{self.path}:{number}",
                                excerpt=quoted([line[:100].decode(errors="replace").rstrip()]),
                                advice="take the line out; its job is then done again",
                            ) from error
                        rest = line
                        break
                    good += len(line)
        except FileNotFoundError:
            return [], 0, ""
        except OSError as error:
            raise unreadable(self.path, error) from error
        note = f"{self.path.name}: its last line was torn; that job is done again" if rest else ""
        return answers, good, note

    def open(self) -> str:
        """Open for appending, after the last whole line; the note says what was removed."""
        answers, good, note = self.read()
        self.keys = {key for key, _ in answers}
        with disk(self.path):
            self._file = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
            os.ftruncate(self._file, good)
        return note

    def add(self, key: str, value: T) -> None:
        line = msgspec.json.encode({"key": key, **msgspec.to_builtins(value)}) + b"\n"
        with self._guard, disk(self.path):
            assert self._file is not None, "the store is closed"
            while line:  # a full disk may take a part
                line = line[os.write(self._file, line) :]
            self.keys.add(key)
            if time.monotonic() - self._synced > SYNC_SECONDS:
                os.fsync(self._file)
                self._synced = time.monotonic()

    def close(self) -> None:
        if self._file is not None:
            file, self._file = self._file, None
            try:
                with disk(self.path):
                    os.fsync(file)
            finally:
                os.close(file)


def pretty(value: object) -> bytes:
    return msgspec.json.format(msgspec.json.encode(value), indent=1) + b"\n"


def lines(values: Iterable[object]) -> bytes:
    return b"".join(msgspec.json.encode(value) + b"\n" for value in values)


def replace(path: Path, content: bytes) -> None:
    """Write the file whole or not at all; it keeps its mode."""
    scratch = path.with_name(path.name + ".new")
    with disk(path):
        try:
            with scratch.open("wb") as out:
                out.write(content)
                out.flush()
                os.fsync(out.fileno())
            with contextlib.suppress(FileNotFoundError):
                shutil.copymode(path, scratch)
            scratch.replace(path)
        except BaseException:
            scratch.unlink(missing_ok=True)
            raise


def value(path: Path, type_: type[V], wrong: str, advice: str | None = None) -> V | None:
    """What a JSON file holds; None without the file. Raises BadInput: `wrong`, and where."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=type_)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise unreadable(path, error) from error
    except msgspec.DecodeError as error:
        raise BadInput(f"{wrong}: {error}", place=str(path), advice=advice) from error


def rows(path: Path, type_: type[T]) -> tuple[T, ...]:
    """A file of values, one per line; none when there is no such file yet."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return ()
    except OSError as error:
        raise unreadable(path, error) from error
    decoder = msgspec.json.Decoder(type_)
    rows = []
    for number, line in enumerate(content.splitlines(), 1):
        try:
            rows.append(decoder.decode(line))
        except msgspec.DecodeError as error:
            raise BadInput(f"a damaged line: {error}", place=f"{path}:{number}") from error
    return tuple(rows)


@contextlib.contextmanager
def disk(path: Path) -> Iterator[None]:
    """Raise what goes wrong when `path` is written in the block as `unwritable`."""
    try:
        yield
    except OSError as error:
        raise unwritable(str(path), error) from error


def unwritable(place: str, error: OSError) -> WeakspotError:
    """An error of writing a file or a folder, with what the user can do about it."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return WeakspotError(
            "the disk is full",
            place=place,
            advice="free some space and give the same command again; completed work is preserved",
        )
    advice = {
        errno.ENOENT: "create its folder first, or name another one",
        errno.EEXIST: "a file has this name; name a folder",
        errno.ENOTDIR: "a part of this path is a file; name a folder",
        errno.EISDIR: "a folder has this name; name a file",
    }.get(error.errno or 0, "check the folder's permissions, or name another folder")
    return WeakspotError(f"cannot write: {error.strerror or error}", place=place, advice=advice)


def unreadable(path: Path, error: OSError) -> BadInput:
    return BadInput(
        f"cannot read: {error.strerror or error}",
        place=str(path),
        advice="check the path and the spelling" if error.errno == errno.ENOENT else None,
    )


def file_names(names: Iterable[str]) -> Iterator[str]:
    """A file name for each test's name: the name itself where a file can be called so."""
    taken: set[str] = set()
    for name in names:
        plain = re.sub(r"[^A-Za-z0-9+._-]", "_", name)[:120].lstrip(".") or "test"
        unique, number = plain, 1
        while unique.lower() in taken:
            number += 1
            unique = f"{plain}~{number}"
        taken.add(unique.lower())
        yield f"{unique}.litmus"
