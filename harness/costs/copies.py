"""Copies of a program's files, some of them changed, for compilers that know no overlay."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import msgspec

from weakspot.generators.source.program import Program, Unit
from weakspot.system.include_folders import default_folders


def _files(program: Program) -> Iterator[Path]:
    yield from (unit.source for unit in program.units)
    yield from program.files.values()


def copied(program: Program, changed: dict[str, bytes], scratch: Path) -> Program:
    """The program with changed files, copied together with all its other files. The relative
    positions of files and include folders are preserved; a folder that compilers search without an
    option gets an option."""
    if not changed:
        return program
    files = {Path(path).resolve() for path in _files(program)}
    anyway = [folder.resolve() for folder in default_folders()]
    anyway = [each for each in anyway if any(file.is_relative_to(each) for file in files)]
    folders = [*(folder.resolve() for folder in program.given.searched), *anyway]
    root = Path(os.path.commonpath([*(file.parent for file in files), *folders]))
    for file in files:
        copy = scratch / file.relative_to(root)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(changed.get(str(file)) or file.read_bytes())
    for folder in folders:
        (scratch / folder.relative_to(root)).mkdir(parents=True, exist_ok=True)
    copies = (str(scratch / folder.relative_to(root)) for folder in anyway)
    searched = [word for copy in copies for word in ("-I", copy)]

    def moved(unit: Unit) -> Unit:
        given = msgspec.structs.replace(unit.given, meaning=(*unit.given.meaning, *searched))
        source = scratch / unit.source.resolve().relative_to(root)
        return msgspec.structs.replace(unit, source=source, given=given)

    first, *others = map(moved, program.units)
    return msgspec.structs.replace(
        program, source=first.source, given=first.given, others=tuple(others)
    )
