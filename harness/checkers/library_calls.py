"""Which events of a witness happen inside a library, and where the project calls it.

A library is what system headers contain, and headers outside of the project: the folder at or above
the program that has weakspot's configuration or a repository. Without such a folder, only system
headers are known to belong to a library.
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING

from weakspot.generators.litmus import Site
from weakspot.system import project_file

if TYPE_CHECKING:
    from weakspot.generators.source.program import Program

_REPOSITORIES = (".git", ".hg", ".svn")


def library_files(program: Program) -> frozenset[str]:
    """The names of a program's files that do not belong to its project."""
    root = _project(program.source.resolve().parent)
    if root is None:
        return frozenset()
    outside = {
        name for name, path in program.files.items() if not path.resolve().is_relative_to(root)
    }
    return frozenset(outside)


def _project(folder: Path) -> Path | None:
    tops = [
        each
        for each in (folder, *folder.parents)
        if any((each / name).exists() for name in _REPOSITORIES)
    ]
    file = project_file.find(folder)
    return max((*tops[:1], *([file.parent] if file else [])), key=_depth, default=None)


def _depth(folder: Path) -> int:
    return -len(folder.parts)


def library_call(site: Site, called: str, libraries: Collection[str]) -> tuple[str, str]:
    """The function of a library that the project calls, empty for an operation of the project
    itself, and the `file:line` of the call, or of that of the project's function. `called` is the
    function of a system header that is called at the site."""
    if site.file not in libraries:
        if called:
            return called, str(site)
        outer = site.chain[0].partition("@")[2] if site.chain else ""
        return "", outer.rpartition(":")[0]
    function = site.function
    for step in site.chain:
        caller, _, place = step.partition("@")
        file, line, _ = place.rsplit(":", 2)
        if file not in libraries:
            return function, f"{file}:{line}"
        function = caller
    return "", ""
