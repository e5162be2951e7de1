"""Where functions and variables are defined that a program uses and its own files do not define.

In: their names, the program's sources, and the folders of headers. Out: other sources, in
these folders and those of the sources, that contain a definition, by the text alone: it may be one
that the compiler would not see, as below an `#if`.
"""

from __future__ import annotations

import functools
import itertools
import os
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from weakspot.generators.source import language
from weakspot.generators.source.build import Build
from weakspot.generators.source.files_below import files_below, is_for_another_system
from weakspot.generators.source.mains import code_of, has_main
from weakspot.system import cache
from weakspot.system.compilers import zig

_HEADERS = frozenset(("include", "inc"))
"""Names of folders of headers beside which a library has its sources."""
_MOST = 20_000
"""How many files are listed, at most: the folder of a build has thousands that are no sources."""
_MOST_READ = 2_000


def definitions(
    names: Iterable[str], sources: Iterable[Path], folders: Iterable[Path], build: Build
) -> dict[str, tuple[Path, ...]]:
    """The files in these folders, but for the sources, that define each of the functions and
    variables, for those that have one. A file with a `main` is another program. Where some are for
    another system, the others are meant."""
    wanted = {name: _definition(name) for name in names}
    found: dict[str, tuple[Path, ...]] = {}
    known = {each.resolve() for each in sources}
    for file in _files(folders):
        if file.resolve() in known or not os.access(file, os.R_OK):
            continue
        text = file.read_text(encoding="utf-8", errors="replace")
        defined = [name for name, defines in wanted.items() if defines(text)]
        if defined and not has_main(code_of(file), build):
            found |= {name: (*found.get(name, ()), file) for name in defined}
    return {name: _for_this_system(found[name]) for name in wanted if name in found}


def digest_of_sources(folders: Iterable[Path]) -> str:
    """A digest of all that `definitions` looks at in these folders."""
    files = (file for file in _files(folders) if os.access(file, os.R_OK))
    return cache.digest(*(f"{file} {cache.digest_of(file)}" for file in files))


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
    sources = (Path(file) for file in files_below(roots, _MOST) if _is_source(file))
    return itertools.islice(sources, _MOST_READ)


def _for_this_system(files: tuple[Path, ...]) -> tuple[Path, ...]:
    return tuple(each for each in files if not is_for_another_system(str(each))) or files


def _is_source(name: str) -> bool:
    known = language.sources().get(Path(name).suffix)
    return known is not None and known.compiler == "clang"


def parts_of(name: str) -> list[str]:
    """The names in a qualified name of C++, without the arguments of templates."""
    while name != (name := re.sub(r"<[^<>]*>", "", name)):
        pass
    return name.split("::")


def _definition(name: str) -> Callable[[str], bool]:
    """Whether a text has the name with parameters and a body, or with a variable's value: after the
    name of its class, or in the namespace; or instantiates the template that it is of."""
    *_, scope, last = ("", *parts_of(name))
    start = r"^(?![ \t]*(?:return\b|else\b|[*/]))[^\n;=(]*"
    end = r"[ \t]*(?:\([^;{}]*\)[^;{}()]*\{|(?:\[\w*\])*\s*=|\{)"
    if not scope:
        # C names may be made by a macro
        return _matches(rf"{start}\b(?:{re.escape(last)}|\w+\({re.escape(last)}\)){end}")
    member = rf"{re.escape(scope)}::{re.escape(last)}"
    constructed = rf"^(?!return\b)\w[^\n;=(]*[ \t*&>]{member}\([^;{{}}]*\)\s*;"
    default = rf"{start}\b{member}[ \t]*\([^;{{}}]*\)[^;{{}}()]*=\s*default\s*;"
    template = scope if re.search(rf"\b{re.escape(scope)}<", name) else last
    instantiated = rf"^[ \t]*template\b\s*[^\s<][^;{{}}]*\b{re.escape(template)}\s*<[^;{{}}]*;"
    alternatives = [rf"{start}\b{member}{end}", constructed, default]
    qualified = _matches("|".join([*alternatives, *([instantiated] * ("<" in name))]))
    opened = _matches(
        rf"^[ \t]*(?:(?:inline[ \t]+)?namespace\b[^;{{=]*\b{re.escape(scope)}\s*\{{"
        rf"|(?i:(?=\w*{re.escape(scope)})\w*namespace\w*[ \t]*$))"  # or by a macro
    )
    inside = _matches(rf"{start}\b(?<!::){re.escape(last)}{end}")
    return lambda text: qualified(text) or (opened(text) and inside(text))


def _matches(pattern: str) -> Callable[[str], bool]:
    compiled = re.compile(pattern, re.MULTILINE)
    return lambda text: compiled.search(text) is not None
