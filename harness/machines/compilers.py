"""What makes programs for a machine: its gcc, a cross compiler for another one, else zig's clang,
which knows every architecture and brings its own C library."""

from __future__ import annotations

import msgspec

from weakspot.errors import MissingTool
from weakspot.harness import tools
from weakspot.harness.machines import Machine

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


def find(machine: Machine) -> Compiler | None:
    """The compiler for a machine, or None."""
    if (tool := tools.find(machine.compiler)) is not None:
        return Compiler((tool.path,), tool.name, _stated(tool))
    triple = TRIPLES.get(machine.arch)
    if triple is None or (tool := tools.find("zig")) is None:
        return None
    return Compiler((tool.path, "cc", "-target", musl(triple)), "zig cc", _stated(tool))


def require(machine: Machine) -> Compiler:
    """The compiler for a machine. Raises MissingTool, whose advice says how to get one."""
    found = find(machine)
    if found is None:
        raise MissingTool(
            f"{machine.compiler} is not installed",
            advice=f"{tools.advice(machine.compiler)}; or {tools.advice('zig')}",
        )
    return found


def _stated(tool: tools.Tool) -> str:
    return " ".join(filter(None, (tool.name, tool.version)))
