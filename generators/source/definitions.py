"""Where functions and variables are defined that a program uses and its own files do not define.

In: their names, the program's sources, and the folders of headers. Out: other sources, in
these folders and those of the sources, that contain a definition, by the text alone: it may be one
that the compiler would not see, as below an `#if`.
"""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from weakspot.generators.source import language
from weakspot.system.compilers import zig

_HEADERS = frozenset(("include", "inc"))
"""Names of folders of headers beside which a library has its sources."""
_MOST = 2_000
"""How many files are looked at, at most."""


def files_defining(
    names: Iterable[str], sources: Sequence[Path], folders: Iterable[Path]
) -> tuple[Path, ...]:
    """The first file that defines each of the functions and variables, each file once."""
    wanted = {name: _definition(name) for name in names}
    found: dict[str, Path] = {}
    known = {each.resolve() for each in sources}
    roots = (*(each.parent for each in sources), *folders)
    for file in _files(roots):
        if file.resolve() in known or not os.access(file, os.R_OK):
            continue
        text = file.read_text(encoding="utf-8", errors="replace")
        found |= {name: file for name in wanted if name not in found and wanted[name](text)}
    return tuple(dict.fromkeys(found[name] for name in wanted if name in found))


def is_of_c_library(name: str) -> bool | None:
    """Whether glibc has a symbol of this name, as ziglang lists them; None without ziglang."""
    listed = _symbols_of_glibc()
    if listed is None:
        return None
    return re.search(rb"(?<![\w.])%s\0" % re.escape(name.encode()), listed) is not None


@functools.cache
def _symbols_of_glibc() -> bytes | None:
    package = zig.folder()
    if package is None:
        return None
    return (package / "lib" / "libc" / "glibc" / "abilists").read_bytes()


def _files(folders: Iterable[Path]) -> Iterator[Path]:
    roots = (each.parent if each.name in _HEADERS else each for each in folders)
    left = _MOST
    for root in dict.fromkeys(each.resolve() for each in roots):
        for folder, inner, names in os.walk(root):
            inner[:] = sorted(each for each in inner if not each.startswith("."))
            left -= len(names)
            if left < 0:
                return
            yield from (Path(folder, each) for each in sorted(names) if _is_source(each))


def _is_source(name: str) -> bool:
    known = language.sources().get(Path(name).suffix)
    return known is not None and known.compiler == "clang"


def _definition(name: str) -> Callable[[str], bool]:
    """Whether a text has the name with parameters and a body, or with a variable's value: after the
    name of its class, or in the namespace."""
    *_, scope, last = ("", *re.sub(r"<.*?>", "", name).split("::"))
    start = r"^(?![ \t]*(?:return\b|else\b|[*/]))[^\n;=(]*"
    end = r"[ \t]*(?:\([^;{}]*\)[^;{}()]*\{|(?:\[\w*\])*\s*=|\{)"
    if not scope:
        # C names may be made by a macro
        return _matches(rf"{start}\b(?:{re.escape(last)}|\w+\({re.escape(last)}\)){end}")
    qualified = _matches(rf"{start}\b{re.escape(scope)}::{re.escape(last)}{end}")
    opened = _matches(rf"^[ \t]*(?:inline[ \t]+)?namespace\b[^;{{=]*\b{re.escape(scope)}\s*\{{")
    inside = _matches(rf"{start}\b(?<!::){re.escape(last)}{end}")
    return lambda text: qualified(text) or (opened(text) and inside(text))


def _matches(pattern: str) -> Callable[[str], bool]:
    compiled = re.compile(pattern, re.MULTILINE)
    return lambda text: compiled.search(text) is not None
