"""Installed compilers: every version of gcc and clang on the path, and the clang in ziglang.

In: what to compile for. Out: how to start a compiler. To add a compiler, add a file NAME.py that
defines FAMILY, a value with what `Family` asks for. Nothing else names it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import msgspec

from weakspot.system.registry import Registry
from weakspot.system.tools import Requirement, Tool


class Platform(msgspec.Struct, frozen=True):
    """What to compile for: a name; the architecture, as `uname -m` prints it, and its triple; the
    name of clang's back end. `options` are for every compiler, `march` is the -march of gcc and
    clang, `cpu` the -mcpu of zig."""

    name: str
    arch: str
    triple: str
    backend: str
    options: tuple[str, ...] = ()
    march: str = ""
    cpu: str = ""

    @property
    def flags(self) -> tuple[str, ...]:
        """The options for a compiler that has -march."""
        return (*self.options, f"-march={self.march}") if self.march else self.options


class Compiler(msgspec.Struct, frozen=True):
    """An installed compiler: its name with its version (gcc-12), and how it is started for each
    platform, by the platform's name."""

    name: str
    family: str
    commands: dict[str, tuple[str, ...]]


class Driver(msgspec.Struct, frozen=True):
    """How a compiler is started that makes whole programs: the command, its name, and its name
    with its version."""

    command: tuple[str, ...]
    name: str
    stated: str


class Family(Protocol):
    """What every kind of compiler offers. The lowest `rank` is preferred; `requires` are the
    programs and modules for `weakspot doctor`."""

    @property
    def name(self) -> str: ...

    @property
    def rank(self) -> int: ...

    @property
    def requires(self) -> tuple[Requirement, ...]: ...

    def installed(self, platforms: Sequence[Platform]) -> list[Compiler]:
        """Every installed version, the newest first."""
        ...

    def needed(self, triple: str, language: str, *, native: bool) -> Requirement | None:
        """What has to be installed to make programs in "c" or "c++" for the triple, on a machine
        that is `native` to it or not; None where the family makes none."""
        ...

    def driver(self, triple: str, language: str, *, native: bool) -> Driver | None:
        """How to make such programs; None where what is needed is not installed."""
        ...


FAMILIES: Registry[Family] = Registry("compiler", __name__, "FAMILY")
"""The kinds of compilers by name."""


def installed(platforms: Sequence[Platform]) -> list[Compiler]:
    """Every installed compiler, with the platforms that it compiles for."""
    return [compiler for family in FAMILIES for compiler in family.installed(platforms)]


def newest_first(compilers: Sequence[Compiler]) -> list[Compiler]:
    """The compilers of a family by the numbers that their names end with."""
    return sorted(compilers, key=lambda each: -int(each.name.rpartition("-")[2]))


def stated(tool: Tool) -> str:
    """The name of a compiler with its version."""
    return " ".join(filter(None, (tool.name, tool.version)))
