"""Source to clean LLVM IR text: one module, calls inlined, locals in registers, nothing lost.

In: the path of a C or C++ file, or of the root of a Rust crate, which cargo builds if it has a
Cargo.toml. Out: the text of a verified LLVM module in which each memory operation of the source
occurs once per call path, with its memory order, volatile and dependencies. Locals are registers,
`main` and the functions that threads start stay functions, and the `inlinedAt` chain of a debug
location gives the calls through which an operation was reached.

Three rules preserve what is to be checked:

- inline first, promote locals afterwards: the other way round constants are folded across calls
  and `r ^ r` loses its dependency;
- no pass that looks at values (instcombine, gvn, reassociate, sccp, dce, dse, simplifycfg, jump
  threading): each of them removes dependencies or plain accesses;
- clang at -O0, where `assert` stays and nothing is optimised before the passes run. There, only the
  rules of GNU C89 preserve the body of an `inline` function that is not static.

C++ is read as GNU C++20 with libc++'s own headers, but for a few of ours (`headers/`). What libc++
defines in its binary is compiled from its sources and linked (`library.py`). Rust is compiled by
rustc, which links std (`rust.py`).

The text depends on the source alone: files are named relative to the source's folder, headers of
the compiler and of the C library as `<name>`.
"""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache
from pathlib import Path

import msgspec

from weakspot import __version__
from weakspot.errors import BadInput
from weakspot.generators.source import clang, crates, debug_info, file_names, rust
from weakspot.generators.source.assembly.meaning import Meaning
from weakspot.generators.source.build import NO_OPTIONS, Build, Entry
from weakspot.generators.source.build import options as build_options
from weakspot.generators.source.clang_errors import plain_name
from weakspot.generators.source.definitions import parts_of
from weakspot.generators.source.language import is_source, sources
from weakspot.system import cache
from weakspot.system.deadline import NEVER, Deadline

_GRACE = 0.5
"""Seconds that compiling may take longer than its time limit, so that small sources are read under
any limit; an answer may be late by a second."""


class Ir(msgspec.Struct, frozen=True):
    """Clean LLVM IR of one source file. `text` is the verified module. `compiler` is the compiler
    with its version. `files` maps the file names in the debug information, without system headers,
    to files. `key` stands for all that it was made from; it is empty if a file was changed while
    it was compiled."""

    text: str
    compiler: str
    files: dict[str, Path]
    key: str


def compile_source(
    path: Path,
    *,
    build: Build = NO_OPTIONS,
    base: Path | None = None,
    end: Deadline = NEVER,
    asked: Question | None = None,
    units: Units | None = None,
) -> Ir:
    """Compile a C, C++ or Rust program to clean LLVM IR, with the options of a build, which also
    names its other translation units and what inline assembly means that weakspot does not know.
    Files are named relative to `base`, by default the source's folder.

    The clang is the one that WEAKSPOT_CLANG names, and else that in PyPI's ziglang. `WEAKSPOT` is
    defined as 1 for the source to know. `asked` is the question of these arguments if the caller
    knows it: the answer has no key if that is not the question any more. `units` are translation
    units that are compiled already; it gets the others.

    Raises BadInput when a source cannot be read or does not compile, or two define one function,
    MissingTool without a compiler, ToolFailed when the compiler or LLVM fails, LimitReached at the
    `end`.
    """
    end = Deadline(end.at + _GRACE)
    asked = asked or question(path, build=build, end=end)
    try:
        asked, known = _answer(asked, build, end, units)
    except BadInput:
        if not asked.lean:
            raise
        # it may rely on an indirect include: then it gets the complete headers
        cache.write(_needs_all(asked.key), _NeedsAll())
        asked = _asked(asked.path, build, end, lean=False)
        asked, known = _answer(asked, build, end, units)
    folder = asked.path.parent
    files = {name: Path(plain_name(str(folder / name), Path())) for name in known.names}
    text = known.text
    if base is not None:
        text = file_names.renamed(text, folder, base)
        files = {file_names.name_from(name, folder, base): path for name, path in files.items()}
    return Ir(text=text, compiler=known.compiler, files=files, key=asked.key)


def compiled_definitions(
    files: Sequence[Path], name: str, build: Build, end: Deadline, units: Units
) -> tuple[Path, ...]:
    """Those of the files that define a function or variable as the compiler sees them with the
    options of the build, and those that do not compile."""
    parts = parts_of(name)
    if not re.fullmatch("~?[A-Za-z_]\\w*", parts[-1]):  # an operator
        return tuple(files)

    def may_define(file: Path) -> bool:
        try:
            unit = _unit(file, build, end, lean=False)
            text, _ = units.get(unit.own) or _compiled(unit, file.parent, build, end)
        except BadInput:
            return True
        return debug_info.defines(text, parts)

    return tuple(filter(may_define, files)) or tuple(files)


def own_text(source: Path, header: Path, build: Build = NO_OPTIONS) -> str:
    """The lines of a header, as the preprocessor leaves them in a source that includes it. Raises
    BadInput when a file is missing, MissingTool, ToolFailed."""
    unit = _unit(source, build, NEVER, lean=False)
    return clang.own_text(unit.compiler, source, unit.options, header)


def _answer(
    asked: Question, build: Build, end: Deadline, units: Units | None
) -> tuple[Question, cache.Entry]:
    """What is compiled, and the question that it answers: one without a key, and nothing is
    cached, if a file has changed meanwhile."""
    place = cache.path_of(asked.key)
    if (known := cache.read(place, cache.Entry)) is not None:
        return asked, known
    # what is compiled already needs none of these
    from concurrent.futures import ThreadPoolExecutor

    from weakspot.generators.source import irtext, linking
    from weakspot.system.processors import cores

    folder = asked.path.parent
    texts: dict[Path, str] = {}
    names: set[str] = set()
    units = {} if units is None else units
    every = (asked, *asked.others)
    with ThreadPoolExecutor(max_workers=cores()) as pool:
        first, *rest = (unit for unit in every if unit.own not in units)
        others = pool.map(lambda unit: _compiled(unit, folder, build, end), rest)
        units[first.own] = _compiled(first, folder, build, end)
        units |= zip((unit.own for unit in rest), others, strict=True)
    for unit in every:
        texts[unit.path], read = units[unit.own]
        away = os.path.relpath(*map(os.path.realpath, (unit.path.parent, folder)))
        names.update(plain_name(posixpath.join(away, name), folder) for name in read)
    limited = msgspec.structs.replace(asked.compiler, end=end)
    raw = linking.linked(texts, limited, folder, asked.meanings)
    text = irtext.clean(raw, limited, _own_digest(), asked.path)
    known = cache.Entry(
        text=text, compiler=asked.compiler.describe(raw), names=tuple(sorted(names))
    )
    if _asked(asked.path, build, end, lean=asked.lean).key != asked.key:
        return msgspec.structs.replace(asked, key=""), known
    cache.write(place, known)
    return asked, known


def _compiled(unit: Question, folder: Path, build: Build, end: Deadline) -> tuple[str, list[str]]:
    """The raw IR of a translation unit, with files named relative to the folder, and the names of
    the user's files that it was made from, relative to its own."""
    from weakspot.generators.source import irtext

    limited = msgspec.structs.replace(unit.compiler, end=end)
    names: Collection[str]
    if unit.entry is not None:
        raw, names = crates.text(unit.entry, build, end), ()
    elif unit.root is not None:
        raw, names = rust.run(rust.find(unit.path.parent), unit.root, unit.options, end)
    else:
        raw, names = clang.run(limited, unit.path, unit.options)
    raw = file_names.relative_names(raw, unit.compiler, folder)
    if unit.relaxes_volatile:
        raw = irtext.with_relaxed_volatile(raw)
    raw = irtext.without_data_in_assembly(raw, unit.path)
    return raw, names or file_names.names_in(raw)


class Question(msgspec.Struct, frozen=True):
    """A question to the compiler. `key` stands for all that the answer depends on, with the content
    of the files, and `own` for what that of its translation unit does. `others` are the program's
    other translation units, `meanings` those of inline assembly. `lean` is set if C++
    headers are read without optional includes. `entry` is the program of a crate, `root` another
    one in Rust. With `relaxes_volatile`, volatile accesses are relaxed atomic ones."""

    path: Path
    options: tuple[str, ...]
    compiler: clang.Clang
    own: str
    key: str
    lean: bool = False
    others: tuple[Question, ...] = ()
    meanings: tuple[Meaning, ...] = ()
    entry: Entry | None = None
    root: rust.Root | None = None
    relaxes_volatile: bool = False


Units = dict[str, tuple[str, list[str]]]
"""Compiled translation units, by their questions' own keys: the text, and the names of the user's
files that it was made from."""


class _NeedsAll(msgspec.Struct, frozen=True):
    """Cached for a program that does not compile without the optional includes of libc++."""


def _needs_all(key: str) -> Path | None:
    return cache.path_of(cache.digest("needs all", key))


def question(path: Path, *, build: Build = NO_OPTIONS, end: Deadline = NEVER) -> Question:
    """The question that `compile_source` asks, about the files as they are now; it raises the same
    errors for invalid arguments."""
    asked = _asked(Path(path), build, end, lean=True)
    if asked.lean and cache.read(_needs_all(asked.key), _NeedsAll) is not None:
        return _asked(asked.path, build, end, lean=False)
    return asked


def _asked(path: Path, build: Build, end: Deadline, *, lean: bool) -> Question:
    unit = _unit(path, build, end, lean=lean)
    more = build.other_sources(path)
    others = tuple(_unit(each, build, end, lean=lean, exports=True) for each in more)
    meanings = build.meanings
    texts = (text for each in meanings for text in (each.pattern, each.body))
    return msgspec.structs.replace(
        unit,
        key=cache.digest(unit.key, *(each.key for each in others), "", *texts),
        lean=any(each.lean for each in (unit, *others)),
        others=others,
        meanings=meanings,
    )


def _unit(
    path: Path, build: Build, end: Deadline, *, lean: bool, exports: bool = False
) -> Question:
    """The question about one translation unit; with `exports`, one without `main`."""
    _check_source(path)
    found = clang.find()
    given = build_options(path, build)
    language = sources()[path.suffix]
    quick = language.quick if lean else ()
    texts: Iterable[str]
    entry = build.program if language.compiler == "rustc" else None
    root = rust.Root(path, exports, build.all_crates) if language.compiler == "rustc" else None
    relaxes_volatile = build.relaxes_volatile and language.compiler == "clang"
    if entry is not None:
        options = (*given.meaning, *build.all_features, *(["--loom"] * build.of_loom))
        texts = (entry.symbol, cache.digest_of(crates.bitcode(entry, build, end)))
    elif root is not None:
        options = given.meaning
        texts = rust.read_text(rust.find(path.parent), root, options, end)
    else:
        options = ("-idirafter.", *given.meaning, *given.clang, *quick)
        texts = clang.read_text(msgspec.structs.replace(found, end=end), path, options)
    own = cache.digest(
        _own_digest(),
        found.identity,
        os.path.normpath(path.absolute()),
        os.environ.get("CCC_OVERRIDE_OPTIONS", ""),
        *options,
        *(["volatile relaxed"] * relaxes_volatile),
        "",
        *texts,
    )
    return Question(
        path=path,
        options=options,
        compiler=found,
        lean=bool(quick),
        entry=entry,
        root=root,
        relaxes_volatile=relaxes_volatile,
        own=own,
        key=own,
    )


def _check_source(path: Path) -> None:
    if not path.exists():
        raise BadInput(f"no such file: {path}", advice="check the path and the spelling")
    if not path.is_file():
        raise BadInput(f"not a file: {path}", advice="name one C, C++ or Rust source file")
    if not is_source(path):
        raise BadInput(
            f"not a C, C++ or Rust source file: {path.name}",
            place=str(path),
            advice=f"a header is checked by a program that uses it: weakspot init {path} writes one"
            if path.suffix.startswith((".h", ".H"))
            else f"expected a name that ends in {', '.join(sources())}",
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
    return _digest_of(__file__, clang.__file__, file_names.__file__, cache.__file__)


@lru_cache(maxsize=1)
def _digest_of(*modules: str) -> str:
    """A digest of the modules and of all files beside this one."""
    others = sorted(file for file in Path(__file__).parent.rglob("*") if file.suffix != ".pyc")
    files = (*map(Path, modules), *(file for file in others if file.is_file()))
    return cache.digest(__version__, *(file.read_text(encoding="utf-8") for file in files))
