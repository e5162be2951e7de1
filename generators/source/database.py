"""Compilation databases: which compiler flags a project's build passes for a source.

In: a source file, or a header. Out: the words of the command that compiles it, from the nearest
compile_commands.json, and how they were found. A file without a command of its own, such as a
header or a test program that the build does not know, takes that of a source that includes it, or
of its nearest neighbour, as clangd does.

Format: https://clang.llvm.org/docs/JSONCompilationDatabase.html
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path

import msgspec

from weakspot.errors import BadInput

NAME = "compile_commands.json"
FOLDERS = ("", "build")
"""Where a database is looked for, below the source's folder and each folder above it."""


class Command(msgspec.Struct, frozen=True):
    """A source and the words that follow the compiler's name. `folder` is where the compiler is
    started."""

    file: Path
    folder: Path
    words: tuple[str, ...]


class Match(msgspec.Struct, frozen=True):
    """A command, and a sentence that says why it applies to a source."""

    command: Command
    why: str


class _Entry(msgspec.Struct, frozen=True):
    directory: str
    file: str
    command: str = ""
    arguments: tuple[str, ...] = ()


def nearest(source: Path) -> Path | None:
    """The database in the source's folder or above it, or in `build` there."""
    folder = Path(os.path.abspath(source)).parent  # noqa: PTH100  # links are part of the path
    for above in (folder, *folder.parents):
        for name in FOLDERS:
            path = above / name / NAME
            if path.is_file():
                return path
    return None


def match(source: Path, database: Path) -> Match | None:
    """The command for a source; None if the database is empty. Raises BadInput for a database that
    cannot be read."""
    commands = _read(database, database.stat().st_mtime_ns)
    own = Path(os.path.realpath(source))
    if own in commands:
        return Match(commands[own], f"it has an entry in {_shown(database)}")
    including = next((each for each in _including(own, tuple(commands.values()))), None)
    if including is not None:
        return Match(including, f"{_shown(including.file)} in {_shown(database)} includes it")
    neighbour = max(commands.values(), key=lambda each: _nearness(own, each.file), default=None)
    if neighbour is None:
        return None
    return Match(neighbour, f"its neighbour {_shown(neighbour.file)} is in {_shown(database)}")


def _shown(path: Path) -> str:
    """A path as the user may type it: relative if it is in or beside the current folder."""
    relative = os.path.relpath(path)
    return relative if not relative.startswith("../../..") else str(path)


@lru_cache(maxsize=8)
def _read(database: Path, _changed: int) -> dict[Path, Command]:
    """The commands by the real paths of their sources. The first of
    several for one source counts."""
    try:
        entries = msgspec.json.decode(database.read_bytes(), type=tuple[_Entry, ...])
    except OSError as error:
        raise BadInput(
            f"cannot read {database.name}: {error.strerror}", place=str(database)
        ) from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise BadInput(
            f"not a compilation database: {error}",
            place=_shown(database),
            advice="write it again, for example with cmake -DCMAKE_EXPORT_COMPILE_COMMANDS=ON, "
            "or name another with --compile-commands",
        ) from error
    found: dict[Path, Command] = {}
    for entry in entries:
        folder = database.parent / entry.directory
        file = Path(os.path.realpath(folder / entry.file))
        try:
            words = entry.arguments or tuple(shlex.split(entry.command))
        except ValueError as error:
            raise BadInput(
                f"not a command: {error}", place=_shown(database), excerpt=f"   | {entry.command}"
            ) from error
        found.setdefault(file, Command(file, folder, tuple(words[1:])))
    return found


_INCLUDE = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*["<]([^">\n]+)[">]', re.MULTILINE)


def _including(own: Path, commands: Sequence[Command]) -> Iterator[Command]:
    """The sources that include the file directly, those of the same name first."""
    if re.fullmatch(r"\.(c|cc|cpp|cxx|c\+\+|C)", own.suffix):
        return
    for each in sorted(commands, key=lambda each: each.file.stem != own.stem):
        try:
            text = each.file.read_bytes()
        except OSError:
            continue
        for name in _INCLUDE.findall(text):
            parts = Path(os.path.normpath(os.fsdecode(name))).parts
            plain = tuple(part for part in parts if part != "..")
            if own.parts[-len(plain) :] == plain:
                yield each
                break


def _nearness(own: Path, other: Path) -> tuple[bool, int, bool]:
    """How near a source is: the same language, the folders in common, the same name."""
    common = len(Path(os.path.commonpath([own.parent, other.parent])).parts)
    cpp = own.suffix != ".c" and own.suffix != ".h"
    return (own.suffix == ".h" or (other.suffix != ".c") == cpp, common, other.stem == own.stem)
