"""Source to clean LLVM IR text: one module, calls inlined, locals in registers, nothing lost.

In: the path of a C or C++ file. Out: the text of a verified LLVM module in which each memory
operation of the source occurs once per call path, with its memory order, volatile and dependencies.
Locals are registers, `main` and the functions that threads start stay functions, and the
`inlinedAt` chain of a debug location gives the calls through which an operation was reached.

Three rules preserve what is to be checked:

- inline first, promote locals afterwards: the other way round constants are folded across calls
  and `r ^ r` loses its dependency;
- no pass that looks at values (instcombine, gvn, reassociate, sccp, dce, dse, simplifycfg, jump
  threading): each of them removes dependencies or plain accesses;
- clang at -O0, where `assert` stays and nothing is optimised before the passes run. There, only the
  rules of GNU C89 preserve the body of an `inline` function that is not static.

C++ is read as GNU C++20 with libc++'s own headers, but for a few of ours (`headers/`). What libc++
defines in its binary is compiled from its sources and linked (`library.py`).

The text depends on the source alone: files are named relative to the source's folder, headers of
the compiler and of the C library as `<name>`.
"""

from __future__ import annotations

import os
import posixpath
from functools import lru_cache
from pathlib import Path

import msgspec

from weakspot import __version__
from weakspot.errors import BadInput
from weakspot.generators.source import clang, irtext, linking
from weakspot.generators.source.assembly.meaning import Meaning
from weakspot.generators.source.build import NO_OPTIONS, SUFFIXES, Build
from weakspot.generators.source.build import options as build_options
from weakspot.system import cache
from weakspot.system.deadline import NEVER, Deadline

_GRACE = 0.5
"""Seconds that compiling may take longer than its time limit, so that small sources are read under
any limit; an answer may be late by a second."""


class Ir(msgspec.Struct, frozen=True):
    """Clean LLVM IR of one source file. `text` is the verified module. `compiler` is the compiler
    with its version. `files` maps the file names in the debug information, without system headers,
    to files."""

    text: str
    compiler: str
    files: dict[str, Path]


def compile_source(
    path: Path,
    *,
    build: Build = NO_OPTIONS,
    compiler: str | None = None,
    base: Path | None = None,
    end: Deadline = NEVER,
) -> Ir:
    """Compile a C or C++ program to clean LLVM IR, with the options of a build, which also names
    its other translation units and what inline assembly means that weakspot does not know.
    Files are named relative to `base`, by default the source's folder.

    `compiler` is the path or name of a clang, by default what WEAKSPOT_CLANG names, and else the
    clang in PyPI's ziglang. `WEAKSPOT` is defined as 1 for the source to know.

    Raises BadInput when a source cannot be read or does not compile, or two define one function,
    MissingTool without a compiler, ToolFailed when the compiler or LLVM fails, LimitReached at the
    `end`.
    """
    end = Deadline(end.at + _GRACE)
    asked = question(path, build=build, compiler=compiler)
    folder, searched = asked.path.parent, asked.searched
    place = cache.path_of(asked.key)
    known = cache.read_made(place, cache.Entry, folder, searched)
    if known is None:
        texts: dict[Path, str] = {}
        names: set[str] = set()
        for unit in (asked, *asked.others):
            texts[unit.path], read = _compiled(unit, folder, end)
            away = os.path.relpath(*map(os.path.realpath, (unit.path.parent, folder)))
            names.update(posixpath.normpath(posixpath.join(away, name)) for name in read)
        limited = msgspec.structs.replace(asked.compiler, end=end)
        raw = linking.linked(texts, limited, folder, asked.meanings)
        text = irtext.clean(raw, limited, _own_digest(), asked.path)
        made = cache.inputs(sorted(names), folder, searched)
        known = cache.Entry(text=text, compiler=asked.compiler.describe(raw), inputs=made)
        cache.write_made(place, known, made)
    files = {name: Path(os.path.normpath(folder / name)) for name in known.inputs.names}
    text = known.text
    if base is not None:
        text = irtext.renamed(text, folder, base)
        files = {irtext.name_from(name, folder, base): path for name, path in files.items()}
    return Ir(text=text, compiler=known.compiler, files=files)


def _compiled(unit: Question, folder: Path, end: Deadline) -> tuple[str, list[str]]:
    """The raw IR of a translation unit, with files named relative to the folder, and the names of
    the user's files that it was made from, relative to its own."""
    limited = msgspec.structs.replace(unit.compiler, end=end)
    raw, names = clang.run(limited, unit.path, unit.options)
    raw = irtext.relative_names(raw, unit.compiler, folder)
    irtext.refuse_file_scope_assembly(raw, unit.path)
    return raw, names


class Question(msgspec.Struct, frozen=True):
    """A question to the compiler. `key` stands for everything that is known before it runs; the
    files that it reads may also depend on the names in the `searched` folders. `others` are the
    program's other translation units, `meanings` those of inline assembly."""

    path: Path
    options: tuple[str, ...]
    compiler: clang.Clang
    searched: tuple[Path, ...]
    key: str
    others: tuple[Question, ...] = ()
    meanings: tuple[Meaning, ...] = ()


def question(
    path: Path,
    *,
    build: Build = NO_OPTIONS,
    compiler: str | None = None,
) -> Question:
    """The question that `compile_source` asks; it raises the same errors for invalid arguments."""
    path = Path(path)
    unit = _unit(path, build, compiler)
    others = tuple(_unit(each, build, compiler) for each in build.other_sources(path))
    meanings = build.meanings
    folders = (folder for each in (unit, *others) for folder in each.searched)
    texts = (text for each in meanings for text in (each.pattern, each.body))
    return msgspec.structs.replace(
        unit,
        searched=tuple(dict.fromkeys(folders)),
        key=cache.digest(unit.key, *(each.key for each in others), "", *texts),
        others=others,
        meanings=meanings,
    )


def _unit(path: Path, build: Build, compiler: str | None) -> Question:
    """The question about one translation unit."""
    _check_source(path)
    folder = path.parent
    found = clang.find(compiler)
    given = build_options(path, build)
    options = ("-I.", *given.meaning, *given.clang)
    paths = [os.environ.get(name, "") for name in ("CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH")]
    return Question(
        path=path,
        options=options,
        compiler=found,
        searched=(folder, *given.searched, *map(Path, clang.PACKAGED)),
        key=cache.digest(
            _own_digest(),
            found.identity,
            os.path.normpath(path.absolute()),
            *paths,
            *options,
        ),
    )


def _check_source(path: Path) -> None:
    if not path.exists():
        raise BadInput(f"no such file: {path}", advice="check the path and the spelling")
    if not path.is_file():
        raise BadInput(f"not a file: {path}", advice="name one C or C++ source file")
    if path.suffix not in SUFFIXES:
        raise BadInput(
            f"not a C or C++ source file: {path.name}",
            place=str(path),
            advice=f"expected a name that ends in {', '.join(SUFFIXES)}",
        )
    try:
        with path.open("rb"):
            pass
    except OSError as error:
        raise BadInput(
            f"cannot read {path}: {error.strerror}", advice="check the file's permissions"
        ) from error


def _own_digest() -> str:
    """A digest of the front end itself: a changed pass, flag or entry invalidates every cached
    answer."""
    return _digest_of(__file__, clang.__file__, irtext.__file__, cache.__file__)


@lru_cache(maxsize=1)
def _digest_of(*modules: str) -> str:
    """A digest of the modules and of all files beside this one."""
    others = sorted(file for file in Path(__file__).parent.rglob("*") if file.suffix != ".pyc")
    files = (*map(Path, modules), *(file for file in others if file.is_file()))
    return cache.digest(__version__, *(file.read_text(encoding="utf-8") for file in files))
