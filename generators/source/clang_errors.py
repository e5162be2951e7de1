"""Reading clang's errors.

In: the error output of a clang, with what `-H` lists. Out: an error that names the place in the
user's files, shows the line and says what to do.
"""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Callable, Sequence
from pathlib import Path

from weakspot.errors import BadInput, ToolFailed, excerpt, quoted
from weakspot.generators.source import missing_headers
from weakspot.generators.source.language import sources
from weakspot.system import tools
from weakspot.system.compilers import zig

SystemName = Callable[[str], str | None]
"""The name of a file of the system; None of one of the user's."""

LIBCXX = 22
"""The version of libc++ that the headers in HEADERS fit."""

INCLUDED = re.compile(r"^\.+ (.+)$", re.MULTILINE)
"""A file that `-H` lists."""


def plain_name(name: str, folder: Path) -> str:
    """A file's name, which is relative to the folder, without needless parts: `a/../b.h` is `b.h`,
    unless `a` is a symbolic link to another folder."""
    short = posixpath.normpath(name)
    there = os.path.realpath(folder / posixpath.dirname(name))
    if there == os.path.realpath(folder / posixpath.dirname(short)):
        return short
    path = posixpath.join(there, posixpath.basename(name))
    return path if posixpath.isabs(name) else os.path.relpath(path, os.path.realpath(folder))


def text_of(path: Path) -> str:
    """What is in a file; nothing if it is not there."""
    return path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""


_DIAGNOSTIC = re.compile(
    r"^(?P<file>[^\n:]+):(?P<line>\d+):(?P<column>\d+): (?:fatal )?error: (?P<message>.*)$",
    re.MULTILINE,
)


UNDECLARED = re.compile(
    "call to undeclared (?:library )?function|use of undeclared identifier|unknown type name"
    "|variable has incomplete type|type specifier missing"
)
"""Messages about what no header has declared."""


def compile_error(
    stderr: str,
    system_name: SystemName,
    path: Path,
    status: int,
    options: Sequence[str],
    *,
    has_libcxx: bool,
) -> BadInput | ToolFailed:
    """The error that clang's output is about, at its place in the user's files."""
    first = _DIAGNOSTIC.search(stderr)
    if first is None:
        lines = INCLUDED.sub("", stderr).strip().splitlines()
        what = re.sub(r"^.*?error: ", "", lines[0]) if lines else f"exit status {status}"
        return ToolFailed(
            f"the compiler failed: {what}",
            place=str(path),
            excerpt=quoted(lines[1:8]),
            advice="the compiler must be a clang; `weakspot doctor` shows which one is used",
        )
    name, *numbers = _users_place(stderr, first, system_name).split(":")
    message = first["message"]
    if name.startswith("<"):  # the command line
        return BadInput(
            f"an option for the compiler: {message}",
            place=str(path),
            advice="-v shows the options of each source",
        )
    more = len(_DIAGNOSTIC.findall(stderr)) - 1
    advice = f"{more} more error{'s' if more > 1 else ''} in this file" if more else None
    if message.endswith("file not found"):
        if sources()[path.suffix].name == "c" and re.match(r"'\w+' ", message):
            advice = (
                "C++ headers have such names, and this is read as C: name the source .cpp, or give "
                "-x c++ for standard input"
            )
        elif sources()[path.suffix].name == "c++" and not has_libcxx:
            advice = (
                f"C++ is read with libc++ {LIBCXX}: {tools.advice(zig.ZIGLANG)}, which contains "
                "it, or install it with its clang; if it is a header of yours, name its folder as "
                "an include folder"
            )
        else:
            advice = missing_headers.advice(message.split("'")[1], path.parent / name, options)
    elif version := _VERSION.search(message):
        number = {"2b": "23", "2c": "26"}.get(version[1], version[1])
        advice = f"the library's build says which version it is written in: --std c++{number}"
    elif UNDECLARED.match(message) and "<weakspot/kernel.h>" in text_of(path):
        advice = (
            "<weakspot/kernel.h> does not have it: define it in terms of what docs/linux-kernel.md "
            "lists"
        )
    file = plain_name(str(path.parent / name), Path())
    return BadInput(
        message,
        place=":".join((file, *numbers)),
        excerpt=excerpt(Path(file), *map(int, numbers)),
        advice=advice,
    )


_VERSION = re.compile(r"\b(?:standards before|is a) C\+\+(\d[\da-z])\b")
"""What a message says about the version of C++ that something needs."""

_NOTE = re.compile(r"^(?P<place>(?P<file>[^\n:]+):\d+:\d+): note: .*$", re.MULTILINE)
_INCLUDED_FROM = re.compile(
    r"^In file included from (?P<place>(?P<file>[^\n:]+):\d+):$", re.MULTILINE
)


def _users_place(stderr: str, error: re.Match[str], system_name: SystemName) -> str:
    """The place in the user's files that an error refers to: its own, else that of the first note
    in a user's file, else that of the include."""
    own = f"{error['file']}:{error['line']}:{error['column']}"
    if system_name(error["file"]) is None:
        return own
    following = _DIAGNOSTIC.search(stderr, error.end())
    end = following.start() if following else len(stderr)
    for note in _NOTE.finditer(stderr, error.end(), end):
        if system_name(note["file"]) is None:
            return note["place"]
    for include in _INCLUDED_FROM.finditer(stderr, 0, error.start()):
        if system_name(include["file"]) is None:
            return include["place"]
    return own
