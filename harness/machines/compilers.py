"""What makes programs for a machine: its gcc, a cross compiler for another one, else zig's clang,
which knows every architecture and brings its own C library; for C++ the g++ beside the gcc."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec

from weakspot.errors import MissingTool
from weakspot.harness.machines import Machine
from weakspot.system import tools
from weakspot.system.tools import Module, Program, Requirement, Tool

#: what compilers call an architecture
TRIPLES = {
    "x86_64": "x86_64-linux-gnu",
    "aarch64": "aarch64-linux-gnu",
    "ppc64le": "powerpc64le-linux-gnu",
    "riscv64": "riscv64-linux-gnu",
    "armv7l": "arm-linux-gnueabihf",
}
_GCC = {
    "gcc": Program(
        "gcc",
        lost="runs of what gcc makes of a test; zig's clang compiles instead",
        advice="install your system's C compiler (Debian, Ubuntu: gcc)",
        role="C compiler",
    ),
    "g++": Program(
        "g++",
        lost="the same of programs in C++; zig's clang compiles instead",
        advice="install your system's C++ compiler (Debian, Ubuntu: g++)",
    ),
}
CLANG = Program(
    "clang",
    lost="nothing while ziglang is there; a system clang's own version",
    advice="install clang, or the Python package ziglang, which contains one",
    role="C compiler",
)
ZIGLANG = Module(
    "ziglang",
    lost="reading C without a system clang; programs for machines without a compiler",
    advice="pip install ziglang",
    role="C compiler",
    distribution="ziglang",
)
REQUIRES: tuple[Requirement, ...] = (*_GCC.values(), CLANG, ZIGLANG)


def cross(arch: str) -> Program:
    """The cross compiler for an architecture, as Debian calls it."""
    triple = TRIPLES[arch]
    return Program(
        f"{triple}-gcc",
        lost=f"gcc for {arch}; zig's clang compiles instead",
        advice=f"install a cross compiler (Debian, Ubuntu: gcc-{triple.replace('_', '-')})",
    )


def zig() -> Tool | None:
    """The zig of the Python package ziglang."""
    found = tools.find(ZIGLANG)
    if found is None:
        return None
    return Tool("zig", str(Path(found.path).with_name("zig")), "Python", ZIGLANG)


def musl(triple: str) -> str:
    """The target for zig, whose C library is musl."""
    return triple.replace("-gnu", "-musl")


class Compiler(msgspec.Struct, frozen=True):
    """How it is started, what it is called, and its name with its version."""

    command: tuple[str, ...]
    name: str
    stated: str


def find(machine: Machine, language: str = "c") -> Compiler | None:
    """The compiler for a machine, of "c" or "c++", or None. What g++ makes has the C++ library in
    it: in what it calls, a program has a say there too."""
    if (tool := tools.find(_program(machine, language))) is not None:
        within = ("-static-libstdc++",) if language == "c++" else ()
        return Compiler((tool.path, *within), tool.name, _stated(tool))
    triple = TRIPLES.get(machine.arch)
    if triple is None or (tool := zig()) is None:
        return None
    driver = "c++" if language == "c++" else "cc"
    command = (tool.path, driver, "-target", musl(triple))
    return Compiler(command, f"zig {driver}", _stated(tool))


def require(machine: Machine, language: str = "c") -> Compiler:
    """The compiler for a machine. Raises MissingTool, whose advice says how to get one."""
    found = find(machine, language)
    if found is None:
        program = _program(machine, language)
        raise MissingTool(
            f"{program.name} is not installed",
            advice=f"{tools.advice(program)}; or {tools.advice(ZIGLANG)}",
        )
    return found


def _program(machine: Machine, language: str) -> Program:
    name = re.sub(r"cc$", "++", machine.compiler) if language == "c++" else machine.compiler
    crosses = {each.name: each for each in map(cross, TRIPLES)}
    return _GCC.get(name) or crosses.get(name) or Program(name)


def _stated(tool: Tool) -> str:
    return " ".join(filter(None, (tool.name, tool.version)))
