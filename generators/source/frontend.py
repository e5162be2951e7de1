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

C++ is read as GNU C++20 with libc++, with small headers of our own in place of those for threads
and locks (`headers/`). An exception may be thrown, which ends the program; code that would catch it
is refused.

The text depends on the source alone: files are named relative to the source's folder, headers of
the compiler and of the C library as `<name>`.
"""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from weakspot import __version__
from weakspot.errors import BadInput
from weakspot.generators.source import clang, irtext
from weakspot.generators.source.build import NO_OPTIONS, SUFFIXES, Build
from weakspot.generators.source.build import options as build_options
from weakspot.system import cache


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
) -> Ir:
    """Compile one C or C++ file to clean LLVM IR, with the options of a build. Files are named
    relative to `base`, by default the source's folder.

    `compiler` is the path or name of a clang, by default what WEAKSPOT_CLANG names, and else the
    clang in PyPI's ziglang. `WEAKSPOT` is defined as 1 for the source to know.

    Raises BadInput when the source cannot be read or does not compile, Unsupported for handlers
    of exceptions, MissingTool without a compiler, ToolFailed when the compiler or LLVM fails.
    """
    asked = question(path, build=build, compiler=compiler)
    folder, searched = asked.path.parent, asked.searched
    place = cache.path_of(asked.key)
    known = cache.read(place, cache.Entry)
    if known is None or not known.inputs.unchanged(folder, searched):
        raw, names = clang.run(asked.compiler, asked.path, asked.options)
        raw = irtext.relative_names(raw, asked.compiler, folder)
        irtext.refuse_handlers(raw, folder)
        text = irtext.clean(raw, asked.compiler)
        made = cache.inputs(names, folder, searched)
        known = cache.Entry(text=text, compiler=asked.compiler.describe(raw), inputs=made)
        cache.write(place, known)
    files = {name: Path(os.path.normpath(folder / name)) for name in known.inputs.names}
    text = known.text
    if base is not None:
        text = irtext.renamed(text, folder, base)
        files = {irtext.name_from(name, folder, base): path for name, path in files.items()}
    return Ir(text=text, compiler=known.compiler, files=files)


class Question(msgspec.Struct, frozen=True):
    """A question to the compiler. `key` stands for everything that is known before it runs; the
    files that it reads may also depend on the names in the `searched` folders."""

    path: Path
    options: tuple[str, ...]
    compiler: clang.Clang
    searched: tuple[Path, ...]
    key: str


def question(
    path: Path,
    *,
    build: Build = NO_OPTIONS,
    compiler: str | None = None,
) -> Question:
    """The question that `compile_source` asks; it raises the same errors for invalid arguments."""
    path = Path(path)
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
            __version__,
            _own_text(),
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


def _own_text() -> str:
    """A digest of the front end itself: a changed pass, flag or entry invalidates every cached
    answer."""
    modules = [Path(file) for file in (__file__, clang.__file__, irtext.__file__, cache.__file__)]
    headers = sorted(file for file in clang.HEADERS.rglob("*") if file.is_file())
    return "\0".join(file.read_text(encoding="utf-8") for file in (*modules, *headers))
