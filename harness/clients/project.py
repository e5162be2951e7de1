"""The first file for `weakspot linearize`, tried out and written.

In: a header and a kind of object. Out: a file that defines an object of the header and its
operations, which compiles.
"""

from __future__ import annotations

import os
from itertools import islice
from pathlib import Path

import msgspec

from weakspot.errors import BadInput, Unsupported
from weakspot.generators.source.build import NO_OPTIONS, Build
from weakspot.harness.clients import kinds, operations, search
from weakspot.harness.clients.subject import Variation, subject_of
from weakspot.harness.clients.wrappers import files
from weakspot.harness.scaffold.declarations import is_cpp
from weakspot.harness.scaffold.project import (
    FOLDER,
    declarations,
    folder_for,
    includes_of,
    require_header,
    trial,
    with_source,
)
from weakspot.harness.values.linearizability import Size
from weakspot.system.files import disk, replace

_TRIES = 8


class NewOperations(msgspec.Struct, frozen=True):
    """A file that was written, the kind of object, the functions of the header that it calls, the
    options that it is compiled with, and what the file contained before; None if it is new."""

    path: Path
    kind: kinds.Kind
    functions: tuple[str, ...]
    build: Build
    before: bytes | None

    def undo(self) -> None:
        """Leave the file as it was."""
        if self.before is not None:
            replace(self.path, self.before)
            return
        with disk(self.path):
            self.path.unlink(missing_ok=True)


def start(
    kind: str, header: Path, folder: Path, *, build: Build = NO_OPTIONS, force: bool = False
) -> NewOperations:
    """Write the operations of an object that a header declares below a project's folder. Raises
    BadInput if there is no such kind, if no object of the header has operations of it that can be
    called, and for a file that exists, unless `force`."""
    found = kinds.kind(kind)
    if found is None:
        raise BadInput(
            f"{kind} is not a kind of object",
            advice=f"the kinds are {', '.join(kinds.KINDS.names())}",
        )
    require_header(header)
    # it has no main: beside the scenarios, the gate's pattern would match it
    suffix = "cpp" if is_cpp(header) else "c"
    path = folder / FOLDER / "operations" / f"{header.stem}.{suffix}"
    if path.exists() and not force:
        raise BadInput(
            f"{os.path.relpath(path)} exists already",
            advice=f"--force overwrites it; or run weakspot linearize {os.path.relpath(path)} "
            f"--as {kind}",
        )
    include, written = includes_of(header)
    own = build.over(Build(include=(include,))) if include is not None else build
    why = ""
    with folder_for(path):
        declared = declarations(header, written, path, own)
        candidates = (
            each
            for includes in (written, *with_source(header, path, written))
            for each in files(declared, found, includes, header.stem)
        )
        for text, functions in islice(candidates, _TRIES):
            try:
                with trial(path, text) as source:
                    made = subject_of(operations.read(source), found, Variation(), {})
                    with search.compiled(made, Size(2, 2), own):
                        pass
            except (BadInput, Unsupported) as error:
                why = why or error.message
                continue
            with disk(path):
                before = path.read_bytes() if path.exists() else None
            replace(path, text.encode())
            return NewOperations(path, found, functions, own, before)
        names = ", ".join(each.name for each in found.operations)
        raise BadInput(
            f"{header} does not declare the operations of kind {kind}{f': {why}' if why else ''}",
            advice="write a file that defines the object and functions for its operations "
            f"({names}): see weakspot linearize --help",
        )
