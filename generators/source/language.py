"""The languages of sources, each in one file of languages/, which defines LANGUAGE: its suffixes,
its versions, how clang's front end reads it. Nothing else names them.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path, PurePath
from typing import Literal

import msgspec

from weakspot.generators.litmus import C_ORDER

HEADERS = Path(__file__).resolve().parent / "headers"
"""C++ headers that are read in place of the library's, and those of C and POSIX."""

KERNEL = f"-I{HEADERS / 'kernel'}"
"""The folder of <weakspot/kernel.h>."""
KERNEL_TREE = f"-idirafter{HEADERS / 'kernel_tree'}"
"""Headers that a kernel tree has only for one architecture, or once it is configured."""
POSIX = f"-I{HEADERS / 'posix'}"

MANIFEST = "Cargo.toml"
"""The file by which a Rust crate is known."""


class Language(msgspec.Struct, frozen=True, kw_only=True):
    """A language. `name` is what compilers call it, `rank` its place in lists. Sources end in
    `suffixes`, headers in `headers`. Names of its `versions` match this pattern; sources are read
    in the version `standard` unless the build says otherwise, and in `standard` where the build
    names a version that matches `old`: in both cases with the options `of_old`, in the latter with
    `only_old` too. `flags` are clang's, `options` those for any compiler. `quick` makes clang read
    less of the library's headers, which suffices for most sources. `grammar` is the module of its
    tree-sitter grammar, `block` how Markdown calls it. `compiler` reads it. `orders` are the names
    of the memory orders there, `fence` is that of the function of fences."""

    name: str
    rank: int
    suffixes: tuple[str, ...]
    headers: tuple[str, ...]
    versions: str
    example: str
    flags: tuple[str, ...]
    grammar: str
    block: str
    compiler: Literal["clang", "rustc"] = "clang"
    orders: Mapping[str, str] = msgspec.field(default_factory=lambda: C_ORDER)
    fence: str = "atomic_thread_fence"
    standard: str = ""
    old: str = "(?!)"
    of_old: tuple[str, ...] = ()
    only_old: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    quick: tuple[str, ...] = ()

    def has_version(self, name: str) -> bool:
        """Whether `-std=` of that name is about this language."""
        return re.fullmatch(self.versions, name) is not None


@cache
def languages() -> tuple[Language, ...]:
    """The languages, the default first."""
    package = importlib.import_module("weakspot.generators.source.languages")
    names = (each.name for each in pkgutil.iter_modules(package.__path__))
    modules = (importlib.import_module(f"{package.__name__}.{name}") for name in names)
    found: list[Language] = [module.LANGUAGE for module in modules]
    return tuple(sorted(found, key=lambda each: each.rank))


@cache
def sources() -> dict[str, Language]:
    """The language of a source by its suffix."""
    return {suffix: each for each in languages() for suffix in each.suffixes}


def is_source(path: PurePath) -> bool:
    """Whether the name of a file is that of a source."""
    return path.suffix in sources()


def manifest_of(path: Path) -> Path | None:
    """The Cargo.toml that a path means: itself, or the one in a folder; None where there is
    none."""
    found = path / MANIFEST if path.is_dir() else path
    return found if found.name == MANIFEST and found.is_file() else None


def language_of(path: PurePath) -> Language:
    """The language in which a file is shown."""
    return (candidates(path) or languages())[0]


def candidates(path: PurePath) -> tuple[Language, ...]:
    """The languages that a source or a header with this name may be in; none for another suffix."""
    return tuple(each for each in languages() if path.suffix in (*each.suffixes, *each.headers))
