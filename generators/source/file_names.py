"""The names of files in the text of LLVM IR, which do not depend on the machine."""

from __future__ import annotations

import os
import posixpath
import re
from pathlib import Path

from weakspot.generators.litmus import of_library
from weakspot.generators.source.clang import PACKAGED, Clang
from weakspot.generators.source.clang_errors import plain_name

STANDARD_INPUT = "weakspot-stdin-"
"""How the name of a folder begins that holds a program from standard input, which is named without
it."""


def relative_names(text: str, clang: Clang, folder: Path) -> str:
    """Name files relative to the source's folder, and system headers as `<name>`. Clang splits a
    path where it leaves the folder it was started in: the directory is part of the name."""
    here = os.path.realpath(folder)

    def renamed(match: re.Match[str]) -> str:
        name, directory = unescape(match[1]), unescape(match[2])
        if of_library(name):
            return f'!DIFile(filename: "{_escape(name)}", directory: ""'
        if posixpath.isabs(name) or posixpath.isabs(directory):
            path = posixpath.join(directory, name)
            system = clang.system_name(posixpath.normpath(path))
            place, base = os.path.realpath(posixpath.dirname(path)), posixpath.basename(path)
            name = system or _from(here, posixpath.join(place, base))
        return f'!DIFile(filename: "{_escape(plain_name(name, folder))}", directory: ""'

    return re.sub(r'!DIFile\(filename: "([^"]*)", directory: "([^"]*)"', renamed, text)


def renamed(text: str, folder: Path, base: Path) -> str:
    """The text with files named relative to `base`, which were named relative to `folder`."""

    def moved(match: re.Match[str]) -> str:
        return f'!DIFile(filename: "{_escape(name_from(unescape(match[1]), folder, base))}"'

    return re.sub(r'!DIFile\(filename: "([^"]*)"', moved, text)


def name_from(name: str, folder: Path, base: Path) -> str:
    """A file's name relative to `base`, which is relative to `folder`; system headers, which are
    `<name>`, keep theirs."""
    if of_library(name) or not name:
        return name
    path = Path(os.path.realpath(folder / name))
    if path.parent.name.startswith(STANDARD_INPUT):
        return path.name
    return _from(os.path.realpath(base), str(path))


def _from(folder: str, path: str) -> str:
    """The path relative to the folder; as it is where a package of the system put it."""
    packaged = any(path.startswith(f"{each}/") for each in PACKAGED)
    return path if packaged else os.path.relpath(path, folder)


def names_in(text: str) -> list[str]:
    """The names of the files that debug information names, but those of libraries."""
    names = dict.fromkeys(re.findall(r'!DIFile\(filename: "([^"<][^"]*)"', text))
    return [unescape(name) for name in names if "/@/" not in name]


def unescape(text: str) -> str:
    raw = re.sub(
        rb"\\([0-9A-Fa-f]{2})", lambda m: bytes([int(m[1], 16)]), os.fsencode(text), flags=re.DOTALL
    )
    return os.fsdecode(raw)


def _escape(text: str) -> str:
    return "".join(
        chr(byte) if 0x20 <= byte < 0x7F and byte not in b'"\\' else f"\\{byte:02X}"
        for byte in os.fsencode(text)
    )
