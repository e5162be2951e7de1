"""The clang in the Python package ziglang: knows every target, and brings a C library for each."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from weakspot.system import tools
from weakspot.system.compilers import Compiler, Driver, Platform
from weakspot.system.tools import Module, Requirement

ZIGLANG = Module(
    "ziglang",
    lost="reading C without a system clang; programs for machines without a compiler",
    advice="pip install ziglang",
    role="clang",
    distribution="ziglang",
)
NAMES = ("zig", "ziglang")
"""What users call it."""


class Zig(msgspec.Struct, frozen=True):
    """See Family."""

    name: str = "zig"
    rank: int = 2
    requires: tuple[Requirement, ...] = (ZIGLANG,)

    def installed(self, platforms: Sequence[Platform]) -> list[Compiler]:
        found = program()
        if found is None:
            return []
        commands = {}
        for each in platforms:
            cpu = (f"-mcpu={each.cpu}",) if each.cpu else ()
            start = (str(found), "cc", "-fno-sanitize=all", "-target", _target(each.triple))
            commands[each.name] = (*start, *each.options, *cpu)
        return [Compiler(f"{self.name}-{version()}", self.name, commands)]

    def needed(self, *_: str, native: bool) -> Module:  # noqa: ARG002
        return ZIGLANG

    def driver(self, triple: str, language: str, *, native: bool) -> Driver | None:  # noqa: ARG002
        found = program()
        if found is None:
            return None
        driver = "c++" if language == "c++" else "cc"
        command = (str(found), driver, "-target", _target(triple))
        return Driver(command, f"{self.name} {driver}", f"{self.name} {version()}")


def program() -> Path | None:
    """zig itself; None if the package is not installed."""
    package = folder()
    return None if package is None else package / "zig"


def folder() -> Path | None:
    """The folder of the package, under the name by which zig calls it, which contains no links;
    None if it is not installed."""
    found = tools.find(ZIGLANG)
    return None if found is None else Path(found.path).resolve().parent


def version() -> str:
    """The version of the package, which is zig's. It is read from the name of the folder of its
    metadata, which takes less time than to import importlib.metadata."""
    name = ZIGLANG.distribution
    package = folder()
    match list(package.parent.glob(f"{name}-*.dist-info") if package else ()):
        case [metadata]:
            return metadata.stem.removeprefix(f"{name}-")
    from importlib.metadata import version

    return version(name)


def _target(triple: str) -> str:
    """zig's name of the target: its C library is musl."""
    return triple.replace("-gnu", "-musl")


FAMILY = Zig()
