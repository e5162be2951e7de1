"""gcc: one per version and target on the path; a target's prefix makes it a cross compiler."""

from __future__ import annotations

import platform as host
from collections.abc import Sequence

import msgspec

from weakspot.system import tools
from weakspot.system.compilers import Compiler, Driver, Platform, newest_first, stated
from weakspot.system.tools import Program, Requirement

GCC = Program(
    "gcc",
    lost="runs of what gcc makes of a test; zig's clang compiles instead",
    advice="install your system's C compiler (Debian, Ubuntu: gcc)",
)
GXX = Program(
    "g++",
    lost="runs of what g++ makes of a program; zig's clang compiles instead",
    advice="install your system's C++ compiler (Debian, Ubuntu: g++)",
)


def cross(triple: str, language: str = "c") -> Program:
    """The cross compiler for a triple, as Debian names it."""
    driver = "g++" if language == "c++" else "gcc"
    package = f"{driver}-{triple.replace('_', '-')}"
    return Program(
        f"{triple}-{driver}",
        lost=f"gcc for {triple}; zig's clang compiles instead",
        advice=f"install a cross compiler (Debian, Ubuntu: {package})",
    )


class Gcc(msgspec.Struct, frozen=True):
    """See Family."""

    name: str = "gcc"
    rank: int = 0
    requires: tuple[Requirement, ...] = (GCC, GXX)

    def installed(self, platforms: Sequence[Platform]) -> list[Compiler]:
        commands: dict[str, dict[str, tuple[str, ...]]] = {}
        for each in platforms:
            names = [rf"{each.triple}-gcc(-\d+)?"]
            if host.machine() == each.arch:
                names.append(r"gcc(-\d+)?")
            # one gcc/ipa pass gives functions of the same code one body, and jumps to it
            options = (*each.flags, "-fno-ipa-icf")
            for tool in tools.matching("|".join(names)):
                if tool.version:
                    name = f"gcc-{tool.version.split('.')[0]}"
                    commands.setdefault(name, {}).setdefault(each.name, (tool.path, *options))
        return newest_first([Compiler(name, self.name, of) for name, of in commands.items()])

    def needed(self, triple: str, language: str, *, native: bool) -> Program:
        if native:
            return GXX if language == "c++" else GCC
        return cross(triple, language)

    def driver(self, triple: str, language: str, *, native: bool) -> Driver | None:
        tool = tools.find(self.needed(triple, language, native=native))
        if tool is None:
            return None
        # the program gets the C++ library's code, so that it decides how that is compiled
        within = ("-static-libstdc++",) if language == "c++" else ()
        return Driver((tool.path, *within), tool.name, stated(tool))


FAMILY = Gcc()
