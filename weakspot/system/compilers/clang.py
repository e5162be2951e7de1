"""clang: one per version on the path; each compiles for every target that it was built with.

It makes no whole programs here: those would need the target's C library and headers.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

import msgspec

from weakspot.system import process, tools
from weakspot.system.compilers import Compiler, Platform, newest_first
from weakspot.system.tools import Program, Requirement

CLANG = Program(
    "clang",
    lost="nothing while ziglang is there; a system clang's own version",
    advice="install clang, or the Python package ziglang, which contains one",
    role="C compiler",
)


class Clang(msgspec.Struct, frozen=True):
    """See Family."""

    name: str = "clang"
    rank: int = 1
    requires: tuple[Requirement, ...] = (CLANG,)

    def installed(self, platforms: Sequence[Platform]) -> list[Compiler]:
        found: dict[str, Compiler] = {}
        for tool in tools.matching(r"clang(-\d+)?"):
            if tool.version:
                name = f"clang-{tool.version.split('.')[0]}"
                backends = _backends(tool.path)
                commands = {
                    each.name: (tool.path, f"--target={each.triple}", *each.flags)
                    for each in platforms
                    if each.backend in backends
                }
                found.setdefault(name, Compiler(name, self.name, commands))
        return newest_first(list(found.values()))

    def needed(self, *_: str, native: bool) -> None:  # noqa: ARG002
        return None

    def driver(self, *_: str, native: bool) -> None:  # noqa: ARG002
        return None


@lru_cache
def _backends(clang: str) -> frozenset[str]:
    listed = process.run([clang, "--print-targets"], seconds=20).out
    return frozenset(re.findall(r"^\s+(\S+)\s+- ", listed, re.M))


FAMILY = Clang()
