"""What the engine reports about a program, as errors that show the source line and give advice.

In: an EngineError, the program's source and files, and its build. Out: BadInput or Unsupported, or
the files that define what is missing.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from weakspot import _engine
from weakspot.errors import BadInput, Unsupported, excerpt, reported
from weakspot.generators.source.build import Build
from weakspot.generators.source.definitions import definitions, is_of_c_library
from weakspot.generators.source.frontend import Units, compiled_definitions
from weakspot.system.deadline import Deadline

if TYPE_CHECKING:
    from weakspot._engine import Problem


_MOST = 8
"""Files that seem to define a name, of which more are not compiled to see which do."""


class Definitions(NamedTuple):
    """The files that define each of some functions and variables, and the folders that were
    searched for them."""

    files: dict[str, tuple[Path, ...]] = {}  # noqa: RUF012
    folders: tuple[Path, ...] = ()

    def confirmed(self, build: Build, end: Deadline, units: Units) -> Definitions:
        """These, where of several files that seem to define a name only those are left that may as
        the compiler sees them."""
        several = {name: each for name, each in self.files.items() if 1 < len(each) <= _MOST}
        for name, each in several.items():
            several[name] = compiled_definitions(each, name, build, end, units)
        return self._replace(files=self.files | several)


def placed(
    error: _engine.EngineError,
    source: Path,
    files: dict[str, Path],
    build: Build,
    text: str = "",
    defined: Definitions | None = None,
) -> BadInput | Unsupported:
    """An engine error that shows the line it is about, in the source or in the model. `text` is the
    IR, which tells the source's line where the engine only has that of the IR; `defined` are the
    `missing_definitions`, if they are known."""
    problem = error.problem
    if defined is None:
        defined = missing_definitions(error, source, files, build)
    from weakspot.generators.source import debug_info  # only errors need it

    of_ir = 0 if problem["file"] else problem["line_of_ir"]
    if of_ir and (place := debug_info.place_of_line(text, of_ir)):
        path = files.get(place[0], source.parent / place[0])
        message = problem["message"]
        if problem["kind"] == "invalid":
            message = f"what the compiler makes of this is not understood: {message}"
        return Unsupported(
            message,
            place=":".join(str(each) for each in (path, *place[1:]) if each),
            excerpt=excerpt(path, place[1], place[2]),
            advice=_advice(problem, path, defined),
        )
    if of_ir:
        problem = {**problem, "message": f"{problem['message']}, line {of_ir} of the IR"}
    if problem["about"] == "model":
        return reported(problem, BadInput, f"the engine cannot use the model: {error}")
    path = files.get(problem["file"], source.parent / problem["file"])
    if not (problem["line"] and path.is_file()):
        path = Path(problem["file"] or source)
    if problem["kind"] == "invalid":
        advice = None
        if not problem["file"] and problem["construct"] == "no main":
            advice = (
                "name the file that has one too (weakspot check driver.c library.c); the scenarios "
                "of a gate are files with a main"
            )
        return reported(problem, BadInput, source=path, advice=advice)
    advice = _advice(problem, path, defined)
    return reported(problem, Unsupported, source=path, advice=advice)


_ANY_VALUE = re.compile(r"__VERIFIER_nondet_\w+|[dm]rand48(_r)?|arc4random")
"""Functions that return more values than can be explored."""

_STREAM = re.compile(r"\bstd::basic_\w*(?:stream|buf)<|\bstd::basic_ios<|\bstd::ios_base\b")


def missing_definitions(
    error: _engine.EngineError, source: Path, files: dict[str, Path], build: Build
) -> Definitions:
    """The files that define what is missing: none if the error is about something that no file
    defines, or that is the C library's."""
    problem = error.problem
    path = files.get(problem["file"], source)
    if not problem["missing"] or path.suffix == ".rs":
        return Definitions()
    names = [re.sub(r"\(anonymous namespace\)::|\(.*", "", one) for one in problem["missing"]]
    if is_of_c_library(names[0]):
        return Definitions()
    wanted = [name for name in names if not is_of_c_library(name)]
    sources = (source, *build.other_sources(source))
    # a library has sources beside its headers: first those that the program includes
    included = {each.resolve().parent for each in files.values()}
    of_library = sorted(
        each
        for each in included
        if any(each.is_relative_to(folder.resolve()) for folder in build.folders)
    )
    folders = (*of_library, *(each.parent for each in sources), path.parent, *build.folders)
    found = definitions(wanted, sources, folders, build)
    return Definitions(found if names[0] in found else {}, folders)


def linkable(found: Definitions) -> tuple[Path, ...]:
    """The sources that define what is missing: none unless one file alone defines what the error is
    about."""
    first, *_ = (*found.files.values(), ())
    return _single(found) if len(first) == 1 else ()


def _single(found: Definitions) -> tuple[Path, ...]:
    """The files that alone define something."""
    return tuple(dict.fromkeys(files[0] for files in found.files.values() if len(files) == 1))


def _advice(problem: Problem, path: Path, found: Definitions) -> str:
    """What to do about something in the file at the path that the engine does not support."""
    rust = path.suffix == ".rs"
    guard = "guard it with #ifndef WEAKSPOT, which is defined while weakspot reads a source"
    if rust:
        guard = "leave it out with #[cfg(not(weakspot))]: weakspot is set while it reads a source"
    missing = problem["missing"]
    if missing and _STREAM.search(missing[0]):
        return (
            "streams other than std::cout and std::cerr are not modelled: make text of numbers "
            f"with std::format, and numbers of text with std::stoi, or {guard}"
        )
    if problem["construct"] == "random number" or (missing and _ANY_VALUE.fullmatch(missing[0])):
        return (
            "it returns too many values to explore: define the function with the values that "
            "matter, for example { return weakspot_choose(4); } for 0 to 3, where "
            "unsigned weakspot_choose(unsigned) returns each value below its argument"
        )
    if missing and not rust:
        if not found.files and is_of_c_library(missing[0]):
            return (
                "weakspot does not have this function of the C library: define it in the driver, "
                f"as far as it matters there; or {guard}"
            )
        what = "the source that defines it too"
        if found.files:
            first = next(iter(found.files.values()))
            files = first if len(first) > 1 else _single(found)
            what = (" or " if len(first) > 1 else ", ").join(map(os.path.relpath, files))
            what += " too, which defines it" if len(files) == 1 else " too, which define it"
        return f"name {what}: weakspot check driver.c library.c; or {guard}"
    if problem["construct"] == "inline assembly":
        return (
            'say what it does in weakspot.toml, as C: [[asm]] with pattern = "the text of the '
            f'assembly" and body = "statements in which %0, %1, … are the operands"; or {guard}'
        )
    return f"{guard}, or write it in another way"
