"""A program as a whole, to be run many times on hardware: what it is linked with.

The program stays as it is written: it is compiled as any other, and linked with a main of ours
that runs its main many times (the template says how). The calls that matter, of threads, of assert
and of malloc, are led there by the linker. Its variables lie between two marks, so that they can be
set back; and its assembly is given a table of their names, so that what a failed assertion is about
can be told.
"""

from __future__ import annotations

import re

import msgspec

from weakspot.errors import Unsupported
from weakspot.generators.emit.native import template

_WRAPPED = (
    *("main", "pthread_create", "pthread_join", "pthread_detach", "pthread_self", "pthread_exit"),
    *("thrd_create", "thrd_join", "thrd_detach", "thrd_current", "thrd_exit"),
    *("exit", "abort", "__assert_fail"),
    *("malloc", "calloc", "realloc", "free", "aligned_alloc", "posix_memalign"),
)
_TYPE = re.compile(r"^\s*\.type\s+([\w.$]+)\s*,\s*[@%#\"]?(object|function)", re.M)
_SIZE = re.compile(r"^\s*\.(?:size|comm)\s+([\w.$]+)\s*,\s*(\d+)", re.M)
_THREAD_LOCAL = re.compile(r"^\s*\.section\s+\.t(?:bss|data)\b", re.M)


class Frame(msgspec.Struct, frozen=True):
    """What stands around a program when it is linked: texts before and after it, each with what
    its file's name ends with; options for the linker, and those that the program itself is
    compiled with."""

    before: tuple[tuple[str, str], ...] = ()
    after: tuple[tuple[str, str], ...] = ()
    linking: tuple[str, ...] = ()
    compiling: tuple[str, ...] = ()


def frame() -> Frame:
    """What runs a program as a whole."""
    return Frame(
        before=((_mark("begin"), ".s"),),
        after=((_mark("end"), ".s"), (template("whole.c.j2").render(), ".c")),
        linking=tuple(f"-Wl,--wrap={name}" for name in _WRAPPED),
        # as the source is read for the engine; and no variable outside the marks
        compiling=("-fgnu89-inline", "-fno-common"),
    )


def _mark(which: str) -> str:
    """Labels in the sections that hold variables, on lines of their own."""
    sections = (".data", f"weakspot_{which}"), (".bss", f"weakspot_zero_{which}")
    lines = [f"\t{at}\n\t.balign 128\n\t.globl {name}\n{name}:\n" for at, name in sections]
    return "".join([*lines, _STACK])


_STACK = '\t.section .note.GNU-stack,"",%progbits\n'  # it does not execute what is on the stack


def named(assembly: str) -> str:
    """A program's assembly with a table of its small variables and its functions.

    Raises Unsupported for thread-local variables, which nobody sets back.
    """
    if _THREAD_LOCAL.search(assembly):
        raise Unsupported(
            "it has thread-local variables, which are not set back between two instances"
        )
    bytes_of = {name: int(size) for name, size in _SIZE.findall(assembly)}
    kinds = dict(_TYPE.findall(assembly))
    variables = [name for name, size in bytes_of.items() if size in (1, 2, 4, 8)]
    rows = [(name, bytes_of[name]) for name in variables if kinds.get(name) != "function"]
    rows += [(name, 0) for name, kind in kinds.items() if kind == "function"]
    lines = [assembly.rstrip("\n"), '\t.section .weakspot,"aw"', "\t.balign 8"]
    lines += ["\t.globl weakspot_names", "weakspot_names:"]
    for at, (name, size) in enumerate(rows):
        lines += [f"\t.quad {name}", f"\t.quad {size}", f"\t.quad .Lweakspot_name{at}"]
    lines += ["\t.globl weakspot_names_end", "weakspot_names_end:", "\t.section .rodata"]
    for at, (name, _) in enumerate(rows):  # what is static in a function is called name.0
        lines.append(f'.Lweakspot_name{at}:\n\t.asciz "{name.partition(".")[0]}"')
    return "\n".join(lines) + "\n"
