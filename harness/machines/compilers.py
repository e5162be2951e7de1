"""What makes programs for a machine: its gcc, a cross compiler for another one, else zig's clang,
which knows every architecture and brings its own C library; for C++ the g++ beside the gcc."""

from __future__ import annotations

import re

import msgspec

from weakspot.errors import MissingTool
from weakspot.harness.machines import Machine
from weakspot.system import tools

#: what compilers call an architecture
TRIPLES = {
    "x86_64": "x86_64-linux-gnu",
    "aarch64": "aarch64-linux-gnu",
    "ppc64le": "powerpc64le-linux-gnu",
    "riscv64": "riscv64-linux-gnu",
    "armv7l": "arm-linux-gnueabihf",
}
#: cross compilers, as Debian calls them
CROSS = {arch: f"{triple}-gcc" for arch, triple in TRIPLES.items()}


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
    if (tool := tools.find(_name(machine, language))) is not None:
        within = ("-static-libstdc++",) if language == "c++" else ()
        return Compiler((tool.path, *within), tool.name, _stated(tool))
    triple = TRIPLES.get(machine.arch)
    if triple is None or (tool := tools.find("zig")) is None:
        return None
    driver = "c++" if language == "c++" else "cc"
    command = (tool.path, driver, "-target", musl(triple))
    return Compiler(command, f"zig {driver}", _stated(tool))


def require(machine: Machine, language: str = "c") -> Compiler:
    """The compiler for a machine. Raises MissingTool, whose advice says how to get one."""
    found = find(machine, language)
    if found is None:
        name = _name(machine, language)
        raise MissingTool(
            f"{name} is not installed", advice=f"{tools.advice(name)}; or {tools.advice('zig')}"
        )
    return found


def _name(machine: Machine, language: str) -> str:
    return re.sub(r"cc$", "++", machine.compiler) if language == "c++" else machine.compiler


def _stated(tool: tools.Tool) -> str:
    return " ".join(filter(None, (tool.name, tool.version)))
