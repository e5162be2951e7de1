"""Several modules of LLVM IR to one, as a linker joins object files.

In: the IR of translation units, and clang. Out: one module's IR, in which inline assembly that is
understood and the library functions that the program calls are C functions too (`assembly`,
`library/`). A function of `library/` is linked only if the program calls it and does not define it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from weakspot.errors import BadInput, excerpt
from weakspot.generators.source import clang as compiler
from weakspot.generators.source import debug_info, file_names, irtext, members
from weakspot.generators.source.assembly import calls
from weakspot.generators.source.assembly.meaning import Meaning
from weakspot.generators.source.clang import LIBRARY, Clang
from weakspot.generators.source.clang_errors import plain_name
from weakspot.generators.source.definitions import is_of_c_library
from weakspot.generators.source.function_pointers import callable_pointers
from weakspot.generators.source.language import sources
from weakspot.generators.source.system_calls import enclose_atomic_functions, replace_system_calls
from weakspot.generators.source.variadic import replace_variadic
from weakspot.system import cache

_DEFINED = re.compile(r'^define [^@\n]*@("[^"]*"|[-\w$.]+)\(', re.MULTILINE)
_SHARED = "define dso_local "
"""How a definition begins that no other unit may repeat."""
_DECLARED = re.compile(r'^declare [^@\n]*@("[^"]*"|[-\w$.]+)\(', re.MULTILINE)


def defines_main(text: str) -> bool:
    return any(found[1] == "main" for found in _DEFINED.finditer(text))


def linked(
    units: Mapping[Path, str], found: Clang, folder: Path, meanings: Sequence[Meaning]
) -> str:
    """One module of the translation units, by source file, with all that they need of `library/`.

    Raises BadInput for a function or variable that two of them define, and for a meaning of
    assembly that does not compile.
    """
    functions: dict[str, str] = {}
    texts: list[str] = []
    for text in _once(list(units.values())):
        # of an `extern inline` function; one that another unit defines has precedence
        text = text.replace("define available_externally ", "define linkonce_odr ")
        text = enclose_atomic_functions(replace_system_calls(text))
        replaced, made = calls.replace_assembly(text, meanings)
        texts.append(replaced)
        functions.update(made)
    if functions:
        texts.append(_assembly(functions, found))
    if any(defines_main(text) for text in units.values()):
        texts += _library(texts, found)
    texts = replace_variadic(texts)
    if len(texts) == 1:
        return callable_pointers(_without_absent(texts[0]))
    import llvmlite.binding as llvm  # type: ignore[import-untyped]  # here: a cached answer needs no LLVM

    # a module must not outlive its context, which garbage collection does not know
    context = llvm.create_context()
    modules: list[Any] = []
    try:
        for text in texts:
            modules.append(irtext.parsed(llvm, text, found, context))
            if len(modules) > 1:
                _link(modules[0], modules[-1], units, folder)
        return callable_pointers(_without_absent(str(modules[0])))
    finally:
        for module in modules:
            module.close()


_WEAK = re.compile(
    r"^(?:declare extern_weak [^@\n]*@(?=[-\w$.]+\()|@(?=[-\w$.]+ = extern_weak ))([-\w$.]+)",
    re.MULTILINE,
)


def _without_absent(text: str) -> str:
    """The module with null for the weak symbols that nothing defines, as a linker has it. Those of
    the C and C++ libraries are defined there."""
    weak = set(_WEAK.findall(text))
    own = [name for name in weak if not name.startswith(("_Z", "__cxa_", "weakspot_"))]
    absent = [re.escape(name) for name in own if is_of_c_library(name) is False]
    if not absent:
        return text
    used = rf'"[^"]*"|@(?:{"|".join(absent)})(?![-\w$.(]| = )'
    return re.sub(used, lambda found: found[0] if found[0][0] == '"' else "null", text)


def _once(texts: Sequence[str]) -> list[str]:
    """The modules, where those that define a function at the same place, which is inline and in a
    header, define it once."""
    units: dict[str, list[str]] = {}
    shared = set()
    for text in texts:
        for match in _DEFINED.finditer(text):
            units.setdefault(match[1], []).append(text)
            if match[0].startswith(_SHARED):
                shared.add(match[1])
    same = {
        name
        for name in shared
        if len(units[name]) > 1
        and len({at for text in units[name] if (at := debug_info.definition(text, name))}) == 1
    }

    def merged(match: re.Match[str]) -> str:
        inline = match[1] in same and match[0].startswith(_SHARED)
        return match[0].replace("define ", "define linkonce_odr ", 1) if inline else match[0]

    return [_DEFINED.sub(merged, text) for text in texts] if same else list(texts)


def _link(module: Any, other: Any, units: Mapping[Path, str], folder: Path) -> None:
    try:
        module.link_in(other)
    except RuntimeError as error:
        name = re.search(r"'([^']+)'", str(error))
        raise _defined_twice(name[1] if name else "", str(error), units, folder) from error


def _defined_twice(name: str, message: str, units: Mapping[Path, str], folder: Path) -> BadInput:
    """An error at the second definition of a function."""
    places = [place for text in units.values() if (place := debug_info.definition(text, name))]
    if len(places) < 2:
        return BadInput(
            f"the translation units do not fit together: {message.strip()}",
            advice=f"define {name or 'each variable'} in one of them and declare it in the others",
        )
    (first, line), (file, second) = places[:2]
    path, other = (plain_name(str(folder / name), Path()) for name in (file, first))
    return BadInput(
        f"{name} is defined twice",
        place=f"{path}:{second}",
        excerpt=excerpt(Path(path), second, 1),
        advice=f"the other definition is {other}:{line}; "
        "name the sources of one program only, or make one of them static",
    )


def _assembly(functions: dict[str, str], found: Clang) -> str:
    with compiler.scratch_folder() as scratch:
        path = scratch / "assembly.c"
        path.write_text(calls.source(functions), encoding="utf-8")
        try:
            raw, _ = compiler.run(found, path, [])
        except BadInput as error:
            raise BadInput(
                f"a meaning that is given to inline assembly does not compile: {error.message}",
                excerpt=error.excerpt,
                advice="see [[asm]] in weakspot.toml: a body is C statements, in which %0, %1, … "
                "are the operands of the assembly",
            ) from error
        return file_names.relative_names(raw, found, scratch)


def _library(texts: Sequence[str], found: Clang) -> list[str]:
    """The modules of `library/` that define what these texts, or one another, only declare."""
    made: list[str] = []
    known = {name for text in texts for name in _DEFINED.findall(text)}
    wanted = {name for text in texts for name in _DECLARED.findall(text)} - known
    taken: set[Path] = set()
    while (
        needed := {members.exports()[name] for name in wanted if name in members.exports()} - taken
    ):
        for path in sorted(needed):
            text = _library_module(path, found)
            made.append(text)
            known |= set(_DEFINED.findall(text))
            wanted |= set(_DECLARED.findall(text))
        wanted -= known
        taken |= needed
    return made


def _library_module(path: Path, found: Clang) -> str:
    flags = str((compiler.FLAGS, sources()[path.suffix].flags))
    content = "".join(each.read_text(encoding="utf-8") for each in sorted(LIBRARY.iterdir()))
    place = cache.path_of(cache.digest("library", path.name, content, flags, found.identity))
    known = cache.read(place, cache.Entry)
    if known is None:
        raw, _ = compiler.run(found, path, [])
        text = file_names.relative_names(raw, found, path.parent)
        known = cache.Entry(text=text, compiler="")
        cache.write(place, known)
    return known.text
