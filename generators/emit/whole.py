"""A whole program to run many times on hardware: what it is linked with.

The program stays as it is written: it is compiled like any other, and linked with a main function
of ours that calls its main many times (the template explains how). The linker redirects calls for
threads, assert and malloc. Its variables are placed between two marks, so that they can be reset;
and a table of their names is added to its assembly, so that the values in a failed assertion can be
reported.
"""

from __future__ import annotations

import re

import msgspec

from weakspot.errors import Unsupported
from weakspot.generators.emit.native import template

_WRAPPED = (
    *("main", "pthread_create", "pthread_join", "pthread_detach", "pthread_self", "pthread_exit"),
    *("thrd_create", "thrd_join", "thrd_detach", "thrd_current", "thrd_exit"),
    *("exit", "abort", "__assert_fail", "__cxa_atexit", "__cxa_thread_atexit"),
    *("malloc", "calloc", "realloc", "free", "aligned_alloc", "posix_memalign"),
)
_TYPE = re.compile(r"^\s*\.type\s+([\w.$]+)\s*,\s*[@%#\"]?(object|function)", re.M)
_SIZE = re.compile(r"^\s*\.(?:size|comm)\s+([\w.$]+)\s*,\s*(\d+)", re.M)
_CONSTRUCTORS = re.compile(r"^(\s*\.section\s+)\.init_array([\w.]*)(.*)$", re.M)
_LITERAL = re.compile(r"L[a-z]n?\d+E")  # of a template's arguments
_OWN = re.compile(
    r"^\s*\.section\s+\.t(?:bss|data)\b(?:(?!^\s*\.(?:section|text|data|bss)\b).*\n)*", re.M
)
_MADE_UP = re.compile(r"_ZT[VTIS]|_ZGV|DW\.ref")  # variables that are in no source


class Frame(msgspec.Struct, frozen=True):
    """What a program is linked with: texts before and after it, each with the suffix of its file;
    options for the linker, and those that the program itself is compiled with."""

    before: tuple[tuple[str, str], ...] = ()
    after: tuple[tuple[str, str], ...] = ()
    linking: tuple[str, ...] = ()
    compiling: tuple[str, ...] = ()


def frame() -> Frame:
    """What a program is linked with to run as a whole."""
    return Frame(
        before=((_mark("begin"), ".s"),),
        after=((_mark("end"), ".s"), (template("whole.c.j2").render(), ".c")),
        # the linker sees no caller of constructors
        linking=("-Wl,--no-gc-sections", *(f"-Wl,--wrap={name}" for name in _WRAPPED)),
        compiling=("-fno-common",),  # no variable outside the marks
    )


def _mark(which: str) -> str:
    """Labels in the sections that hold variables, on lines of their own, and in the table of their
    names."""
    sections = (
        (".data", 128, f"weakspot_{which}"),
        (".bss", 128, f"weakspot_zero_{which}"),
        ('.section .tdata,"awT",%progbits', 16, f"weakspot_own_{which}"),
        ('.section .tbss,"awT",%nobits', 16, f"weakspot_own_zero_{which}"),
    )
    names = {"begin": "weakspot_names", "end": "weakspot_names_end"}[which]
    lines = [
        f"\t{at}\n\t.balign {bytes_}\n\t.globl {name}\n{name}:\n"
        for at, bytes_, name in (*sections, ('.section .weakspot,"aw"', 8, names))
    ]
    return "".join([*lines, _STACK])


_STACK = '\t.section .note.GNU-stack,"",%progbits\n'  # the stack is not executable


def named(assembly: str) -> str:
    """A unit's assembly with a table of its small variables and its functions, and with its
    constructors in a section where they are run in each instance.

    Raises Unsupported for constructors with a priority.
    """
    bytes_of = {name: int(size) for name, size in _SIZE.findall(assembly)}
    kinds = dict(_TYPE.findall(assembly))
    variables = [name for name, size in bytes_of.items() if size in (1, 2, 4, 8)]
    rows = [(name, bytes_of[name]) for name in variables if kinds.get(name) != "function"]
    rows += [(name, 0) for name, kind in kinds.items() if kind == "function"]
    own = {name for part in _OWN.findall(assembly) for name, _ in _TYPE.findall(part)}
    rows = [row for row in rows if not _MADE_UP.match(row[0]) and row[0] not in own]
    lines = [_CONSTRUCTORS.sub(_constructors, assembly.rstrip("\n"))]
    lines += ['\t.section .weakspot,"aw"', "\t.balign 8"]
    for at, (name, size) in enumerate(rows):
        lines += [f"\t.quad {name}", f"\t.quad {size}", f"\t.quad .Lweakspot_name{at}"]
    lines += ["\t.section .rodata"]
    for at, (name, _) in enumerate(rows):
        lines.append(f'.Lweakspot_name{at}:\n\t.asciz "{in_source(name)}"')
    return "\n".join(lines) + "\n"


def _constructors(found: re.Match[str]) -> str:
    """Raises Unsupported."""
    if found[2]:
        raise Unsupported("it has constructors with a priority, which are not run again in order")
    return f"{found[1]}weakspot_constructors{found[3].replace('init_array', 'progbits')}"


def in_source(name: str) -> str:
    """The name of a variable or a function in the source: a static variable of a function is called
    name.0, and in C++ the enclosing names, with their lengths, precede it (Itanium C++ ABI, section
    5.1)."""
    if not name.startswith("_Z"):
        return name.partition(".")[0]
    found, rest = name, _LITERAL.sub("", name)
    while (at := re.search(r"\d+", rest)) is not None:
        rest = rest[at.end() :]
        part, rest = rest[: int(at[0])], rest[int(at[0]) :]
        if re.fullmatch(r"[A-Za-z_]\w*", part):
            found = part
    return found
