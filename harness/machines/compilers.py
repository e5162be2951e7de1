"""What makes programs for a machine: its gcc, a cross compiler for another one, else zig's clang,
which knows every architecture and brings its own C library."""

from __future__ import annotations

import msgspec

from weakspot.errors import MissingTool
from weakspot.harness import tools
from weakspot.harness.machines import Machine

#: cross compilers, as Debian and Fedora call them
CROSS = {
    "x86_64": "x86_64-linux-gnu-gcc",
    "aarch64": "aarch64-linux-gnu-gcc",
    "ppc64le": "powerpc64le-linux-gnu-gcc",
    "riscv64": "riscv64-linux-gnu-gcc",
    "armv7l": "arm-linux-gnueabihf-gcc",
}
_ZIG_TARGETS = {
    "x86_64": "x86_64-linux-musl",
    "aarch64": "aarch64-linux-musl",
    "ppc64le": "powerpc64le-linux-musl",
    "riscv64": "riscv64-linux-musl",
    "armv7l": "arm-linux-musleabihf",
}


class Compiler(msgspec.Struct, frozen=True):
    """How it is started, what it is called, and its name with its version."""

    command: tuple[str, ...]
    name: str
    stated: str


def find(machine: Machine) -> Compiler | None:
    """The compiler for a machine, or None."""
    if (tool := tools.find(machine.compiler)) is not None:
        return Compiler((tool.path,), tool.name, _stated(tool))
    target = _ZIG_TARGETS.get(machine.arch)
    if target is None or (tool := tools.find("zig")) is None:
        return None
    return Compiler((tool.path, "cc", "-target", target), "zig cc", _stated(tool))


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
